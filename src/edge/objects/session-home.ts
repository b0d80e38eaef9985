import { createMemory } from '../../create-memory.ts'
import { note, noteAll } from '../../features/facts/kept.ts'
import { type OtherSessions, Others } from '../../features/recall/others.ts'
import { FactNoter, type NotesFacts } from '../../features/slots.ts'
import { SHARED } from '../../kernel/log/message.ts'
import { provide } from '../../kernel/slot.ts'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import type { SyncOp } from '../../ports/sync.ts'
import type { EdgeMemory, EdgeSession } from '../features.ts'
import { isHeld } from '../replica/pull.ts'
import type { RefreshFailure, UserReplica } from '../replica/user-replica.ts'
import type { SessionRecord, SessionScope } from '../rows/session-record.ts'
import { askedOnce } from './asked-once.ts'
import { heldScope, type WrittenFact } from './held-scope.ts'
import type { SessionSettings } from './settings.ts'

export interface SessionHomeParts {
  readonly record: SessionRecord
  readonly settings: SessionSettings
  /** The object's own store. */
  readonly local: Store
  /**
   * Contract: gives the session's own scope as it is stored, for what says itself what its home
   * writes.
   */
  readonly log: () => ScopeStore
  readonly noter: NotesFacts
  readonly others: OtherSessions
  /** Contract: whether a name is of what was forgotten in the user's scope lately. */
  readonly isGone: (name: string) => boolean
  /** Contract: gives the project of the session, if it is in one. @throws ERR_DECRYPT */
  readonly project: () => string | undefined
  readonly replica: UserReplica
  /** Contract: how many heads that showed something of the user went since it was asked before. */
  readonly takeHeads: () => number
}

/** What a session confirms when it has pulled. */
export interface Synced {
  /** Up to which seq of the user's scope it holds nothing that was deleted there. */
  readonly seq: number
  /** How many of its heads went since it confirmed before, as long as its object was awake. */
  readonly heads: number
}

interface Opened {
  readonly system: string | undefined
  readonly memory: EdgeMemory
  session: EdgeSession | undefined
}

/**
 * The memory of the one session that an object holds: its log is here, and a copy of what its
 * user's sessions share.
 */
export class SessionHome {
  readonly scope: SessionScope
  readonly user: Scope
  readonly #parts: SessionHomeParts
  readonly #store: Store
  /**
   * For the instructions that were used last: a memory has its own, and most callers have always
   * the same.
   */
  #opened: Opened | undefined

