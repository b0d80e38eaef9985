/** Who uses a chat, as that changes: loaded when it does. */
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { ChatConversation } from './conversation/conversation.ts'
import type { ChatSessionList } from './conversation/session-list.ts'
import { deleteAdded } from './homes/delete-database.ts'
import { type Drafts, draftOf, NEW } from './homes/drafts.ts'
import type { Edge, LeftEdge, Lost } from './homes/edge.ts'
import { type Identity, type Move, subjectOf } from './homes/identity.ts'
import { loaded } from './homes/load.ts'
import type { LocalStore } from './homes/open-local.ts'
import type { Chat, SignedOut, SignOutOptions } from './open-chat.ts'
import type { ChatPlatform } from './settings.ts'

/** How long what shows then is waited for, in milliseconds: at first the list, for the newest. */
const LIST_MS = 1_500
/** How long who signs out waits for what ends then, in milliseconds. */
const END_MS = 3_000

const loadErase = () => import('./homes/erase-browser.ts')

export interface UsersParts {
  readonly conversation: ChatConversation
  readonly sessions: ChatSessionList
  readonly identity: Identity
  readonly drafts: Drafts
  /** Of what was added, where it is. */
  readonly places: Drafts
  /** All that is kept by conversation, those two too. */
  readonly kept: readonly Drafts[]
  readonly platform: ChatPlatform
  readonly name: string
  /** Contract: the edge; undefined: there is none. */
  readonly openEdge: () => Promise<Edge | undefined>
  /** Contract: what is kept in this browser alone; undefined: nothing is. */
  readonly openLocal: () => Promise<LocalStore | undefined>
  readonly usesLocal: () => boolean
  readonly move: (move: Move) => Promise<void>
  readonly closeHomes: () => Promise<void>
  readonly setToken: (token: string | undefined) => void
  /** Under it the storage says that this browser was used. */
  readonly localKey: string
}

/** As {@link Chat.identify}. */
export async function identify(parts: UsersParts, user: Parameters<Chat['identify']>[0]): Promise<void> {
  const { conversation, sessions, identity, platform } = parts
  const { session, loaded, isMissing, messages } = conversation.getSnapshot()
  const hasDraft = [parts.drafts, parts.places].some((each) => each.read(NEW) !== '')
  const isEmpty = loaded && !isMissing && messages.length === 0 && !hasDraft
  const token = 'token' in user ? user.token : undefined
  const named = 'userId' in user ? user.userId : subjectOf(user.token)
  const userId = named === '' ? undefined : named
  checkGuest(identity, userId)
  let claimed: ReadonlyMap<string, string> = new Map()
  const change = async (): Promise<void> => {
    const edge = await openOwnEdge(parts)
    // What another tab writes meanwhile would be left with the guest.
    const isDone = await platform.locks.request(identity.lockName, {}, async () => {
      await endMove(parts)
      // Somebody else may have signed in meanwhile.
      checkGuest(identity, userId)
      if (!isOwn(identity, edge)) return false
      forgetClaim(parts)
      claimed = (await edge?.handOver({ token, userId })) ?? claimed
      await parts.closeHomes()
      if (userId !== undefined) await moveTo(parts, userId)
      // Only then: who has none asks for another guest's.
      if (edge && token !== undefined) {
        identity.guestToken = undefined
        forgetClaim(parts)
        identity.subject = subjectOf(token) ?? ''
        parts.setToken(token)
      }
      return true
    })
    if (!isDone) {
      await parts.closeHomes()
      return change()
    }
    await sessions.reset()
  }
  try {
    await conversation.whileAway(change)
  } finally {
    // Nothing was said in it: their newest shows, as it would have at first.
    if (session && !isEmpty) {
      const shown = claimed.get(session.sessionId) ?? session.sessionId
      await within(platform, LIST_MS, conversation.open(shown, { home: session.home }))
    } else await showNewest(parts)
  }
}

