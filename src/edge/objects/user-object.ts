import { DurableObject } from 'cloudflare:workers'
import { createMemory } from '../../create-memory.ts'
import { type AuditInput, noteAudit } from '../../features/audit.ts'
import { type OthersAsk, type OthersFound, WordsReader } from '../../features/recall/others.ts'
import { KeptWords, type UserWords } from '../../features/slots.ts'
import { NOTE } from '../../forgetting/note-keys.ts'
import { valueIn } from '../../kernel/log/bodies.ts'
import { provide } from '../../kernel/slot.ts'
import { certificateOf } from '../../operations/forget/certificate.ts'
import { eraseUserIn, type Held } from '../../operations/forget/erase.ts'
import { forgetFact } from '../../operations/forget/forget.ts'
import { memoryOf } from '../../operations/kernel-of.ts'
import { listSessions, unlistSession } from '../../operations/sessions.ts'
import { exportScopeOf } from '../../operations/transfer/export.ts'
import { runDueWork } from '../../operations/upkeep.ts'
import { webHost } from '../../platform/web.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Json } from '../../ports/message.ts'
import type { Scope, SealedOp } from '../../ports/op.ts'
import { PAGE_ROWS, type RegisterRow, type ScopeStore, type Store } from '../../ports/store.ts'
import type {
  PullAnswer as LogAnswer,
  PullRequest as LogRequest,
  PushAnswer,
  PushRequest,
  SyncOp,
} from '../../ports/sync.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { answerPull as answerLog } from '../../sync/answer-pull.ts'
import { answerPush, homeScope, type PushOptions } from '../../sync/home.ts'
import { knownOp } from '../../sync/known-op.ts'
import { NO_GENERATION } from '../../sync/state.ts'
import { newTok } from '../../sync/tok.ts'
import { headOf } from '../../text/text.ts'
import type { EdgeMemory, EdgeUser } from '../features.ts'
import { GUEST_LIFETIME_MS, guestEnd, isGuest } from '../guest.ts'
import { answerPull } from '../replica/answer-pull.ts'
import { callObject } from '../replica/call-object.ts'
import { Copies } from '../replica/copies.ts'
import { onDecision, onDeletes } from '../replica/on-decision.ts'
import { isShared, type PullAnswer, type PullRequest, SESSIONS } from '../replica/pull.ts'
import { RecentPulls } from '../replica/recent-pulls.ts'
import { answerRefusals, refusalOf } from '../replica/refusal.ts'
import {
  answerScopeCall,
  type RemoteScopeParts,
  remoteScope,
  type ScopeCall,
  shownMessages,
} from '../replica/remote-scope.ts'
import type { UserHome } from '../replica/user-replica.ts'
import { withoutCopies } from '../replica/without-copies.ts'
import { Answers, type KeyedRequest } from '../rows/answers.ts'
import { Claims } from '../rows/claims.ts'
import { GuestRecord } from '../rows/guest-record.ts'
import { NO_SEAL, newSealKey, openSeal, rewrapSealKey } from '../rows/object-seal.ts'
import { rewrite } from '../rows/rewrite.ts'
import type { SessionScope } from '../rows/session-record.ts'
import { TokenBuckets } from '../rows/token-buckets.ts'
import type { Ask } from '../rows/token-lease.ts'
import { type ForgottenWords, type WordsBlock, type WordsState, WordsTable } from '../rows/words-table.ts'
import { objectAlarms } from '../work/alarms.ts'
import { WorkQueue } from '../work/work-queue.ts'
import { type Answer, answer, packed } from './answer.ts'
import type { EdgeBindings } from './bindings.ts'
import type { BriefBudget } from './brief-budget.ts'
import { CipherHome } from './cipher-home.ts'
import { DEPLOYMENT, tenantName } from './deployment-name.ts'
import type { DeploymentObject } from './deployment-object.ts'
import { type ObjectStore, objectStore, secretsOf } from './encryption.ts'
import { Failures, reportTo } from './failures.ts'
import { heldScope, tellingScope } from './held-scope.ts'
import { LiveSockets, scopeIn } from './live-sockets.ts'
import { objectName } from './object-name.ts'
import { answerErase, erasedIn, isErase, pushRefusals } from './pushes.ts'
import { rankWords } from './rank-words.ts'
import { userOf } from './session-home.ts'
import type { Confirmed, Settled } from './session-life.ts'
import type { SessionObject } from './session-object.ts'
import type { CallMeta, SessionOptions } from './session-rpc.ts'
import {
  framesPerMinute,
  grantedOf,
  guestReads,
  type TenantBudgets,
  type UserSettings,
  userBudgets,
} from './settings.ts'
import { type ImportAnswer, type ImportCall, importLines, lineStream } from './transfer.ts'
import { type UserCallInput, type UserCallName, type UserMemory, userCalls } from './user-calls.ts'
import { widerBudget } from './wider-budget.ts'

/** Calls after which the sessions' copies are old. */
const CHANGES: ReadonlySet<UserCallName> = new Set([
  'setDocument',
  'deleteDocument',
  'setSkill',
  'deleteSkill',
  'remember',
])
/** The kind of work that finishes a claim. */
const CLAIM = 'claim'
const CLAIM_AGAIN_MS = 60_000
/** Kinds of work that remove a user, what is too old, and copies of what was deleted. */
const ANSWERS = 'answers'
const ERASE = 'erase'
const FORGET = 'forget'
/** The kind of work that wraps all keys again. */
const REWRAP = 'rewrap'
const RETENTION = 'retention'
/** The kind that removes a guest whose token has ended. */
const GUEST = 'guest'
/** Key of work that removes what devices encrypted; without one, what an edge that reads has. */
const CIPHER = 'cipher'
/** When an erase is tried again that could not be finished. */
const ERASE_AGAIN_MS = 60_000
/** When sessions are asked again that did not confirm what was deleted, or failed to wrap keys. */
const FORGET_AGAIN_MS = 60_000
/** Sessions that are asked to confirm at the same time. */
const ASKED_AT_ONCE = 32
/** How long a call that forgets something waits for the other sessions to confirm it. */
const SETTLE_MS = 5_000
/** How long a recall waits for what a session said lately, and a start for what it found out. */
const ASK_MS = 300
/**
 * In which a session asked that wrote a fact which is not noted yet: its copy is a minute old then
 * at most, by default.
 */
