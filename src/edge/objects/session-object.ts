import { DurableObject } from 'cloudflare:workers'
import { type Lease, lease } from '../../agent/lease.ts'
import { memoryTools } from '../../agent/memory-tools.ts'
import type { AgentTool, RunOptions } from '../../agent/options.ts'
import { toolSpecs } from '../../agent/start-run.ts'
import { handleMcpRequest } from '../../bridges/mcp/handle-request.ts'
import type { McpSession } from '../../bridges/mcp/start-resource.ts'
import { certificateOf } from '../../operations/forget/certificate.ts'
import { findSession, listSession, titleSession } from '../../operations/sessions.ts'
import { exportScopeOf } from '../../operations/transfer/export.ts'
import { nextWorkAt, runDueWork } from '../../operations/upkeep.ts'
import { webHost } from '../../platform/web.ts'
import type { Certificate } from '../../ports/certificate.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { FACT } from '../../ports/fact.ts'
import type { Model, Usage } from '../../ports/model.ts'
import { idIn, type Name, type Scope } from '../../ports/op.ts'
import type { ContextOptions } from '../../ports/session.ts'
import type { Attachment } from '../../ports/store.ts'
import type {
  AttachmentRequest,
  PullAnswer,
  PullRequest,
  PushAnswer,
  PushRequest,
  SyncOp,
  Transport,
} from '../../ports/sync.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { answerPull } from '../../sync/answer-pull.ts'
import { answerPush } from '../../sync/home.ts'
import { giveAttachment, takeAttachment } from '../../sync/home-attachments.ts'
import { NO_GENERATION } from '../../sync/state.ts'
import { newTok } from '../../sync/tok.ts'
import { type EdgeSession, using } from '../features.ts'
import { isGuest } from '../guest.ts'
import type { Relay } from '../relay/relay.ts'
import { Relays } from '../relay/relays.ts'
import { restingHost } from '../relay/resting-host.ts'
import { callObject } from '../replica/call-object.ts'
import { LATELY_MS } from '../replica/recent-pulls.ts'
import { answerRefusals, refusalOf } from '../replica/refusal.ts'
import type { ScopeCall, ScopeHost } from '../replica/remote-scope.ts'
import { withoutCopies } from '../replica/without-copies.ts'
import { Answers, type Claim } from '../rows/answers.ts'
import { rewrite } from '../rows/rewrite.ts'
import type { SessionScope } from '../rows/session-record.ts'
import { TextParts } from '../rows/text-parts.ts'
import { TokenBuckets } from '../rows/token-buckets.ts'
import { TokenLease } from '../rows/token-lease.ts'
import type { WordsBlock, WordsState } from '../rows/words-table.ts'
import { parseChatRequest } from '../turn/chat-request.ts'
import type { ChatRequest } from '../turn/protocol.ts'
import { Turns } from '../turn/turns.ts'
import type { ResumedRun } from '../turn/turns-options.ts'
import { objectAlarms } from '../work/alarms.ts'
import { WorkQueue } from '../work/work-queue.ts'
import { type Answer, answer, NOTHING, packed } from './answer.ts'
import type { EdgeBindings } from './bindings.ts'
import type { BriefBudget } from './brief-budget.ts'
import { COMPACT, compactionHandler, scheduleCompaction, writtenSoon } from './compaction-work.ts'
import { FactNotes } from './fact-notes.ts'
import { Failures, reportTo } from './failures.ts'
import { LiveSockets, scopeIn } from './live-sockets.ts'
import { objectName } from './object-name.ts'
import { PUSHED, PushedTurns } from './pushed-turns.ts'
import { answerErase, erasedIn, isErase, pushRefusals } from './pushes.ts'
import { tellRun } from './run-line.ts'
import {
  type Asked,
  CHANGES,
  type ContextCall,
  FORGETS,
  OWN_CALLS,
  type SessionCallInput,
  type SessionCallName,
  sessionCalls,
} from './session-calls.ts'
import { type SessionHome, type Synced, userOf } from './session-home.ts'
import { type GoneNames, SessionLife } from './session-life.ts'
import type {
  BegunChat,
  BegunCompletion,
  CallMeta,
  ChatCall,
  CompletionCall,
  McpCall,
  ReleasedSession,
  SessionOptions,
} from './session-rpc.ts'
import { appendGiven, writeGiven } from './session-writes.ts'
import {
  framesPerMinute,
  guestReads,
  type LeaseSettings,
  type SessionSettings,
  sessionBudgets,
  sharedTokens,
} from './settings.ts'
import { type ImportAnswer, type ImportCall, importLines, lineStream } from './transfer.ts'

/** Kinds of work beside {@link COMPACT}. */
const ANSWERS = 'answers'
const ATTACHMENTS = 'attachments'
const CHATS = 'chats'
const COMPLETIONS = 'completions'
const ERASE = 'erase'
const PARTS = 'parts'
const RETENTION = 'retention'
/** The kind that tells the user of facts, where nobody else did. */
const NOTES = 'notes'
/** Kinds that keep words with the user for recall, and drop what was forgotten. */
const WORDS = 'words'
const FORGOTTEN_WORDS = 'forgotten-words'
/** The kind that deletes with the user what derives from what is gone here. */
const SHARED = 'shared'

