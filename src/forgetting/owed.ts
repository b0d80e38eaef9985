import type { KernelSession } from '../kernel/feature.ts'
import { checkReadable, valueIn } from '../kernel/log/bodies.ts'
import { allOrNone, areAccepted, changedByOthers, TRIES } from '../kernel/log/once.ts'
import { sealOp } from '../kernel/log/seal.ts'
import type { Host } from '../ports/host.ts'
import type { Name, Op } from '../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'
import { commitClosed, deletesOf, emptiedBy } from './deletes.ts'

/**
 * The register of a user's scope that says what is being forgotten. It is written before anything
 * is emptied, and cleared once all is: what an end of the process left, the next call finishes.
 */
export const OWED = 'forgetting'

/** What one call forgets. */
export interface Owed {
  readonly sessionId?: string
  /** Of the session, what is to be emptied: what was asked for, and all that derives from it. */
  readonly names: readonly Name[]
  /** What the user's facts are looked for by, beside `names`. */
  readonly from: readonly Name[]
  /** Keys of the user's that are emptied; absent: they are yet to be looked for. */
  readonly shared?: readonly string[]
}

export type AllOwed<One extends Owed = Owed> = { readonly [id: string]: One }

/** A session's scope, and that of its user. */
export interface OwedIn {
  readonly store: ScopeStore
  readonly user: Pick<ScopeStore, 'register' | 'commit'>
  readonly sessionId: string
  readonly host: Pick<Host, 'newId' | 'newSecret'>
}

/** What is owed, by the register's row. @throws ERR_DECRYPT */
export function owedIn<One extends Owed>(row: RegisterRow | undefined): AllOwed<One> {
  const known = checkReadable(row)
  return ((known && valueIn(known)) ?? {}) as unknown as AllOwed<One>
}

export function putOwed(host: Pick<Host, 'newId'>, row: RegisterRow | undefined, all: AllOwed): Op {
  const value = Object.keys(all).length > 0 ? (all as never) : null
  return { kind: 'put', opId: host.newId(), key: OWED, base: row?.version ?? null, value }
}

/** Before a session's first call: finishes what an end of the process left of a forget. */
export async function settleOwed({ store, user, sessionId, memory, parts }: KernelSession): Promise<void> {
  const owed = { store, user: user.store, sessionId, host: memory.host }
  if (!(await emptyAllOwed(owed))) return
  for (const { part } of parts) await part.settle?.()
  await emptyAllOwed(owed)
}

/**
 * Empties what a session owes, no matter who began to forget it. Idempotent. @returns whether
 * anything is owed
 */
export async function emptyAllOwed(parts: OwedIn): Promise<boolean> {
  const ids = Object.keys(owedIn(await parts.user.register(OWED)))
  for (const id of ids) await emptyOwed(parts, id)
  return ids.length > 0
}

/**
 * Empties in a session what one call forgets there, and makes inert what arrives of it later. What
 * came to derive from it since it was named is named first: else nobody would know later what of
 * the user's derives from that. Idempotent.
 */
export async function emptyOwed({ store, user, sessionId, host }: OwedIn, id: string): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const row = await user.register(OWED)
    const all = owedIn(row)
    const owed = all[id]
    if (!owed) return
    const { names, shared = [] } = owed
    const elsewhere = shared.map((key): Name => `user:${key}`)
    // A session that is handing one over has its own, under the same key.
    for (const key of shared) if ((await store.register(key))?.body) elsewhere.push(`register:${key}`)
    const batches = [await emptiedBy(store, host, elsewhere), owed.sessionId === sessionId ? names : []]
    let isDone = true
    for (const batch of batches) {
      const deletes = deletesOf(host, batch)
      if (deletes.length > 0) isDone &&= areAccepted(await commitClosed(store, host, deletes))
    }
    if (isDone) return
    const named = [...new Set([...names, ...(await emptiedBy(store, host, names))])]
    await user.commit([sealOp(putOwed(host, row, { ...all, [id]: { ...owed, names: named } }))], allOrNone)
  }
  throw changedByOthers('forget', id)
}
