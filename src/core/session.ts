import type { Branch } from '../ports/branch.ts'
import type { Certificate } from '../ports/certificate.ts'
import type { CompactEvent, Context, ContextAt } from '../ports/context.ts'
import type { Host } from '../ports/host.ts'
import type { MediaPart, Message, MessageInput } from '../ports/message.ts'
import type { RewindMark, Scope } from '../ports/op.ts'
import type { Attachment, ScopeStore } from '../ports/store.ts'
import { allOrNone } from './all-or-none.ts'
import { type AttachmentInput, attach, readAttachment } from './attachments.ts'
import { markIn } from './bodies.ts'
import { marksIn, readBranches, standing } from './branches.ts'
import type { Compaction } from './compaction.ts'
import { CompactionCover } from './compaction-cover.ts'
import { buildAt } from './context-at.ts'
import { type ContextOptions, checkContextOptions } from './context-options.ts'
import { readEntry } from './entries.ts'
import type { FactInput } from './facts/check-fact.ts'
import type { Fact } from './facts/fact.ts'
import type { FactQuery } from './facts/fact-lists.ts'
import type { Remembered } from './facts/place-fact.ts'
import type { Rating } from './facts/review.ts'
import type { CutPart, Showing, ShowPart, TailAsk, TailPart } from './feature.ts'
import { messagesOf } from './fold.ts'
import { hashText } from './hash.ts'
import { type HistoryOptions, notFound, readHistory, readRewinds } from './history.ts'
import { checkId, invalid } from './json.ts'
import { Lane, type LaneOptions } from './lane.ts'
import { checkpointSection } from './long-term/checkpoint-section.ts'
import type { Extraction } from './long-term/extraction.ts'
import type { ForgetOptions, SessionMemory } from './long-term/session-memory.ts'
import { longTermShow } from './long-term/show.ts'
import { textOf } from './message.ts'
import type { CompactionOptions, Limits, Policy } from './policy.ts'
import type { Recalled, RecallOptions } from './recall/find.ts'
import type { Recall } from './recall/lexical-recall.ts'
import { type RecallPage, recallPage } from './recall/recall-page.ts'
import { recallSection } from './recall/recall-section.ts'
import { BLOCK } from './recall/session-index.ts'
import { Checkpoint, type CheckpointOptions, type CheckpointParts } from './registers/checkpoint.ts'
import type { StoredSkill } from './registers/skills.ts'
import { marksOf, planSwitch, type RewindOp, readFromMessage, rewindOp } from './rewinds.ts'
import { sealOp } from './seal.ts'
import { readSource, type SourceOptions, type SourcePage } from './source.ts'
import type { StartOptions } from './start/start-options.ts'
import type { SessionStart } from './start/start-payload.ts'
import {
  type AppendOptions,
  type AppendResult,
  type CommitInput,
  type CommitOptions,
  type CommitResult,
  duplicate,
  Writer,
} from './writer.ts'

/** Results that a context tries to show. */
const RECALLED_AT_ONCE = 24
/** Lanes of other limits that a session keeps in memory. */
const MOST_LANES = 4

/** What an app shows of a session. The same object until something changes. */
export interface Snapshot {
  /** Whether the log was read yet. */
  readonly loaded: boolean
  /** The messages of the current window, whole and uncut. */
  readonly messages: readonly Message[]
  /** Highest seq that is in it. */
  readonly seq: number
}

export interface CompactOptions {
  /** Other limits than the memory's, as they were given to {@link Session.context}: each set of limits has its own summaries. */
  readonly limits?: Limits
}

/**
 * What became of {@link Session.compact}. `none`: nothing was to be written, or another call was writing it and
 * has come to its end. After `summarised`
 * the log holds a summary, that of another writer who was first included; `by` is the model that wrote it, or `extract`, and `reasons`
 * why the model's own text was refused. `refused`: it stays as it was, and the next epoch writes what it needs.
 */
export type Compacted = Compaction | { readonly status: 'none' }

