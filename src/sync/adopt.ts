import { decide, nothingWritten } from '../kernel/log/decide.ts'
import { sealOp } from '../kernel/log/seal.ts'
import { webHost } from '../platform/web.ts'
import type { Host } from '../ports/host.ts'
import type { OpResult, Scope } from '../ports/op.ts'
import type { Decide, LogRow, ScopeStore, Store } from '../ports/store.ts'
import { PUSH_OPS, type SyncOp } from '../ports/sync.ts'
import { pushedOps, secretBeside } from './pushed.ts'
import { readRegisters, readRows, readScopes } from './read.ts'
import { recoveredFrom } from './recover.ts'

export interface AdoptOptions {
  /** The synced store; where it encrypts, as the app has it. */
  readonly store: Store
  /** Whose scopes are copied: a guest, for example. */
  readonly from: Pick<Scope, 'tenant' | 'userId'>
  /** Into whose scopes of the same session ids. */
  readonly to: Pick<Scope, 'tenant' | 'userId'>
  readonly host?: Pick<Host, 'now' | 'newId'>
}

/** What could not be copied: both sides have it, or the target has deleted it. */
export interface NotAdopted {
  /** Where it still is. */
  readonly scope: Scope
  readonly opId: string
  readonly result: Exclude<OpResult, { readonly status: 'accepted' }>
}

/**
 * Copies what a guest wrote into the scopes of the user who signs in, as ops that wait for their
 * home like any others. A scope of the guest's is emptied once all of it is written there; where
 * something could not be, it is left whole. May be repeated: nothing is written twice.
 *
 * @returns what could not be copied; nothing: all was
 * @example
 * ```ts
 * import { adopt, sync } from 'plimsoll/sync'
 * const store = sync({ store: base, transport, user: { userId: 'ada' } })
 * await adopt({ store, from: { userId: 'guest' }, to: { userId: 'ada' } })
 * ```
 */
export async function adopt({
  store,
  from,
  to,
  host = webHost,
}: AdoptOptions): Promise<readonly NotAdopted[]> {
  const left: NotAdopted[] = []
  for (const scope of await readScopes(store)) {
    if (scope.userId !== from.userId || scope.tenant !== from.tenant) continue
    const { sessionId } = scope
    const source = store.open(scope)
    const target = store.open({ ...to, ...(sessionId !== undefined && { sessionId }) })
    try {
      for (let isGone = false; !isGone; ) {
        const { refused, rows } = await copied(source, target, host)
        left.push(...refused.map((one) => ({ scope, ...one })))
        if (refused.length > 0 || rows.every(({ kind }) => kind === 'erase')) break
        isGone = await emptied(source, rows.at(-1)?.seq ?? 0, host)
      }
    } finally {
      await source.close()
      await target.close()
    }
  }
  return left
}

/** @returns whether it was: not where more was written than what was read */
async function emptied(scope: ScopeStore, seq: number, host: Pick<Host, 'newId'>): Promise<boolean> {
  let isWritten = false
  await scope.commit([sealOp({ kind: 'erase', opId: host.newId() })], (ops, rows) => {
    isWritten = rows.head.seq === seq
    return isWritten ? decide(ops, rows) : nothingWritten([])
  })
  return isWritten
}

/** Writes a log behind another one. @returns what that refuses, and the log */
async function copied(
  source: ScopeStore,
  target: ScopeStore,
  host: Pick<Host, 'now'>,
): Promise<{ readonly refused: readonly Omit<NotAdopted, 'scope'>[]; readonly rows: readonly LogRow[] }> {
  const rows = await readRows(source, 0)
  const bodies = new Map<string, (string | null)[]>()
  for (const { opId, kind, body } of rows)
    if (kind !== 'put' && kind !== 'delete') bodies.set(opId, [...(bodies.get(opId) ?? []), body])
  const ops = recoveredFrom(rows, await readRegisters(source)).map(
    ({ envelope, bodies: own, beside }): SyncOp => ({
      envelope,
      bodies: own ?? bodies.get(envelope.opId) ?? [],
      ...(beside && { beside }),
    }),
  )
  for (const id of ops.flatMap(({ envelope }) => envelope.attachments ?? [])) {
    const attachment = await source.attachment(id)
    if (attachment) await target.attach(attachment, host.now())
  }
  const refused: Omit<NotAdopted, 'scope'>[] = []
  for (let at = 0; at < ops.length; at += PUSH_OPS) {
    const some = ops.slice(at, at + PUSH_OPS)
    const results = await target.commit(pushedOps(some), withSecrets(some.length))
    for (const [index, result] of results.slice(0, some.length).entries())
      if (result.status !== 'accepted') refused.push({ opId: some[index]?.envelope.opId ?? '', result })
  }
  return { refused, rows }
}

/** As `decide`, of the first `count` ops: the others are the secrets beside them. */
function withSecrets(count: number): Decide {
  return (given, rows) => {
    const decided = decide(given.slice(0, count), rows)
    const secret = secretBeside(given.slice(count), rows, decided)
    return secret ? { ...decided, registers: [...decided.registers, secret] } : decided
  }
}
