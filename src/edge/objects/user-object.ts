import { DurableObject } from 'cloudflare:workers'
import { createMemory } from '../../create-memory.ts'
import { webHost } from '../../platform/web.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import { durableObjectStore } from '../../stores/durable-object.ts'
import { type Answer, answer } from './answer.ts'
import { answerPull } from './answer-pull.ts'
import type { EdgeBindings } from './bindings.ts'
import { callObject } from './call-object.ts'
import { Claims } from './claims.ts'
import { objectName } from './object-name.ts'
import type { PullAnswer, PullRequest } from './pull.ts'
import { answerScopeCall, remoteScope, type ScopeCall } from './remote-scope.ts'
import { Replicas } from './replicas.ts'
import type { CallMeta } from './session-object.ts'
import type { SessionScope } from './session-record.ts'
import { type UserSettings, userBudgets } from './settings.ts'
import { TokenBuckets } from './token-buckets.ts'
import { type UserCallInput, type UserCallName, type UserMemory, userCalls } from './user-calls.ts'
import type { UserHome } from './user-replica.ts'

/** Calls after which the sessions' copies are old. */
const CHANGES: ReadonlySet<UserCallName> = new Set([
  'setDocument',
  'deleteDocument',
  'setSkill',
  'deleteSkill',
  'remember',
])
/** What is left of a session's name when it gets another one, in UTF-16 units, and how many of a hash it gets. */
const LONGEST_NAME = 60
const SUFFIX = 8

/**
 * What all sessions of one user share: facts, profile, skills, settings, and the list of the sessions. Its calls are RPC methods of a Durable
 * Object; each says whose it is.
 *
 * Extend it to choose how memories are kept, by overriding {@link settings}; export the class from the Worker and bind it as `USERS`.
 */
