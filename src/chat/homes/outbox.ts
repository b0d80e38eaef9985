import { isUnreachable, PlimsollError } from '../../ports/errors.ts'
import type { ChatLocks, Network } from '../settings.ts'
import type { OutgoingMessage } from './home.ts'
import type { RowStore } from './idb-rows.ts'
import { mayBe } from './identity.ts'
import { problemOf } from './problem.ts'

/** A message that waits to be sent to an edge; sent again under its id it is the same. */
export interface OutboxEntry extends OutgoingMessage {
  /** Who used the widget when it was said, at which edge. */
  readonly owner: string
  /** Whom the page's tokens named then: nobody else's token sends it. As `Identity.subject`. */
  readonly subject?: string | undefined
  readonly sessionId: string
  /** Of the session, where this is its first message. */
  readonly title?: string
}

export interface OutboxParts {
  readonly store: RowStore<OutboxEntry>
  /** Contract: who says something now. */
  readonly author: () => Promise<Pick<OutboxEntry, 'owner' | 'subject'>>
  /** Contract: whether an entry may be of who uses the widget now. */
  readonly isOwn: (entry: OutboxEntry) => boolean
  /** Contract: runs what adds an entry. @throws where nothing is to be added any more */
  readonly writing: (write: () => Promise<void>) => Promise<void>
  readonly locks: ChatLocks
  /** Held while messages are sent, so that of several tabs one sends. */
  readonly lockName: string
  readonly network: Network
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Contract: sends a message, durable when it resolves; sent again it is written once. */
  readonly send: (entry: OutboxEntry) => Promise<void>
  /** Contract: told of each session of which messages were sent, once all were. */
  readonly onSent: (sessionId: string) => void
}

/** Milliseconds between two tries while the page thinks that it is online. */
const WAITS = [2_000, 5_000, 15_000, 60_000]
/** Refusals that say nothing against the message. */
const LATER: ReadonlySet<string> = new Set([
  'ERR_OFFLINE',
  'ERR_OVERLOADED',
  'ERR_RATE_LIMIT',
  'ERR_UNAUTHENTICATED',
])

/** Messages on their way to an edge: kept until they are there, sent in their order. */
export class Outbox {
  readonly #parts: OutboxParts
  readonly #listeners = new Set<() => void>()
  readonly #closed = new AbortController()
  readonly #unsubscribe: () => void
  #entries: readonly OutboxEntry[] = []
  #flushing: Promise<void> | undefined
  #again = false
  #failures = 0
  /** Whether there is a network, and nobody answered when something was sent last. */
  isAway = false

  constructor(parts: OutboxParts) {
    this.#parts = parts
    this.#unsubscribe = parts.network.subscribe(() => void this.flush())
  }

  /** Reads what waits, and begins to send it. */
  async open(): Promise<void> {
    await this.#read()
    void this.flush()
  }

  /** What waits or was refused, of who uses the widget now. */
  get entries(): readonly OutboxEntry[] {
    return this.#entries.filter(this.#parts.isOwn)
  }

  /** The same, of everybody. */
  get all(): readonly OutboxEntry[] {
    return this.#entries
  }

  /** The same, of one session. The same list until something changes. */
  of(sessionId: string): readonly OutboxEntry[] {
    return this.entries.filter((entry) => entry.sessionId === sessionId)
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Keeps a message until it is sent; durable when it resolves.
   *
   * @param writer as `AppendOptions.by`
   * @throws as {@link RowStore.put}, and what `writing` throws; ERR_UNAUTHENTICATED: the page names
   * somebody else than the writer
   */
  async add(entry: Omit<OutboxEntry, 'owner' | 'subject'>, writer?: string): Promise<void> {
    const { store, author, writing } = this.#parts
    const by = await author()
    if (!mayBe(writer, by.subject))
      throw new PlimsollError('ERR_UNAUTHENTICATED', 'chat: who wrote it is not signed in any more')
    await writing(() => store.put({ ...entry, ...by }))
    await this.#read()
    void this.flush()
  }

  /**
   * Writes again what waits of who uses the widget, or was refused, while no tab sends it.
   *
   * @param change gives undefined of what is to be let go of
   * @throws the signal's reason: a tab has not come to its end meanwhile, and nothing is written
   */
  async rewrite(
    change: (entry: OutboxEntry) => OutboxEntry | undefined,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    const { store, isOwn, locks, lockName } = this.#parts
    await locks.request(lockName, options, async () => {
      for (const entry of await store.list()) {
        const changed = isOwn(entry) ? change(entry) : entry
        if (!changed) await store.remove(entry.id)
        else if (changed !== entry) await store.replace(changed)
      }
    })
    await this.#read()
  }

  /** Sends a refused one again, as it is by then: another tab may have given it away. */
  async retry(id: string): Promise<void> {
    await this.rewrite((entry) => {
      const { problem: _, ...waiting } = entry
      return entry.id === id ? waiting : entry
    })
    this.#failures = 0
    await this.flush()
  }

  async drop(id: string): Promise<void> {
    await this.#parts.store.remove(id)
    await this.#read()
  }

  /** Sends what waits, in order. Never rejects; what is added meanwhile is sent too. */
  flush(): Promise<void> {
    this.#again = true
    this.#flushing ??= this.#run().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#unsubscribe()
    this.#listeners.clear()
    await this.#flushing
    await this.#parts.store.close()
  }

  async #run(): Promise<void> {
    const { locks, lockName, network } = this.#parts
    const { signal } = this.#closed
    while (this.#again && !signal.aborted && network.isOnline()) {
      this.#again = false
      try {
        const isDone = await locks.request(lockName, { signal }, () => this.#sendAll())
        if (!isDone) this.#later()
      } catch {
        // The page is closed, or its store fails: what waits stays.
      }
    }
  }

  /** @returns whether nothing waits any more */
  async #sendAll(): Promise<boolean> {
    const { store, isOwn, send, onSent } = this.#parts
    const sent = new Set<string>()
    let isDone = true
    let isAway = false
    // Read again: another tab may have sent some of them.
    for (const entry of await store.list()) {
      if (entry.problem || this.#closed.signal.aborted || !isOwn(entry)) continue
      try {
        await send(entry)
        this.#failures = 0
      } catch (error) {
        const problem = problemOf(error)
        if (LATER.has(problem.code) || isUnreachable(error) || problem.code === 'ERR_TIMEOUT') {
          isDone = false
          isAway = isUnreachable(error) && this.#parts.network.isOnline()
          break
        }
        // It may be dropped by now, by who has signed out.
        await store.replace({ ...entry, problem })
        continue
      }
      await store.remove(entry.id)
      sent.add(entry.sessionId)
    }
    this.isAway = isAway
    await this.#read()
    for (const sessionId of sent) onSent(sessionId)
    return isDone
  }

  /** Tries again after a while; sooner where the network says that it is back. */
  #later(): void {
    const ms = WAITS[Math.min(this.#failures++, WAITS.length - 1)] ?? 0
    this.#parts.sleep(ms, this.#closed.signal).then(
      () => this.flush(),
      () => {},
    )
  }

  async #read(): Promise<void> {
    this.#entries = await this.#parts.store.list()
    for (const listener of [...this.#listeners]) listener()
  }
}