const NOTED_MS = 90_000
/** Sessions that one call erases or asks: a call of an object may make so many calls of others. */
const MOST_SESSIONS = 256
const DAY_MS = 86_400_000
/** When a replica asks again whether an erase has ended. */
const ERASING_SECONDS = 5
/** What looking through all of a guest's sessions costs, in reads. */
const RECALLED = 32
/** For clocks that differ: a token holds some seconds longer. */
const GUEST_MARGIN_MS = 60_000

/** What a replica asks, with as much of its headers as a home reads. */
interface CipherRequest {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly bytes?: Uint8Array<ArrayBuffer>
}

interface CipherAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array<ArrayBuffer>
}

/** Sessions are to confirm what was deleted in the user's scope up to that seq. */
interface ForgetWork {
  readonly user: Scope
  readonly seq: number
}

/** All keys of the user are to be wrapped by the newest secret. */
interface RewrapWork {
  readonly user: Scope
  /** Sessions up to this one were asked; default: none. */
  readonly after?: string
  /** How many of these have done it, and how many have not. */
  readonly done?: number
  readonly failed?: number
}

interface ClaimWork {
  readonly user: Scope
  readonly guest: Scope
}

/**
 * What is left of a session's name when it gets another one, in UTF-16 units, and how many of its
 * id it gets.
 */
const LONGEST_NAME = 60
const SUFFIX = 8

/**
 * What all sessions of one user share: facts, profile, skills, settings, and the list of the
 * sessions. Its calls are RPC methods of a Durable Object; each says whose it is.
 *
 * Extend it to choose how memories are kept, by overriding {@link settings}; export the class from
 * the Worker and bind it as `USERS`.
 */