/** Shows their newest conversation, as after a reload, or an empty one. */
async function showNewest({ conversation, sessions, platform }: UsersParts): Promise<void> {
  await within(platform, LIST_MS, sessions.refresh())
  const [newest] = sessions.getSnapshot().sessions
  await (newest ? conversation.open(newest.sessionId, newest) : conversation.create())
}

/** What is to be sent by another guest's token may be, or all is there. */
function forgetClaim({ platform, name }: UsersParts): void {
  platform.storage.removeItem(`${name}/claimed`)
}

/** Waits for something, for as long as a person may. */
async function within({ sleep }: ChatPlatform, ms: number, work: Promise<unknown>): Promise<void> {
  const late = new AbortController()
  try {
    await Promise.race([work, sleep(ms, late.signal).catch(() => {})])
  } finally {
    late.abort()
  }
}

/** As {@link Chat.signOut}. */
export async function signOut(
  parts: UsersParts,
  { erase = false, force = false, dryRun = false }: SignOutOptions,
): Promise<SignedOut> {
  const { conversation, sessions, identity, kept, platform, name } = parts
  const { session } = conversation.getSnapshot()
  const { guestEnd } = identity
  const stays = (lost: readonly Lost[]): SignedOut => ({
    ...{ done: false, lost },
    ...(guestEnd !== undefined && { guestEnd }),
  })
  parts.drafts.tell('asked')
  /** Signs out at the edge where nothing would be lost. */
  const atEdge = async (edge: Edge | undefined, isAsked = false): Promise<LeftEdge> => {
    if (isAsked || force) await edge?.restSoon?.()
    // Only then: another tab may write one meanwhile.
    const drafts = force && !dryRun ? new Set<string>() : draftsIn(parts)
    const isDry = isAsked || drafts.size > 0
    const left = await edge?.signOut({ erase, force, dryRun: isDry })
    return { ...left, lost: withDrafts(left?.lost ?? [], drafts) }
  }
  /** What a guest has in this browser alone is found again by nobody. */
  const erasesLocal = (): boolean => erase || (identity.isGuest && parts.usesLocal())
  if (dryRun || !force) {
    const { lost: there } = await atEdge(await openOwnEdge(parts), true)
    const lost = erase || !erasesLocal() ? there : await withLocal(there, sessions)
    // Nothing is ended by that: a reply goes on.
    if (dryRun || lost.length > 0) return stays(lost)
  }
  // Without a network it may be missing, and half of it all would be gone.
  if (erasesLocal()) await loaded(loadErase)
  let cleared: Promise<void> | undefined
  const change = async (): Promise<readonly Lost[]> => {
    // Before the lock is held, under which what they write waits.
    const edge = await opened(parts.openEdge)
    const local = erasesLocal() ? await opened(parts.openLocal) : undefined
    const leave = async (): Promise<readonly Lost[]> => {
      const { lost, eraseGuest, removeRest } = await atEdge(edge)
      if (lost.length > 0) return lost
      if (erasesLocal()) {
        const { eraseBrowser } = await loaded(loadErase)
        await eraseBrowser({ platform, name, owner: identity.owner, local })
      }
      parts.setToken(undefined)
      for (const each of kept) each.clear()
      cleared = deleteAdded(parts)
      // It is heard below.
      cleared.catch(() => {})
      forgetClaim(parts)
      const takeBack = identity.forget()
      await removeRest?.().catch((error) => {
        takeBack()
        throw error
      })
      // Else it says that theirs are here, for when they come back.
      if (erase) platform.storage.removeItem(parts.localKey)
      // Nothing is here any more, whether or not anybody answers.
      await within(platform, END_MS, Promise.all([parts.closeHomes(), eraseGuest?.()]))
      return lost
    }
    // What another tab writes meanwhile would be nobody's.
    const lost = await platform.locks.request(identity.lockName, {}, async () => {
      await endMove(parts).catch((error) => {
        // Where all is to stay in this browser, it may stay at two places.
        if (erase) throw error
      })
      if (!isOwn(identity, edge) || !isOwn(identity, local)) return undefined
      return leave().catch(async (error) => {
        // Only what is opened again finds what is left.
        await parts.closeHomes()
        throw error
      })
    })
    if (lost) return lost
    await parts.closeHomes()
    return change()
  }
  const lost = await conversation.whileAway(change, true)
  if (lost.length > 0) {
    if (session) await conversation.open(session.sessionId, { home: session.home })
    return stays(lost)
  }
  // They are signed out, though their drafts cannot be removed: a second call tries it again.
  await within(platform, LIST_MS, sessions.reset())
  await cleared
  return { done: true, lost: [] }
}

