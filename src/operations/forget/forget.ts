import type { AuditInput } from '../../features/audit.ts'
import { factKey } from '../../features/facts/fact.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { checkUser } from '../../kernel/memory.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Memory, SessionBase, UserScope } from '../../ports/memory.ts'
import { hasBody } from '../../ports/store.ts'
import { checkId, checkOptions, invalid } from '../../text/json.ts'
import { kernelOf, memoryOf } from '../kernel-of.ts'
import { type Continued, type Forgotten, finishOwed, forgetAll, forgetShared } from './cascade.ts'
import { certificateOf } from './certificate.ts'
import { owedWork } from './owed-work.ts'

export interface ForgetOptions {
  /**
   * Which of the two an id is of. Default: of a message, or of a fact where there is no such
   * message.
   */
  readonly kind?: 'message' | 'fact'
}

/**
 * Empties a message or a fact, and all that was derived from it, for ever: summaries of the
 * message, facts that name it as a source (those that the user's other sessions share too), heads
 * that showed any of these, the index of recall, and attachments that no other message names. Rows
 * keep id, number and place. What people, models or the app said again in other messages, in a
 * title or in the checkpoint stays: nobody can tell. A message that names attachments takes a read
 * of the whole log, a fact that is shared one of all heads of the user's sessions.
 *
 * Idempotent: repeating it says `already`, and what an end of the process left is finished. It is
 * recorded in the user's audit.
 *
 * @returns what was removed: ids and counts, no text
 * @throws ERR_NOT_FOUND (there never was one), ERR_INVALID_ARGUMENT
 */
export async function forget(
  session: SessionBase,
  id: string,
  options: ForgetOptions = {},
): Promise<Certificate> {
  const kernel = kernelOf('forget', session)
  return kernel.run(async () => {
    checkId('forget', 'id', id)
    checkOptions('forget', 'options', options, ['kind'])
    const { kind } = options
    if (kind !== undefined && kind !== 'message' && kind !== 'fact')
      throw invalid('forget', 'kind', `must be 'message' or 'fact'`)
    const { store, user, memory, sessionId } = kernel
    const { host } = memory
    const parts = { store, sessionId, userStore: user.store, open: user.session, host }
    const begun = begunFor(await finishOwed(parts, parts), id, sessionId)
    if (begun) {
      const done = await kept(memory, () => begun)
      await kernel.tell()
      return certified(host, id, done)
    }
    const row = kind === 'fact' ? undefined : await readEntry(store, id)
    const isEntry = row?.kind === 'message' || row?.kind === 'summary'
    const key = factKey(id)
    const [own, shared] =
      isEntry || kind === 'message' ? [] : [await store.register(key), await user.store.register(key)]
    if (!isEntry && !own && !shared) throw unknown(id, kind)
    const targets = {
      rows: isEntry ? [row] : [],
      // In both: what was just shared is in each of them.
      own: own && hasBody(own) ? [key] : [],
      shared: shared && hasBody(shared) ? [key] : [],
    }
    const done = await kept(memory, () => forgetAll(parts, targets, { action: 'forget', target: id }))
    await kernel.tell()
    return certified(host, id, done)
  })
}

/**
 * Empties a fact that all of a user's sessions share, as {@link forget} does from one of them.
 *
 * @throws ERR_NOT_FOUND (there never was one), ERR_INVALID_ARGUMENT
 */
export async function forgetFact(memory: Memory, user: UserScope, id: string): Promise<Certificate> {
  const kernel = memoryOf('forgetFact', memory)
  const { host } = kernel
  const { store: userStore, session: open } = kernel.user(checkUser('forgetFact', user))
  const parts = { userStore, open, host }
  const key = factKey(checkId('forgetFact', 'id', id))
  const begun = begunFor(await finishOwed(parts), id)
  if (begun) return certified(host, id, await kept(kernel, () => begun))
  const row = await userStore.register(key)
  if (!row) throw unknown(id, 'fact')
  const shared = hasBody(row) ? [key] : []
  const record: AuditInput = { action: 'forget', target: id }
  return certified(host, id, await kept(kernel, () => forgetShared(parts, shared, record)))
}

/** What fails half-way is left for `runDueWork`. */
export async function kept<Value>(memory: KernelMemory, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    owedWork(memory).leave()
    throw error
  }
}

/** What an earlier call began to forget under that id, and did not end. */
function begunFor(all: readonly Continued[], id: string, sessionId?: string): Promise<Forgotten> | undefined {
  return all.find(
    ({ record, isLog, ...one }) =>
      record.by === undefined && !isLog && record.target === id && one.sessionId === sessionId,
  )?.done
}

export async function certified(host: Host, id: string, { already, found, kept, isGone }: Forgotten) {
  return certificateOf(host, 'forget', id, already, found, kept, await isGone())
}

function unknown(id: string, kind = 'message or fact'): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `forget: no ${kind} ${id}`, { id })
}
