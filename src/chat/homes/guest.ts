/** What becomes of what a guest has at an edge; loaded when somebody signs in or out. */
import type { Client } from '../../client/client.ts'
import { grouped } from '../../features/grouped.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { ChatPlatform } from '../settings.ts'
import type { LeftEdge, Lost, SigningIn, SigningOut } from './edge.ts'
import { checkSubject, type EdgeAccess, type EdgeAccessParts } from './edge-access.ts'
import type { Outbox, OutboxEntry } from './outbox.ts'

/** How long a sign-in waits for what is on its way, in milliseconds. */
const SEND_MS = 3_000
/** How long it waits for the edge to give what a guest has to the user. */
const CLAIM_MS = 10_000

type GuestParts = Pick<EdgeAccessParts, 'platform' | 'name'>

/**
 * Moves what a guest has at an edge to the user. Idempotent.
 *
 * @param user the user's
 * @returns new ids of sessions
 * @throws ERR_STORAGE: the edge was not reached; ERR_TIMEOUT: it does not answer
 */
export async function claimGuest(
  { platform, name }: GuestParts,
  user: Client,
  guestToken: string,
): Promise<ReadonlyMap<string, string>> {
  // What becomes of it may not be heard of: it is no reason then to send all by another guest's.
  platform.storage.setItem(`${name}/claimed`, guestToken)
  try {
    const { sessions } = await within(platform, CLAIM_MS, late(), (signal) =>
      user.me.claim(guestToken, { signal }),
    )
    return new Map(sessions.map(({ from, to }) => [from, to]))
  } catch (error) {
    // A token that holds no more: what it was for cannot be reached by anybody.
    if (isPlimsollError(error, 'ERR_INVALID_ARGUMENT')) return new Map()
    throw error
  }
}

/** Gives what waits of a guest to who signs in. @returns as `Edge.handOver` */
export async function handOverOf(
  outbox: Outbox,
  access: EdgeAccess,
  parts: EdgeAccessParts,
  { token, userId }: SigningIn,
): Promise<ReadonlyMap<string, string>> {
  const { identity, src, platform } = parts
  const subject = checkSubject(undefined, token)
  const owner = `${src} ${userId ?? identity.owner}`
  const isClaim = (): boolean => token !== undefined && identity.guestToken !== undefined
  await within(platform, SEND_MS, unsent(), async (signal) => {
    // Only by the guest's own token can it be sent, or else as the user's.
    await outbox.rewrite(
      (entry) => (isClaim() ? entry : { ...entry, owner, subject: entry.subject ?? subject }),
      { signal },
    )
    if (isClaim()) await outbox.flush()
  })
  const { guestToken } = identity
  if (token === undefined || guestToken === undefined) return new Map()
  if (outbox.entries.some((entry) => entry.subject === undefined)) throw unsent()
  return claimGuest(parts, access.clientOf(token), guestToken)
}

/** Runs something for as long as all tabs may wait for it. @throws `late` */
async function within<Done>(
  { sleep }: ChatPlatform,
  ms: number,
  late: PlimsollError,
  run: (signal: AbortSignal) => Promise<Done>,
): Promise<Done> {
  const ended = new AbortController()
  const tooLate = sleep(ms, ended.signal).then(() => {
    ended.abort(late)
    throw late
  })
  try {
    return await Promise.race([run(ended.signal), tooLate])
  } finally {
    ended.abort()
  }
}

/**
 * Runs something while no tab asks for a guest's token: what is sent by it would be there twice.
 *
 * @throws ERR_TIMEOUT: a tab does, and the edge does not answer
 */
export async function withoutGuest<Done>(
  { platform, name }: GuestParts,
  run: () => Promise<Done>,
): Promise<Done> {
  const ended = new AbortController()
  const { signal } = ended
  platform.sleep(CLAIM_MS, signal).then(
    () => ended.abort(late()),
    () => {},
  )
  try {
    return await platform.locks.request(`${name}/guest`, { signal }, run)
  } finally {
    ended.abort()
  }
}

function late(): PlimsollError {
  return new PlimsollError('ERR_TIMEOUT', 'identify: the edge did not answer in time; try again')
}

/** Why nobody is signed in yet: nobody but the guest may send or drop what is not there. */
export function unsent(): PlimsollError {
  return new PlimsollError(
    'ERR_STORAGE',
    'identify: messages of the guest were not sent, or were refused; try again once none is left',
  )
}

/** Ends what waits of who signs out and would find it no more. @returns as `Edge.signOut` */
export async function signOutOf(
  outbox: Outbox,
  access: EdgeAccess,
  parts: EdgeAccessParts,
  { erase, force, dryRun }: SigningOut,
): Promise<LeftEdge> {
  const { all, entries } = outbox
  // A guest's are found again by nobody.
  const ends = erase ? all : entries.filter(({ subject }) => !subject && parts.identity.isGuest)
  const lost = force && !dryRun ? [] : lostOf(ends)
  if (dryRun || lost.length > 0) return { lost }
  for (const { id } of ends) await outbox.drop(id)
  return { lost, eraseGuest: erase ? erasureOf(access, parts) : undefined }
}

/** What would be lost with these, by session. */
function lostOf(entries: readonly OutboxEntry[]): readonly Lost[] {
  return grouped(entries, ({ sessionId }) => sessionId).map((all) => {
    const refused = all.filter(({ problem }) => problem).length
    return { sessionId: all[0]?.sessionId as string, waiting: all.length - refused, refused }
  })
}

/**
 * What removes what a guest has there, where it can be reached, also once nobody has the token here
 * any more: without it nobody can read that.
 */
export function erasureOf(
  access: EdgeAccess,
  { identity: { guestToken }, token, getToken }: EdgeAccessParts,
): LeftEdge['eraseGuest'] {
  if (guestToken === undefined || token() !== undefined || getToken()) return undefined
  const { me } = access.clientOf(guestToken)
  return async () => {
    await me.erase().catch(() => {})
  }
}
