import type { Client } from '../../client/client.ts'
import { type Network, webNetwork } from '../../platform/tabs.ts'
import { webHost } from '../../platform/web.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { isUnreachable, PlimsollError } from '../../ports/errors.ts'
import { SESSION, type SessionInfo } from '../../ports/session.ts'
import type { Store } from '../../ports/store.ts'
import type { Transport } from '../../ports/sync.ts'
import type { DexieStore } from '../../stores/indexed-db.ts'
import { adopt } from '../../sync/adopt.ts'
import { httpTransport } from '../../sync/http.ts'
import { readScopes } from '../../sync/read.ts'
import { type Refusals, refusalsOf } from '../../sync/refusals.ts'
import type { Refused } from '../../sync/refused.ts'
import { type SignOutOptions, signOut } from '../../sync/sign-out.ts'
import { edgeSocket } from '../../sync/sockets.ts'
import { NO_GENERATION } from '../../sync/state.ts'
import type { SyncState } from '../../sync/status.ts'
import { type SyncedStore, type SyncOptions, sync } from '../../sync/sync.ts'
import type { HomeCertificate, HomeMemory } from '../ports.ts'
import { deleteDatabase } from './delete-database.ts'
import type { Drafts } from './drafts.ts'
import {
  answerUnseen,
  type Edge,
  type EdgeParts,
  type LeftEdge,
  type SigningIn,
  type SigningOut,
} from './edge.ts'
import { checkSubject, EdgeAccess, isOwn } from './edge-access.ts'
import { claimGuest, erasureOf, unsent, withoutGuest } from './guest.ts'
import type { Home, ListedSession } from './home.ts'
import { idbRows } from './idb-rows.ts'
import { loaded } from './load.ts'
import { type MemorySettings, memoryOver, openDatabase } from './open-local.ts'
import type { OutboxEntry } from './outbox.ts'
import { messageOf } from './refused-messages.ts'
import { type StoredHome, storedHome } from './stored-home.ts'
import { syncedSession } from './synced-session.ts'
import { waitFor } from './wait-for.ts'

export interface SyncedEdgeParts extends EdgeParts, MemorySettings {
  /** The sessions for which no answer was asked yet since something was said. */
  readonly unasked: Drafts
  /** Contract: as `Chat.identify`. */
  readonly identify: (token: string) => Promise<void>
  /** Contract: told that the list of sessions may be another one. */
  readonly onListed: () => void
  /**
   * Contract: told what the edge did not take or has deleted, and that what it never had may be
   * lost.
   */
  readonly onRefused: (error: PlimsollError) => void
}

/** Sessions that are fetched ahead, the newest. */
const MOST_AHEAD = 50
/** How long who signs in or out waits for what is on its way, in milliseconds. */
const SEND_MS = 3_000

/** An edge whose sessions are in this browser, too: what is written here is sent when it can be. */
export class SyncedEdge implements Edge {
  readonly owner: string
  readonly client: Client
  readonly home: Home
  readonly #parts: SyncedEdgeParts
  readonly #access: EdgeAccess
  readonly #database: DexieStore
  readonly #transport: Transport
  readonly #store: SyncedStore
  readonly #refusals: Refusals
  readonly #stored: StoredHome
  readonly #closed = new AbortController()
  readonly #ends: (() => void)[]
  /** Sessions that were fetched ahead. */
  readonly #ahead = new Set<string>()
  /** Sessions for which this tab is about to ask for an answer. */
  readonly #asking = new Set<string>()
  readonly #session: Home['session']
  /** Whether the page's token is about to sign a guest in, or could not. */
  #isIdentifying = false
  /** Whether this tab gives all to who signs in. */
  #isHandingOver = false
  /** Whether this tab has signed out, and removes what is left. */
  #isLeaving = false
  /** What is to be told once a session shows. Undefined: one does. */
  #untold: PlimsollError[] | undefined = []

