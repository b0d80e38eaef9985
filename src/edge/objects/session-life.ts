import { registerName, sharedFrom } from '../../features/facts/forget-shared.ts'
import type { OthersAsk, OthersFound } from '../../features/recall/others.ts'
import { type SessionWords, Words } from '../../features/slots.ts'
import { deletesOf } from '../../forgetting/deletes.ts'
import { decide } from '../../kernel/log/decide.ts'
import { deleteSession } from '../../operations/delete-session.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import { findSession, listSession, titleSession } from '../../operations/sessions.ts'
import { webHost } from '../../platform/web.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Name, Scope } from '../../ports/op.ts'
import { isSameScope } from '../../ports/scope-name.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { homeScope } from '../../sync/home.ts'
import { newTok } from '../../sync/tok.ts'
import { checkId } from '../../text/json.ts'
import { callObject } from '../replica/call-object.ts'
import { moveScope } from '../replica/move-scope.ts'
import {
  answerScopeCall,
  remoteScope,
  type ScopeCall,
  type ScopeHost,
  shownMessages,
} from '../replica/remote-scope.ts'
import { ShownCopies } from '../replica/shown-copies.ts'
import { type UserHome, UserReplica } from '../replica/user-replica.ts'
import {
  NO_SEAL,
  newSealKey,
  type ObjectSeal,
  openSeal,
  openText,
  rewrapSealKey,
  sealText,
} from '../rows/object-seal.ts'
import { type SessionRecord, SessionRecords, type SessionScope } from '../rows/session-record.ts'
import type { WordsBlock, WordsState } from '../rows/words-table.ts'
import { checkPinned, type ObjectStore, objectStore, secretsOf } from './encryption.ts'
import { heldScope, type Told, tellingScope, type WrittenFact } from './held-scope.ts'
import { objectName } from './object-name.ts'
import { lackingWords, type SendWordsParts, sendWords, type WordsHome } from './send-words.ts'
import { SessionHome, type Synced, userOf } from './session-home.ts'
import type { ReleasedSession } from './session-rpc.ts'
import type { SessionSettings } from './settings.ts'

export interface SessionLifeParts {
  readonly storage: SqlStorageLike
  /** Of the object; undefined where the runtime does not tell. */
  readonly name: string | undefined
  /** Contract: as the object's own. */
  readonly settings: () => SessionSettings
  /** Contract: a new stub at each call. */
  readonly user: (user: Scope) => UserHome & SessionsHome & WordsHome
  readonly session: (scope: SessionScope) => ScopeHost
  /** Contract: ends all that goes on in the session, so that nothing of it writes any more. */
  readonly stop: () => Promise<void>
  /** Contract: removes what the object keeps of the session beside its memory. */
  readonly clear: () => void
  /** Contract: leaves nothing in the object's file of what was removed; as `rewrite`. */
  readonly rewrite: () => Promise<void>
  /** Contract: removes what it keeps of runs that ended, which may say what is forgotten. */
  readonly clearRuns: () => void
  /** Contract: told where something of the session, or of its copy, is forgotten; synchronous. */
  readonly forgot: () => void
  /**
   * Contract: told of facts in the transaction that writes them to the session; synchronous.
   *
   * @param by the session's own calls, or what replicas push
   */
  readonly wrote: (facts: readonly WrittenFact[], by: 'calls' | 'pushes') => void
  /**
   * Contract: told in the transaction what a push empties in the session, or what goes with the
   * user's own; synchronous. What the user's scope has of that is to be looked for: no device may
   * know of it. The session's own calls see to that themselves.
   */
  readonly emptied: (user: Scope, names: readonly Name[]) => void
  /** Contract: as {@link Told} says, of the session's own log. */
  readonly said: NonNullable<Told['said']>
  /** Contract: up to which seq of the log the user's object is to drop words, if it is. */
  readonly forgotten: () => number | undefined
  /** Contract: notes what `wrote` was told of, or leaves it to be done later. */
  readonly settleNotes: () => Promise<void>
}

/** What a user's object offers to sessions beside the home of their user's scope. */
export interface SessionsHome {
  /** As `UserObject.admit`. */
  admit(user: Scope): Promise<void>
  /** As `UserObject.rankWords`. */
  rankWords(user: Scope, ask: OthersAsk): Promise<OthersFound>
  /** As `UserObject.settle`. */
  settle(user: Scope, by: Confirmed): Promise<Settled>
  /** As `UserObject.gatherNotes`. */
  gatherNotes(user: Scope, by: string): Promise<void>
}

