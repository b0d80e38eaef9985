import { AUDIT, writeAudit } from '../../features/audit.ts'
import { LIVE } from '../../features/facts/live.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import { valueIn } from '../../kernel/log/bodies.ts'
import { decide } from '../../kernel/log/decide.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { checkUser } from '../../kernel/memory.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Memory, UserScope } from '../../ports/memory.ts'
import type { Scope } from '../../ports/op.ts'
import { SESSION } from '../../ports/session.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import { memoryOf } from '../kernel-of.ts'
import { certificateOf, countsOf, type Found, NAMED } from './certificate.ts'

/** Sessions that are erased at once: at the edge each of them is an object of its own. */
const AT_ONCE = 8

/** As much of a memory as erasing needs. */
export type EraseParts = Pick<KernelMemory, 'store' | 'host' | 'parts'>

/**
 * Removes all of a user from the store: every session, those that no list names included, then what
 * they share. A row in each scope that says that it was erased is left, with its ids, and in the
 * user's audit the record of this call alone. Idempotent: repeating it says `already`, and where
 * the process ended in between, the same call goes on. Calls of the user's sessions that are under
 * way, here or in another tab, may write again: end them first.
 *
 * @returns how much was removed, and who may hold something yet; no text
 * @throws ERR_INVALID_ARGUMENT; as the store: then some of it may be there, and the same call goes
 * on
 */
export async function eraseUser(memory: Memory, user: UserScope): Promise<Certificate> {
  return eraseUserIn(memoryOf('eraseUser', memory), checkUser('eraseUser', user))
}

/** What a scope held before it was erased. */
export interface Held {
  readonly isEmpty: boolean
  readonly messages: number
  readonly facts: number
}

/** Erases a session; its row of the erase is left, so that it is known to be erased. Idempotent. */
export async function eraseSession({ store, host, parts }: EraseParts, scope: Scope): Promise<Held> {
  await Promise.all(parts.map((part) => part.idle?.(scope)))
  const session = store.open(scope)
  const held = await heldBy(session)
  // In any case: attachments, and what was derived, may be there without any row.
  await session.commit([sealOp({ kind: 'erase', opId: host.newId() })], decide)
  await session.close()
  return held
}

/**
 * Erases all of a user: every session, those that no list names included, then what they share. The
 * user's scope is erased last, in one commit with the record of it: so whatever it ends at, the
 * same call goes on.
 *
 * @param erase Contract: erases one session; idempotent. Eight are erased at once. Default: in this
 * store
 */
export async function eraseUserIn(
  parts: EraseParts,
  user: Scope,
  erase = (sessionId: string): Promise<Held> => eraseSession(parts, { ...user, sessionId }),
): Promise<Certificate> {
  const { store, host } = parts
  const home = store.open(user)
  const first: string[] = []
  let [sessions, messages, facts] = [0, 0, 0]
  const ids = [...(await sessionsOf(store, home, user))]
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE)
    // One that fails must not leave others going on behind its answer.
    for (const [index, ended] of (await Promise.allSettled(some.map((id) => erase(id)))).entries()) {
      if (ended.status === 'rejected') throw ended.reason
      const held = ended.value
      if (held.isEmpty) continue
      if (first.length < NAMED) first.push(some[index] as string)
      sessions++
      messages += held.messages
      facts += held.facts
    }
  }
  const held = await heldBy(home)
  facts += held.facts
  const found: Found = {
    sessions: { count: sessions, first },
    messages: { count: messages, first: [] },
    facts: { count: facts, first: [] },
  }
  const already = sessions === 0 && held.isEmpty
  if (!already)
    await writeAudit(home, host, { action: 'erase', target: user.userId, counts: countsOf(found) }, [
      { kind: 'erase', opId: host.newId() },
    ])
  await home.close()
  return certificateOf(host, 'erase', user.userId, already, found)
}

/** What was found of one session, for its certificate and its record. */
export function foundIn(sessionId: string, { isEmpty, messages, facts }: Held): Found {
  return {
    sessions: { count: isEmpty ? 0 : 1, first: isEmpty ? [] : [sessionId] },
    messages: { count: messages, first: [] },
    facts: { count: facts, first: [] },
  }
}

/** Whether a scope holds anything but that it was erased; attachments alone are not told. */
async function heldBy(scope: ScopeStore): Promise<Held> {
  const { seq, ordinal, indexed } = await scope.head()
  const facts = indexed ? await liveIn(scope) : 0
  if (ordinal > 0 || seq === 0) return { isEmpty: seq === 0, messages: ordinal, facts }
  const { rows, more } = (await readable(scope.changesSince(0))) ?? { rows: [], more: true }
  const isEmpty =
    !more && rows.every(({ kind, id }) => kind === 'erase' || (kind === 'put' && id.startsWith(AUDIT)))
  return { isEmpty, messages: 0, facts }
}

/** How many facts hold. What cannot be decrypted nobody can count; it is erased all the same. */
async function liveIn(scope: ScopeStore): Promise<number> {
  return (await readable(scope.sums([LIVE])))?.get(LIVE)?.count ?? 0
}

/** Undefined: the key is a wrong one. */
async function readable<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  return reading.catch((error: unknown) => {
    if (isPlimsollError(error, 'ERR_DECRYPT')) return undefined
    throw error
  })
}

/** Ids of a user's sessions: those that are listed, and those to which anything was written. */
async function sessionsOf(store: Store, home: ScopeStore, user: Scope): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (let after: Scope | undefined; ; ) {
    const page = await store.scopes(after)
    for (const { tenant, userId, sessionId } of page)
      if (userId === user.userId && tenant === user.tenant && sessionId !== undefined) ids.add(sessionId)
    after = page.at(-1)
    if (after === undefined) break
  }
  for (let after: string | undefined; ; ) {
    // Under a wrong key nobody can say what is listed: what the store has is erased.
    const page = (await readable(home.registers(SESSION, after))) ?? []
    // Of those that were deleted a register without a value is left.
    for (const row of page) if (valueIn(row) !== null) ids.add(row.key.slice(SESSION.length))
    after = page.at(-1)?.key
    if (after === undefined) return ids
  }
}
