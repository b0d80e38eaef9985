import { headsShowing, ownKey } from '../forgetting/shown.ts'
import { shownKeyIn } from '../forgetting/shown-in.ts'
import { isKey, SECRET } from '../kernel/context/secret.ts'
import { decide, nothingWritten } from '../kernel/log/decide.ts'
import { HEAD_NAME, SHARED } from '../kernel/log/message.ts'
import type { Host } from '../ports/host.ts'
import { idIn, type Name, type Scope, type SealedOp } from '../ports/op.ts'
import type { Rows, ScopeStore } from '../ports/store.ts'
import { jsonIn } from '../text/json-in.ts'
import { asking } from './replica.ts'

export interface CascadeParts {
  /** Contract: opens a scope of the user, so that what is written waits for its home. */
  readonly open: (scope: Scope) => ScopeStore
  /** Contract: the scopes of the user that are here. */
  readonly scopes: () => Promise<readonly Scope[]>
  readonly host: Pick<Host, 'newId' | 'newSecret'>
}

/**
 * Deletes what derives in other scopes of the user from what is gone in one of them: in the user's
 * own what was noted of a session, or handed over by it; in sessions the heads that showed what is
 * the user's. Who forgot it emptied what was known there; what this device had made of it by then
 * was not. Idempotent.
 *
 * @param gone names that a page of that scope emptied, and `user:` names that it shows
 */
export async function cascade(parts: CascadeParts, scope: Scope, gone: readonly Name[]): Promise<void> {
  const { sessionId, ...user } = scope
  if (sessionId !== undefined) {
    const shown = gone.flatMap((name) => idIn('user', name) ?? [])
    const [here, there] = await withStore(parts, user, async (store) => {
      const names = gone.filter((name) => !name.startsWith(SHARED) && !name.startsWith(HEAD_NAME))
      return [await deleted(store, parts.host, names), await deletedOf(store, shown)] as const
    })
    if (here.length > 0) await cascade(parts, user, here)
    if (there.length > 0) await inSessions(parts, user, [scope], there)
    return
  }
  const keys = gone.flatMap((name) => idIn('register', name) ?? [])
  if (keys.length > 0) await inSessions(parts, user, await parts.scopes(), keys)
}

/** @param keys of registers of the user that are gone */
async function inSessions(
  parts: CascadeParts,
  user: Scope,
  scopes: readonly Scope[],
  keys: readonly string[],
): Promise<void> {
  // What two devices began is shown under two keys, of which who deleted it knew one.
  const own = keys.map(ownKey).filter((key, place) => key !== keys[place])
  const rows = await withStore(parts, user, (store) => Promise.all(own.map((key) => store.register(key))))
  // What was written again since under its name shows rightly.
  const now = rows.flatMap((row) => (row && shownKeyIn(row)) ?? [])
  // A session that handed one over has its own, under the same key.
  const names = keys.flatMap((key): Name[] => [`${SHARED}${key}`, `register:${key}`])
  for (const scope of scopes) {
    if (scope.sessionId === undefined) continue
    const gone = await withStore(parts, scope, async (store) => {
      const { others } = own.length > 0 ? await headsShowing(store, keys) : { others: [] }
      const heads = others.filter(({ shown }) => shown.some((one) => !now.includes(one)))
      return deleted(store, parts.host, [...names, ...heads.map(({ key }): Name => `register:${key}`)])
    })
    if (gone.length > 0) await cascade(parts, scope, gone)
  }
}

async function withStore<Result>(
  { open }: CascadeParts,
  scope: Scope,
  work: (store: ScopeStore) => Promise<Result>,
): Promise<Result> {
  const store = open(scope)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Deletes those from which anything derives here that is there. @returns all that went */
async function deleted(
  store: ScopeStore,
  { newId, newSecret }: CascadeParts['host'],
  names: readonly Name[],
): Promise<readonly Name[]> {
  const ops = names.map((target) => deleteOf(target, newId()))
  let gone: readonly Name[] = []
  await store.commit([...ops, asking(SECRET)], (_, rows) => {
    const live = ops.filter(({ envelope: { target } }) => hasDerived(target as Name, rows))
    const { opId } = live.at(-1)?.envelope ?? {}
    const decision = decide(live, rows)
    gone = decision.emptied
    const seq = decision.log.at(-1)?.seq
    if (opId === undefined || seq === undefined) return decision
    const { body } = rows.registers.get(SECRET) ?? { body: null }
    // One that is sealed cannot be put here, nor tried by who has not its key.
    const isPlain = body === null || isKey(jsonIn(body))
    const isSession = names.some((name) => name.startsWith(SHARED))
    if (!isPlain || !isSession) return decision
    const secret = { key: SECRET, version: opId, seq, body: JSON.stringify(newSecret()) }
    return { ...decision, registers: [...decision.registers, secret] }
  })
  return gone
}

function hasDerived(name: Name, { dependents, registers }: Rows): boolean {
  const isThere = (one: Name): boolean => registers.get(idIn('register', one) ?? '')?.body != null
  return [name, ...(dependents.get(name) ?? [])].some(isThere)
}

/** Which of these registers are deleted. */
async function deletedOf(store: ScopeStore, keys: readonly string[]): Promise<readonly string[]> {
  let gone: readonly string[] = []
  if (keys.length === 0) return gone
  await store.commit(keys.map(asking), (_, { deleted }) => {
    gone = keys.filter((key) => deleted.has(`register:${key}`))
    return nothingWritten([])
  })
  return gone
}

function deleteOf(target: Name, opId: string): SealedOp {
  return { envelope: { opId, kind: 'delete', ids: [], target }, bodies: [] }
}
