import type { Block, CompactEvent, Context, Receipt, SummaryUse } from '../ports/context.ts'
import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Message, ToolSpec } from '../ports/message.ts'
import type { EpochCause, EpochMark, OpResult, Scope } from '../ports/op.ts'
import type { LogRow, ScopeStore } from '../ports/store.ts'
import { textIn } from './carry.ts'
import { type Compaction, type CompactionJob, type CompactionOptions, Compactor } from './compaction.ts'
import { countMessage } from './count.ts'
import { type CutFrom, type Uncovered, uncoveredBefore } from './coverage.ts'
import { decide } from './decide.ts'
import { fenced } from './fence.ts'
import { addedLate, type Conversation, fold, messagesOf, pendingCalls } from './fold.ts'
import { hashJson, hashText } from './hash.ts'
import { type Head, type HeadTexts, headKey, headValue } from './head.ts'
import { invalid } from './json.ts'
import { Measure } from './measure.ts'
import { EPOCH_ID } from './message.ts'
import { type Limits, type Policy, RENDER_VERSION, type WindowLimits } from './policy.ts'
import { hashPrefix, Prefix } from './prefix.ts'
import { createReceipt, floorOf, leftOut } from './receipt.ts'
import { markIn, messageIn, sealOp, valueIn } from './seal.ts'
import { type CurrentSummary, endOf, holds, memoryText } from './summary.ts'
import { type CurrentEpoch, findOpener, readEntry, readPast, readRange, type Slice, View } from './view.ts'
import { type Band, cutBack, exceeds, extentOf, firstNeeded, type Layout, type Window } from './window.ts'

/** How often an epoch is tried, against other writers, before the context is returned unsaved. */
const TRIES = 4
/** Share of the room from which on a summary is written ahead of need. */
const AHEAD = 0.8
/** What the frame of a summary takes at most, in tokens. */
const FRAME = 24
/** Most messages that are read again to summarise them after epochs that had to do without a summary. */
const LONGEST_GAP = 2_048
/** Close a request that would otherwise end with the assistant's own words, or hold no message at all. */
const CONTINUE = 'Continue.'
const BEGIN = 'Begin.'

export interface ContextOptions {
  /** Told to the model with the request; a change starts an epoch. */
  readonly tools?: readonly ToolSpec[]
  /**
   * Text for the last block of the request, whole or as named sections, fenced as data. Never stored; it may change at every
   * call without cost to the prefix.
   */
  readonly tail?: string | readonly TailSection[]
  /** Never write: an epoch change is shown in this context only. Default `false`. */
  readonly preview?: boolean
  /** What to do when calls of the newest step have no result yet. Default `reject`, with `ERR_TOOL_PENDING`. */
  readonly onPending?: 'reject' | 'abandon'
  /**
   * Proposes other limits for the window and for outputs than the memory's, for this call. Each set of limits is a lane with
   * epochs of its own, so keep them for many calls. The budget holds whatever they say.
   */
  readonly limits?: Limits
  /** Start an epoch (cause `manual`) and cut the window back, whatever its state. Default `false`. */
  readonly newEpoch?: boolean
}

export interface TailSection {
  /** Labels the section's fence: 1 to 64 letters, digits, dashes and underscores. */
  readonly name: string
  readonly text: string
}

/** What left the window at an epoch change: whole messages, uncut, in the order in which they showed. */
export interface Cut {
  readonly scope: Scope
  /** Id of the epoch that began. */
  readonly epoch: string
  readonly cause: EpochCause
  readonly messages: readonly Message[]
}

/**
 * Contract: called once for each epoch that a session of this memory begins and that cuts something, after it is durable;
 * awaited, so hand longer work on, and never wait for a call to the same session in it: that call waits for this one. A
 * failure stops nothing: it is reported in the receipt.
 */
export type OnCut = (cut: Cut) => void | Promise<void>

export interface BuilderParts {
  readonly store: ScopeStore
  readonly scope: Scope
  readonly policy: Policy
  readonly system: string
  readonly onCut?: OnCut | undefined
  readonly host: Host
  readonly compaction?: CompactionOptions | undefined
  /** Compactions that run now, by scope and lane, whichever object of the session began them. */
  readonly running: Map<string, Promise<unknown>>
  readonly onCompact: (event: CompactEvent) => void
}

/** A past context, rebuilt. */
export interface ContextAt {
  readonly context: Context
  /** Whether the epoch's prefix hash was met: what is shown is what was sent, its tail aside. */
  readonly verified: boolean
  /** Why it was not: a message or the head behind it was forgotten, or the log no longer gives the same bytes. */
  readonly reason?: 'forgotten' | 'mismatch'
}

/** A context with the window that it shows. */
export interface Built {
  readonly context: Context
  readonly window: Window
}

/** What one call asks for, in the tokens of one epoch. */
interface Call {
  readonly measure: Measure
  readonly head: Head
  readonly tail: readonly TailSection[]
  /** Tokens for window and tail together. */
  readonly room: number
}