/** What a session needs from the memory that it belongs to. */
export interface SessionParts<State> {
  readonly store: ScopeStore
  readonly scope: Scope
  readonly policy: Policy
  readonly system: string
  readonly onCut: CutPart['after'] | undefined
  readonly host: Host
  readonly compaction: CompactionOptions | undefined
  readonly development: boolean | undefined
  readonly extraction: Extraction | undefined
  /** Compactions that run now, by scope and lane, whichever object of the session began them. */
  readonly running: Map<string, Promise<unknown>>
  /** The memory's policy with other limits. @throws ERR_INVALID_ARGUMENT */
  readonly limited: (limits: Limits) => Policy
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
  readonly checkpoint: CheckpointOptions<State> & Pick<CheckpointParts<State>, 'isDated'>
  readonly memory: SessionMemory
  readonly recall: Recall | undefined
}

/** One conversation. Its calls run one after the other, in the order in which they were made. */
export class Session<State = unknown> {
  readonly sessionId: string
  /** State of the task, beside the log. */
  readonly checkpoint: Checkpoint<State>
  /** Whether the memory was given `recall`. */
  readonly canRecall: boolean
  readonly #store: ScopeStore
  readonly #policy: Policy
  readonly #host: Host
  readonly #writer: Writer<State>
  readonly #memory: SessionMemory
  readonly #lane: Lane
  readonly #limited: (limits: Limits) => Lane
  /** Lanes of other limits than the memory's, by their names; the one used last is last. */
  readonly #lanes = new Map<string, Lane>()
  readonly #listeners = new Set<() => void>()
  readonly #compactListeners = new Set<(event: CompactEvent) => void>()
  #unwatch: (() => void) | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Messages that were written here since words were put into a block. */
  #unindexed = 0
  #snapshot: Snapshot = { loaded: false, messages: [], seq: 0 }

  constructor({ register, limited, checkpoint, memory, recall, ...given }: SessionParts<State>) {
    const { store, scope, policy, host, system, development } = given
    const { running, compaction, extraction, onCut } = given
    this.sessionId = scope.sessionId ?? ''
    this.#store = store
    this.#policy = policy
    this.#host = host
    this.#memory = memory
    this.canRecall = recall !== undefined
    const cuts: CutPart[] = [
      ...(extraction ? [{ name: 'extract', before: extraction.before }] : []),
      ...(onCut ? [{ name: 'onCut', after: onCut }] : []),
    ]
    const onCompact = (event: CompactEvent): void => tell(this.#compactListeners, event)
    const laneOf = (policy: Policy): Lane =>
      new Lane({
        store,
        scope,
        policy,
        system,
        development,
        shows: [
          { name: 'checkpoint', show: { tail: (ask) => this.#checkpointTail(ask.count, policy) } },
          { name: 'long-term', show: longTermShow(memory.longTerm, policy.sections) as ShowPart },
          { name: 'recall', show: { tail: (ask) => this.#recallTail(ask, policy) } },
        ],
        cuts,
        cover:
          compaction &&
          ((lane) =>
            new CompactionCover({
              lane,
              store,
              scope,
              host,
              running,
              onCompact,
              options: compaction,
              sizes: policy.compaction ?? { summary: 0, carry: 0 },
            })),
      })
    this.#lane = laneOf(policy)
    this.checkpoint = new Checkpoint({ ...checkpoint, store, host, register })
    const { view } = this.#lane
    this.#writer = new Writer({
      store,
      policy,
      host,
      view,
      register,
      checkpoint: this.checkpoint,
      prepareFacts: memory.prepare,
      recall,
    })
    this.#limited = (limits) => this.#laneOf(limited(limits), laneOf)
  }

  /**
   * Writes one or more messages, all or none. A user message opens a round; anything else joins `round`, a tool result the
   * round of its call. Durable when it resolves. A rejection with a storage error does not mean "not written": append again
   * with the same `opId` or the same message ids.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND (no such round); nothing is written
   */
  append(input: MessageInput | readonly MessageInput[], options: AppendOptions = {}): Promise<AppendResult> {
    return this.#enqueue(() => this.#append('append', input, options))
  }

  /**
   * Writes messages, the checkpoint and facts in one commit: all of it, or nothing. Durable when it resolves. A rejection with a storage
   * error does not mean "not written": commit again with the same `opId`, which is a no-op where it was written.
   *
   * @throws as {@link append}, {@link Checkpoint.set} and `remember`; nothing is written
   * @example
   * ```ts
   * const { value, version } = await session.checkpoint.get({ default: { processedIds: [] } })
   * const checkpoint = { processedIds: [...value.processedIds, item.id] }
   * await session.commit({ messages: { role: 'assistant', content: summary }, checkpoint }, { ifVersion: version })
   * ```
   */
  commit(input: CommitInput<State>, options: CommitOptions = {}): Promise<CommitResult> {
    return this.#enqueue(async () => {
      const result = await this.#writer.commit(input, options)
      if (result.remembered.length > 0) await this.#memory.share().catch(ignore)
      this.#index(result.messages.length)
      if (this.#listeners.size > 0) await this.#look().catch(ignore)
      return result
    })
  }

  /**
   * Writes a plain exchange, and returns the messages of the window that is now shown.
   *
   * @throws as {@link append} and {@link context}; after ERR_BUDGET_TOO_SMALL the exchange is written
   */
  addExchange(userText: string, assistantText: string): Promise<readonly Message[]> {
    return this.#enqueue(async () => {
      const exchange: MessageInput[] = [
        { role: 'user', content: userText },
        { role: 'assistant', content: assistantText },
      ]
      await this.#append('addExchange', exchange, {})
      const { window } = await this.#lane.context({})
      return messagesOf(window.units)
    })
  }

