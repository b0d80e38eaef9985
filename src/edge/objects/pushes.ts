import { partsOf } from '../../kernel/log/message.ts'
import { isRepeated, look } from '../../kernel/log/once.ts'
import { checkPushed } from '../../operations/check-pushed.ts'
import type { Memory } from '../../ports/memory.ts'
import type { Message } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { PushAnswer, PushRejection, SyncOp } from '../../ports/sync.ts'
import { answerPush } from '../../sync/home.ts'
import { knownOp } from '../../sync/known-op.ts'
import { newTok } from '../../sync/tok.ts'
import { isMediaUrl } from '../media-url.ts'

/** Says of an op why it is not taken, if it is not. */
export type Refuse = (op: SyncOp) => PushRejection | undefined

/**
 * What an object does not take of a push: what its own memory would not write, and what no route
 * takes.
 */
export async function pushRefusals(memory: Memory, scope: Scope, ops: readonly SyncOp[]): Promise<Refuse> {
  const check = await checkPushed(memory, scope, ops)
  return (op) => check(op) ?? (hasForeignMedia(op) ? 'forbidden' : undefined)
}

/** @param op Contract: was checked */
function hasForeignMedia({ envelope: { kind }, bodies }: SyncOp): boolean {
  if (kind !== 'append') return false
  const messages = bodies.flatMap((body) => (body === null ? [] : (JSON.parse(body) as Message)))
  return messages.some((message) =>
    partsOf(message).some((part) => part.type === 'media' && part.url !== undefined && !isMediaUrl(part.url)),
  )
}

export function isErase({ envelope: { kind } }: SyncOp): boolean {
  return kind === 'erase'
}

/**
 * Answers a pushed erase. What it says is done before, unless that op was written already.
 *
 * @param open gives the log as it is now
 * @param remove nothing is there to be removed, where it is not given
 */
export async function answerErase(
  open: () => ScopeStore | Promise<ScopeStore>,
  generation: string,
  erase: SyncOp,
  remove: (() => Promise<unknown>) | undefined,
): Promise<PushAnswer> {
  if (remove) {
    const [done] = await (await open()).commit([knownOp(erase)], look)
    if (!done || !isRepeated(done)) await remove()
  }
  return answerPush(await open(), { generation, ops: [erase] }, { newTok })
}

/** What is answered where the log of that generation was erased. */
export async function erasedIn(log: ScopeStore, generation: string): Promise<PushAnswer | undefined> {
  if ((await log.head()).seq === 0) return undefined
  const looked = await answerPush(log, { generation, ops: [] }, { newTok })
  return 'erased' in looked ? looked : undefined
}