/** The epoch in which a context is shown. */
interface Epoch {
  readonly mark: EpochMark
  readonly place: number
}

/** What the next epoch shows, and what would have to be summarised first. */
interface Plan {
  readonly call: Call
  readonly band: Band
  readonly window: Window
  readonly summary?: CurrentSummary
  readonly job?: CompactionJob
  /** Why nothing can be summarised. */
  readonly refused?: readonly string[]
}

/** What a plan may assume about summaries. */
interface Compacting {
  /** Whether one may be written first. */
  readonly may: boolean
  /** Whether one was written in this very call. */
  readonly done: boolean
}

/** Builds the contexts of one session in one lane. */
export class ContextBuilder {
  readonly view: View
  readonly #store: ScopeStore
  readonly #policy: Policy
  readonly #system: string
  readonly #scope: Scope
  readonly #onCut: OnCut | undefined
  readonly #counts = new WeakMap<LogRow, number>()
  /** Of the newest epoch that was asked for. */
  #measure: Measure | undefined
  readonly #prefix = new Prefix()
  /** The last tail that was made, since an epoch that goes on needs it twice. */
  #closing: { readonly measure: Measure; readonly text: string; readonly block: Block } | undefined
  #fenced: { readonly place: number; readonly tag: string } | undefined
  readonly #compactor: Compactor | undefined
  readonly #ahead: number | false
  readonly #running: Map<string, Promise<unknown>>
  readonly #onCompact: (event: CompactEvent) => void
  /** What became of the compaction that wrote the newest summary here, until an epoch shows it. */
  #outcome: Compaction | undefined
  /** Origin of the conversation that was last found to have been added to at its end only. */
  #inOrder: object | undefined

  constructor({ store, scope, policy, system, onCut, host, compaction, running, onCompact }: BuilderParts) {
    this.#compactor = compaction && new Compactor(store, scope, host, compaction)
    this.#ahead = compaction?.ahead ?? AHEAD
    this.#running = running
    this.#onCompact = onCompact
    this.#store = store
    this.#policy = policy
    this.#system = system
    this.#scope = scope
    this.#onCut = onCut
    this.view = new View(store, policy.lane)
  }

  /** @throws ERR_BUDGET_TOO_SMALL, ERR_TOOL_PENDING */
  async build(options: ContextOptions): Promise<Built> {
    let manual = options.newEpoch ?? false
    let broken = false
    let compacted: Compaction | undefined
    const failures: Failure[] = []
    for (let tries = 0; ; tries++) {
      await this.view.refresh()
      this.#refusePending(options)
      const { epoch: prior, summary } = this.view
      const held = this.#call(prior?.mark.calibration ?? 1, options, prior?.place, summary)
      const current = this.#current(held)
      const cause = manual ? 'manual' : current.cause
      if (!cause && current.epoch) {
        const built = await this.#finish(held, this.view, current.epoch, current.window, failures)
        if (!options.preview) this.#prepare(held, current.window)
        return built
      }
      const compacting: Compacting = {
        may: !compacted && !broken && !options.preview,
        done: compacted?.status === 'summarised',
      }
      const next = await this.#planNext(held, options, cause ?? 'start', current.epoch, compacting)
      // What was read to plan may be what waits: an undo brings back steps that were out of sight.
      this.#refusePending(options)
      if (next.job) {
        compacted = await this.#compact(next.job, cause ?? 'start', current.epoch)
        tries--
        continue
      }
      const epoch = this.#draft(next, cause ?? 'start')
      const { call, window } = next
      if (options.preview) return this.#finish(call, this.view, epoch, window, [], 'preview', next.summary)
      if (broken || tries === TRIES)
        return this.#finish(call, this.view, epoch, window, failures, 'unsaved', next.summary)
      try {
        if (await this.#save(call.head, epoch)) {
          manual = false
          this.#tell(next, epoch.mark.cause, held, current.window, compacted)
          await this.#report(epoch.mark, current.window, window, failures)
        }
      } catch (error) {
        broken = true
        failures.push(failure('epoch', error))
      }
    }
  }

  /** Resolves once no summary is being written. */
  async compacted(): Promise<void> {
    await this.#running.get(this.#key)
  }