export abstract class UserObject<Env extends EdgeBindings = EdgeBindings>
  extends DurableObject<Env>
  implements UserHome
{
  static {
    answerRefusals(UserObject)
  }

  readonly #failures = new Failures({
    object: 'user',
    id: this.ctx.id.toString(),
    log: () => this.#settings.log,
    report: reportTo(this.env),
    waitUntil: (work) => this.ctx.waitUntil(work),
    now: webHost.now,
  })
  readonly #sockets = new LiveSockets(this.ctx, webHost.now, framesPerMinute)
  readonly #cipherHome = new CipherHome(this.ctx.storage, () => {
    void this.#sockets.tell(async () => 0)
  })
  readonly #guest = new GuestRecord(this.ctx.storage)
  readonly #replicas = new RecentPulls({ storage: this.ctx.storage, now: webHost.now })
  readonly #copies = new Copies(this.ctx.storage)
  readonly #words = new WordsTable(this.ctx.storage)
  readonly #work = new WorkQueue({
    storage: this.ctx.storage,
    alarms: objectAlarms(this.ctx.storage),
    host: webHost,
    handlers: {
      [CLAIM]: async (payload) => {
        const { user, guest } = payload as unknown as ClaimWork
        await this.#move(user, guest)
        return undefined
      },
      [ERASE]: (payload, { key }) => this.#eraseMore(ERASE, payload as unknown as Scope, key),
      [FORGET]: async (payload) => {
        const { user, seq } = payload as unknown as ForgetWork
        const left = await this.#confirmAll(user, seq)
        // Those that have not confirmed are asked for as long as it takes.
        return left === 0 ? undefined : webHost.now() + FORGET_AGAIN_MS
      },
      [REWRAP]: async (payload) => this.#rewrapAll(payload as unknown as RewrapWork),
      [GUEST]: (payload, { key }) => this.#eraseMore(GUEST, payload as unknown as Scope, key),
      [RETENTION]: async (payload) => runDueWork(this.#memoryOf(payload as unknown as Scope)),
      [ANSWERS]: async () => this.#answers.purge(),
    },
    onFailure: this.#failures.ofWork,
  })
  readonly #answers = new Answers({
    storage: this.ctx.storage,
    now: webHost.now,
    newKey: () => {
      const { encryption } = this.#settings
      const { scope } = this.#memory ?? {}
      return encryption && scope && newSealKey(encryption.secret, scope)
    },
    open: (key) => {
      const { scope } = this.#memory ?? {}
      const { encryption } = this.#settings
      // A key that somebody took away is none that was never there.
      if (key === undefined && encryption && encryption.plain !== 'keep')
        throw new PlimsollError('ERR_DECRYPT', 'user: what is stored of answers is not encrypted')
      if (key === undefined || !scope) return NO_SEAL
      return openSeal(secretsOf(encryption), scope, key)
    },
    isThere: () => true,
    schedule: (due) => this.#work.schedule(ANSWERS, due),
  })
  #store: ObjectStore | undefined
  #home: ScopeStore | undefined
  #isUnlocked = false
  #made: UserSettings | undefined
  #buckets: TokenBuckets | undefined
  #reads: BriefBudget | undefined
  #memory: UserMemory | undefined
  #alone: UserMemory | undefined
  /** Heads that went in sessions, as they confirmed, since a call asked for how many. */
  #heads = 0

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    // Work that is owed, and an alarm that is not there: it was used up by a run that did not end.
    ctx.waitUntil(this.#work.ensureArmed().catch((error) => this.#failures.failed('alarm', error)))
  }

  override alarm(): Promise<void> {
    return this.#failures.alarm(() => this.#work.run())
  }

  /**
   * Contract: what the user's memory is made with; asked at its first call after the object woke.
   */
  protected abstract settings(): UserSettings

  /**
   * Runs one of {@link userCalls}. @throws ERR_NOT_FOUND: another user's; ERR_DECRYPT;
   * ERR_CONFLICT: the key stands for another request
   */
  async call<Name extends UserCallName>(
    scope: Scope,
    name: Name,
    input: UserCallInput<Name>,
    { keyed, opId, bytes = 0 }: CallMeta = {},
  ): Promise<string> {
    const memory = this.#open(scope)
    const changes = CHANGES.has(name)
    if (name !== 'holdings') await this.#checkGuest(scope, { writes: changes, reads: readsOf(name, input) })
    await this.#unlock(scope)
    const answered = await this.#answers.once(keyed, (named) =>
      this.#call(memory, name, input, named() ?? opId, bytes),
    )
    const limits = changes ? this.#budgetsOf(scope).limits({ bytes }) : []
    return packed(limits.length === 0 ? answered : { ...answered, limits })
  }

  async #call<Name extends UserCallName>(
    memory: UserMemory,
    name: Name,
    input: UserCallInput<Name>,
    opId: string | undefined,
    bytes: number,
  ): Promise<Answer> {
    const { scope } = memory
    const changes = CHANGES.has(name)
    if (changes) this.#budgetsOf(scope).take('bytes', bytes)
    const call = userCalls[name] as (
      memory: UserMemory,
      input: UserCallInput<Name>,
      opId?: string,
    ) => Promise<Answer>
    const removes = name === 'deleteDocument' || name === 'deleteSkill'
    const answered = await call(removes ? this.#withoutSessions(scope) : memory, input, opId)
    if (removes) await this.#settle(scope)
    if (changes) {
      this.#poke(scope)
      await this.#keep(scope)
    }
    return answered
  }

  /**
   * Makes a session whose id is that of the op that a key asks for: a repeat finds it, and nobody
   * learns the key from it.
   *
   * @throws ERR_CONFLICT: the key stands for another request; as {@link SessionObject.create}
   */
  async createSession(scope: Scope, options: SessionOptions, keyed: KeyedRequest): Promise<Answer> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: true })
    // What seals answers is the user's, who may be new here.
    this.#open(scope)
    await this.#unlock(scope)
    return this.#answers.once(keyed, (opId) => {
      const session = { ...scope, sessionId: opId() ?? webHost.newId() }
      const stub = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(session))
      return callObject(stub, webHost, 'session', (object) => object.create(session, options))
    })
  }

  /** The lines of the user's own scope. @throws ERR_NOT_FOUND, ERR_DECRYPT */
  async exportLines(scope: Scope, parts: readonly TransferPart[]): Promise<ReadableStream<Uint8Array>> {
    this.#check(scope)
    await this.#unlock(scope)
    return lineStream(exportScopeOf(this.#memoryOf(scope), scope, parts))
  }

  /**
   * Imports lines of the user's own scope. @throws ERR_NOT_FOUND, ERR_RATE_LIMIT, ERR_DECRYPT, as
   * `importInto`
   */
  async importLines(scope: Scope, call: ImportCall): Promise<ImportAnswer> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: true })
    await this.#unlock(scope)
    this.#budgetsOf(scope).take('bytes', utf8Length(call.lines))
    const answered = await importLines(this.#memoryOf(scope), scope, call, async () => {})
    this.#poke(scope)
    return answered
  }

  /**
   * Whether a guest's token still holds; it costs as a read. @throws ERR_UNAUTHENTICATED,
   * ERR_RATE_LIMIT
   */
  async checkLiving(scope: Scope): Promise<void> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: false })
  }

  /** Records that all of the user was exported or imported. @throws ERR_NOT_FOUND */
  async record(scope: Scope, input: AuditInput): Promise<void> {
    this.#check(scope)
    await noteAudit(this.#local.open(scope), webHost, input)
  }

  /**
   * Counts a session that is to be made. @throws ERR_RATE_LIMIT; ERR_DECRYPT: nothing is begun
   * under a wrong key
   */
  async admit(scope: Scope): Promise<void> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: true })
    await this.#unlock(scope)
    const buckets = this.#budgetsOf(scope)
    buckets.take('sessions', 1)
    const tenant = this.#tenantOf(scope)
    if (tenant?.budgets.sessionsPerHour === undefined) return
    try {
      await callObject(tenant.stub, webHost, 'budget', (object) => object.admit(tenant.budgets))
    } catch (error) {
      buckets.settle('sessions', -1)
      throw error
    }
  }

  /** The object of the user's tenant. @throws ERR_NOT_CONFIGURED: nothing holds its budgets */
  #tenantOf({ tenant }: Scope): Tenant | undefined {
    if (tenant === undefined) return undefined
    const budgets = this.#settings.tenantBudgets?.(tenant)
    if (!budgets) return undefined
    const { DEPLOYMENT: deployments } = this.env
    if (!deployments)
      throw new PlimsollError('ERR_NOT_CONFIGURED', 'settings: tenantBudgets need the binding DEPLOYMENT')
    return { budgets, stub: () => deployments.getByName(tenantName(tenant)) }
  }

  /**
   * Tokens of the model for one of the user's sessions, of the budgets of the user, of the tenant
   * and of the deployment. @throws ERR_NOT_FOUND, ERR_RATE_LIMIT, ERR_LIMIT, ERR_OVERLOADED,
   * ERR_STORAGE
   */
  async lease(scope: Scope, ask: Ask): Promise<number> {
    this.#check(scope)
    const buckets = this.#budgetsOf(scope)
    const { DEPLOYMENT: deployments } = this.env
    const tenant = this.#tenantOf(scope)
    const stub = tenant?.stub ?? (deployments && (() => deployments.getByName(DEPLOYMENT)))
    const wider = stub && widerBudget(this.ctx.storage, ask, stub, tenant?.budgets)
    return grantedOf(buckets, 'userModelTokens', ask, wider)
  }

  /**
   * A call of the user's store by another of the objects. @throws ERR_NOT_FOUND; ERR_DECRYPT: what
   * cannot be read would pass for nothing
   */
  async scope(scope: Scope, call: ScopeCall): Promise<unknown> {
    this.#check(scope)
    await this.#unlock(scope)
    const answered = await answerScopeCall(this.#homeOf(scope), call)
    if (call.method === 'commit') this.#poke(scope)
    return answered
  }

  /**
   * What a session's copy of the user's scope asks for. @throws ERR_NOT_FOUND; ERR_DECRYPT: a copy
   * would lack what cannot be read
   */
  async pull(scope: Scope, request: PullRequest): Promise<PullAnswer> {
    this.#check(scope)
    await this.#unlock(scope)
    const answered = await answerPull(this.#homeOf(scope), request)
    const { sessionId, commit, cursor } = request
    this.#replicas.pulled(sessionId)
    // A copy that was empty holds nothing that was deleted before.
    this.#copies.add(sessionId, cursor.since.seq === 0 ? answered.place.seq : cursor.since.seq)
    if (commit?.ops.some((op) => isShared(op, sessionId))) {
      this.#poke(scope, sessionId)
      await this.#keep(scope)
    }
    return answered
  }

  /**
   * Writes what a replica pushes to the user's own scope; an erase removes all of the user, as
   * {@link erase} does. Idempotent.
   *
   * @throws ERR_NOT_FOUND, ERR_RATE_LIMIT, ERR_DECRYPT; ERR_OVERLOADED: an erase goes on
   */
  async push(scope: Scope, request: PushRequest, { bytes = 0 }: CallMeta): Promise<PushAnswer> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: true })
    await this.#unlock(scope)
    const { generation, ops } = request
    const erase = generation === NO_GENERATION ? undefined : ops.find(isErase)
    if (erase) return this.#pushErase(scope, generation, erase)
    this.#budgetsOf(scope).take('bytes', bytes)
    const refused = await pushRefusals(this.#memoryOf(scope), scope, ops)
    const refuse: PushOptions['refuse'] = (op) => refused(op) ?? (isNote(op) ? 'conflict' : undefined)
    const onWrite = (): void => {
      if (ops.some(isOfAll)) this.#poke(scope)
    }
    const answered = await answerPush(this.#log(scope), request, { newTok, refuse, onWrite })
    await this.#keep(scope)
    return answered
  }

  /** Erases the user, unless that op did it before. */
  async #pushErase(scope: Scope, generation: string, erase: SyncOp): Promise<PushAnswer> {
    const log = this.#log(scope)
    const erased = await erasedIn(log, generation)
    if (erased) return erased
    return answerErase(
      () => log,
      generation,
      erase,
      async () => {
        const { isDone } = await this.erase(scope)
        if (!isDone)
          throw new PlimsollError('ERR_OVERLOADED', 'push: the erase goes on', {
            retryAfter: ERASING_SECONDS,
          })
      },
    )
  }

  /**
   * Gives a replica what the user's own scope has after its place. @throws ERR_NOT_FOUND,
   * ERR_RATE_LIMIT, ERR_DECRYPT
   */
  async pullLog(scope: Scope, request: LogRequest, bytes: number): Promise<LogAnswer> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: false })
    await this.#unlock(scope)
    return answerLog(this.#log(scope), request, { newTok, bytes })
  }

  /**
   * Answers a replica, where the edge keeps ciphertext alone: then this object has all that the
   * user has.
   *
   * @throws ERR_NOT_FOUND, ERR_RATE_LIMIT, ERR_INVALID_ARGUMENT: bytes are not encrypted
   */
  async cipher(
    scope: Scope,
    { url, bytes = new Uint8Array(), ...init }: CipherRequest,
  ): Promise<CipherAnswer> {
    this.#check(scope)
    const isRead = init.method === 'GET' || url.includes('/v1/sync/pull')
    await this.#checkGuest(scope, { writes: !isRead, key: CIPHER })
    if (!isRead) this.#budgetsOf(scope).take('bytes', bytes.length)
    const request = new Request(url, { ...init, ...(init.method !== 'GET' && { body: bytes }) })
    const response = await this.#cipherHome.answer(scope, request, bytes)
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: new Uint8Array(await response.arrayBuffer()),
    }
  }

  /**
   * Removes all that {@link cipher} keeps of the user. Idempotent; what an end of the object or a
   * failure leaves, an alarm finishes.
   */
  async eraseCipher(scope: Scope): Promise<Erased> {
    this.#check(scope)
    await this.#work.schedule(ERASE, webHost.now() + ERASE_AGAIN_MS, { key: CIPHER, payload: { ...scope } })
    const erased = await this.#eraseCipher(scope)
    this.#work.cancel(ERASE, CIPHER)
    return erased
  }

  /** A socket that gets hints that what the sessions share, or their list, has changed. */
  override async fetch({ headers }: Request): Promise<Response> {
    try {
      const scope = scopeIn<Scope>(headers)
      this.#check(scope)
      await this.#checkGuest(scope, { writes: false })
      return this.#sockets.accept(headers)
    } catch (error) {
      return Response.json(refusalOf(error))
    }
  }

  override webSocketMessage(socket: WebSocket): void {
    this.#sockets.heard(socket)
  }

  /**
   * Removes all of the user: every session on the list, then what they share. Idempotent; what an
   * end of the object or a failure leaves, an alarm finishes, and so it does where there are more
   * than 256 sessions.
   *
   * @returns the certificate, and whether all of it is done
   * @throws as the objects that are erased: then an alarm goes on
   */
  async erase(scope: Scope, { keyed }: CallMeta = {}): Promise<Erased> {
    this.#check(scope)
    if (keyed) {
      this.#open(scope)
      this.#answers.check(keyed)
    }
    await this.#work.schedule(ERASE, webHost.now() + ERASE_AGAIN_MS, { payload: { ...scope } })
    const erased = await this.#eraseSome(scope)
    if (erased.isDone) this.#work.cancel(ERASE)
    else await this.#work.schedule(ERASE, webHost.now(), { payload: { ...scope } })
    return erased
  }

  /**
   * Has the sessions confirm that they hold nothing any more of what was deleted, and waits for
   * that for some seconds; an alarm goes on with it.
   *
   * @param by a session that confirms it by this call
   * @returns how many have not confirmed; 0: nobody holds any of it
   * @throws ERR_NOT_FOUND
   */
  async settle(scope: Scope, { sessionId, seq, forgotten }: Confirmed): Promise<Settled> {
    this.#check(scope)
    if (forgotten !== undefined) this.#words.drop({ sessionId, seq: forgotten })
    if (this.#work.payloadOf(FORGET)) this.#copies.confirm(sessionId, seq)
    return this.#settle(scope)
  }

  /** How far the words of a session are kept. @throws ERR_NOT_FOUND */
  async words(scope: Scope, sessionId: string): Promise<WordsState | undefined> {
    this.#check(scope)
    return this.#words.state(sessionId)
  }

  /**
   * Keeps words of a session, for recall. @returns false: they were not taken, since the session is
   * not there, something was forgotten, or what is stored of the user is encrypted
   *
   * @throws ERR_NOT_FOUND, ERR_DECRYPT
   */
  async keepWords(scope: Scope, block: WordsBlock): Promise<boolean> {
    this.#check(scope)
    return this.#keepWords(scope, block)
  }

  async #keepWords(scope: Scope, block: WordsBlock): Promise<boolean> {
    if (this.#settings.encryption) return false
    const listed = await this.#homeOf(scope).register(SESSIONS + block.sessionId)
    return listed !== undefined && isListed(listed) && this.#words.put(block)
  }

  /**
   * Drops words of a session of which something was forgotten. Idempotent. @throws ERR_NOT_FOUND
   */
  async dropWords(scope: Scope, forgotten: ForgottenWords): Promise<void> {
    this.#check(scope)
    this.#words.drop(forgotten)
  }

  /**
   * Asks a session for what is lacking of its words, if it may have said something since.
   * Where it does not answer soon, what is kept stays as old as it is: a session in whose context
   * somebody recalls may wait for one that waits for it.
   */
  async #askWords(scope: SessionScope): Promise<void> {
    const state = this.#words.state(scope.sessionId)
    const { encryption } = this.#settings
    if (encryption || !this.#replicas.mayHaveChanged(scope.sessionId, state?.at ?? 0)) return
    const session = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(scope))
    const ask = async (): Promise<void> => {
      const blocks = await callObject(session, webHost, 'recall', (object) => object.words(scope, state))
      for (const block of blocks) if (!(await this.#keepWords(userOf(scope), block))) break
    }
    await within(
      ASK_MS,
      ask().catch(() => {}),
    )
  }

  /**
   * Has sessions that were in use lately note what they kept. Those that do not answer soon do it
   * by themselves.
   *
   * @param by not this one
   * @throws ERR_NOT_FOUND
   */
  async gatherNotes(user: Scope, by: string): Promise<void> {
    this.#check(user)
    const tell = (scope: SessionScope): Promise<void> => {
      const session = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(scope))
      return callObject(session, webHost, 'start', (object) => object.tellNotes(scope))
    }
    const asked = this.#replicas.recent(by, NOTED_MS)
    await within(ASK_MS, Promise.allSettled(asked.map((sessionId) => tell({ ...user, sessionId }))))
  }

  /**
   * What the words that are kept here find for one of the user's sessions. It asks those that may
   * have said something since.
   *
   * @throws ERR_NOT_FOUND, ERR_UNAUTHENTICATED, ERR_RATE_LIMIT, ERR_DECRYPT; ERR_NOT_CONFIGURED:
   * recall is not in use
   */
  async rankWords(scope: Scope, ask: OthersAsk): Promise<OthersFound> {
    this.#check(scope)
    await this.#checkGuest(scope, { writes: false, reads: readsOf('recall', ask) })
    const memory = memoryOf('recall', this.#memoryOf(scope))
    const [reader] = memory.all(WordsReader)
    if (!reader) throw new PlimsollError('ERR_NOT_CONFIGURED', 'recall: the user’s object has it not in use')
    return rankWords(memory.user(scope), reader, ask)
  }

  async #settle(scope: Scope): Promise<Settled> {
    const owed = this.#work.payloadOf(FORGET) as ForgetWork | undefined
    if (!owed) return { left: 0, heads: 0 }
    const left = (await within(SETTLE_MS, this.#confirmAll(scope, owed.seq))) ?? Number.POSITIVE_INFINITY
    // Something else may have been deleted meanwhile.
    const now = this.#work.payloadOf(FORGET) as ForgetWork | undefined
    if (left === 0 && now?.seq === owed.seq) this.#work.cancel(FORGET)
    const heads = this.#heads
    this.#heads = 0
    return { left, heads }
  }

  /**
   * Has the user's sessions wrap their keys by the newest secret, and records it once all have.
   * What is left, or was not reached, is noted as work that comes next.
   */
  async #rewrapAll({ user, after = '', done = 0, failed = 0 }: RewrapWork): Promise<undefined> {
    await this.#unlock(user)
    const secrets = secretsOf(this.#settings.encryption)
    this.#answers.rewrap((key) => rewrapSealKey(secrets, user, key))
    const counts = { done, gone: 0, failed }
    let last = after
    for (let asked = 0; asked < MOST_SESSIONS; asked += ASKED_AT_ONCE) {
      const sessions = this.#copies.behind(Number.MAX_SAFE_INTEGER, last, ASKED_AT_ONCE)
      for (const what of await Promise.all(sessions.map((id) => this.#rewrap({ ...user, sessionId: id }))))
        counts[what]++
      last = sessions.at(-1) ?? ''
      if (last === '') break
    }
    const next = {
      user: { ...user },
      ...(last !== '' && { after: last, done: counts.done, failed: counts.failed }),
    }
    if (last !== '') await this.#work.schedule(REWRAP, webHost.now(), { payload: next })
    else if (counts.failed > 0)
      await this.#work.schedule(REWRAP, webHost.now() + FORGET_AGAIN_MS, { payload: next })
    else {
      const input: AuditInput = { action: 'rotate-key', counts: { sessions: counts.done } }
      await noteAudit(this.#local.open(user), webHost, input)
    }
  }

  async #rewrap(scope: SessionScope): Promise<'done' | 'gone' | 'failed'> {
    try {
      const stub = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(scope))
      await callObject(stub, webHost, 'rewrap', (session) => session.rewrap(scope))
      return 'done'
    } catch (error) {
      return isPlimsollError(error, 'ERR_NOT_FOUND') ? 'gone' : 'failed'
    }
  }

  /** @returns how many sessions have not confirmed what was deleted up to there */
  async #confirmAll(user: Scope, seq: number): Promise<number> {
    let left = 0
    let after = ''
    for (let asked = 0; ; asked += ASKED_AT_ONCE) {
      const sessions = this.#copies.behind(seq, after, ASKED_AT_ONCE)
      if (sessions.length === 0) return left
      // The alarm goes on with these.
      if (asked === MOST_SESSIONS) return left + sessions.length
      const failed = await Promise.all(sessions.map((session) => this.#confirm(user, session, seq)))
      left += failed.filter((isBehind) => isBehind).length
      after = sessions.at(-1) as string
    }
  }

  /** @returns whether it is behind */
  async #confirm(user: Scope, sessionId: string, seq: number): Promise<boolean> {
    const scope = { ...user, sessionId }
    try {
      const stub = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(scope))
      const synced = await callObject(stub, webHost, 'forget', (session) => session.sync(scope))
      this.#copies.confirm(sessionId, synced.seq)
      this.#heads += synced.heads
      return synced.seq < seq
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_NOT_FOUND')) return true
      this.#copies.remove(sessionId)
      return false
    }
  }

  /**
   * A part of an erase that goes on. Work that fails is given up in the end; what somebody had
   * removed must not stay.
   *
   * @returns when it goes on
   */
  async #eraseMore(kind: string, scope: Scope, key: string): Promise<number | undefined> {
    try {
      const { isDone } = await (key === CIPHER ? this.#eraseCipher(scope) : this.#eraseSome(scope))
      return isDone ? undefined : webHost.now()
    } catch (error) {
      this.#failures.failed('queue', error, { kind })
      return webHost.now() + ERASE_AGAIN_MS
    }
  }

  async #eraseCipher(scope: Scope): Promise<Erased> {
    const { isEmpty, found } = await this.#cipherHome.erase()
    await this.#rewrite()
    return { isDone: true, certificate: certificateOf(webHost, 'erase', scope.userId, isEmpty, found) }
  }

  /** Leaves nothing in the object's file of what was removed, and nobody who listens to it. */
  async #rewrite(): Promise<void> {
    await rewrite(this.ctx.storage)
    await this.#work.ensureArmed()
    this.#sockets.end()
  }

  async #eraseSome(scope: Scope): Promise<Erased> {
    this.#check(scope)
    let left = MOST_SESSIONS
    const store: Store = {
      ...this.#local,
      // Those that hold copies: so they are found under a wrong key too.
      scopes: async (after) =>
        this.#copies
          .behind(Number.MAX_SAFE_INTEGER, after?.sessionId ?? '', PAGE_ROWS)
          .map((sessionId) => ({ ...scope, sessionId })),
    }
    const parts = { store, host: webHost, parts: [] }
    try {
      const certificate = await eraseUserIn(parts, scope, async (sessionId) => {
        if (left-- === 0) throw MORE
        return this.#eraseSession({ ...scope, sessionId })
      })
      for (const table of [
        this.#replicas,
        this.#copies,
        this.#words,
        new Claims(this.ctx.storage),
        this.#answers,
      ])
        table.clear()
      for (const kind of [FORGET, RETENTION, ANSWERS]) this.#work.cancel(kind)
      await this.#rewrite()
      // The sessions' copies went with them.
      return { isDone: true, certificate: withoutCopies(certificate) }
    } catch (error) {
      if (error !== MORE) throw error
      const found = { sessions: { count: MOST_SESSIONS, first: [] } }
      return { isDone: false, certificate: certificateOf(webHost, 'erase', scope.userId, false, found) }
    }
  }

  async #eraseSession(scope: SessionScope): Promise<Held> {
    const object = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(scope))
    try {
      const { removed } = await callObject(object, webHost, 'erase', (session) => session.erase(scope))
      this.#copies.remove(scope.sessionId)
      return { isEmpty: false, messages: removed.messages.count, facts: removed.facts.count }
    } catch (error) {
      unlessNotFound(error)
      // Else the next call would ask for it again, and never come to those behind it.
      this.#copies.remove(scope.sessionId)
      await unlistSession(this.#memoryOf(userOf(scope)), scope)
      return { isEmpty: true, messages: 0, facts: 0 }
    }
  }

  /**
   * Moves the sessions and facts of a guest to this user; a session whose name is taken gets
   * another one. Idempotent: repeating it moves what is left, and answers with all that was ever
   * moved.
   *
   * @throws as the objects that are moved: then some may have been; repeating it goes on, and so
   * does an alarm, some times from a minute later on
   */
  async claim(scope: Scope, guest: Scope): Promise<Answer> {
    this.#check(scope)
    const key = objectName(guest)
    const payload = { user: { ...scope }, guest: { ...guest } } satisfies ClaimWork as Json
    // What an end of this object or a failure leaves half moved, an alarm finishes.
    await this.#work.schedule(CLAIM, webHost.now() + CLAIM_AGAIN_MS, { key, payload })
    const answered = await this.#move(scope, guest)
    this.#work.cancel(CLAIM, key)
    // Nobody need be woken for it.
    await this.#work.run()
    return answered
  }

  /**
   * From now on a guest writes nothing; with `isDone` the token is dead. Idempotent. @throws
   * ERR_NOT_FOUND
   */
  async claimed(scope: Scope, isDone: boolean): Promise<void> {
    this.#check(scope)
    this.#guest.set(isDone ? 'done' : 'begun')
    // What is not moved goes with the token.
    await this.#removeLater(scope)
  }

  async #move(scope: Scope, guest: Scope): Promise<Answer> {
    await this.#unlock(scope)
    const { user } = this.#open(scope)
    const from = (): DurableObjectStub<UserObject> => this.env.USERS.getByName(objectName(guest))
    await callObject(from, webHost, 'claim', (object) => object.claimed(guest, false))
    const claims = new Claims(this.ctx.storage)
    const name = objectName(guest)
    const left: EdgeMemory = createMemory({
      ...this.#settings.memory,
      store: {
        open: (home) => remoteScope({ stub: from, scope: home, host: webHost }),
        oldestUnused: async () => undefined,
        removeUnused: async () => 0,
        scopes: async () => [],
      },
    })
    for (let after: string | undefined; ; ) {
      const page = await listSessions(left, guest, after === undefined ? {} : { after })
      for (const { sessionId } of page)
        await this.#take(scope, { ...guest, sessionId }, (to) =>
          claims.add(name, { sessions: [{ from: sessionId, to }] }),
        ).catch(unlessNotFound)
      after = page.at(-1)?.sessionId
      if (after === undefined) break
    }
    const errors: unknown[] = []
    for (const fact of await factsOf(left.user(guest)))
      try {
        // What the user forgot is not said again.
        await user.facts?.adopt(fact).catch(unlessNotFound)
        await forgetFact(left, guest, fact.id)
        claims.add(name, { facts: 1 })
      } catch (error) {
        errors.push(error)
      }
    this.#poke(scope)
    // What has no room here stays with the guest, rather than nowhere.
    if (errors.length > 0) throw errors[0]
    await callObject(from, webHost, 'claim', (object) => object.claimed(guest, true))
    return answer(claims.get(name))
  }

  /**
   * Takes over a guest's session, and removes it there.
   *
   * @param note told its new name before that: afterwards the guest's list says nothing of it
   * @throws ERR_NOT_FOUND: it is gone; as its objects
   */
  async #take(scope: Scope, source: SessionScope, note: (to: string) => void): Promise<void> {
    const { sessionId } = source
    const from = (): DurableObjectStub<SessionObject> => this.env.SESSIONS.getByName(objectName(source))
    const by = objectName(scope)
    const erase = (): Promise<unknown> =>
      callObject(from, webHost, 'claim', (object) => object.erase(source, by))
    const released = await callObject(from, webHost, 'claim', (object) => object.release(source, by)).catch(
      unlessNotFound,
    )
    // It is being removed, by the guest or because it was taken.
    if (!released) return void (await erase())
    const another = `${headOf(sessionId, LONGEST_NAME)}-${released.id.slice(-SUFFIX)}`
    for (const name of [sessionId, another]) {
      const target: SessionScope = { ...scope, sessionId: name }
      try {
        await callObject(
          () => this.env.SESSIONS.getByName(objectName(target)),
          webHost,
          'claim',
          (object) => object.takeOver(target, released),
        )
      } catch (error) {
        if (isPlimsollError(error, 'ERR_DUPLICATE_ID')) continue
        throw error
      }
      note(name)
      return void (await erase())
    }
    throw new PlimsollError('ERR_DUPLICATE_ID', `claim: there is a session ${sessionId} already`, {
      id: sessionId,
    })
  }

  /**
   * Sees to it that what is too old is looked for within a day; where that is noted already,
   * nothing is written.
   */
  async #keep(scope: Scope): Promise<void> {
    if (!this.#settings.memory.use?.some(({ name }) => name === 'retention')) return
    await this.#work.schedule(RETENTION, webHost.now() + DAY_MS, { payload: { ...scope } })
  }

  /**
   * What a guest's call needs: a token that nobody claimed, budget for what it reads, and for what
   * it writes an end. Nothing is written for what only reads.
   *
   * @throws ERR_UNAUTHENTICATED, ERR_CONFLICT, ERR_RATE_LIMIT
   */
  async #checkGuest(
    scope: Scope,
    {
      writes,
      reads = 1,
      key = '',
    }: { readonly writes: boolean; readonly reads?: number; readonly key?: string },
  ): Promise<void> {
    if (!isGuest(scope)) return
    this.#guest.check(writes)
    if (writes) return this.#removeLater(scope, key)
    const { budgets, guestBudgets = budgets } = this.#settings
    this.#reads ??= guestReads(guestBudgets, webHost.now)
    this.#reads.take(reads)
  }

  /** Sees to it that a guest is removed once the token has ended; noted once for each key. */
  async #removeLater(scope: Scope, key = ''): Promise<void> {
    const { guestLifetimeMs = GUEST_LIFETIME_MS } = this.#settings
    const end = guestEnd(scope.userId, guestLifetimeMs, webHost.now())
    await this.#work.schedule(GUEST, end + GUEST_MARGIN_MS, { key, payload: { ...scope } })
  }

  #memoryOf(scope: Scope): EdgeMemory {
    return this.#open(scope).memory
  }

  #open(scope: Scope): UserMemory {
    this.#check(scope)
    this.#memory ??= this.#newMemory(scope, (home) => remoteScope(this.#remote(home)))
    return this.#memory
  }

  /** How a session's scope is reached. */
  #remote(scope: Scope): RemoteScopeParts {
    return { stub: () => this.env.SESSIONS.getByName(objectName(scope)), scope, host: webHost }
  }

  /** The same, for what the sessions do themselves when they are asked to confirm it. */
  #withoutSessions(scope: Scope): UserMemory {
    const local = this.#local
    this.#alone ??= this.#newMemory(scope, (home) =>
      heldScope(local.open(home), () => {
        throw new PlimsollError('ERR_NOT_FOUND', `session: ${home.sessionId} lives elsewhere`)
      }),
    )
    return this.#alone
  }

  #newMemory(scope: Scope, session: (home: Scope) => ScopeStore): UserMemory {
    const local = this.#local
    const { use = [], ...options } = this.#settings.memory
    const words: UserWords = {
      of: async (sessionId) => {
        await this.#askWords({ ...scope, sessionId })
        return this.#words.of(sessionId)
      },
      messages: (sessionId, ids) => shownMessages(this.#remote({ ...scope, sessionId }), ids),
    }
    const memory: EdgeMemory = createMemory({
      ...options,
      use: [...use, { name: 'words', provides: [provide(KeptWords, words)] }],
      store: {
        open: (home) => (home.sessionId === undefined ? local.open(home) : session(home)),
        oldestUnused: () => local.oldestUnused(),
        removeUnused: (until) => local.removeUnused(until),
        scopes: (after) => local.scopes(after),
      },
    })
    return { memory, scope, user: memory.user(scope) }
  }

  /** Notes that all sessions are to confirm what is deleted by the commit that goes on. */
  #owe(user: Scope, seq: number): void {
    const payload = { user: { ...user }, seq } satisfies ForgetWork as Json
    // It is written with the commit; the alarm is only set sooner by this.
    this.#work.schedule(FORGET, webHost.now(), { payload }).catch(() => {})
  }

  /**
   * Tells the sessions that hold copies, but not the one that changed it. Whatever becomes of that:
   * it is a hint.
   */
  #poke(scope: Scope, but?: string): void {
    const poke = (sessionId: string): Promise<void> =>
      this.env.SESSIONS.getByName(objectName({ ...scope, sessionId })).poke()
    this.ctx.waitUntil(this.#replicas.poke(poke, but))
  }

  get #local(): ObjectStore {
    return { ...this.#stored, open: (scope) => homeScope(this.#log(scope), { newTok }) }
  }

  /**
   * The same of the user's own, for what other objects ask. It is kept: what it knows of the end of
   * its log it need not read again.
   */
  #homeOf(scope: Scope): ScopeStore {
    this.#home ??= this.#local.open(scope)
    return this.#home
  }

  /** The user's scope as it is stored, for what says itself what its home writes. */
  #log(scope: Scope): ScopeStore {
    const forgot = (): void => this.#answers.forget()
    const log = onDeletes(tellingScope(this.#stored.open(scope), { forgot }), (seq) => this.#owe(scope, seq))
    const told = onDecision(log, (decision) => {
      if (decision.log.length > 0) this.#tell(scope)
    })
    return {
      ...told,
      // Told by the ops: what is decided on may be encrypted.
      commit: (ops, decide) => {
        const gone = new Set(ops.filter(isUnlisting).map(({ envelope }) => envelope.key))
        if (gone.size === 0) return told.commit(ops, decide)
        return told.commit(ops, (given, rows) => {
          const decision = decide(given, rows)
          for (const { key } of decision.registers) {
            if (!gone.has(key)) continue
            // The answer to who made it has its title.
            forgot()
            this.#words.remove(key.slice(SESSIONS.length))
          }
          return decision
        })
      },
    }
  }

  /** Tells listeners once what goes on is written. A hint, which may be lost. */
  #tell(scope: Scope): void {
    if (this.#sockets.isEmpty) return
    const seqOf = async (): Promise<number> => (await this.#stored.open(scope).head()).seq
    this.ctx.waitUntil(
      Promise.resolve()
        .then(() => this.#sockets.tell(seqOf))
        .catch(() => {}),
    )
  }

  get #stored(): ObjectStore {
    this.#store ??= objectStore(this.ctx.storage, this.#settings.encryption)
    return this.#store
  }

  /**
   * @throws ERR_DECRYPT: the secret is another one than that under which the user's scope was
   * encrypted, or missing
   */
  async #unlock(scope: Scope): Promise<void> {
    if (this.#isUnlocked) return
    // Before the user's own keys are, which is what tells that it is to be done.
    if (await this.#local.isStale(scope))
      await this.#work.schedule(REWRAP, webHost.now(), { payload: { user: { ...scope } } })
    await this.#local.unlock(scope)
    this.#isUnlocked = true
  }

  get #settings(): UserSettings {
    this.#made ??= this.settings()
    return this.#made
  }

  #budgetsOf(scope: Scope): TokenBuckets {
    this.#buckets ??= new TokenBuckets(this.ctx.storage, userBudgets(this.#settings, scope), webHost.now)
    return this.#buckets
  }

  /** What calls this object by another's name is a mistake of ours. @throws ERR_NOT_FOUND */
  #check(scope: Scope): void {
    const { name } = this.ctx.id
    const isOwn = scope.sessionId === undefined && (name === undefined || name === objectName(scope))
    if (!isOwn) throw new PlimsollError('ERR_NOT_FOUND', 'user: no such user')
  }
}