  constructor(parts: SessionHomeParts) {
    const { record, local, replica } = parts
    this.#parts = parts
    this.scope = record.scope
    this.user = userOf(record.scope)
    this.#store = {
      open: (scope) => {
        if (scope.sessionId === undefined) return replica
        const { sessionId } = record.scope
        if (scope.sessionId === sessionId) return local.open(scope)
        // Other sessions live in objects of their own.
        return heldScope(local.open(scope), () => {
          throw new PlimsollError('ERR_NOT_FOUND', `session: ${scope.sessionId} lives elsewhere`)
        })
      },
      oldestUnused: () => local.oldestUnused(),
      removeUnused: (until) => local.removeUnused(until),
      // What is here of the user is a copy.
      scopes: async (after) => (await local.scopes(after)).filter(({ sessionId }) => sessionId !== undefined),
    }
  }

  get memory(): EdgeMemory {
    return this.#open(undefined).memory
  }

  /** The session's own rows. */
  get store(): ScopeStore {
    return this.#store.open(this.scope)
  }

  /** The same, for what replicas push and pull. */
  get log(): ScopeStore {
    return this.#parts.log()
  }

  /** @throws ERR_DECRYPT */
  get project(): string | undefined {
    return this.#parts.project()
  }

  /**
   * The session; with other instructions than those of the settings, if any are given. @throws
   * ERR_DECRYPT: its project is unreadable
   */
  session(system?: string): EdgeSession {
    const opened = this.#open(system)
    if (!opened.session) {
      const { project } = this
      opened.session = opened.memory.session(this.scope, project === undefined ? {} : { project })
    }
    return opened.session
  }

  /**
   * Looks whether what the user's sessions share has changed. @returns why that failed: then what
   * was known before shows on
   */
  refresh(): Promise<RefreshFailure | undefined> {
    const { replica, settings } = this.#parts
    const { replicaMaxAge } = settings
    return replica.refresh(replicaMaxAge === undefined ? {} : { olderThan: replicaMaxAge })
  }

  /** Pulls, as {@link UserReplica.sync}. @returns what the session confirms by that */
  async sync(): Promise<Synced> {
    await this.#parts.replica.sync()
    return this.synced()
  }

  /** What the session confirms as it is. */
  async synced(): Promise<Synced> {
    const { replica, takeHeads } = this.#parts
    return { seq: (await replica.head()).seq, heads: takeHeads() }
  }

  /** When the session last asked its user's object, Unix milliseconds. */
  get pulledAt(): number | undefined {
    return this.#parts.replica.pulledAt
  }

  poke(): void {
    this.#parts.replica.poke()
  }

  /**
   * Tells the user of facts of the session, whether or not it was told before. Idempotent.
   *
   * @param facts Default: all
   */
  noteFacts(facts?: ReadonlyMap<string, WrittenFact>): Promise<void> {
    const { sessionId } = this.scope
    const parts = { store: this.store, user: this.#parts.replica, sessionId, host: webHost }
    if (!facts) return noteAll(parts)
    return note({ ...parts, isNew: (key) => facts.get(key)?.isNew === true }, [...facts.keys()])
  }

  /**
   * What tells of an op whether it shows something that the user's sessions share no more.
   *
   * @param ops all that it is asked about
   * @throws ERR_OVERLOADED, ERR_STORAGE, ERR_TIMEOUT: nobody can say
   */
  async showsDeleted(ops: readonly Pick<SyncOp, 'envelope'>[]): Promise<(op: SyncOp) => boolean> {
    const { replica, isGone } = this.#parts
    const { sessionId } = this.scope
    const named = new Set(ops.flatMap(({ envelope: { sources = [] } }) => sources))
    const keys = [...named].flatMap((name) => (name.startsWith(SHARED) ? name.slice(SHARED.length) : []))
    // What no session holds, none shows.
    const held = keys.filter((key) => isHeld(key, sessionId))
    const failure = held.length > 0 ? await this.refresh() : undefined
    if (failure) throw new PlimsollError(failure.code, failure.message)
    const deleted = new Set<string>()
    for (const key of held) if ((await replica.register(key))?.body === null) deleted.add(SHARED + key)
    return ({ envelope: { sources = [] } }) => sources.some((name) => deleted.has(name) || isGone(name))
  }

  /**
   * Empties the copy of what the user's sessions share: nobody would tell it what is forgotten once
   * its session is gone.
   */
  forgetUser(): Promise<void> {
    return this.#parts.replica.clear()
  }

  #open(given: string | undefined): Opened {
    const { settings } = this.#parts
    const system = given ?? settings.memory.system
    if (!this.#opened || this.#opened.system !== system) {
      const { system: _, use = [], ...options } = settings.memory
      const memory: EdgeMemory = createMemory({
        ...options,
        ...(system !== undefined && { system }),
        use: [
          ...use,
          {
            name: 'beside',
            provides: [
              provide(FactNoter, this.#parts.noter),
              provide(Others, () => askedOnce(this.#parts.others)),
            ],
          },
        ],
        store: this.#store,
      })
      this.#opened = { system, memory, session: undefined }
    }
    return this.#opened
  }
}

/** Scope of the user whose session it is. */
export function userOf({ sessionId: _, ...user }: Scope): Scope {
  return user
}