  /** Rebuilds the context of the call that was made when message `id` was the newest one. @throws ERR_NOT_FOUND */
  async buildAt(id: string): Promise<ContextAt> {
    const row = await readEntry(this.#store, id)
    if (row?.kind !== 'message')
      throw new PlimsollError('ERR_NOT_FOUND', `contextAt: ${id} is no message of this session`, { id })
    const past = await readPast(this.#store, this.#policy.lane, id)
    if (!past)
      throw new PlimsollError(
        'ERR_NOT_FOUND',
        `contextAt: no context was built in this lane up to message ${id}`,
        { id },
      )
    const { mark } = past.epoch
    const register = await this.#store.register(headKey(mark.head))
    const value = register && valueIn(register)
    const measure = this.#measureBy(mark.calibration ?? 1)
    const call = this.#callWith(
      measure,
      value === undefined ? this.#texts({}, past.epoch.place) : (value as unknown as HeadTexts),
      [],
    )
    const window = this.#show(measure.layout(past.conversation), past.rows, mark)
    const { context } = await this.#finish(call, past, past.epoch, window)
    const seen = seenBy(past.epoch, past.rows)
    const then = fold(
      [...past.rewinds, ...past.rows.filter((row) => row !== past.opener && row.seq <= seen)],
      undefined,
      past.opener,
    )
    const { blocks } = this.#show(measure.layout(then), past.rows, mark)
    const hash = hashPrefix(mark.head, blocks)
    if (value !== undefined && hash === mark.prefixHash) return { context, verified: true }
    const forgotten = value === undefined || past.rows.some((row) => row.body === null)
    return { context, verified: false, reason: forgotten ? 'forgotten' : 'mismatch' }
  }

  #call(calibration: number, options: ContextOptions, place = 0, summary?: CurrentSummary): Call {
    const { tail = [] } = options
    const sections = typeof tail === 'string' ? [{ name: 'context', text: tail }] : tail
    return this.#callWith(
      this.#measureBy(calibration),
      this.#texts(options, place, summary),
      sections.filter(({ text }) => text !== ''),
    )
  }

  #callWith(measure: Measure, texts: HeadTexts, tail: readonly TailSection[]): Call {
    const head = measure.head(texts)
    return { measure, head, tail, room: measure.room(head) }
  }

  #texts({ tools }: ContextOptions, place: number, summary?: CurrentSummary): HeadTexts {
    return {
      system: this.#system,
      memory: summary ? memoryText(summary, this.#fence(place)) : '',
      ...(summary && { trust: summary.mark.trust, summary: summary.mark.id }),
      tools: tools?.length ? JSON.stringify(tools) : '',
    }
  }

  #measureBy(calibration: number): Measure {
    if (this.#measure?.calibration !== calibration)
      this.#measure = new Measure(this.#policy, calibration, (row, message) => this.#count(row, message))
    return this.#measure
  }

  #count(row: LogRow, message: Message): number {
    let tokens = this.#counts.get(row)
    if (tokens === undefined) {
      const { counter } = this.#policy
      tokens = storedCount(row, counter.id) ?? countMessage(counter, message)
      this.#counts.set(row, tokens)
    }
    return tokens
  }

  /**
   * Plans the next epoch with the newest summary that holds, by what was reported meanwhile; if nothing fits so, by the calibration
   * that holds, and at last without the summary.
   */
  async #planNext(
    held: Call,
    options: ContextOptions,
    cause: EpochCause,
    prior: Epoch | undefined,
    compacting: Compacting,
  ): Promise<Plan> {
    const reported = this.#reported() ?? held.measure.calibration
    const calibrations =
      reported > held.measure.calibration ? [reported, held.measure.calibration] : [reported]
    const usable = this.#usable(prior)
    const attempts = (usable ? [usable, undefined] : [undefined]).flatMap((summary) =>
      calibrations.map((calibration) => ({ summary, calibration })),
    )
    for (const [index, { summary, calibration }] of attempts.entries()) {
      const call = this.#call(calibration, options, this.view.next.place, summary)
      try {
        return await this.#planWith(call, cause, prior, summary, compacting)
      } catch (error) {
        if (index === attempts.length - 1 || !isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      }
    }
    throw new Error('unreachable: the last attempt returns or throws')
  }

  /** The newest summary that the next epoch may show: the one that shows now, or one that was written since, if it holds. */
  #usable(prior: Epoch | undefined): CurrentSummary | undefined {
    const { latest, summary, epoch, rows } = this.view
    const isNew = latest && (latest.mark.id === epoch?.mark.summary || latest.seq > (epoch?.seq ?? 0))
    const found = isNew ? latest : prior && summary
    return found && holds(found.mark, rows) ? found : undefined
  }

  async #planWith(
    call: Call,
    cause: EpochCause,
    prior: Epoch | undefined,
    summary: CurrentSummary | undefined,
    { may, done }: Compacting,
  ): Promise<Plan> {
    const memory = call.head.tokens.memory
    const all = call.room + memory
    const isNew = summary !== undefined && summary.mark.id !== prior?.mark.summary
    const layout = call.measure.layout(this.view.conversation)
    const keep = this.#keep(all, layout)
    // A summary that was written for this epoch is used even if a little came since.
    const most = !isNew ? keep : done ? all : keep + Math.floor((all - keep) / 2)
    const limits = isNew ? this.#policy.max : this.#policy.keep
    const explicit = this.#policy.keep.tokens !== undefined
    const plan = await this.#plan(call, cause, prior?.mark, summary, {
      room: call.room,
      keep: isNew || !explicit ? most - memory : keep,
      limits,
    })
    const { compaction } = this.#policy
    if (!this.#compactor || !compaction || !may) return plan
    if (!(await this.#uncovered(plan.from, prior, summary))) return plan
    const reserve = Math.min(compaction.summary + compaction.carry + FRAME, Math.floor(keep / 2))
    const target: Target = {
      room: explicit ? all : all - reserve,
      keep: explicit ? Math.min(keep, all) : keep - reserve,
      limits: this.#policy.keep,
      mayFold: true,
    }
    const tight = await this.#plan(call, cause, prior?.mark, summary, target).catch(unlessTooSmall)
    if (!tight)
      return { ...plan, refused: [`no ${reserve} tokens are left for a summary beside the least window`] }
    // The summary before it may have taken more than the next one will.
    const { from, window } = tight.from < plan.from ? plan : tight
    const uncovered = await this.#uncovered(from, prior, summary)
    if (!uncovered) return plan
    return { ...plan, job: this.#job(call, window, uncovered, summary, explicit ? all : keep) }
  }

  /** What the messages before unit `from` hold that no summary covers. */
  async #uncovered(
    from: number,
    prior: Epoch | undefined,
    summary: CurrentSummary | undefined,
  ): Promise<Uncovered | undefined> {
    const { conversation, rows, whole } = this.view
    const layout = (this.#measure as Measure).layout(conversation)
    if (summary && !this.#isRead(summary)) {
      const wider = await this.#readBack(summary)
      const upto = conversation.units[from]?.row.id
      if (wider) return uncoveredBefore({ ...wider, whole, summary }, wider.layout.indexOf(upto, wider.rows))
    }
    const begin = summary && this.#isRead(summary) ? summary.mark.upto : prior?.mark.windowFrom
    const start = whole && !summary ? 0 : begin === undefined ? from : layout.indexOf(begin, rows)
    const updated = summary && this.#isRead(summary) ? summary : undefined
    return start < 0
      ? undefined
      : uncoveredBefore({ conversation, rows, whole, summary: updated, start }, from)
  }

  /** Whether all that follows what a summary covers is in memory, in its place; an opener stands apart from the other rows. */
  #isRead({ mark }: CurrentSummary): boolean {
    const { rows, opener, conversation } = this.view
    const isLoose = conversation.loose.some(({ id }) => id === mark.upto)
    return !isLoose && rows.some((row) => row !== opener && row.id === endOf(mark).from)
  }

  /** The log from where a summary ends, where epochs had to do without a further one; undefined where that is too much. */
  async #readBack({
    mark,
  }: CurrentSummary): Promise<
    (Pick<CutFrom, 'conversation' | 'rows' | 'start'> & { readonly layout: Layout }) | undefined
  > {
    const { rows: known, opener } = this.view
    const later = known.filter((row) => row !== opener)
    const end = endOf(mark)
    if (!later[0] || later[0].ordinal - end.count > LONGEST_GAP) return undefined
    const isThere = later.some(({ id }) => id === end.from)
    const entries = isThere ? later : [...(await readRange(this.#store, end.from, later[0].id)), ...later]
    const apart = await findOpener(this.#store, entries, mark.upto)
    const conversation = fold(entries, undefined, apart)
    const layout = (this.#measure as Measure).layout(conversation)
    const rows = apart ? [apart, ...entries] : entries
    return { conversation, rows, layout, start: layout.indexOf(mark.upto, rows) }
  }

  #job(
    call: Call,
    window: Window,
    { rounds, rows, covers }: Uncovered,
    before: CurrentSummary | undefined,
    most: number,
  ): CompactionJob {
    const { measure } = call
    const folded = window.tokens - (window.opener ? (window.blocks[0]?.tokens ?? 0) : 0)
    const least = measure.policy.compaction?.summary ?? 0
    const { base, place } = this.view.nextSummary
    return {
      policy: measure.policy,
      base,
      place,
      before,
      rounds,
      tokens: rows.reduce((sum, row) => sum + this.#tokensOf(row), 0) * measure.calibration,
      kept: window.blocks.flatMap(({ parts }) => parts.map((part) => textIn({ content: [part] }))).join('\n'),
      covers,
      room: most - window.tokens >= least ? most - window.tokens : most - folded,
      tag: this.#fence(this.view.next.place),
    }
  }

  #tokensOf(row: LogRow): number {
    const message = messageIn(row)
    return message ? this.#count(row, message) : 0
  }

  /** Writes a summary, or waits for the one that is being written. */
  async #compact(
    job: CompactionJob,
    cause: EpochCause,
    prior: Epoch | undefined,
  ): Promise<Compaction | undefined> {
    const running = this.#running.get(this.#key)
    if (running) {
      await running
      return undefined
    }
    const repeated = this.#repeats(cause, prior)
    return repeated ?? this.#start(job)
  }

  /** Why a summary is not written now: the epoch before began for the same cause, and hardly anything came since. */
  #repeats(cause: EpochCause, prior: Epoch | undefined): Compaction | undefined {
    if (prior?.mark.summary === undefined || prior.mark.cause !== cause) return undefined
    const { epoch, rows, conversation } = this.view
    const seen = epoch ? seenBy(epoch, rows) : 0
    const since = conversation.units.filter(({ row }) => row.seq > seen).length
    return since > 1
      ? undefined
      : {
          status: 'refused',
          reasons: [`the epoch before began for the same cause (${cause}), ${since} step(s) ago`],
        }
  }

  async #start(job: CompactionJob): Promise<Compaction> {
    const compaction = (this.#compactor as Compactor).compact(job)
    const settled = compaction.catch(() => {})
    this.#running.set(this.#key, settled)
    try {
      this.#outcome = await compaction
      return this.#outcome
    } finally {
      if (this.#running.get(this.#key) === settled) this.#running.delete(this.#key)
    }
  }

  /** Writes the summary that the next epoch will need, off the hot path, once the window comes near the line. */
  #prepare(call: Call, window: Window): void {
    const { compaction, max, keep: limits } = this.#policy
    const { latest, epoch, conversation, rows, whole } = this.view
    if (!this.#compactor || !compaction || this.#ahead === false || !epoch) return
    if (this.#running.has(this.#key) || latest?.mark.id !== epoch.mark.summary) return
    if (this.#repeats('window', epoch)) return
    const all = call.room + call.head.tokens.memory
    const used = window.tokens + call.head.tokens.memory
    const share = this.#ahead
    const extent = extentOf(window.units)
    const near =
      used >= share * all ||
      extent.rounds >= share * (max.rounds ?? Infinity) ||
      extent.messages >= share * (max.messages ?? Infinity) ||
      window.tokens >= share * (max.tokens ?? Infinity)
    if (!near) return
    const layout = call.measure.layout(conversation)
    const reserve = Math.min(
      compaction.summary + compaction.carry + FRAME,
      Math.floor(this.#keep(all, layout) / 2),
    )
    // What comes until the line is crossed will be kept too.
    const coming = Math.max(0, Math.min(all, (max.tokens ?? all) + call.head.tokens.memory) - used)
    const less = (limit: number | undefined, most: number | undefined, now: number): number | undefined =>
      limit === undefined ? undefined : Math.max(1, limit - Math.max(0, (most ?? now) - now))
    const rounds = less(limits.rounds, max.rounds, extent.rounds)
    const messages = less(limits.messages, max.messages, extent.messages)
    const oldBefore = epoch.mark.cuts.oldBefore
    const cut = cutBack(
      layout,
      {
        ...this.#policy,
        keep: { ...(rounds !== undefined && { rounds }), ...(messages !== undefined && { messages }) },
      },
      {
        start: window.from,
        oldBefore: oldBefore === undefined ? 0 : Math.max(0, layout.indexOf(oldBefore, rows)),
        room: all - reserve,
        keep: this.#keep(all, layout) - (this.#policy.keep.tokens === undefined ? reserve : 0) - coming,
        mayFold: true,
      },
    )
    const { summary } = this.view
    if (!cut || (epoch.mark.summary !== undefined && !summary)) return
    const known = summary === undefined || this.#isRead(summary)
    // What an epoch had to do without is summarised when the next one begins.
    if (!known) return
    const start = summary ? layout.indexOf(summary.mark.upto, rows) : whole ? 0 : window.from
    const uncovered = uncoveredBefore({ conversation, rows, whole, summary, start }, cut.from)
    if (!uncovered) return
    const kept = this.#show(layout, rows, cut)
    const most = this.#policy.keep.tokens === undefined ? this.#keep(all, layout) - coming : all
    const job = this.#job(call, kept, uncovered, summary, most)
    this.#start(job).catch(() => {})
  }

  /** Tells the listeners what became of a compaction once an epoch shows it, or began without. */
  #tell(
    { call, window, summary, refused }: Plan,
    cause: EpochCause,
    held: Call,
    before: Window,
    compacted: Compaction | undefined,
  ): void {
    const isNew = summary !== undefined && summary.mark.id !== held.head.summary
    if (!isNew && compacted?.status !== 'refused' && !refused) return
    const used = ({ head }: Call, { tokens }: Window): number =>
      head.tokens.system + head.tokens.memory + tokens
    const outcome = compacted ?? this.#outcome
    this.#outcome = undefined
    this.#onCompact({
      type: 'compact',
      status: isNew ? 'summarised' : 'refused',
      cause,
      tokensBefore: used(held, before),
      tokensAfter: used(call, window),
      summaryCount: summary?.place ?? 0,
      ...(isNew && { by: summary.mark.by }),
      reasons: refused ?? outcome?.reasons ?? [],
    })
  }

  get #key(): string {
    const { tenant = null, userId, sessionId = null } = this.#scope
    return JSON.stringify([tenant, userId, sessionId, this.#policy.lane])
  }

  /** What the counter says that its counts should be multiplied by. @throws ERR_INVALID_ARGUMENT */
  #reported(): number | undefined {
    const { counter } = this.#policy
    const calibration = counter.calibration?.()
    if (calibration === undefined || (Number.isFinite(calibration) && calibration > 0)) return calibration
    throw invalid(`counter ${counter.id}`, 'its calibration', 'must be above 0')
  }

  #refusePending({ onPending = 'reject' }: ContextOptions): void {
    const { units } = this.view.conversation
    const pending = pendingCalls(units)
    if (pending.length === 0 || onPending === 'abandon') return
    const entry = units.at(-1)?.row.id ?? ''
    const names = pending.map(({ part }) => part.name).join(', ')
    throw new PlimsollError(
      'ERR_TOOL_PENDING',
      `context: ${pending.length} call(s) of the newest step have no result yet: ${names}`,
      { pending: pending.map(({ part }) => ({ entry, callId: part.id, name: part.name })) },
    )
  }

  /** The window in the current epoch and, where that epoch cannot go on, the cause of the next one. */
  #current(call: Call): { readonly cause?: EpochCause; readonly epoch?: Epoch; readonly window: Window } {
    const { epoch, conversation, rows } = this.view
    const layout = call.measure.layout(conversation)
    if (!epoch) return { cause: 'start', window: NOTHING }
    const { mark } = epoch
    const seen = seenBy(epoch, rows)
    const rewound = rewoundSince(rows, seen)
    if (mark.summary !== undefined && !this.view.summary) return { cause: 'forget', window: NOTHING }
    // What is shown again may lie before the window, and what is hidden may be all of it.
    if (rewound === 'undo' || conversation.hidden.has(mark.windowFrom ?? ''))
      return { cause: 'rewind', window: NOTHING }
    const window = this.#show(layout, rows, mark)
    const cause = mark.head !== call.head.hash ? 'head' : (rewound ?? this.#breaks(call, epoch, seen, window))
    return { ...(cause && { cause }), epoch, window }
  }

  /** Why an epoch cannot go on with this window, if it cannot. */
  #breaks(call: Call, { place }: Epoch, seen: number, window: Window): EpochCause | undefined {
    const { room } = call
    const { conversation } = this.view
    const { max } = this.#policy
    if (this.#isLate(conversation, seen)) return 'late'
    // The newest unit always shows, whatever the limits.
    const limited = window.from < conversation.units.length - 1
    if (
      window.tokens > room ||
      (limited && (window.tokens > (max.tokens ?? room) || exceeds(conversation.units, window.from, max)))
    )
      return 'window'
    const closing = this.#tail(call, window, this.#fence(place))
    const tokens = window.tokens + (closing?.tokens ?? 0)
    return tokens > room || this.#isReportedOver(call, tokens) ? 'budget' : undefined
  }

  /** Whether anything was added but at the end since an epoch began; what a conversation grew by, is at its end. */
  #isLate({ units, origin }: Conversation, seen: number): boolean {
    if (this.#inOrder === origin) return false
    if (addedLate(units, seen)) return true
    this.#inOrder = origin
    return false
  }

  /** Whether by what a provider reported meanwhile the call would be above the cap itself, its margin included. */
  #isReportedOver({ measure, room }: Call, tokens: number): boolean {
    const { cap, margin } = this.#policy
    const reported = this.#reported() ?? measure.calibration
    return (cap - margin - room + tokens) * reported > cap * measure.calibration
  }

  /** Where the next epoch's window begins, reading further back while that could show more. @throws ERR_BUDGET_TOO_SMALL */
  async #plan(
    call: Call,
    cause: EpochCause,
    prior: EpochMark | undefined,
    summary: CurrentSummary | undefined,
    { room: most, keep, limits, mayFold = false }: Target,
  ): Promise<Plan & { readonly from: number }> {
    const { max } = this.#policy
    const { place } = this.view.next
    const policy = { ...this.#policy, keep: limits }
    for (;;) {
      const { conversation, rows, whole, opener } = this.view
      const { units } = conversation
      const layout = call.measure.layout(conversation)
      const shown = prior && this.#show(layout, rows, prior)
      const newest = units.length > 0 ? layout.window(units.length - 1, 0, {}) : NOTHING
      const closing = this.#tail(call, newest, this.#fence(place))?.tokens ?? 0
      const room = most - closing
      const covered = summary ? rows.find(({ id }) => id === summary.mark.upto) : undefined
      const sameSummary = prior?.summary === summary?.mark.id
      if (prior && shown && sameSummary && (cause === 'late' || cause === 'rewind'))
        if (shown.tokens <= Math.min(room, max.tokens ?? room) && !exceeds(units, shown.from, max)) {
          const windowFrom = units[shown.from]?.row.id ?? prior.windowFrom
          const band = { windowFrom, cuts: prior.cuts }
          return { call, band, window: shown, from: shown.from, ...(summary && { summary }) }
        }
      // What a summary covers does not show again.
      const uncovered = covered ? layout.indexOf(covered.id, rows) : 0
      const start = Math.max(shown?.from ?? 0, uncovered < 0 ? units.length : uncovered)
      const oldBefore = prior?.cuts.oldBefore === undefined ? 0 : layout.indexOf(prior.cuts.oldBefore, rows)
      const cut =
        start >= units.length && units.length > 0 && start > 0 && uncovered < 0
          ? { windowFrom: null, cuts: {}, from: units.length }
          : cutBack(layout, policy, {
              start,
              oldBefore,
              room,
              keep: Math.min(room, keep),
              mayFold: mayFold || foldable(summary, layout, start),
            })
      if (cut && cut.from <= (opener ? 1 : 0) && !prior && !whole && !covered) {
        await this.view.extend()
        continue
      }
      const window = cut && this.#show(layout, rows, cut)
      if (!cut || !window || window.tokens > room) throw this.#tooSmall(call, layout, closing)
      // Where nothing shows, the window begins after the newest entry.
      const windowFrom = cut.windowFrom ?? rows.at(-1)?.id ?? null
      return {
        call,
        band: { windowFrom, cuts: cut.cuts },
        window,
        from: cut.from,
        ...(summary && { summary }),
      }
    }
  }

  /** Tokens that memory and window are cut back to together: half of what there is; more where the newest user message fills most of it. */
  #keep(all: number, layout: Layout): number {
    const { tokens } = this.#policy.keep
    if (tokens !== undefined) return tokens
    const user = layout.newestUser()
    return Math.max(Math.floor(all / 2), user + Math.floor((all - user) / 4))
  }

  #tooSmall({ head }: Call, layout: Layout, tail: number): PlimsollError {
    const breakdown = floorOf(this.#policy, head, { ...layout.floor(), tail })
    return new PlimsollError(
      'ERR_BUDGET_TOO_SMALL',
      `context: the floor of ${breakdown.floor} tokens is above the cap of ${breakdown.cap}`,
      { breakdown },
    )
  }

  #show(layout: Layout, rows: readonly LogRow[], { windowFrom, cuts }: Band): Window {
    const from = layout.indexOf(windowFrom, rows)
    const old = cuts.oldBefore === undefined ? 0 : layout.indexOf(cuts.oldBefore, rows)
    return layout.window(from < 0 ? layout.units.length : from, old < 0 ? layout.units.length : old, cuts)
  }

  #draft({ call, band: { windowFrom, cuts }, window, summary }: Plan, cause: EpochCause): Epoch {
    const { head, measure } = call
    const { lane } = this.#policy
    const { base, place } = this.view.next
    const { rows } = this.view
    const readFrom = firstNeeded(rows, window)?.id
    const { calibration } = measure
    const calibrated = calibration === 1 ? [] : [calibration]
    const mark: EpochMark = {
      type: 'epoch',
      id: `${EPOCH_ID}${hashJson([lane, base, windowFrom, { ...cuts } as never, head.hash, ...calibrated])}`,
      lane,
      cause,
      windowFrom,
      ...(readFrom !== undefined && readFrom !== windowFrom && { readFrom }),
      seen: rows.at(-1)?.id ?? null,
      cuts,
      ...(calibration !== 1 && { calibration }),
      ...(summary && { summary: summary.mark.id }),
      head: head.hash,
      prefixHash: this.#prefix.hash(head.hash, window.blocks, []),
      v: RENDER_VERSION,
    }
    return { mark, place }
  }

  /** Writes an epoch with its head. Returns false when another one was first. */
  async #save(head: Head, { mark }: Epoch): Promise<boolean> {
    const { epoch, next } = this.view
    const key = headKey(head.hash)
    const ops = [sealOp({ kind: 'mark', opId: mark.id, base: next.base, entry: mark })]
    // The epoch before it had brought the same.
    if (epoch?.mark.head !== head.hash)
      ops.unshift(
        sealOp({
          kind: 'put',
          opId: key,
          key,
          base: null,
          value: headValue(head),
          ...(head.summary !== undefined && { sources: [head.summary] }),
        }),
      )
    return applied((await this.#store.commit(ops, decide)).at(-1))
  }

  /** Hands on what an epoch cut. */
  async #report({ id, cause }: EpochMark, before: Window, after: Window, failures: Failure[]): Promise<void> {
    if (!this.#onCut) return
    const shown = new Set(after.units.map(({ row }) => row))
    const messages = messagesOf(before.units.filter(({ row }) => !shown.has(row)))
    if (messages.length === 0) return
    try {
      await this.#onCut({ scope: this.#scope, epoch: id, cause, messages })
    } catch (error) {
      failures.push(failure('onCut', error))
    }
  }

  async #finish(
    call: Call,
    slice: Slice,
    { mark, place }: Epoch,
    window: Window,
    failures: readonly Failure[] = [],
    unwritten?: 'preview' | 'unsaved',
    summary = slice.summary,
  ): Promise<Built> {
    const { head, measure } = call
    const { calibration } = measure
    const { conversation } = slice
    const fence = this.#fence(place)
    const closing = this.#tail(call, window, fence)
    const tail = closing ? [...window.waiting, closing] : window.waiting
    const blocks = [...head.blocks, ...window.blocks, ...tail]
    const { floor } = floorOf(this.#policy, head, {
      ...measure.layout(conversation).floor(),
      tail: closing?.tokens ?? 0,
    })
    const { omitted, covers } = leftOut(
      await slice.before(summary),
      { conversation, rows: slice.rows, summary },
      window,
    )
    const receipt = createReceipt(this.#policy, head, blocks, measure.shelf, {
      omitted,
      ...(summary && { summary: summaryUse(summary, covers) }),
      epoch: unwritten ?? { id: mark.id, cause: mark.cause, place },
      ...(calibration !== 1 && { calibration }),
      failures,
      floor,
      room: call.room,
    })
    const context: Context = {
      lane: this.#policy.lane,
      epoch: mark.id,
      head: headKey(head.hash),
      fence,
      blocks,
      ...(head.toolSpecs && { tools: head.toolSpecs }),
      receipt,
      hash: this.#prefix.hash(head.hash, window.blocks, tail),
    }
    return { context, window }
  }

  /** The tag for text that is data; derived from session, lane and the epoch's place, never random. */
  #fence(place: number): string {
    if (this.#fenced?.place !== place) {
      const tag = `ctx-${hashText(JSON.stringify([this.#scope.sessionId ?? '', this.#policy.lane, place])).slice(0, 8)}`
      this.#fenced = { place, tag }
    }
    return this.#fenced.tag
  }

  /** The last block of the request, where there is something to say or the request must not end as it is. */
  #tail({ measure, tail }: Call, { blocks, waiting }: Window, fence: string): Block | undefined {
    const last = waiting.at(-1) ?? blocks.at(-1)
    const spoken = tail.map(({ name, text }) => fenced(fence, name, text)).join('\n')
    if (spoken === '' && last && last.role !== 'assistant') return undefined
    const text = spoken || (last ? CONTINUE : BEGIN)
    if (this.#closing?.measure !== measure || this.#closing.text !== text) {
      const block: Block = {
        section: 'tail',
        role: 'user',
        parts: [{ type: 'text', text }],
        from: [],
        rule: spoken ? 'tail' : 'continue',
        tokens: countMessage(measure.policy.counter, { content: text }),
        trust: 'user',
      }
      this.#closing = { measure, text, block }
    }
    return this.#closing.block
  }
}