  constructor(parts: SyncedEdgeParts) {
    const { platform, identity, onListed } = parts
    this.#parts = { ...parts, getToken: () => this.#tokens(parts) }
    this.owner = identity.owner
    this.#access = new EdgeAccess({ ...this.#parts, check: (token) => this.#checkUser(token) })
    this.#database = openDatabase(this.#name, platform)
    this.#transport = this.#transportTo(parts)
    this.#store = this.#syncFor(this.owner)
    this.#refusals = refusalsOf(this.#store)
    const store = this.#store
    const memory = memoryOver(this.#written(store), parts)
    this.#stored = storedHome({ store, memory, database: this.#database, userId: this.owner })
    const { shared, ...stored } = this.#stored
    const { client } = this.#access
    this.client = client
    const { newId, now } = platform
    const pull = (signal: AbortSignal): Promise<void> => {
      store.resume()
      return this.#rest(signal)
    }
    this.#session = (sessionId) =>
      syncedSession({
        store,
        refusals: this.#refusals,
        memory,
        client,
        newId,
        unasked: parts.unasked.own(),
        asking: this.#asking,
        locks: platform.locks,
        lockName: this.#lockOf(sessionId),
        scope: { userId: this.owner, sessionId },
        pull,
        rest: (signal) => this.#rest(signal),
        told: (certificate) => this.#told(certificate),
        attachment: (id) =>
          this.#transport.attachment({ sessionId, generation: NO_GENERATION, id }, this.#closed.signal),
        onGone: () =>
          this.#tell(new PlimsollError('ERR_NOT_FOUND', `chat: session ${sessionId} was deleted elsewhere`)),
      })
    this.home = {
      ...stored,
      kind: 'edge',
      takesUploads: true,
      delete: async (sessionId) => this.#told(await stored.delete(sessionId)),
      storage: () => {
        const own = stored.storage()
        return own === 'ok' && store.status.state === 'offline' && platform.network.isOnline() ? 'away' : own
      },
      onStorage(listener) {
        const ends = [stored.onStorage(listener), store.subscribe(listener)]
        return () => {
          for (const end of ends) end()
        }
      },
      // Which model an edge calls, it does not say.
      model: () => undefined,
      session: (sessionId) => {
        const untold = this.#untold ?? []
        this.#untold = undefined
        // It shows once who asks has it.
        queueMicrotask(() => {
          for (const error of untold) this.#tell(error)
        })
        return this.#session(sessionId)
      },
      list: async () => {
        await this.#arrival()
        return stored.list()
      },
      find: (sessionId) => this.#find(sessionId),
      memory: async () => {
        const [{ edgePanel }, { localPanel }] = await loaded(() =>
          Promise.all([import('./edge-panel.ts'), import('./local-panel.ts')]),
        )
        const all = edgePanel(client)
        const here = localPanel(await memory(), this.owner, now)
        return {
          ...here,
          forget: async (factId) => this.#told(await here.forget(factId)),
          // What is here may be a part of it.
          export: all.export,
          import: (chunks) => all.import(chunks).finally(() => store.resume()),
          eraseAll: () => this.#eraseAll(all),
        }
      },
      close: () => this.close(),
    }
    this.#ends = [
      this.#refusals.on('conflict', (refused) => void this.#giveUp(refused)),
      this.#refusals.on('rejected', (refused) => void this.#giveUp(refused)),
      store.subscribe(() => this.#ask()),
      platform.network.subscribe(() => {
        this.#isIdentifying = false
        void this.#fetchAhead(true)
      }),
      shared.watch?.(() => {
        onListed()
        void this.#fetchAhead()
      }) ?? (() => {}),
    ]
  }

  async open(): Promise<void> {
    const { unasked } = this.#parts
    const refusals = await this.#refusals.of({ userId: this.owner }).catch(async (error) => {
      if (this.#database.status().state !== 'lost') throw error
      // The edge has all that was sent.
      await this.#database.acceptLoss()
      this.#store.resume()
      if (unasked.all().length > 0) this.#tell(error)
      return []
    })
    for (const refused of refusals) await this.#giveUp(refused)
    void this.#fetchAhead()
    // There may be no network when the user signs out.
    import('./erase-browser.ts').catch(() => {})
    await this.#takeOver().catch(() => {})
  }