/** With the conversations that are in this browser alone. */
async function withLocal(lost: readonly Lost[], list: ChatSessionList): Promise<readonly Lost[]> {
  await list.refresh()
  const { sessions } = list.getSnapshot()
  return [
    ...lost,
    ...sessions
      .filter(({ home, sessionId }) => home === 'local' && !lost.some((one) => one.sessionId === sessionId))
      .map(({ sessionId }) => ({ sessionId, waiting: 0, refused: 0, local: true }) as const),
  ]
}

async function openOwnEdge(parts: UsersParts): Promise<Edge | undefined> {
  const edge = await opened(parts.openEdge)
  if (isOwn(parts.identity, edge)) return edge
  await parts.closeHomes()
  return opened(parts.openEdge)
}

/** A home; opened again where somebody signs in or out while it is being opened. */
async function opened<Home>(open: () => Promise<Home>): Promise<Home> {
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_UNAUTHENTICATED')) throw error
    }
  }
}

/** Whether a home is of who is here now: another tab may have changed that since it was opened. */
function isOwn({ owner }: Identity, home: { readonly owner: string } | undefined): boolean {
  return home === undefined || home.owner === owner
}

/** Names of the conversations in whose fields something stands, everybody's. */
function draftsIn({ drafts, places }: UsersParts): ReadonlySet<string> {
  return new Set([...drafts.all(), ...places.all()].map(([name]) => name))
}

function withDrafts(lost: readonly Lost[], names: ReadonlySet<string>): readonly Lost[] {
  const nameOf = ({ sessionId }: Lost): string =>
    sessionId === undefined ? NEW : draftOf({ home: 'edge', sessionId })
  const others = [...names].filter((name) => !lost.some((each) => nameOf(each) === name))
  return [
    ...lost.map((each) => (names.has(nameOf(each)) ? ({ ...each, draft: true } as const) : each)),
    ...others.map((name) => ({
      ...(name !== NEW && { sessionId: name.slice(name.indexOf('/') + 1) }),
      ...({ waiting: 0, refused: 0, draft: true } as const),
    })),
  ]
}

function checkGuest({ owner, isGuest }: Identity, userId: string | undefined): void {
  if (userId === undefined || owner === userId || isGuest) return
  throw new PlimsollError('ERR_INVALID_ARGUMENT', 'identify: another user is signed in: sign out first', {
    argument: 'userId',
  })
}

/**
 * Ends a move of local sessions that was begun, once no page is at it.
 *
 * @param signal ends the wait: who holds the lock may wait for what this opens
 */
export function finishMove(parts: UsersParts, signal: AbortSignal): Promise<void> {
  const { platform, identity } = parts
  return platform.locks.request(identity.lockName, { signal }, () => endMove(parts))
}

/** Ends a move that a page began and did not end: while the lock is held, none is at it. */
async function endMove({ identity: { moving }, move }: UsersParts): Promise<void> {
  if (moving) await move(moving)
}

async function moveTo({ identity, usesLocal, move }: UsersParts, userId: string): Promise<void> {
  if (identity.owner === userId) return
  const begun = identity.beginMove(userId)
  if (usesLocal()) await move(begun)
  else identity.endMove(begun)
}