/** What a plan has to keep to. */
interface Target {
  /** Tokens for window and tail. */
  readonly room: number
  /** Tokens to which the window is cut back. */
  readonly keep: number
  /** What else it is cut back to. */
  readonly limits: WindowLimits
  /** Whether the user message of a cut round may be left to the summary that is to be written. */
  readonly mayFold?: boolean
}

function summaryUse({ mark, place }: CurrentSummary, covers: SummaryUse['covers']): SummaryUse {
  const { id, trust, by, lost } = mark
  return { id, place, covers, trust, by, lost }
}

/** Whether a summary covers the user message of the round into which a cut from `start` on falls. */
function foldable(summary: CurrentSummary | undefined, layout: Layout, start: number): boolean {
  const opener = layout.openerOf(start)
  if (!summary || !opener) return false
  const { skipped = 0, count } = summary.mark
  return opener.row.ordinal > skipped && opener.row.ordinal <= count
}

/** Nothing fits; any other error is thrown on. */
function unlessTooSmall(error: unknown): undefined {
  if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
}

type Failure = Receipt['failures'][number]

function failure(part: string, error: unknown): Failure {
  const code = isPlimsollError(error) ? error.code : 'ERR_STORAGE'
  return {
    part,
    code: part === 'epoch' ? code : 'ERR_HOOK',
    message: error instanceof Error ? error.message : String(error),
  }
}