/** Up to which seq of the user's scope a session holds nothing that was deleted there. */
export interface Confirmed {
  readonly sessionId: string
  readonly seq: number
  /** Up to which seq of its own log it has forgotten something, of which words may be kept. */
  readonly forgotten?: number
}

/** What is gone in a session of a user. */
export interface GoneNames {
  readonly user: Scope
  readonly names: readonly Name[]
}

/** How far a deletion of the user's has come. */
export interface Settled {
  /** How many sessions have not confirmed it. */
  readonly left: number
  /** How many heads went in those that have. */
  readonly heads: number
}

/** What a project's name is sealed for. */
const PROJECT = 'project'

/**
 * The one session that an object holds: made, opened, handed over to another user, erased. To
 * users who do not own it, it is not there.
 */
export class SessionLife {
  readonly #parts: SessionLifeParts
  readonly #records: SessionRecords
  #store: ObjectStore | undefined
  #seal: { readonly key: string; readonly seal: ObjectSeal } | undefined
  #home: SessionHome | undefined
  #erasing: Promise<Certificate | undefined> | undefined

  constructor(parts: SessionLifeParts) {
    this.#parts = parts
    this.#records = new SessionRecords(parts.storage)
  }

  /** What is known of the session, whatever its state. */
  get record(): SessionRecord | undefined {
    return this.#records.get()
  }