/** Who keeps the budgets of a user's tenant. */
interface Tenant {
  readonly budgets: TenantBudgets
  readonly stub: () => DurableObjectStub<DeploymentObject>
}

/** What an erase came to. */
export interface Erased {
  /** Whether all of it is done; else an alarm goes on. */
  readonly isDone: boolean
  readonly certificate: Certificate
}

/** Whether a place on the list of sessions is taken: who is taken off leaves `null` there. */
function isListed(row: Pick<RegisterRow, 'key' | 'body'>): boolean {
  return (valueIn(row) ?? null) !== null
}

/** Whether an op takes a session off the list, which is gone then. */
function isUnlisting({ envelope: { kind, key = '' }, bodies: [body] }: SealedOp): boolean {
  return kind === 'put' && key.startsWith(SESSIONS) && (body ?? 'null') === 'null'
}

/** What becomes of some work; undefined: it takes longer than so many milliseconds, and goes on. */
async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  const { signal, clear } = webHost.timeout(ms)
  const late = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
  return Promise.race([work, late]).finally(clear)
}

/** There are more sessions than one call erases. */
const MORE = new Error('more sessions are to be erased')

/** What a call reads: a recall calls each session that it looks through. */
function readsOf(name: UserCallName, input: unknown): number {
  if (name !== 'recall') return 1
  const { sessions = [] } = input as Pick<UserCallInput<'recall'>, 'sessions'>
  return 1 + (sessions === 'all' ? RECALLED : sessions.length)
}

/** All live facts that a user's sessions share. */
async function factsOf({ facts }: EdgeUser): Promise<readonly Fact[]> {
  if (!facts) return []
  const all: Fact[] = []
  for (let after: string | undefined; ; ) {
    const page = await facts.list(after === undefined ? {} : { after })
    all.push(...page)
    after = page.at(-1)?.id
    if (after === undefined) return all
  }
}

function unlessNotFound(error: unknown): undefined {
  if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
}

/**
 * Whether an op notes a fact of a session. The session's object does that itself, also of what is
 * pushed: it alone knows whether the fact is there yet, or again gone with its session.
 */
function isNote({ envelope: { kind, key = '' }, bodies: [body = null] }: SyncOp): boolean {
  return kind === 'put' && key.startsWith(NOTE) && body !== null && body !== 'null'
}

/** Whether an op changes more than the place on the list of one session, which alone holds that. */
function isOfAll(op: SyncOp): boolean {
  const { key = '' } = op.envelope
  return isShared(knownOp(op), key.startsWith(SESSIONS) ? key.slice(SESSIONS.length) : '')
}