const NOTHING: Window = { blocks: [], waiting: [], tokens: 0, from: 0, units: [] }

/** Tokens that a counter found when the row was written. */
function storedCount({ derived }: LogRow, counter: string): number | undefined {
  return derived === undefined ? undefined : (JSON.parse(derived) as { [counter: string]: number })[counter]
}

/** Seq of the newest entry that an epoch's writer had read. */
function seenBy({ mark, seq }: CurrentEpoch, rows: readonly LogRow[]): number {
  return mark.seen === null ? 0 : (rows.findLast(({ id }) => id === mark.seen)?.seq ?? seq)
}

/** Whether a rewind after `seq` hides any of the rows, or shows any entry again. */
function rewoundSince(rows: readonly LogRow[], seq: number): 'rewind' | 'undo' | undefined {
  let rewound: 'rewind' | undefined
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index] as LogRow
    if (row.seq <= seq) break
    if (row.kind !== 'rewind') continue
    const mark = markIn(row)
    if (mark?.type !== 'rewind') continue
    if ('undo' in mark) return 'undo'
    const hides = new Set(mark.hides)
    if (rows.some(({ id }) => hides.has(id))) rewound = 'rewind'
  }
  return rewound
}

function applied(result: OpResult | undefined): boolean {
  return result?.status === 'accepted' && result.applied
}