  /**
   * What seals all that the object keeps beside its memory. @throws ERR_DECRYPT: the secret is
   * another one, or missing; or the session is in the clear, and must not be
   */
  get seal(): ObjectSeal {
    const { key, scope, state } = this.record ?? {}
    const { encryption } = this.#parts.settings()
    // A session that was encrypted, and of which somebody took the key away, is none in the clear.
    if (scope && key === undefined && encryption && encryption.plain !== 'keep' && state !== 'erasing')
      throw new PlimsollError('ERR_DECRYPT', 'session: what is stored of it is not encrypted')
    if (key === undefined || scope === undefined) return NO_SEAL
    if (this.#seal?.key !== key) this.#seal = { key, seal: openSeal(secretsOf(encryption), scope, key) }
    return this.#seal.seal
  }

  /** The session, if it is there and was used since the object woke. */
  get awake(): SessionHome | undefined {
    return this.#home
  }

  /** The session, if it is there. */
  get living(): SessionHome | undefined {
    return this.record?.state === 'live' ? this.#homeOf() : undefined
  }

  /**
   * Whether there is no session of this name, nor one that is being moved. @throws ERR_NOT_FOUND
   */
  isFree(scope: SessionScope): boolean {
    this.checkName(scope)
    const { state = 'erasing' } = this.record ?? {}
    return state === 'erasing'
  }

  /**
   * @throws ERR_NOT_FOUND: no such session, or another's; ERR_CONFLICT: it is being moved;
   * ERR_DECRYPT: as {@link SessionLife.seal}
   */
  open(scope: SessionScope): SessionHome {
    const { state } = this.#own(scope)
    if (state === 'moving') throw moving()
    if (state !== 'live') throw notFound(scope)
    this.#unlock()
    return this.#homeOf()
  }

  /**
   * The session, made if it is not there. @throws ERR_INVALID_ARGUMENT, ERR_RATE_LIMIT,
   * ERR_CONFLICT; nothing is made
   */
  async ensure(scope: SessionScope, project?: string): Promise<SessionHome> {
    return (await this.make(scope, project)).home
  }

  /** The same, and says whether this call made it. */
  async make(
    scope: SessionScope,
    project?: string,
  ): Promise<{ readonly home: SessionHome; readonly isNew: boolean }> {
    this.checkName(scope)
    // What could not be opened must not be made.
    checkId('session', 'sessionId', scope.sessionId)
    if (project !== undefined) checkId('session', 'project', project)
    if (this.record?.state === 'erasing') await this.finishErase()
    let isNew = false
    if (!this.record) {
      const user = userOf(scope)
      await callObject(
        () => this.#parts.user(user),
        webHost,
        'create',
        (home) => home.admit(user),
      )
      // Another call may have made it meanwhile.
      isNew = !this.record
      if (isNew) this.#records.put({ ...this.#newRecord(scope, project), state: 'live' })
    }
    return { home: this.open(scope), isNew }
  }

  /**
   * What is stored under the session's name, be it no more than that one was erased: what replicas
   * push and pull. Nothing is made.
   *
   * @throws ERR_NOT_FOUND: it is another's; ERR_CONFLICT: it is being moved; ERR_DECRYPT
   */
  async log(scope: SessionScope): Promise<ScopeStore> {
    this.checkName(scope)
    if (this.record?.state === 'erasing') await this.finishErase()
    if (this.record) return this.open(scope).log
    checkId('session', 'sessionId', scope.sessionId)
    return this.#telling(scope)
  }

  /** Seq of the newest op; 0: there is none. */
  async seq(): Promise<number> {
    const { record } = this
    return record ? (await this.#local.open(record.scope).head()).seq : 0
  }

  /**
   * A call of the session's store by another of the user's objects. @throws ERR_NOT_FOUND,
   * ERR_DECRYPT
   */
  async answer(scope: Scope, call: ScopeCall): Promise<unknown> {
    const { record } = this
    if (
      !record ||
      !isSameScope(record.scope, scope) ||
      (record.state !== 'live' && record.state !== 'moving')
    )
      throw notFound(scope)
    this.#unlock()
    return answerScopeCall(asHome(this.#telling(record.scope)), call)
  }

  /**
   * Pulls what changed of the user's scope.
   *
   * @throws ERR_NOT_FOUND; ERR_CONFLICT: it is being moved; ERR_DECRYPT
   */
  async sync(scope: SessionScope): Promise<Synced> {
    const { state } = this.#own(scope)
    if (state === 'copying') throw moving()
    return this.open(scope).sync()
  }

  /**
   * Waits for the other sessions to confirm what this one deleted in the user's scope.
   *
   * @throws as the user's object
   */
  async settle(scope: SessionScope): Promise<Settled> {
    // Its own heads are counted where they are looked for.
    const { seq } = await this.open(scope).synced()
    const user = userOf(scope)
    const forgotten = this.#parts.forgotten()
    const { sessionId } = scope
    return callObject(
      () => this.#parts.user(user),
      webHost,
      'forget',
      (home) => home.settle(user, { sessionId, seq, ...(forgotten !== undefined && { forgotten }) }),
    )
  }

  /**
   * Whether words of the session may be kept with its user: nothing of it is encrypted, and recall
   * is in use.
   */
  get keepsWords(): boolean {
    const { record } = this
    const { encryption, memory } = this.#parts.settings()
    const isPlain = record !== undefined && record.key === undefined && encryption === undefined
    return isPlain && memory.use?.some(({ name }) => name === 'recall') === true
  }

  /** As {@link sendWords}, as far as there is a session, and its words may be kept. */
  async sendWords(): Promise<boolean> {
    const own = this.#ownWords()
    return own !== undefined && sendWords(own.words, own.parts)
  }

  /**
   * As {@link lackingWords}, as far as its words may be kept. @throws ERR_NOT_FOUND, ERR_CONFLICT,
   * ERR_DECRYPT: as {@link open}
   */
  async lackingWords(scope: SessionScope, state: WordsState | undefined): Promise<readonly WordsBlock[]> {
    this.open(scope)
    const own = this.#ownWords()
    return own ? lackingWords(own.words, own.parts, state) : []
  }

  /**
   * Deletes what the user's sessions share and derives from names of the session that are gone, or
   * was handed over under one. Idempotent; the session may be gone meanwhile. @throws as the user's
   * object
   */
  async forgetShared({ user, names }: GoneNames): Promise<void> {
    const shared = remoteScope({ stub: () => this.#parts.user(user), scope: user, host: webHost })
    const keys = await sharedFrom(shared, names)
    if (keys.length > 0) await shared.commit(deletesOf(webHost, keys.map(registerName)), decide)
  }

  #ownWords(): { readonly words: SessionWords; readonly parts: SendWordsParts } | undefined {
    const home = this.keepsWords ? this.living : undefined
    const words = home && kernelOf('recall', home.session()).one(Words)
    return home && words && { words, parts: this.#words(home) }
  }

  /** Has the user's object drop words up to there. */
  async dropWords(seq: number): Promise<void> {
    const { living } = this
    if (!living) return
    const { user, sessionId, home } = this.#words(living)
    await callObject(home, webHost, 'forget', (object) => object.dropWords(user, { sessionId, seq }))
  }

  /**
   * Wraps all keys of the session's object by the newest secret. Idempotent.
   *
   * @throws ERR_NOT_FOUND; ERR_CONFLICT: it is being moved; ERR_DECRYPT: none of the secrets opens
   * them
   */
  async rewrap(scope: SessionScope): Promise<void> {
    const { state } = this.#own(scope)
    if (state === 'erasing') throw notFound(scope)
    if (state !== 'live') throw moving()
    for (const one of [userOf(scope), scope])
      if (await this.#local.isStale(one)) await this.#local.rewrap([one])
    const record = this.#own(scope)
    const { key } = record
    const secrets = secretsOf(this.#parts.settings().encryption)
    const wrapped = key === undefined ? undefined : rewrapSealKey(secrets, scope, key)
    if (wrapped !== undefined) this.#records.put({ ...record, key: wrapped })
  }

  /**
   * From now on the session is only read, by the object that takes it over. Idempotent.
   *
   * @param to name of the object of the user who gets it
   * @throws ERR_NOT_FOUND, ERR_CONFLICT: another user gets it; ERR_DECRYPT
   */
  async release(scope: SessionScope, to: string): Promise<ReleasedSession> {
    const record = this.#own(scope)
    if (record.state === 'copying' || record.state === 'erasing') throw notFound(scope)
    if (record.movingTo !== undefined && record.movingTo !== to) throw moving()
    this.#unlock()
    this.#records.put({ ...record, state: 'moving', movingTo: to })
    await this.#parts.stop()
    // What is under way must not write to what is being copied.
    this.#home = undefined
    const home = this.#homeOf()
    const info = await findSession(home.memory, home.user, scope.sessionId)
    const { id } = record
    const project = this.#projectOf(record)
    return { scope, id, title: info?.title ?? '', ...(project !== undefined && { project }) }
  }

  /**
   * Takes a session over from another object, which released it. Idempotent; where it was not
   * finished, it goes on. It is there once all of it is, its place on the list included.
   *
   * @throws ERR_DUPLICATE_ID: a session of that name is there, and is not that one
   */
  async takeOver(scope: SessionScope, released: ReleasedSession): Promise<void> {
    this.checkName(scope)
    const { id: movedFrom, scope: from, title, project } = released
    const { record } = this
    if (record && record.movedFrom !== movedFrom)
      throw new PlimsollError('ERR_DUPLICATE_ID', `takeOver: there is a session ${scope.sessionId}`, {
        id: scope.sessionId,
      })
    if (record?.state === 'live') return
    const taken: SessionRecord = record ?? {
      ...this.#newRecord(scope, project),
      movedFrom,
      state: 'copying',
    }
    if (!record) this.#records.put(taken)
    const source = remoteScope({ stub: () => this.#parts.session(from), scope: from, host: webHost })
    await moveScope(source, asHome(this.#local.open(scope)), { opId: `move/${taken.id}`, now: webHost.now })
    const home = this.#homeOf()
    await listSession(home.memory, scope, { project })
    await home.noteFacts()
    if (title) await titleSession(home.memory, home.user, scope.sessionId, title)
    this.#records.put({ ...taken, state: 'live' })
    this.#home = undefined
  }

  /**
   * From now on the session is there no more; {@link finishErase} removes what it was.
   *
   * @param by name of the object of the user who took it over
   * @throws ERR_NOT_FOUND, ERR_CONFLICT: it is being moved to another user
   */
  beginErase(scope: SessionScope, by?: string): void {
    const record = this.#own(scope)
    if (record.state === 'copying') throw notFound(scope)
    if (record.state === 'moving' && record.movingTo !== by) throw moving()
    // What is sealed is lost from here on, whatever becomes of the rest. Its key is written over
    // before it is taken off.
    const { key, ...rest } = record
    if (key !== undefined) this.#records.put({ ...record, key: 'A'.repeat(key.length) })
    this.#records.put({ ...rest, state: 'erasing' })
  }

  /**
   * Removes what an erase that was begun has left. Idempotent, and done once where several ask for
   * it.
   *
   * @returns undefined: there was none
   */
  finishErase(): Promise<Certificate | undefined> {
    this.#erasing ??= this.#eraseAll().finally(() => {
      this.#erasing = undefined
    })
    return this.#erasing
  }

  async #eraseAll(): Promise<Certificate | undefined> {
    const { record } = this
    if (record?.state !== 'erasing') return undefined
    await this.#parts.stop()
    // What is under way must leave nothing behind.
    this.#home = undefined
    const home = this.#homeOf()
    const certificate = await deleteSession(home.memory, home.user, record.scope.sessionId)
    await home.forgetUser()
    this.#home = undefined
    // In one go: what ends in between is done again from the beginning.
    this.#parts.clear()
    this.#records.remove()
    await this.#parts.rewrite()
    return certificate
  }

  /**
   * What cannot be read must not pass for what is not there. @throws ERR_DECRYPT: as
   * {@link SessionLife.seal}
   */
  #unlock(): void {
    void this.seal
  }

  #telling(scope: Scope): ScopeStore {
    const { forgot } = this.#parts
    return tellingScope(this.#local.open(scope), { forgot })
  }

  #words({ scope: { sessionId }, user }: SessionHome): SendWordsParts {
    return { user, sessionId, home: () => this.#parts.user(user), host: webHost }
  }

  get #local(): ObjectStore {
    this.#store ??= objectStore(this.#parts.storage, this.#parts.settings().encryption)
    return this.#store
  }

  #newRecord(scope: SessionScope, project: string | undefined): Omit<SessionRecord, 'state'> {
    const { encryption } = this.#parts.settings()
    if (encryption) checkPinned(encryption)
    const key = encryption && newSealKey(encryption.secret, scope)
    const seal = key === undefined ? NO_SEAL : openSeal(secretsOf(encryption), scope, key)
    return {
      id: webHost.newId(),
      scope,
      createdAt: webHost.now(),
      ...(key !== undefined && { key }),
      ...(project !== undefined && { project: sealText(seal, project, PROJECT) }),
    }
  }

  /** @throws ERR_DECRYPT */
  #projectOf({ project }: SessionRecord): string | undefined {
    return project === undefined ? undefined : openText(this.seal, project, PROJECT)
  }

  #homeOf(): SessionHome {
    const { record } = this
    if (!record) throw notFound({ userId: '' })
    if (!this.#home) {
      const user = userOf(record.scope)
      const check = (): void => {
        if (this.#home === home) return
        this.open(record.scope)
        // Another session has its name now.
        throw notFound(record.scope)
      }
      const { forgot, wrote, said } = this.#parts
      const held = (scope: Scope, told: Omit<Told, 'forgot'> = {}): ScopeStore =>
        tellingScope(heldScope(this.#local.open(scope), check), { forgot, ...told })
      const emptied = (names: readonly Name[]): void => this.#parts.emptied(user, names)
      // Copies of the user's own facts are noted nowhere.
      const own = (scope: Scope): ScopeStore =>
        held(scope, scope.sessionId === undefined ? {} : { said, wrote: (facts) => wrote(facts, 'calls') })
      const shown = new ShownCopies({ store: () => asHome(held(record.scope, { emptied })), host: webHost })
      const home: SessionHome = new SessionHome({
        record,
        settings: this.#parts.settings(),
        project: () => this.#projectOf(record),
        local: {
          open: (scope) => asHome(shown.guarded(own(scope))),
          oldestUnused: () => this.#local.oldestUnused(),
          removeUnused: (until) => this.#local.removeUnused(until),
          scopes: (after) => this.#local.scopes(after),
        },
        log: () => held(record.scope, { said, emptied, wrote: (facts) => wrote(facts, 'pushes') }),
        noter: {
          settle: () => this.#parts.settleNotes(),
          gather: async () => {
            const { sessionId } = record.scope
            const gather = (home: SessionsHome): Promise<void> => home.gatherNotes(user, sessionId)
            await callObject(() => this.#parts.user(user), webHost, 'start', gather).catch(() => {})
          },
        },
        others: {
          rank: (ask) =>
            callObject(
              () => this.#parts.user(user),
              webHost,
              'recall',
              (object) => object.rankWords(user, ask),
            ),
          messages: (sessionId, ids) => {
            const scope = { ...user, sessionId }
            return shownMessages({ stub: () => this.#parts.session(scope), scope, host: webHost }, ids)
          },
        },
        isGone: (name) => shown.isGone(name),
        takeHeads: () => shown.takeHeads(),
        replica: new UserReplica({
          local: held(user),
          scope: user,
          sessionId: record.scope.sessionId,
          stub: () => this.#parts.user(user),
          host: webHost,
          onGone: async (keys) => {
            if (await shown.forget(keys)) this.#parts.clearRuns()
          },
        }),
      })
      this.#home = home
    }
    return this.#home
  }

  /** @throws ERR_NOT_FOUND: there is no session, or it is another's */
  #own(scope: SessionScope): SessionRecord {
    const { record } = this
    if (!record || !isSameScope(record.scope, scope)) throw notFound(scope)
    return record
  }

  /** What calls this object by another's name is a mistake of ours. @throws ERR_NOT_FOUND */
  checkName(scope: SessionScope): void {
    const { name } = this.#parts
    if (name !== undefined && name !== objectName(scope)) throw notFound(scope)
  }
}

function moving(): PlimsollError {
  return new PlimsollError('ERR_CONFLICT', 'session: it is being moved to another user', { version: null })
}

/** The same for what is another's and for what is nowhere. */
function notFound({ sessionId = '' }: Scope): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `session: no ${sessionId}`, { id: sessionId })
}

/** The scope, whose ops replicas can follow. */
function asHome(scope: ScopeStore): ScopeStore {
  return homeScope(scope, { newTok })
}
