import { besideLast, newKey, putSecret, withSecret } from '../kernel/context/secret.ts'
import { decide, nothingWritten } from '../kernel/log/decide.ts'
import { HEAD_NAME, SHARED } from '../kernel/log/message.ts'
import { allOrNone } from '../kernel/log/once.ts'
import { sealOp } from '../kernel/log/seal.ts'
import type { Host } from '../ports/host.ts'
import { idIn, type Name, type SealedOp } from '../ports/op.ts'
import type { Decide, ScopeStore } from '../ports/store.ts'

/** Names of heads, and of what is noted of sessions with their user: nothing derives from these. */
const LEAF = /^register:(?:head|kept)\//u

function deleteOf(host: Pick<Host, 'newId'>, target: Name): SealedOp {
  return sealOp({ kind: 'delete', opId: host.newId(), target })
}

/** Heads go with what they show, unnamed. */
export function deletesOf(host: Pick<Host, 'newId'>, names: readonly Name[]): readonly SealedOp[] {
  const targets = [...new Set(names)].filter((name) => !name.startsWith(HEAD_NAME))
  return targets.map((target) => deleteOf(host, target))
}

/** All live names that a delete of these would empty; nothing is written. */
export async function emptiedBy(
  store: ScopeStore,
  host: Pick<Host, 'newId'>,
  names: readonly Name[],
): Promise<readonly Name[]> {
  let found: readonly Name[] = []
  if (names.length === 0) return found
  await store.commit(deletesOf(host, names), (ops, rows) => {
    const { emptied, results } = decide(ops, rows)
    // Registers in the order of their writing: that of their keys is one of hashes of texts.
    const seqOf = (name: Name): number => rows.registers.get(idIn('register', name) ?? '')?.seq ?? 0
    // Of what is gone already only marks still name their sources.
    found = emptied.filter((name) => !rows.deleted.has(name)).sort((one, other) => seqOf(one) - seqOf(other))
    return nothingWritten(results)
  })
  return found
}

/**
 * As `allOrNone`, for deletes that name all that they empty, leaves aside: where they would empty
 * more, nothing is written, and each op is a conflict. Deletes of what is gone already write
 * nothing.
 */
export const closed: Decide = (ops, rows) => {
  const decision = allOrNone(ops, rows)
  const named = new Set(ops.map(({ envelope }) => envelope.target))
  const fresh = decision.emptied.filter((name) => !rows.deleted.has(name))
  if (fresh.some((name) => !named.has(name) && !LEAF.test(name)))
    return nothingWritten(ops.map(() => ({ status: 'conflict', version: null })))
  const isOver = fresh.length === 0 && ops.every(({ envelope }) => envelope.kind === 'delete')
  return isOver ? nothingWritten(decision.results) : decision
}

/** Commits deletes in a session's scope, and beside the last of them another secret. */
export function commitDeletes(
  store: ScopeStore,
  host: Pick<Host, 'newId' | 'newSecret'>,
  targets: readonly Name[],
): ReturnType<ScopeStore['commit']> {
  return commitBeside(
    store,
    host,
    targets.map((target) => deleteOf(host, target)),
    withSecret,
  )
}

/**
 * Commits deletes in a session's scope by `closed`, and another secret beside the last of them,
 * where they empty anything that was here.
 *
 * @returns a conflict of each where they would empty more than they name
 */
export function commitClosed(
  store: ScopeStore,
  host: Pick<Host, 'newId' | 'newSecret'>,
  deletes: readonly SealedOp[],
): ReturnType<ScopeStore['commit']> {
  return commitBeside(store, host, deletes, closedBeside)
}

function commitBeside(
  store: ScopeStore,
  host: Pick<Host, 'newSecret'>,
  deletes: readonly SealedOp[],
  rule: Decide,
): ReturnType<ScopeStore['commit']> {
  const { opId = '' } = deletes.at(-1)?.envelope ?? {}
  // Also where there is none yet: a writer who is about to store one has read what is deleted.
  return store.commit([...deletes, putSecret(opId, newKey(host))], rule)
}

/** As `closed`, but the last op, which puts the secret, is none of its own: it has no row. */
export const closedBeside: Decide = (ops, rows) => {
  const decision = closed(ops.slice(0, -1), rows)
  // Names of the user's are not of this scope: where nothing showed them, nothing was hashed.
  const isHere = decision.emptied.some((name) => !name.startsWith(SHARED))
  return isHere ? besideLast(ops, decision) : decision
}