  /**
   * What the next model call is given. Reads the window; writes only when an epoch begins, one mark. Two calls with nothing
   * between them give the same bytes.
   *
   * @throws ERR_BUDGET_TOO_SMALL (`breakdown`), ERR_TOOL_PENDING (`pending`), ERR_INVALID_ARGUMENT
   */
  context(options: ContextOptions = {}): Promise<Context> {
    return this.#enqueue(async () => {
      checkContextOptions(options)
      const lane = options.limits ? this.#limited(options.limits) : this.#lane
      const { context } = await lane.context(options as LaneOptions)
      if (lane === this.#lane) this.#see()
      return context
    })
  }

  /**
   * Checks options as {@link context} does, without reading anything: for who writes first and builds a context then, and would not want to have
   * written for a call that cannot be.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  checkContext(options: ContextOptions): void {
    checkContextOptions(options)
    if (options.limits) this.#limited(options.limits)
  }

  /**
   * Rebuilds the context of the call that was made when message `id` was the newest one (before any rewind that followed),
   * without its tail, and checks it against the hash that its epoch recorded.
   *
   * @throws ERR_NOT_FOUND: no such message, or no context was built in this lane up to it
   */
  contextAt(id: string): Promise<ContextAt> {
    return this.#enqueue(async () => buildAt(this.#lane, checkId('contextAt', 'id', id)))
  }

  /** Messages as they show, newest last: the last `rounds` or `messages`, or those `before` one. */
  history(options: HistoryOptions = {}): Promise<readonly Message[]> {
    return this.#enqueue(() => readHistory(this.#store, options))
  }

  /**
   * Reads originals back, whole and uncut, by the numbers that markers and summaries name: `#3` is the third message of the log, `#3.2`
   * the second result in it, `#1-#5` five messages (at most 64). A page is as long as a tool's output may be to be shown whole, unless `length` says otherwise.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_NOT_FOUND (no such message, or it was rewound or forgotten)
   */
  readSource(reference: string, options: SourceOptions = {}): Promise<SourcePage> {
    return this.#enqueue(() => readSource(this.#store, this.#policy, reference, options))
  }

  /**
   * Keeps bytes outside of the log, and returns the part by which a message names them: attach first, then append. Durable when
   * it resolves. What no message has named within a day is removed: {@link Memory.runDueWork}.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (above 8 MiB), ERR_DUPLICATE_ID (other bytes under that id),
   *   ERR_NOT_FOUND (the id was deleted); nothing is written
   * @example
   * ```ts
   * const picture = await session.attach({ mediaType: file.type, bytes: await file.arrayBuffer() })
   * await session.append({ role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] })
   * ```
   */
  attach(attachment: AttachmentInput): Promise<MediaPart> {
    return attach(this.#store, attachment, this.#host)
  }

  /** The bytes that a media part names by its `ref`. @throws ERR_NOT_FOUND */
  attachment(ref: string): Promise<Attachment> {
    return readAttachment(this.#store, ref)
  }

  /**
   * Hides a message and everything that shows after it, to edit or regenerate from there. The log keeps all of it.
   *
   * @param options.opId repeating it gives the first result. Default: fresh
   * @returns the id of the rewind, for {@link undo}
   * @throws ERR_NOT_FOUND; ERR_DUPLICATE_ID: the op was an undo
   */
  rewind(id: string, { opId }: { readonly opId?: string } = {}): Promise<string> {
    return this.#enqueue(async () => {
      checkId('rewind', 'id', id)
      const name = this.#rewindName('rewind', opId)
      const done = await this.#rewindOf(name, opId)
      if (done && 'undo' in done) throw duplicate('rewind', name)
      if (!done) await this.#mark('rewind', [await this.#hiding('rewind', name, id)])
      return name
    })
  }

  /**
   * Shows again what a rewind hid. Default: the newest rewind that still holds.
   *
   * @param options.opId repeating it gives the first result. Default: fresh
   * @returns the id of the rewind that was taken back
   * @throws ERR_NOT_FOUND; ERR_DUPLICATE_ID: the op was a rewind
   */
  undo(rewind?: string, { opId }: { readonly opId?: string } = {}): Promise<string> {
    return this.#enqueue(async () => {
      const name = this.#rewindName('undo', opId)
      const done = await this.#rewindOf(name, opId)
      if (done && 'hides' in done) throw duplicate('undo', name)
      if (done) return done.undo
      const held = standing(marksIn(await readRewinds(this.#store)))
      const target =
        rewind === undefined
          ? held.at(-1)
          : held.find((mark) => mark.id === checkId('undo', 'rewind', rewind))
      if (!target) throw notFound('undo', rewind ?? 'a rewind')
      await this.#mark('undo', [{ type: 'rewind', id: name, undo: target.id }])
      return target.id
    })
  }

  /**
   * All places of this session at which a message was edited or a reply made again, with their versions; `versionsIn` says which of them
   * show. Reads all rewinds, and no message.
   */
  branches(): Promise<readonly Branch[]> {
    return this.#enqueue(() => readBranches(this.#store))
  }

  /**
   * Shows a version of {@link branches} in the place of the one that shows, with all that followed it when it was left. One commit: after a
   * crash, either the one or the other shows. Idempotent: what shows stays.
   *
   * @param id the message with which the version begins
   * @param options.opId repeating it does nothing more. Default: fresh
   * @throws ERR_NOT_FOUND: it is hidden and begins no version, or what it follows does not show
   */
  switchTo(id: string, { opId }: { readonly opId?: string } = {}): Promise<void> {
    return this.#enqueue(async () => {
      checkId('switchTo', 'id', id)
      const name = this.#rewindName('switchTo', opId)
      if (await this.#rewindOf(name, opId)) return
      await this.#lane.view.refresh()
      const planned = await planSwitch(this.#store, this.#lane.view, id)
      if (planned) await this.#mark('switchTo', marksOf(planned, name))
    })
  }

  /**
   * Keeps a fact, as {@link Facts.remember} says. What the user prefers or forbids, in the user's own words, is kept with the user and
   * shown in all sessions; anything else is this session's. It is in the tail of the very next context, and in its frozen head from the
   * next epoch on.
   *
   * @param options.opId repeating it gives the first result. Default: fresh
   * @throws as {@link Facts.remember}; nothing is written
   */
  remember(input: FactInput, { opId }: { readonly opId?: string } = {}): Promise<Remembered> {
    return this.#enqueue(() => this.#memory.remember(input, opId))
  }

  /** Facts of this session and of its user, the live ones in the order in which they show; at most 512. @throws as {@link Facts.list} */
  facts(query: FactQuery = {}): Promise<readonly Fact[]> {
    return this.#enqueue(() => this.#memory.list(query))
  }

  /** One of them, superseded, resolved and ended ones included; undefined where there is none, or it was forgotten. @throws ERR_INVALID_ARGUMENT */
  fact(id: string): Promise<Fact | undefined> {
    return this.#enqueue(() => this.#memory.fact(id))
  }

  /** Marks a blocker as out of the way. Idempotent. @throws as {@link Facts.resolve} */
  resolve(id: string): Promise<Fact> {
    return this.#enqueue(() => this.#memory.resolve(id))
  }

  /** Puts a new fact in place of one, which shows no more unless it is asked for. @throws as {@link Facts.remember} */
  supersede(id: string, input: FactInput): Promise<Remembered> {
    return this.#enqueue(() => this.#memory.supersede(id, input))
  }

  /**
   * Raises a fact to trust `user` on the word of whoever calls this, so never call it because a model says so. A preference or a constraint
   * is shared with all of the user's sessions from then on.
   *
   * @throws as {@link Facts.promote}
   */
  promote(id: string, options: { readonly pinned?: boolean } = {}): Promise<Fact> {
    return this.#enqueue(() => this.#memory.promote(id, options))
  }

  /** Makes a fact part of the system section of every context, as far as there is room. @throws as {@link Facts.pin} */
  pin(id: string): Promise<Fact> {
    return this.#enqueue(() => this.#memory.pin(id))
  }

  /** Takes it out of the system section. @throws as {@link Facts.unpin} */
  unpin(id: string): Promise<Fact> {
    return this.#enqueue(() => this.#memory.unpin(id))
  }

  /** Notes how well a fact held, so that it is due again later. @throws as {@link Facts.review} */
  review(id: string, rating: Rating): Promise<Fact> {
    return this.#enqueue(() => this.#memory.review(id, rating))
  }

  /**
   * Empties a message or a fact, and all that was derived from it, for ever: summaries of the message, facts that name it as a source (those
   * that the user's other sessions share too), heads that showed any of these, the index of recall, and attachments that no other message
   * names. Rows keep id, number and place. What people, models or the app said again in other messages, in a title or in the checkpoint
   * stays: nobody can tell. A message that names attachments takes a read of the whole log, a fact that is shared one of all heads of the
   * user's sessions.
   *
   * Idempotent: repeating it says `already`, and what an end of the process left is finished. It is recorded in the user's `audit`.
   *
   * @returns what was removed: ids and counts, no text
   * @throws ERR_NOT_FOUND (there never was one), ERR_INVALID_ARGUMENT
   */
  forget(id: string, { kind }: ForgetOptions = {}): Promise<Certificate> {
    return this.#enqueue(async () => {
      const certificate = await this.#memory.forget(id, kind)
      if (this.#listeners.size > 0) await this.#look().catch(ignore)
      return certificate
    })
  }

  /**
   * What a query finds in this session's log and among the facts that belong here, best first. Rewound and forgotten messages are not found.
   *
   * @throws ERR_INVALID_ARGUMENT (a memory without `recall` included)
   */
  recall(query: string, options: RecallOptions = {}): Promise<readonly Recalled[]> {
    return this.#enqueue(() => this.#recall(query, options))
  }

  /**
   * What a query finds beside what shows already, as text for a model: as many of the best results as a tool's output may hold to be
   * shown whole.
   *
   * @throws as {@link recall}
   */
  recallPage(query: string, { first = RECALLED_AT_ONCE }: RecallOptions = {}): Promise<RecallPage> {
    return this.#enqueue(async () =>
      recallPage(await this.#recallFor(query, first, await this.#lane.showing()), this.#policy),
    )
  }

  /**
   * A skill of the user's, which shows in the memory section from the next epoch on. Idempotent.
   *
   * @throws ERR_NOT_FOUND, ERR_LIMIT (a 17th skill), ERR_INVALID_ARGUMENT
   */
  loadSkill(name: string): Promise<StoredSkill> {
    return this.#enqueue(() => this.#memory.loadSkill(name))
  }

  /** Shows a skill no more, from the next epoch on; its text stays with the user. Idempotent. @throws ERR_INVALID_ARGUMENT */
  unloadSkill(name: string): Promise<void> {
    return this.#enqueue(() => this.#memory.unloadSkill(name))
  }

  /** Names of the skills that are loaded, in the order in which they were. One that was deleted since is still named. */
  loadedSkills(): Promise<readonly string[]> {
    return this.#enqueue(() => this.#memory.loadedSkills())
  }

  /** What a model should know when this session starts, as one JSON value: see {@link startSession}. */
  start(options?: Omit<StartOptions, 'ifNoneMatch'>): Promise<SessionStart>
  /** @returns undefined where the start's etag is `ifNoneMatch`: nothing has changed. Over HTTP that is status 304. */
  start(options: StartOptions): Promise<SessionStart | undefined>
  start(options: StartOptions = {}): Promise<SessionStart | undefined> {
    return this.#enqueue(() => this.#memory.start(options))
  }

  /**
   * Calls the listener after each change of the snapshot, other tabs' writes included where the store can tell of them.
   * What it throws is ignored.
   */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    const look = (): void => void this.#enqueue(() => this.#look()).catch(ignore)
    this.#unwatch ??= this.#store.watch?.(look) ?? (() => {})
    // Nobody looked while nobody listened.
    if (this.#listeners.size === 1) look()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#unwatch?.()
      this.#unwatch = undefined
    }
  }

  /**
   * Calls the listener when a context of this session begins to show a summary, or has to do without one that it needed. What it
   * throws is ignored.
   *
   * @returns what ends it
   */
  onCompact(listener: (event: CompactEvent) => void): () => void {
    this.#compactListeners.add(listener)
    return () => this.#compactListeners.delete(listener)
  }

  /**
   * Resolves when no summary is being written ahead of need. A process that ends before loses nothing but the work: the next
   * context writes the summary that it needs.
   */
  async compacted(): Promise<void> {
    await this.#queue
    await coverOf(this.#lane)?.running
  }

  /**
   * Whether a summary is being written ahead of need now, in the memory's own lane or in one of those of `limits` that are in memory. Where a
   * process may end before it is written, that is when to see to it that {@link compact} is called later.
   */
  get isCompacting(): boolean {
    return [this.#lane, ...this.#lanes.values()].some((lane) => coverOf(lane)?.running !== undefined)
  }

  /**
   * Writes the summary that the next epoch will need, if the window came near the line (`compaction.ahead`), and resolves when it is
   * durable; a summary that is being written is waited for, and other calls of the session go on meanwhile. `context()` begins the
   * same work by itself: this is for whoever makes it outlive the process, for example in an alarm. It goes by the log alone, so that it
   * may be called without a context before it. Idempotent: where that summary is in the log, nothing is written. A context shows it from
   * the next epoch on; to begin that at once, call `context({ newEpoch: true })`.
   *
   * @throws ERR_INVALID_ARGUMENT, and what the store throws when it is read; what a model throws is in `reasons`
   */
  async compact({ limits }: CompactOptions = {}): Promise<Compacted> {
    const begun = await this.#enqueue(async () =>
      coverOf(limits ? this.#limited(limits) : this.#lane)?.begin(),
    )
    return (await begun?.written) ?? { status: 'none' }
  }

  /** What shows now; for `useSyncExternalStore`. Empty until the first read. */
  getSnapshot(): Snapshot {
    return this.#snapshot
  }

  /** Lets go of the store. What was appended is durable already. */
  async close(): Promise<void> {
    await this.#queue
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#listeners.clear()
    await this.#store.close()
  }

  /** An excerpt of the checkpoint. */
  async #checkpointTail(
    count: (text: string) => number,
    { sections }: Policy,
  ): Promise<TailPart | undefined> {
    if (sections.checkpoint === 0) return undefined
    const { value, version } = await this.checkpoint.get()
    if (version === null) return undefined
    const { section, use } = checkpointSection(value, sections.checkpoint, count)
    return { sections: [{ ...section, in: 'tail', at: 1 }], uses: [use] }
  }

  async #recallTail({ given, count, showing }: TailAsk, { sections }: Policy): Promise<TailPart | undefined> {
    if (given === undefined) return undefined
    const items = await this.#recallFor(given as string | true, RECALLED_AT_ONCE, showing())
    if (items.length === 0) return undefined
    const { section, use } = recallSection(items, sections.recall, count)
    return { sections: [{ ...section, in: 'tail', at: 2 }], uses: [use] }
  }

  #recallFor(recall: string | true, first: number, { asked, ids }: Showing): Promise<readonly Recalled[]> {
    const query = recall === true ? (asked ? textOf(asked) : '') : recall
    return this.#recall(query, { first }, ids)
  }

  async #recall(query: string, options: RecallOptions, ids?: Showing['ids']): Promise<readonly Recalled[]> {
    const items = await this.#memory.recall(query, options, ids)
    // Blocks are gone after a delete, of no use to another stemmer, and missing where there was no recall before.
    if (this.#memory.isUnindexed) this.#keepIndex()
    return items
  }

  #index(messages: number): void {
    this.#unindexed += messages
    if (this.canRecall && this.#unindexed >= BLOCK) this.#keepIndex()
  }

  /** Puts words into blocks, as far as they fill them; nobody waits for it. */
  #keepIndex(): void {
    this.#unindexed = 0
    // What is not in a block is read from its rows: nothing is lost if this fails.
    this.#enqueue(() => this.#memory.indexed()).catch(ignore)
  }

  #enqueue<Value>(run: () => Promise<Value>): Promise<Value> {
    const result = this.#queue.then(run)
    this.#queue = result.catch(ignore)
    return result
  }

  /** The lane of a policy, made anew unless it was used not long ago. */
  #laneOf(policy: Policy, make: (policy: Policy) => Lane): Lane {
    if (policy.lane === this.#policy.lane) return this.#lane
    const lane = this.#lanes.get(policy.lane) ?? make(policy)
    this.#lanes.delete(policy.lane)
    this.#lanes.set(policy.lane, lane)
    const [oldest = policy.lane] = this.#lanes.keys()
    if (this.#lanes.size > MOST_LANES) this.#lanes.delete(oldest)
    return lane
  }

  async #append(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    options: AppendOptions,
  ): Promise<AppendResult> {
    const { replaces } = options
    const hide = async (opId: string): Promise<readonly RewindOp[]> =>
      replaces === undefined ? [] : this.#replacing(operation, input, opId, replaces)
    const result = await this.#writer.append(operation, input, options, hide)
    this.#index(result.messages.length)
    if (this.#listeners.size > 0) await this.#look().catch(ignore)
    return result
  }

  async #replacing(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    opId: string,
    id: string,
  ): Promise<readonly RewindOp[]> {
    if ([input].flat()[0]?.role !== 'user')
      throw invalid(operation, 'replaces', 'is for what begins with a message of the user')
    const name = this.#rewindName(operation, opId)
    // Written again, it hides nothing more.
    if (await this.#rewindOf(name, opId)) return []
    return [rewindOp(operation, await this.#hiding(operation, name, checkId(operation, 'replaces', id)))]
  }

  /** Id of the mark that an op writes. */
  #rewindName(operation: string, opId: string | undefined): string {
    return opId === undefined ? this.#host.newId() : `rewind/${hashText(checkId(operation, 'opId', opId))}`
  }

  /** What an op wrote before; it cannot have written anything before it had a name. */
  async #rewindOf(name: string, opId: string | undefined): Promise<RewindMark | undefined> {
    if (opId === undefined) return undefined
    const row = await readEntry(this.#store, name)
    return row && (markIn(row) as RewindMark | undefined)
  }

  /** What hides a message and all that shows after it. */
  async #hiding(operation: string, name: string, id: string): Promise<RewindMark> {
    await this.#lane.view.refresh()
    const found = await readFromMessage(this.#store, this.#lane.view, id, operation)
    return { type: 'rewind', id: name, ...found }
  }

  /** Writes marks, all or none. */
  async #mark(operation: string, marks: readonly RewindMark[]): Promise<void> {
    const ops = marks.map((mark) => sealOp(rewindOp(operation, mark)))
    const results = await this.#store.commit(ops, allOrNone)
    if (results.some((result) => result.status !== 'accepted' || result.repeated))
      throw duplicate(operation, marks[0]?.id ?? '')
    await this.#look().catch(ignore)
  }

  /** Reads what is new, and tells the listeners. */
  async #look(): Promise<void> {
    await this.#lane.view.refresh()
    this.#see()
  }

  /** Takes over what the view holds. */
  #see(): void {
    const { view } = this.#lane
    this.#writer.see()
    if (this.#snapshot.loaded && view.head.seq === this.#snapshot.seq) return
    if (this.#listeners.size === 0) return
    this.#snapshot = { loaded: true, messages: messagesOf(view.conversation.units), seq: view.head.seq }
    tell(this.#listeners)
  }
}

function ignore(): void {}

function coverOf({ cover }: Lane): CompactionCover | undefined {
  return cover as CompactionCover | undefined
}

/** Calls all listeners. An observer stops nothing: what it watches has happened. */
function tell<Events extends unknown[]>(
  listeners: ReadonlySet<(...events: Events) => void>,
  ...events: Events
): void {
  for (const listener of [...listeners]) {
    try {
      listener(...events)
    } catch {}
  }
}