  answerUnseen(sessionId: string): Promise<void> {
    return answerUnseen({ session: this.#session }, sessionId)
  }

  async handOver(signingIn: SigningIn): Promise<ReadonlyMap<string, string>> {
    // A reply that began now would end with the claim: it is asked for as the user's.
    this.#isHandingOver = true
    try {
      return await this.#handOver(signingIn)
    } catch (error) {
      this.#isHandingOver = false
      this.#ask()
      throw error
    }
  }

  async #handOver({ token, userId = this.owner }: SigningIn): Promise<ReadonlyMap<string, string>> {
    const { identity, getToken } = this.#parts
    const isUnsent = (): boolean => token !== undefined && !identity.guestToken && !getToken()
    const adopt = async (): Promise<boolean> => {
      // A tab may have been given one meanwhile.
      if (!isUnsent()) return false
      await this.#adopt(userId)
      return true
    }
    if (isUnsent() && (await withoutGuest(this.#parts, adopt))) return new Map()
    const { guestToken } = identity
    if (userId === this.owner && guestToken === undefined) return new Map()
    // Only by the token of before it can be sent.
    this.#store.resume()
    await this.restSoon()
    if (this.#store.status.waiting > 0 || (await this.#hasRefused())) throw unsent()
    const isClaimed = token !== undefined && guestToken !== undefined
    const sessions = isClaimed
      ? await claimGuest(this.#parts, this.#access.clientOf(token), guestToken)
      : undefined
    await this.#empty({ force: true })
    return sessions ?? new Map()
  }

  async restSoon(): Promise<void> {
    const late = new AbortController()
    const { signal } = late
    const { platform } = this.#parts
    await Promise.race([this.#rest(signal), platform.sleep(SEND_MS, signal).catch(() => {})])
    late.abort()
  }

  async signOut({ erase, ...how }: SigningOut): Promise<LeftEdge> {
    const { done, lost } = await this.#empty(how)
    if (!done)
      return {
        lost: lost.map(({ scope: { sessionId }, waiting, refused }) => ({
          ...(sessionId !== undefined && { sessionId }),
          waiting,
          refused,
        })),
      }
    return {
      lost: [],
      eraseGuest: erase ? erasureOf(this.#access, this.#parts) : undefined,
      removeRest: () => this.#removeRest(),
    }
  }

  async close(): Promise<void> {
    this.#closed.abort()
    for (const end of this.#ends.splice(0)) end()
    await this.#store.close()
    await this.#database.close()
  }

  get #name(): string {
    return `${this.#parts.name}/synced/${this.#parts.src}`
  }

  /** Whether the edge has all that it takes. */
  get #isSent(): boolean {
    const { state } = this.#store.status
    return state === 'current' || state === 'conflict'
  }

  #transportTo({ src, platform: { fetch, WebSocket } }: SyncedEdgeParts): Transport {
    const token = async (refused?: string): Promise<string> => {
      try {
        return await this.#access.token(refused)
      } catch (error) {
        if (!isUnreachable(error)) throw error
        throw new PlimsollError('ERR_OFFLINE', 'chat: the edge cannot be reached', { cause: error })
      }
    }
    return httpTransport({
      url: src,
      token,
      fetch,
      // Those of a session are opened with it, once the edge has it.
      ...(WebSocket && {
        socket: edgeSocket({
          WebSocket,
          path: ({ sessionId }) => (sessionId === undefined ? '/v1/me/live' : undefined),
        }),
      }),
    })
  }

  #syncFor(userId: string): SyncedStore {
    const { network, now, newId } = this.#parts.platform
    const transport = this.#transport
    const either: Network = {
      isOnline: () => network.isOnline(),
      listen: (listener) => {
        const ends = [network.subscribe(listener), webNetwork.listen(listener)]
        return () => {
          for (const end of ends) end()
        }
      },
    }
    const host: SyncOptions['host'] = { ...webHost, now, newId }
    // Each tab asks for itself what it shows.
    const alone = { lock: false, channel: false } as const
    return sync({ store: this.#found(), transport, user: { userId }, network: either, host, ...alone })
  }

  /**
   * The page's tokens, which sign a guest in first: by them all that the guest has there would be
   * sent as the user's, who would have it twice once it is claimed.
   */
  #tokens({ getToken, identity, identify, onRefused }: SyncedEdgeParts): ReturnType<typeof getToken> {
    const own = getToken()
    if (!own || identity.guestToken === undefined) return own
    if (!this.#isIdentifying) {
      this.#isIdentifying = true
      const signIn = async (): Promise<void> => identify(await own())
      void signIn().catch(onRefused)
    }
    return undefined
  }

  /**
   * An edge that does not know of what is here is given all of it, so no token of anybody else is
   * used.
   *
   * @param token the page's; undefined: a guest's would be used
   * @throws ERR_UNAUTHENTICATED
   */
  #checkUser(token: string | undefined): void {
    const { identity } = this.#parts
    const { subject: known } = identity
    const subject = checkSubject(known, token)
    if (known === undefined || subject) identity.subject = subject
  }

  /** Another tab may have fetched some of it again before it heard that nobody is signed in. */
  async #removeRest(): Promise<void> {
    this.#isLeaving = true
    await this.#empty({ force: true })
    if ((await this.#isGone()) || (await this.#isEmpty())) {
      await this.close()
      // It is empty, and may stay.
      await deleteDatabase(this.#parts.platform, this.#name).catch(() => {})
    }
  }

  /**
   * The database; where it failed, only what is open of it can be sent. What arrives once another
   * tab has signed out is not written.
   */
  #found(): Store {
    const database = this.#database
    return {
      open: (scope) => {
        const log = database.open(scope)
        const commit = log.commit.bind(log)
        const checked: typeof commit = (ops, decide) =>
          commit(ops, (...seen) => {
            if (!this.#isLeaving) this.#access.checkOwner()
            return decide(...seen)
          })
        return Object.assign(log, { commit: checked })
      },
      oldestUnused: () => database.oldestUnused(),
      removeUnused: (until) => database.removeUnused(until),
      scopes: (after) =>
        database.scopes(after).catch((error) => {
          if (database.status().state === 'memory') return []
          throw error
        }),
    }
  }

  /** Empties what is here, unless what the database holds cannot be told. */
  async #empty(options: SignOutOptions): ReturnType<typeof signOut> {
    return (await this.#isGone()) ? { done: !options.dryRun, lost: [] } : signOut(this.#store, options)
  }

  /** Whether the database is gone, and nothing is left of it. @throws where that cannot be told */
  async #isGone(): Promise<boolean> {
    try {
      await this.#database.scopes()
      return false
    } catch (error) {
      if (this.#database.status().state === 'lost') return true
      throw error
    }
  }

  /** The store, as what a person changes is written to it. */
  #written({ open, ...store }: Store): Store {
    const writing = <Done>(write: () => Promise<Done>) => this.#access.writing(write)
    return {
      ...store,
      open(scope) {
        const log = open(scope)
        return { ...log, commit: (ops, decide) => writing(() => log.commit(ops, decide)) }
      },
    }
  }

  /** Resolves once nothing is on its way, or cannot be now. */
  #rest(signal: AbortSignal): Promise<void> {
    return waitFor(() => this.#store.status.state !== 'syncing', [this.#store.subscribe], signal)
  }

  /** A certificate of what is gone here, which says so where the edge has not heard of it yet. */
  async #told({ confirmed, pending, ...certificate }: Certificate): Promise<HomeCertificate> {
    await this.restSoon()
    if (this.#isSent) return { ...certificate, confirmed, pending }
    const left = confirmed.filter((holder) => holder !== 'store')
    const { signal } = this.#closed
    const arrival = waitFor(() => this.#isSent, [this.#store.subscribe], signal).then(() => !signal.aborted)
    return { ...certificate, confirmed: left, pending: ['store', ...pending], arrival }
  }

  /** Resolves once the list is here, or cannot be now. */
  async #arrival(): Promise<void> {
    if ((await this.#stored.shared.head()).seq === 0) await this.#rest(this.#closed.signal)
  }

  async #find(sessionId: string): Promise<ListedSession | undefined> {
    const { signal } = this.#closed
    let state: SyncState | undefined
    for (;;) {
      const found = await this.#stored.find(sessionId)
      if (found || state === 'current' || state === 'conflict') return found
      if ((state && state !== 'syncing') || signal.aborted)
        throw new PlimsollError('ERR_OFFLINE', `chat: session ${sessionId} is not in this browser`)
      // It may be on its way.
      await this.#rest(signal)
      state = this.#store.status.state
    }
  }

  /** What this page kept to be sent before it was synced. */
  async #takeOver(): Promise<void> {
    const { platform, name, src, identity } = this.#parts
    if (!platform.indexedDB) return
    const outbox = idbRows<OutboxEntry>(platform.indexedDB, `${name}/outbox`)
    const now = { src, owner: this.owner, subject: identity.subject }
    for (const entry of await outbox.list()) {
      if (!isOwn(entry, now)) continue
      const { id, sessionId, text, title } = entry
      const session = this.home.session(sessionId)
      await session.append({ id, role: 'user', content: text }, title === undefined ? {} : { title })
      await session.close()
      await outbox.remove(id)
    }
    await outbox.close()
  }

  /** Fetches what was not opened here yet, so that it is here without a network. */
  async #fetchAhead(isAgain = false): Promise<void> {
    if (isAgain) this.#ahead.clear()
    const sessions = await this.home.list().catch(() => [])
    if (this.#closed.signal.aborted) return
    const newest = sessions.toSorted((one, other) => other.createdAt - one.createdAt).slice(0, MOST_AHEAD)
    for (const { sessionId } of newest) {
      if (this.#ahead.has(sessionId)) continue
      this.#ahead.add(sessionId)
      this.#store.follow({ userId: this.owner, sessionId })()
    }
  }

  /** Has what was sent answered, of which nobody knows that it was asked for. */
  #ask(): void {
    if (!this.#isSent || this.#isHandingOver) return
    const { unasked, onSent, platform } = this.#parts
    for (const [sessionId] of unasked.all()) {
      if (this.#asking.has(sessionId)) continue
      this.#asking.add(sessionId)
      const { signal } = this.#closed
      // Where another tab asks for one, it may leave or fail before it comes to this one.
      platform.locks
        .request(this.#lockOf(sessionId), { signal }, async () => {})
        .then(
          () => {
            this.#asking.delete(sessionId)
            if (unasked.read(sessionId)) onSent(sessionId)
          },
          () => {},
        )
    }
  }

  #lockOf(sessionId: string): string {
    return `${this.#parts.name}/ask/${this.owner}/${sessionId}`
  }

  #tell(error: PlimsollError): void {
    if (this.#untold) this.#untold.push(error)
    else this.#parts.onRefused(error)
  }

  /** The edge has another value, or takes it never: what it has holds, and the person is told. */
  async #giveUp(refused: Refused): Promise<void> {
    if (messageOf(refused)) return
    const { mine, theirs, refusal } = refused
    const { key, kind } = refused.op
    const isConflict = 'conflict' in refusal
    const [own, there] = [mine, theirs].map((value) => (value as Partial<SessionInfo> | undefined)?.title)
    // The edge lists a session by what was said in it, where it has not heard of its title yet.
    const isUntitled = isConflict && key?.startsWith(SESSION) && there === ''
    try {
      if (isUntitled && own) await this.#refusals.resolve(refused, 'mine')
      else await this.#refusals.discard(refused)
    } catch {
      // Another tab did.
      return
    }
    // The edge wrote the same first: it takes a session off whose log was erased, for one.
    if (isUntitled || (isConflict && JSON.stringify(mine ?? null) === JSON.stringify(theirs ?? null))) return
    const reason = isConflict ? 'changed elsewhere first' : refusal.rejected
    this.#tell(new PlimsollError('ERR_CONFLICT', `chat: the edge did not take ${key ?? kind}: ${reason}`))
  }

  async #eraseAll(all: HomeMemory): ReturnType<HomeMemory['eraseAll']> {
    const certificate = await all.eraseAll()
    await this.#empty({ force: true })
    this.#store.resume()
    return certificate
  }

  /** Gives what nobody ever sent to who signs in, to be sent as theirs. */
  async #adopt(userId: string): Promise<void> {
    if (userId === this.owner) return
    // Of a database that failed nobody knows what would be left behind.
    await this.#database.scopes()
    // A guest's log is emptied in between, which is no op for the edge.
    this.#store.pause()
    const theirs = this.#syncFor(userId)
    theirs.pause()
    try {
      const left = await adopt({
        store: theirs,
        from: { userId: this.owner },
        to: { userId },
        host: { ...webHost, now: this.#parts.platform.now },
      })
      if (left.length > 0)
        throw new PlimsollError(
          'ERR_CONFLICT',
          `identify: ${left.length} ops of the guest could not be taken along`,
        )
    } catch (error) {
      this.#store.resume()
      throw error
    } finally {
      await theirs.close()
    }
    await this.#empty({ force: true })
  }

  /** Whether the edge refused something that nobody has looked after, also where it is not open. */
  async #hasRefused(): Promise<boolean> {
    for (const scope of await readScopes(this.#database))
      if (scope.userId === this.owner && (await this.#refusals.of(scope)).length > 0) return true
    return false
  }

  /** Whether nobody's sessions are in the database. */
  async #isEmpty(): Promise<boolean> {
    for (const scope of await readScopes(this.#database)) {
      const log = this.#database.open(scope)
      const { seq } = await log.head()
      await log.close()
      if (seq > 0) return false
    }
    return true
  }
}