export abstract class UserObject<Env extends EdgeBindings = EdgeBindings>
  extends DurableObject<Env>
  implements UserHome
{
  readonly #local: Store = durableObjectStore(this.ctx.storage)
  readonly #replicas = new Replicas({ storage: this.ctx.storage, now: webHost.now })
  #made: UserSettings | undefined
  #buckets: TokenBuckets | undefined
  #memory: UserMemory | undefined

  /** Contract: what the user's memory is made with; asked at its first call after the object woke. */
  protected abstract settings(): UserSettings

  /** Runs one of {@link userCalls}. @throws ERR_NOT_FOUND: another user's */
  async call<Name extends UserCallName>(
    scope: Scope,
    name: Name,
    input: UserCallInput<Name>,
    { opId, bytes = 0 }: CallMeta = {},
  ): Promise<Answer> {
    const memory = this.#open(scope)
    if (CHANGES.has(name)) this.#budgets.take('bytes', bytes)
    const call = userCalls[name] as (
      memory: UserMemory,
      input: UserCallInput<Name>,
      opId?: string,
    ) => Promise<Answer>
    const answered = await call(memory, input, opId)
    if (CHANGES.has(name)) this.#poke(scope)
    return answered
  }

  /** Counts a session that is to be made. @throws ERR_RATE_LIMIT */
  async admit(scope: Scope): Promise<void> {
    this.#check(scope)
    this.#budgets.take('sessions', 1)
  }

  /** A call of the user's store by one of the user's sessions. @throws ERR_NOT_FOUND */
  async scope(scope: Scope, call: ScopeCall): Promise<unknown> {
    this.#check(scope)
    const answered = await answerScopeCall(this.#local.open(scope), call)
    if (call.method === 'commit') this.#poke(scope)
    return answered
  }

  /** What a session's copy of the user's scope asks for. @throws ERR_NOT_FOUND */
  async pull(scope: Scope, request: PullRequest): Promise<PullAnswer> {
    this.#check(scope)
    const answered = await answerPull(this.#local.open(scope), request)
    this.#replicas.pulled(request.sessionId)
    if (request.commit) this.#poke(scope, request.sessionId)
    return answered
  }

  /**
   * Moves the sessions and facts of a guest to this user; a session whose name is taken gets another one. Idempotent: repeating it moves what is
   * left, and answers with all that was ever moved.
   *
   * @throws as the objects that are moved: then some may have been, and repeating it goes on
   */
  async claim(scope: Scope, guest: Scope): Promise<Answer> {
    const { user } = this.#open(scope)
    const from = (): DurableObjectStub<UserObject> => this.env.USERS.getByName(objectName(guest))
    const claims = new Claims(this.ctx.storage)
    const name = objectName(guest)
    const left = createMemory({
      ...this.#settings.memory,
      store: {
        open: (home) => remoteScope({ stub: from, scope: home, host: webHost }),
        oldestUnused: async () => undefined,
        removeUnused: async () => 0,
      },
    })
    for (;;) {
      const page = await left.sessions(guest).list()
      for (const { sessionId } of page) {
        const to = await this.#take(scope, guest, sessionId)
        claims.add(name, { sessions: [{ from: sessionId, to }] })
      }
      // What was moved is on the list no more.
      if (page.length === 0) break
    }
    const { facts } = left.user(guest)
    let count = 0
    for (const fact of await facts.list()) {
      // The user's own word stands: what the user forgot, or said otherwise, is not said again.
      await user.facts.adopt(fact).catch(unlessOurs)
      await facts.forget(fact.id)
      count++
    }
    if (count > 0) this.#poke(scope)
    return answer(claims.add(name, { facts: count }))
  }

  async #take(scope: Scope, guest: Scope, sessionId: string): Promise<string> {
    const source: SessionScope = { ...guest, sessionId }
    for (const name of [
      sessionId,
      `${sessionId.slice(0, LONGEST_NAME)}-${objectName(source).slice(-SUFFIX)}`,
    ]) {
      const target: SessionScope = { ...scope, sessionId: name }
      try {
        await callObject(
          () => this.env.SESSIONS.getByName(objectName(target)),
          webHost,
          'claim',
          (object) => object.takeOver(target, source),
        )
      } catch (error) {
        if (isPlimsollError(error, 'ERR_DUPLICATE_ID')) continue
        throw error
      }
      await callObject(
        () => this.env.SESSIONS.getByName(objectName(source)),
        webHost,
        'claim',
        (object) => object.erase(source),
      )
      return name
    }
    throw new PlimsollError('ERR_DUPLICATE_ID', `claim: there is a session ${sessionId} already`, {
      id: sessionId,
    })
  }

  #open(scope: Scope): UserMemory {
    this.#check(scope)
    if (!this.#memory) {
      const local = this.#local
      const memory = createMemory({
        ...this.#settings.memory,
        store: {
          open: (home) =>
            home.sessionId === undefined
              ? local.open(home)
              : remoteScope({
                  stub: () => this.env.SESSIONS.getByName(objectName(home)),
                  scope: home,
                  host: webHost,
                }),
          oldestUnused: () => local.oldestUnused(),
          removeUnused: (until) => local.removeUnused(until),
        },
      })
      this.#memory = { user: memory.user(scope), sessions: memory.sessions(scope) }
    }
    return this.#memory
  }

  /** Tells the sessions that hold copies, but not the one that changed it. Whatever becomes of that: it is a hint. */
  #poke(scope: Scope, but?: string): void {
    const poke = (sessionId: string): Promise<void> =>
      this.env.SESSIONS.getByName(objectName({ ...scope, sessionId })).poke()
    this.ctx.waitUntil(this.#replicas.poke(poke, but))
  }

  get #settings(): UserSettings {
    this.#made ??= this.settings()
    return this.#made
  }

  get #budgets(): TokenBuckets {
    this.#buckets ??= new TokenBuckets(this.ctx.storage, userBudgets(this.#settings.budgets), webHost.now)
    return this.#buckets
  }

  /** What calls this object by another's name is a mistake of ours. @throws ERR_NOT_FOUND */
  #check(scope: Scope): void {
    const { name } = this.ctx.id
    const isOwn = scope.sessionId === undefined && (name === undefined || name === objectName(scope))
    if (!isOwn) throw new PlimsollError('ERR_NOT_FOUND', 'user: no such user')
  }
}

function unlessOurs(error: unknown): void {
  if (!isPlimsollError(error)) throw error
}