/**
 * For which facts are gathered, and in which most replicas have told what they pushed themselves.
 */
const NOTES_MS = 5_000
/** For how long what is said is gathered before the user's object gets its words unasked. */
const WORDS_MS = 86_400_000
/** The same where that one does not know that the session is in use, and so does not ask. */
const UNASKED_WORDS_MS = 600_000
/** When words and what is shared are dropped that the call did not see to which forgot them. */
const FORGOTTEN_MS = 1_000
/** Streams of chats whose time ends within so long are removed together. */
const TOGETHER_MS = 1_800_000
const DAY_MS = 86_400_000
/** Of a reply of which the provider did not say how long it was. */
const CHARS_PER_TOKEN = 4
/**
 * When an erase is tried again that could not be finished, for example since the user's object was
 * not reached; and what else is tried for as long as it takes.
 */
const AGAIN_MS = 60_000

/**
 * One session: its log, contexts and chats, and a copy of what its user's sessions share. Its calls
 * are RPC methods of a Durable Object; each says whose it is, and anybody else's is not there.
 *
 * Extend it to choose model, tools and memory, by overriding {@link settings}; export the class
 * from the Worker and bind it as `SESSIONS`.
 */
export abstract class SessionObject<Env extends EdgeBindings = EdgeBindings>
  extends DurableObject<Env>
  implements ScopeHost
{
  static {
    answerRefusals(SessionObject)
  }

  readonly #failures = new Failures({
    object: 'session',
    id: this.ctx.id.toString(),
    log: () => this.#settings.log,
    report: reportTo(this.env),
    waitUntil: (work) => this.ctx.waitUntil(work),
    now: webHost.now,
  })
  readonly #host = restingHost(webHost)
  readonly #relays = new Relays({
    ctx: this.ctx,
    host: webHost,
    fetch: (input, init) => fetch(input, init),
    onBeat: () => this.#host.beat(),
  })
  readonly #sockets = new LiveSockets(this.ctx, webHost.now, () => framesPerMinute(this.#settings.budgets))
  readonly #parts = new TextParts(this.ctx.storage, webHost.now, () => this.#life.seal)
  readonly #life = new SessionLife({
    storage: this.ctx.storage,
    name: this.ctx.id.name,
    settings: () => this.#settings,
    user: (user) => this.env.USERS.getByName(objectName(user)),
    session: (scope) => this.env.SESSIONS.getByName(objectName(scope)) as unknown as ScopeHost,
    stop: async () => {
      await this.#turns.stopAll()
      await this.#notes.settle()
    },
    clear: () => {
      this.#turns.clear()
      this.#parts.clear()
      this.#lease?.clear()
      this.#answers.clear()
      this.#work.cancel(ANSWERS)
      this.#work.cancel(ERASE)
      this.#work.cancel(PUSHED)
      this.#work.cancel(WORDS)
      this.#work.cancel(FORGOTTEN_WORDS)
      this.#wordsDue = 0
      this.#notes.clear()
      this.#sockets.end()
    },
    clearRuns: () => this.#turns.clear(),
    rewrite: () => rewrite(this.ctx.storage),
    forgot: () => this.#answers.forget(),
    wrote: (facts, by) => (by === 'calls' ? this.#notes.wrote(facts) : this.#notes.leave()),
    emptied: (user, names) => this.#emptied(user, names),
    said: (change, seq) => this.#said(change, seq),
    forgotten: () => this.#work.payloadOf(FORGOTTEN_WORDS) as number | undefined,
    settleNotes: () => this.#notes.settle(),
  })
  readonly #work = new WorkQueue({
    storage: this.ctx.storage,
    alarms: objectAlarms(this.ctx.storage),
    host: webHost,
    handlers: {
      [COMPACT]: compactionHandler(() => this.#life.living?.session()),
      [CHATS]: async () => {
        this.#turns.runDueWork()
        const due = this.#turns.isLive ? undefined : this.#turns.nextWorkAt()
        return due && together(due)
      },
      [ERASE]: () => this.#untilDone(ERASE, () => this.#life.finishErase()),
      [PARTS]: async () => this.#parts.purge(),
      [ANSWERS]: async () => this.#answers.purge(),
      [COMPLETIONS]: async () => {
        this.#beat()
        return this.#turns.beat()
      },
      [ATTACHMENTS]: () => this.#runDueWork(),
      [RETENTION]: () => this.#runDueWork(),
      [NOTES]: async () => {
        await this.#notes.catchUp(async () => {
          await this.#life.living?.noteFacts()
        })
        return undefined
      },
      [PUSHED]: (payload) => this.#pushed.look(payload),
      [WORDS]: () => {
        // What is said from here on may be missing in what is sent.
        this.#wordsDue = 0
        return this.#untilDone(WORDS, () => this.#life.sendWords())
      },
      [FORGOTTEN_WORDS]: (payload) =>
        this.#untilDone(FORGOTTEN_WORDS, () => this.#life.dropWords(payload as number)),
      [SHARED]: (payload) =>
        this.#untilDone(SHARED, () => this.#life.forgetShared(payload as unknown as GoneNames)),
    },
    onFailure: this.#failures.ofWork,
  })
  readonly #notes = new FactNotes({
    note: async (facts) => {
      await this.#life.living?.noteFacts(facts)
    },
    // It is written with the commit; the alarm is only set sooner by this.
    owe: () => void this.#work.schedule(NOTES, webHost.now() + NOTES_MS, { payload: true }).catch(() => {}),
    isOwed: () => this.#work.payloadOf(NOTES) !== undefined,
    cancel: () => this.#work.cancel(NOTES),
  })
  readonly #turns = new Turns({
    session: async () => {
      const home = this.#life.living
      await home?.refresh()
      if (!home) throw new PlimsollError('ERR_NOT_FOUND', 'chat: the session is gone')
      return home.session()
    },
    model: () => this.#model(),
    run: () => this.#runOptions(),
    lease: () => this.#settings.lease && edgeLease(this.#settings.lease),
    storage: this.ctx.storage,
    seal: () => this.#life.seal,
    tools: (session) => this.#tools(session),
    host: this.#host,
    beforeModel: (tokens) => this.#spend(tokens),
    afterModel: (usage, { receipt }, said) => this.#settle(usage, receipt.used, said),
    onWork: (due) => void this.#work.schedule(CHATS, due),
    onRun: (due) => void this.#work.wake(due),
    onTurn: (due) => this.#work.schedule(COMPLETIONS, due),
    onEnd: (end) => {
      this.#tell()
      tellRun(this.#settings, this.ctx.id.toString(), end)
    },
  })
  readonly #pushed = new PushedTurns({
    work: this.#work,
    turns: this.#turns,
    home: () => this.#life.living,
    now: webHost.now,
  })
  readonly #answers = new Answers({
    storage: this.ctx.storage,
    now: webHost.now,
    // The session's own, which goes with it.
    newKey: () => undefined,
    open: () => this.#life.seal,
    isThere: () => this.#life.living !== undefined,
    schedule: (due) => this.#work.schedule(ANSWERS, due),
  })
  #made: SessionSettings | undefined
  /** Until when words are gathered: what is said meanwhile is sent with them. */
  #wordsDue = 0
  #buckets: TokenBuckets | undefined
  #reads: BriefBudget | undefined

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    // Work that is owed, and an alarm that is not there: it was used up by a run that did not end.
    ctx.waitUntil(this.#work.ensureArmed().catch((error) => this.#failures.failed('alarm', error)))
  }

  /** Contract: what the session is made with; asked at its first call after the object woke. */
  protected abstract settings(): SessionSettings

  override alarm(): Promise<void> {
    return this.#failures.alarm(async () => {
      this.#beat()
      await this.#work.run()
      await this.#lookAtRuns().catch((error) => this.#failures.failed('queue', error, { kind: CHATS }))
    })
  }

  /** Finds a run that was lost, and looks again while one goes on. */
  async #lookAtRuns(): Promise<void> {
    this.#turns.runDueWork()
    const due = this.#turns.nextWorkAt()
    if (due === undefined) return
    // One that goes on needs no row for it; what is left of one that was lost is removed later.
    await (this.#turns.isLive ? this.#work.wake(due) : this.#work.schedule(CHATS, together(due)))
  }

  /**
   * Makes the session, with its title and project, status 201; one that is there stays as it is,
   * status 200. Idempotent.
   *
   * @throws ERR_RATE_LIMIT, ERR_INVALID_ARGUMENT, ERR_CONFLICT: the key stands for another request
   */
  async create(
    scope: SessionScope,
    { title, project }: SessionOptions = {},
    { keyed }: CallMeta = {},
  ): Promise<Answer> {
    return this.#answers.once(keyed, async () => {
      const { home, isNew } = await this.#life.make(scope, project)
      await listSession(home.memory, scope, {
        project: home.project,
        ...(title !== undefined && { title }),
      })
      return { ...(await this.info(scope)), status: isNew ? 201 : 200 }
    })
  }

  /** The session as it is listed. @throws ERR_NOT_FOUND */
  async info(scope: SessionScope): Promise<Answer> {
    this.#read(scope)
    const home = this.#life.open(scope)
    await home.refresh()
    const { sessionId } = scope
    const { createdAt = 0 } = this.#life.record ?? {}
    const info = await findSession(home.memory, home.user, sessionId)
    const { project } = home
    return answer({
      ...(info ?? { sessionId, title: '', createdAt }),
      ...(project !== undefined && { project }),
    })
  }

  /**
   * Sets the title, at most 200 characters. Idempotent. @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT
   */
  async title(
    scope: SessionScope,
    { title }: { readonly title: string },
    { keyed, bytes = 0 }: CallMeta = {},
  ): Promise<Answer> {
    const home = this.#life.open(scope)
    return this.#answers.once(keyed, async () => {
      this.#take(bytes)
      await listSession(home.memory, scope, { project: home.project })
      await titleSession(home.memory, home.user, scope.sessionId, title)
      return this.info(scope)
    })
  }

  /**
   * Runs one of {@link sessionCalls}. @throws ERR_NOT_FOUND: no such session, or another's;
   * ERR_RATE_LIMIT; ERR_CONFLICT: the key stands for another request
   */
  async call<Name extends SessionCallName>(
    scope: SessionScope,
    name: Name,
    input: SessionCallInput<Name>,
    { keyed, ...meta }: CallMeta = {},
  ): Promise<string> {
    if (!CHANGES.has(name) || isPreview(name, input)) this.#read(scope)
    const home = this.#life.open(scope)
    const isAnew = isRead(name, input)
    if (isAnew) this.#answers.check(keyed)
    const { bytes = 0 } = meta
    const takes = isCounted(name, input, bytes) ? { appends: 1, bytes } : {}
    const isLasting = FORGETS.has(name)
    let isWritten = false
    const wrote = (): void => {
      isWritten = true
    }
    const answered = await this.#answers.once(
      isAnew ? undefined : keyed,
      (opId) => this.#call(home, name, input, { ...meta, ...named(opId()) }, wrote),
      { isLasting, isKept: !showsOthers(name, input), isWritten: () => isWritten },
    )
    const limits = this.#budgets.limits(takes)
    return packed(limits.length === 0 ? answered : { ...answered, limits })
  }

  async #call<Name extends SessionCallName>(
    home: SessionHome,
    name: Name,
    input: SessionCallInput<Name>,
    { opId, bytes = 0 }: CallMeta,
    wrote: () => void,
  ): Promise<Answer> {
    const changes = CHANGES.has(name) && !isPreview(name, input)
    if (isCounted(name, input, bytes)) this.#take(bytes)
    const stale = OWN_CALLS.has(name) ? undefined : await home.refresh()
    const session = home.session()
    // Its reply would be the first message of the log.
    if (name === 'clearLog') await this.#turns.stopAll()
    const call = sessionCalls[name] as (asked: Asked, input: SessionCallInput<Name>) => Promise<Answer>
    const answered = await call(
      {
        session,
        append: async (messages, options) => {
          const appended = await appendGiven(session, this.#parts, messages, options)
          wrote()
          return appended
        },
        tools: () => toolSpecs(this.#tools(session)),
        whole: (messages, write) => writeGiven(this.#parts, messages, write),
        settled: (certificate) => this.#settled(home.scope, certificate),
        ...(opId !== undefined && { opId }),
        ...(stale && { stale }),
      },
      input,
    )
    if (name === 'context') {
      const { limits } = input as ContextOptions
      await writtenSoon(session, webHost)
      await scheduleCompaction(this.#work, session, webHost.now(), limits ? { limits } : {})
    }
    // Streams of runs hold what was said.
    if (FORGETS.has(name)) this.#turns.clear()
    // And so do slices of the message that came once more.
    if (name === 'forgetMessage') this.#parts.release((input as SessionCallInput<'forgetMessage'>).message)
    if (name === 'clearLog') this.#parts.clear()
    if (changes) this.#tell()
    if (name === 'remember' || name === 'changeFact') await this.#scheduleLeft(home)
    await this.#keep()
    return answered
  }

  /** What a call left undone, since the user's object was not reached, an alarm does. */
  async #scheduleLeft({ memory }: SessionHome): Promise<void> {
    const due = await nextWorkAt(memory)
    if (due !== undefined) await this.#work.schedule(ATTACHMENTS, due)
  }

  /**
   * Writes the summary that is needed next; with `newEpoch` it then cuts the window back, whatever
   * its state. @throws ERR_NOT_FOUND
   */
  async compact(
    scope: SessionScope,
    { newEpoch }: { readonly newEpoch?: boolean },
    { keyed, bytes = 0 }: CallMeta = {},
  ): Promise<Answer> {
    const home = this.#life.open(scope)
    return this.#answers.once(keyed, async () => {
      this.#take(bytes)
      await home.refresh()
      const session = home.session()
      const compacted = await using(session, 'compaction').compaction.run()
      if (!newEpoch) return answer(compacted)
      const { receipt } = await session.context({ newEpoch: true, onPending: 'abandon' })
      return answer({ ...compacted, receipt })
    })
  }

  /**
   * Keeps a slice of the JSON of a message that is too long for one body. Idempotent. @throws
   * ERR_NOT_FOUND, as {@link TextParts.put}
   */
  async putPart(
    scope: SessionScope,
    { entry, n, text }: { readonly entry: string; readonly n: number; readonly text: string },
    { bytes = 0 }: CallMeta,
  ): Promise<Answer> {
    this.#life.open(scope)
    this.#budgets.take('bytes', bytes)
    await this.#work.schedule(PARTS, this.#parts.put(entry, n, text))
    return NOTHING
  }

  /**
   * The lines of the session, once nothing in it shows what its user's sessions share no more.
   * @throws ERR_NOT_FOUND; as the user's object: nothing is exported then
   */
  async exportLines(
    scope: SessionScope,
    parts: readonly TransferPart[],
  ): Promise<ReadableStream<Uint8Array>> {
    this.#read(scope)
    const { memory } = this.#life.open(scope)
    await this.#life.sync(scope)
    return lineStream(exportScopeOf(memory, scope, parts))
  }

  /**
   * Imports lines of the session, which is made if it is not there.
   *
   * @throws ERR_RATE_LIMIT, as `importInto`
   */
  async importLines(scope: SessionScope, call: ImportCall): Promise<ImportAnswer> {
    const { lines, isOther, trust, ...given } = call
    const isNew = this.#life.record === undefined
    const home = await this.#life.ensure(scope, given.project)
    this.#budgets.take('bytes', utf8Length(lines))
    const { memory } = home
    const list = (): Promise<void> => listSession(memory, scope, given)
    let answered: ImportAnswer
    try {
      answered = await importLines(memory, scope, { lines, isOther, trust }, list)
    } catch (error) {
      // One of that name was removed, and its log is not to come back.
      if (isNew && isPlimsollError(error, 'ERR_CONFLICT')) await this.erase(scope)
      throw error
    }
    await list()
    await this.#scheduleLeft(home)
    this.#tell()
    return answered
  }

  /**
   * Says something, and streams the reply over the call's relay. A session that is not there is
   * made by a first message.
   *
   * @throws ERR_NOT_FOUND, ERR_OVERLOADED: there is no such relay; as {@link create} and
   * {@link Turns.start}
   */
  async chat(
    scope: SessionScope,
    body: unknown,
    { keyed, bytes = 0, messageId, relay: relayId }: ChatCall,
  ): Promise<BegunChat> {
    const isFirst = this.#life.isFree(scope)
    if (!isFirst) this.#life.open(scope)
    const relay = await this.#relays.of(relayId)
    const parse = (idempotencyKey?: string): ChatRequest =>
      parseChatRequest(body, {
        protocol: 'ui',
        newId: () => messageId,
        isFirst,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      })
    // What is no request claims no key.
    const request = parse()
    if (isFirst) {
      // Without one there is nothing to say it to.
      await this.#model(relay)
      await this.#life.ensure(scope)
    }
    const claim = keyed && (await this.#answers.claim(keyed))
    try {
      this.#take(bytes)
      await this.#keep()
      const model = (): Promise<Model> => this.#model(relay)
      const { run, stream } = await this.#turns.start(claim ? parse(claim.opId) : request, { model })
      void relay.carry(stream)
      return { run }
    } catch (error) {
      claim?.refused(error)
      throw error
    }
  }

  /**
   * A run's stream from its beginning on. @returns undefined: there is none, also where the session
   * is yet to be made and `run` is `current`. @throws ERR_NOT_FOUND: no such session
   */
  async resumeChat(scope: SessionScope, run: string): Promise<ResumedRun | undefined> {
    this.#read(scope)
    if (run === 'current' && this.#life.isFree(scope)) return undefined
    this.#life.open(scope)
    return this.#turns.resume(run)
  }

  /** Stops a run. Idempotent. @throws ERR_NOT_FOUND: no such session */
  async stopChat(scope: SessionScope, run: string, { keyed }: CallMeta = {}): Promise<Answer> {
    this.#life.open(scope)
    return this.#answers.once(keyed, async () => answer({ stopped: await this.#turns.stop(run) }))
  }

  /**
   * Answers a request of OpenAI's Chat Completions, over the call's relay. @throws ERR_NOT_FOUND,
   * ERR_OVERLOADED: there is no such relay; as {@link Turns.start}
   */
  async complete(
    scope: SessionScope,
    { body, bytes = 0, opId, keyed, isRetry, create, relay: relayId }: CompletionCall,
  ): Promise<BegunCompletion> {
    if (create) this.#life.checkName(scope)
    else this.#life.open(scope)
    const relay = await this.#relays.of(relayId)
    const answering = await this.#model(relay)
    const { id: modelId } = answering
    const { settings } = this.#runOptions()
    const parse = (idempotencyKey: string | undefined, isFirst = false): ChatRequest =>
      parseChatRequest(body, {
        protocol: 'completions',
        modelId,
        isFirst,
        ...settings,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(isRetry && { isRetry }),
      })
    let request = parse(opId)
    this.#answers.check(keyed)
    let home: SessionHome | undefined
    let claim: Claim | undefined
    const turn: ChatRequest = { ...request, admit: (work, host) => request.admit(work, host) }
    // Made once the request holds and its turn has come: for one that is refused, nothing is.
    const session = async (): Promise<EdgeSession> => {
      if (create && this.#life.record?.state !== 'live') parse(opId, true)
      home = create ? await this.#life.ensure(scope) : this.#life.open(scope)
      claim = keyed && (await this.#answers.claim(keyed))
      if (claim) request = parse(claim.opId)
      this.#take(bytes)
      await home.refresh()
      return home.session(request.system)
    }
    const begun = this.#turns.start(turn, { session, model: () => answering })
    const { stream } = await begun.catch((error: unknown) => {
      claim?.refused(error)
      throw error
    })
    void relay.carry(stream)
    // Listeners get a hint for the question now, and for the reply at its end.
    if (!request.isWhole) this.#tell()
    await this.#keep()
    // Pictures come with requests; those that no message names are removed after a day.
    if (home) await this.#scheduleLeft(home)
    return { isWhole: request.isWhole === true }
  }

  /** Answers one request of the Model Context Protocol. @throws ERR_NOT_FOUND */
  async mcp(scope: SessionScope, { method, headers, body, create }: McpCall): Promise<Response> {
    if (create) this.#life.checkName(scope)
    else this.#life.open(scope)
    const request = new Request('https://session/mcp', { method, headers, ...(body && { body }) })
    // For what is no request, nothing is made.
    const open = async (): Promise<McpSession> => {
      const home = create ? await this.#life.ensure(scope) : this.#life.open(scope)
      if (body) this.#take(body.length, requestsIn(body))
      await home.refresh()
      return using(home.session(), 'facts')
    }
    const response = await handleMcpRequest(open, request)
    this.#tell()
    await this.#keep()
    return response
  }

  /**
   * A socket that gets changes, or a relay of a chat. Its scope and its end are in headers, which
   * the Worker alone sets.
   */
  override async fetch({ headers }: Request): Promise<Response> {
    try {
      return this.#listen(headers)
    } catch (error) {
      return Response.json(refusalOf(error))
    }
  }

  #listen(headers: Headers): Response {
    const relay = this.#relays.accept(headers)
    if (relay) return relay
    const scope = scopeIn<SessionScope>(headers)
    this.#life.open(scope)
    this.#read(scope)
    return this.#sockets.accept(headers)
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    if (!this.#relays.heard(socket, frame)) this.#sockets.heard(socket)
  }

  override webSocketClose(socket: WebSocket): void {
    this.#relays.closed(socket)
  }

  override webSocketError(socket: WebSocket): void {
    this.#relays.closed(socket)
  }

  /**
   * Removes the session and all that is in it; what an end of the object leaves, an alarm finishes.
   *
   * @param by name of the object of the user who took it over
   * @throws ERR_NOT_FOUND, ERR_CONFLICT: it is being moved to another user
   */
  async erase(scope: SessionScope, by?: string, { keyed }: CallMeta = {}): Promise<Certificate> {
    if (keyed && this.#life.living) this.#answers.check(keyed)
    this.#life.beginErase(scope, by)
    await this.#work.schedule(ERASE, webHost.now())
    // Another call may have removed it meanwhile.
    return (await this.#life.finishErase()) ?? certificateOf(webHost, 'erase', scope.sessionId, true, {})
  }

  /**
   * Writes what a replica pushes. A session that is not there is made, unless what is pushed is of
   * a log that was erased; an erase removes it, as {@link erase} does. Idempotent.
   *
   * @throws ERR_RATE_LIMIT, ERR_CONFLICT: it is being moved; as {@link create}; what tells whether
   * something was forgotten meanwhile
   */
  async push(scope: SessionScope, request: PushRequest, { bytes = 0 }: CallMeta): Promise<PushAnswer> {
    const { generation, ops } = request
    const log = await this.#life.log(scope)
    const isKnown = this.#life.record !== undefined
    const erase = generation === NO_GENERATION ? undefined : ops.find(isErase)
    const erased = !isKnown || erase ? await erasedIn(log, generation) : undefined
    if (erased) return erased
    if (erase) {
      const remove = this.#life.record && (() => this.erase(scope))
      return answerErase(() => this.#life.log(scope), generation, erase, remove)
    }
    try {
      return await this.#push(scope, request, bytes)
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
      // It may have been removed meanwhile.
      return (await erasedIn(await this.#life.log(scope), generation)) ?? Promise.reject(error)
    }
  }

  async #push(scope: SessionScope, request: PushRequest, bytes: number): Promise<PushAnswer> {
    const { ops } = request
    const home = await this.#life.ensure(scope)
    this.#take(bytes)
    await listSession(home.memory, scope, { project: home.project })
    const refused = await pushRefusals(home.memory, scope, ops)
    const showsDeleted = await home.showsDeleted(ops)
    const answered = await answerPush(home.log, request, {
      newTok,
      refuse: (op) => refused(op) ?? (showsDeleted(op) ? 'deleted' : undefined),
      onWrite: () => this.#tell(),
    })
    this.#forgetBeside(ops)
    if (this.#settings.lease && 'results' in answered) {
      const taken = ops.filter((_, place) => 'seq' in (answered.results[place] ?? {}))
      await this.#pushed.note(taken, this.#settings.lease)
    }
    await this.#keep()
    return answered
  }

  /** Removes what the object holds of what is deleted, though the ops were written before. */
  #forgetBeside(ops: readonly SyncOp[]): void {
    const targets = ops.flatMap(({ envelope: { target } }) => target ?? [])
    // Streams of runs hold what was said, and so do slices of messages.
    if (targets.length > 0) this.#turns.clear()
    for (const target of targets) {
      const entry = idIn('entry', target)
      if (entry !== undefined) this.#parts.release(entry)
    }
  }

  /**
   * Gives a replica what the log has after its place. Of a session that is not there, that is
   * nothing, or that it was erased.
   *
   * @throws ERR_NOT_FOUND: another's; ERR_CONFLICT: it is being moved; ERR_RATE_LIMIT
   */
  async pull(scope: SessionScope, request: PullRequest, bytes: number): Promise<PullAnswer> {
    this.#read(scope)
    return answerPull(await this.#life.log(scope), request, { newTok, bytes })
  }

  /**
   * Keeps an attachment that the next push of a replica names. Idempotent.
   *
   * @throws ERR_NOT_FOUND, ERR_RATE_LIMIT, ERR_DUPLICATE_ID (other bytes under that id)
   */
  async attach(
    scope: SessionScope,
    request: AttachmentRequest,
    attachment: Attachment,
    { bytes = 0 }: CallMeta,
  ): ReturnType<Transport['attach']> {
    const log = await this.#life.log(scope)
    if (!this.#life.record && (await erasedIn(log, request.generation))) return 'deleted'
    const home = this.#life.open(scope)
    this.#take(bytes)
    const outcome = await takeAttachment(home.log, request, attachment, webHost.now())
    // One that no push names after all is removed.
    await this.#scheduleLeft(home)
    return outcome
  }

  /** What {@link attach} kept, for another replica. @throws ERR_RATE_LIMIT */
  async attachment(scope: SessionScope, request: AttachmentRequest): Promise<Attachment | undefined> {
    this.#read(scope)
    return giveAttachment(await this.#life.log(scope), request)
  }

  /** As {@link SessionLife.answer}. */
  scope(scope: Scope, call: ScopeCall): Promise<unknown> {
    return this.#life.answer(scope, call)
  }

  /** As {@link SessionLife.sync}. */
  sync(scope: SessionScope): Promise<Synced> {
    return this.#life.sync(scope)
  }

  /**
   * As {@link SessionLife.lackingWords}: what was said since. It writes nothing; what is owed stays
   * owed.
   */
  words(scope: SessionScope, state?: WordsState): Promise<readonly WordsBlock[]> {
    return this.#life.lackingWords(scope, state)
  }

  /** Notes what was written of facts with the user. @throws as {@link SessionLife.open} */
  async tellNotes(scope: SessionScope): Promise<void> {
    this.#life.open(scope)
    await this.#notes.settle()
  }

  /** As {@link SessionLife.rewrap}. */
  rewrap(scope: SessionScope): Promise<void> {
    return this.#life.rewrap(scope)
  }

  /** As {@link SessionLife.release}. */
  release(scope: SessionScope, to: string): Promise<ReleasedSession> {
    return this.#life.release(scope, to)
  }

  /** As {@link SessionLife.takeOver}. */
  async takeOver(scope: SessionScope, released: ReleasedSession): Promise<void> {
    await this.#life.takeOver(scope, released)
    this.#said('changed')
  }

  /** Says that what the user's sessions share has changed. A hint. */
  poke(): void {
    this.#life.awake?.poke()
    this.#tell()
  }

  /**
   * Sees to it that what is too old is looked for within a day; where that is noted already,
   * nothing is written.
   */
  async #keep(): Promise<void> {
    if (this.#settings.memory.use?.some(({ name }) => name === 'retention'))
      await this.#work.schedule(RETENTION, webHost.now() + DAY_MS)
  }

  async #runDueWork(): Promise<number | undefined> {
    const { living } = this.#life
    return living && runDueWork(living.memory)
  }

  /**
   * Does a part of work that is never given up, as other work that fails is in the end: what
   * somebody had removed must not stay.
   *
   * @param work gives true where there is more to do
   * @returns when it is to be done again
   */
  async #untilDone(kind: string, work: () => Promise<unknown>): Promise<number | undefined> {
    try {
      return (await work()) === true ? webHost.now() : undefined
    } catch (error) {
      this.#failures.failed('queue', error, { kind })
      return webHost.now() + AGAIN_MS
    }
  }

  /**
   * Sees to it that the user's object gets to know what can be found here, within the transaction
   * that changed it: the alarm is only set sooner by this.
   *
   * @param forgotten up to which seq of the log something was forgotten
   */
  #said(change: 'changed' | 'forgotten', seq = 0): void {
    const now = webHost.now()
    const { pulledAt = Number.NEGATIVE_INFINITY } = this.#life.awake ?? {}
    const due = now + (pulledAt > now - LATELY_MS ? WORDS_MS : UNASKED_WORDS_MS)
    const isGathering = now < this.#wordsDue && this.#wordsDue <= due
    if ((isGathering && change === 'changed') || !this.#life.keepsWords) return
    const owe = (kind: string, due: number, payload: number): void =>
      void this.#work.schedule(kind, due, { payload }).catch(() => {})
    if (change === 'forgotten') owe(FORGOTTEN_WORDS, now + FORGOTTEN_MS, seq)
    if (isGathering) return
    this.#wordsDue = due
    owe(WORDS, this.#wordsDue, 0)
  }

  /**
   * Sees to it that what the user's scope has of names that are gone goes too, within the
   * transaction that emptied them.
   */
  #emptied(user: Scope, names: readonly Name[]): void {
    if (names.some((name) => idIn('register', name)?.startsWith(FACT))) this.#notes.leave()
    const owed = this.#work.payloadOf(SHARED) as unknown as GoneNames | undefined
    const payload = { user: { ...user }, names: [...new Set([...(owed?.names ?? []), ...names])] }
    void this.#work.schedule(SHARED, webHost.now() + FORGOTTEN_MS, { payload }).catch(() => {})
  }

  /** A certificate, which says what went in the other sessions, and whether all have confirmed. */
  async #settled(scope: SessionScope, certificate: Certificate): Promise<Certificate> {
    const forgotten = this.#work.payloadOf(FORGOTTEN_WORDS)
    const { left, heads = 0 } = (await this.#life.settle(scope).catch(() => undefined)) ?? {}
    // Something else may have been forgotten meanwhile, or it was not reached.
    if (left !== undefined && this.#work.payloadOf(FORGOTTEN_WORDS) === forgotten)
      this.#work.cancel(FORGOTTEN_WORDS)
    return withoutCopies(certificate, { heads, isConfirmed: left === 0 })
  }

  /** Tells listeners that something changed. A hint, which may be lost. */
  #tell(): void {
    if (this.#sockets.isEmpty) return
    this.ctx.waitUntil(this.#sockets.tell(() => this.#life.seq()).catch(() => {}))
  }

  get #settings(): SessionSettings {
    this.#made ??= this.settings()
    return this.#made
  }

  get #budgets(): TokenBuckets {
    this.#buckets ??= new TokenBuckets(this.ctx.storage, sessionBudgets(this.#settings.budgets), webHost.now)
    return this.#buckets
  }

  /** Those of the edge's own agent. */
  #tools(session: EdgeSession): readonly AgentTool[] {
    return this.#settings.tools?.(session) ?? memoryTools(session)
  }

  /**
   * How the edge's own model is called: a reply has as much room as the budget keeps free for it.
   */
  #runOptions(): Pick<RunOptions, 'maxSteps' | 'settings'> {
    const { maxSteps, memory } = this.#settings
    const { maxOutputTokens = 0 } = typeof memory.budget === 'object' ? memory.budget : {}
    return {
      ...(maxSteps !== undefined && { maxSteps }),
      ...(maxOutputTokens > 0 && { settings: { maxOutputTokens } }),
    }
  }

  /** Counts what a guest reads. @throws ERR_RATE_LIMIT */
  #read(scope: SessionScope): void {
    if (!isGuest(scope)) return
    this.#reads ??= guestReads(this.#settings.budgets, webHost.now)
    this.#reads.take()
  }

  /** Counts a write, or several that come together. @throws ERR_RATE_LIMIT, ERR_LIMIT */
  #take(bytes: number, appends = 1): void {
    this.#budgets.takeAll({ appends, bytes })
  }

  /**
   * What a call of the model took, in place of what was foretold of it. Of one that was stopped the
   * provider says nothing, and had its pay for what came.
   */
  async #settle(usage: Usage, foretold: number, said: number): Promise<void> {
    const { inputTokens = foretold, outputTokens = Math.ceil(said / CHARS_PER_TOKEN) } = usage
    const difference = inputTokens + outputTokens - foretold
    this.#budgets.settle('modelTokens', difference)
    await this.#lease?.settle(difference)
  }

  /** Counts a call of the model, here and with the user. @throws ERR_RATE_LIMIT, ERR_LIMIT */
  async #spend(tokens: number): Promise<void> {
    this.#budgets.take('modelTokens', tokens)
    try {
      await this.#lease?.take(tokens)
    } catch (error) {
      this.#budgets.settle('modelTokens', -tokens)
      throw error
    }
  }

  get #lease(): TokenLease | undefined {
    const { scope } = this.#life.record ?? {}
    const size = scope && sharedTokens(this.#settings.budgets, scope)
    if (!scope || size === undefined) return undefined
    const user = userOf(scope)
    return new TokenLease(this.ctx.storage, size, (ask) =>
      callObject(
        () => this.env.USERS.getByName(objectName(user)),
        webHost,
        'budget',
        (object) => object.lease(user, ask),
      ),
    )
  }

  /** @param relay who makes its requests. Default: the object */
  async #model(relay?: Relay): Promise<Model> {
    const { model } = this.#settings
    if (!model) throw new PlimsollError('ERR_NOT_CONFIGURED', 'chat: there is no model to call')
    const parts = { fetch: relay?.fetch ?? ((input, init) => fetch(input, init)), host: this.#host }
    const made = typeof model === 'function' ? await model(parts) : model
    return this.#failures.watched(relay?.outlived(made) ?? made)
  }

  /** Ends waits that are over. */
  #beat(): void {
    this.#relays.beat()
    this.#host.beat()
  }
}

/** When streams are removed whose time ends then. */
function together(due: number): number {
  return Math.max(due, webHost.now() + TOGETHER_MS)
}

function edgeLease({ ms }: LeaseSettings): Lease {
  return lease({ holder: 'edge', ...(ms !== undefined && { ms }) })
}

function named(opId: string | undefined): Pick<CallMeta, 'opId'> {
  return opId === undefined ? {} : { opId }
}

/**
 * Requests in a body of the Model Context Protocol, which may be a batch. What is none of JSON is
 * refused where it is read.
 */
function requestsIn(body: Uint8Array): number {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body))
    return Array.isArray(parsed) ? Math.max(1, parsed.length) : 1
  } catch {
    return 1
  }
}

/**
 * Whether a call writes nothing that its caller gives it. Under a key it is done again: what it
 * shows is to be what there is.
 */
function isRead(name: SessionCallName, input: unknown): boolean {
  if (name !== 'context') return false
  const { messages = [], newEpoch = false, preview = false } = input as ContextCall
  return preview || (messages.length === 0 && !newEpoch)
}

/** Whether a call may show what other sessions said: nobody tells here what these forget. */
function showsOthers(name: SessionCallName, input: unknown): boolean {
  if (name !== 'context') return false
  const { recall } = input as ContextCall & { readonly recall?: unknown }
  return typeof recall === 'object' && recall !== null
}

/** Whether a call is of the budgets. What only removes has no body, and is never refused. */
function isCounted(name: SessionCallName, input: unknown, bytes: number): boolean {
  return CHANGES.has(name) && !isPreview(name, input) && (bytes > 0 || name === 'context')
}

/** Whether a call only looks at what the next one would be given. */
function isPreview(name: SessionCallName, input: unknown): boolean {
  return name === 'context' && (input as ContextCall).preview === true
}
