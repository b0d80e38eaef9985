import { cutBack, cutPays, extentOf } from '../../kernel/context/cut.ts'
import type { Gap } from '../../kernel/context/gaps.ts'
import { readHead, sum } from '../../kernel/context/head.ts'
import { keeper } from '../../kernel/context/keeper.ts'
import type { Lane } from '../../kernel/context/lane.ts'
import type { Call, Measure } from '../../kernel/context/measure.ts'
import { keepOf, type PlanTarget } from '../../kernel/context/plan.ts'
import type { CurrentEpoch, View } from '../../kernel/context/view.ts'
import { Layout, type Window } from '../../kernel/context/window.ts'
import { countMessage } from '../../kernel/count.ts'
import type { Account, Began, Cover, Covering, PlanAsk, Planned } from '../../kernel/cover.ts'
import { markIn, messageIn } from '../../kernel/log/bodies.ts'
import { findOpener, readEntry, readRange } from '../../kernel/log/entries.ts'
import { fold, type Unit } from '../../kernel/log/fold.ts'
import type { CompactEvent } from '../../ports/context.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import type { EpochCause, SummaryMark } from '../../ports/op.ts'
import type { LogRow, Reads } from '../../ports/store.ts'
import { heldBy } from '../held.ts'
import { MOST_SHARE } from './compaction-options.ts'
import {
  AHEAD,
  type Compaction,
  type CompactionJob,
  Compactor,
  type CompactorParts,
  refused,
} from './compactor.ts'
import { type CutFrom, type Uncovered, uncoveredBefore } from './coverage.ts'
import { accountOf, endOf, withinOf } from './covered.ts'
import { textIn } from './message-texts.ts'
import { type Past, pastRequests } from './past.ts'
import { OUTPUT, READ, WRITE } from './price.ts'
import { holds, memoryText } from './summary.ts'

/** What limits a window beside its tokens, and with them. */
const EXTENTS = ['rounds', 'messages'] as const
const UNITS = [...EXTENTS, 'tokens'] as const
/** What a question for a summary takes, in tokens, pins aside. */
const QUESTION = 200
/** How many times what it costs a summary has to promise: sessions seldom go on as they went. */
const SURE = 12
/** Tokens of a summary of two to three sentences. */
const ANSWER = 100
/** The share of all room that is left where a summary stands for the rest. */
const KEEP = 1 / 4
/** What the frame of a summary takes, in tokens, where there is room. */
const FRAME = 24
/**
 * Most messages that are read again to summarise them after epochs that had to do without a
 * summary.
 */
const LONGEST_GAP = 2_048

export interface CompactionCoverParts extends CompactorParts {
  readonly lane: Lane
  readonly onCompact: (event: CompactEvent) => void
}

/** The summaries of one lane: which one shows, and what the next one is written from. */
export class CompactionCover implements Cover {
  readonly #parts: CompactionCoverParts
  readonly #compactor: Compactor
  readonly #slot: string
  readonly within = withinOf
  readonly text = memoryText
  /** A call that is asked for again has the same ranges. */
  readonly #parted = keeper<Promise<readonly Gap[]>>(1)
  #view: View | undefined
  /** What the epoch shows, or has no room for. */
  #summary: Covering | undefined
  /** The lane's newest, unless it was forgotten. */
  #latest: Covering | undefined

  constructor(parts: CompactionCoverParts) {
    this.#parts = parts
    const { policy } = parts.lane
    this.#slot = `summary/${policy.lane}`
    this.#compactor = new Compactor(parts, policy.lane)
  }

  /**
   * The summary that is being written now, whichever object of the session began it. Never rejects.
   */
  get running(): Promise<unknown> | undefined {
    return this.#compactor.running
  }

  async refresh(reads: Reads, view: View, isReloaded: boolean): Promise<void> {
    this.#view = view
    const known: (Covering | undefined)[] = isReloaded ? [] : [this.#latest, this.#summary]
    const find = async (id: string | null | undefined): Promise<Covering | undefined> =>
      typeof id !== 'string'
        ? undefined
        : (known.find((one) => one?.mark.id === id) ?? coveringIn(await view.entry(reads, id)))
    const { mark } = view.epoch ?? {}
    this.#latest = await find(this.#next.base)
    known.push(this.#latest)
    this.#summary = await find(mark?.summary ?? mark?.withheld)
  }

  shown({ mark }: CurrentEpoch): Covering | 'gone' | undefined {
    if (mark.summary !== undefined) return this.#summary ?? 'gone'
    return this.#summary && { ...this.#summary, pinsOnly: true }
  }

  async past(reads: Reads, id: string): Promise<Covering | undefined> {
    return coveringIn(await readEntry(reads, id))
  }

  account(covering: Covering, window: Window, rows: readonly LogRow[]): Account {
    const account = accountOf(covering, window, rows, this.#parts.store)
    return { ...account, part: (gaps) => this.#parted([gaps, covering.mark], () => account.part(gaps)) }
  }

  /** Tokens that are left of memory and window where a summary stands for the rest. */
  #keep(call: Call): number {
    const { lane } = this.#parts
    if (!this.#mayGoOn) return keepOf(lane, call)
    const all = call.room + call.head.tokens.memory
    const user = call.measure.layout(lane.view.conversation).newestUser()
    return Math.floor(Math.max(all * KEEP, user + ((all - user) * KEEP) / 2))
  }

  /**
   * Why a chain of summaries is not begun, unless it is: once one shows it takes its room anyway.
   * Where it is, each cut leaves less of the window to be written again, and each call reads less;
   * once for each cut the model is asked and answers. Calls are those since the last cut.
   */
  #loss(call: Call, { tokens }: Window): string | undefined {
    const { lane, options, sizes } = this.#parts
    const { epoch, conversation } = lane.view
    const isSince = ({ row, message }: Unit): boolean =>
      message.role === 'assistant' && row.seq > (epoch?.seq ?? 0)
    const calls = conversation.units.filter(isSince).length
    // Before the first request and the first reply it may be the agent's own model.
    const mustPay = this.#mayGoOn || !(options.ask || epoch || calls)
    const { when = mustPay ? 'pays' : 'always', length, model } = options
    // Where the app says what is kept, nothing less is; the cut counts the price of the summary.
    if (when === 'always' || this.#latest || lane.policy.keep.tokens !== undefined) return undefined
    const less = keepOf(lane, call) - this.#keep(call)
    const saved = Math.floor((less * (READ * calls + WRITE - READ)) / SURE)
    const read = this.#mayGoOn ? READ * (sum(call.head.tokens) + tokens) : WRITE * tokens
    const answer = length === undefined ? Math.min(ANSWER, sizes.summary) : sizes.summary
    const price = model ? Math.ceil(read + WRITE * QUESTION + OUTPUT * answer) : 0
    return price <= saved ? undefined : `it would cost ${price} tokens, and save ${saved} at most`
  }

  /** Also where the room for a question and its answer is used up, or a cut pays with its price. */
  isOver(call: Call, window: Window): boolean {
    const { sizes, lane } = this.#parts
    const { policy } = lane
    if (cutPays(policy, window, this.#price(call, window))) return true
    const asked = QUESTION + Math.max(0, sizes.summary - policy.reserved)
    return this.#mayGoOn && window.tokens > call.room - asked && this.#loss(call, window) === undefined
  }

  /**
   * The summary's text and its carry block are written to the cache, and the model reads what it is
   * asked and answers.
   */
  #price(call: Call, window: Window): number {
    const { options, sizes } = this.#parts
    const least = this.#parts.lane.policy.keep.tokens
    if (least === undefined) return 0
    const shown = ((WRITE - READ) / READ) * (sizes.summary + sizes.carry)
    if (!options.model) return shown
    const asked = this.#mayGoOn
      ? sum(call.head.tokens) + window.tokens + (WRITE / READ) * QUESTION
      : (WRITE / READ) * Math.max(0, window.tokens - least)
    return shown + asked + (OUTPUT / READ) * sizes.summary
  }

  withheld(view: View): Covering | undefined {
    return view.epoch?.mark.withheld === undefined ? undefined : this.usable(view, undefined)
  }

  /**
   * The newest summary that the next epoch may show: the one that shows now, or one that was
   * written since, if it holds.
   */
  usable({ epoch, rows }: View, prior: CurrentEpoch | undefined): Covering | undefined {
    const latest = this.#latest
    const { summary, withheld } = epoch?.mark ?? {}
    const isNew = latest && ([summary, withheld].includes(latest.mark.id) || latest.seq > (epoch?.seq ?? 0))
    const shown = prior && summary !== undefined ? this.#summary : undefined
    const found = isNew ? latest : shown
    return found && holds(found.mark, rows) ? found : undefined
  }

  async plan(ask: PlanAsk): Promise<Planned> {
    const { call, view, prior, covering, mayWrite, written, keep, plan: planned } = ask
    const { policy } = this.#parts.lane
    const { memory } = call.head.tokens
    const all = call.room + memory
    const isNew = covering !== undefined && covering.mark.id !== prior?.mark.summary
    const isDone = (written as Compaction | undefined)?.status === 'summarised'
    // A summary that was written for this epoch is used even if a little came since.
    const isFresh = isDone || (isNew && nothingSince(view, covering))
    const most = !isNew ? keep : isFresh ? all : Math.floor((keep + all) / 2)
    const explicit = policy.keep.tokens !== undefined
    const plan = await planned({
      room: call.room,
      keep: isNew || !explicit ? most - memory : keep,
      limits: isNew ? policy.max : policy.keep,
    })
    if (!mayWrite) return plan
    if (!(await this.#uncovered(call, plan.from, prior, covering))) return plan
    const frame = this.#frame(call)
    const deep = this.#keep(call)
    const half = this.#reserve(deep)
    const least = frame + Math.min(this.#parts.sizes.summary, Math.floor(all * MOST_SHARE))
    // Where half of what is kept holds no summary, the window gives way to it.
    const isSmall = !explicit && half < least
    const reserve = isSmall ? least : half
    const target: PlanTarget = {
      room: explicit ? all : all - reserve,
      keep: explicit ? Math.min(keep, all) : (isSmall ? all : deep) - reserve,
      limits: policy.keep,
      mayFold: true,
    }
    const tight = await planned(target).catch(unlessTooSmall)
    if (!tight)
      return { ...plan, refused: [`no ${reserve} tokens are left for a summary beside the least window`] }
    // The summary before it may have taken more than the next one will.
    const { from, window } = tight.from < plan.from && !isSmall ? plan : tight
    const uncovered = await this.#uncovered(call, from, prior, covering)
    if (!uncovered) return plan
    const loss = this.#loss(call, window)
    if (loss !== undefined) return { ...plan, refused: [loss] }
    const past = prior && (await this.#pastOf(prior, uncovered))
    const job = this.#job(call, window, uncovered, explicit || isSmall ? all : deep, past)
    return {
      write: async () => {
        const repeats = this.#repeats(ask.cause, prior)
        return repeats === undefined ? this.#compactor.run(job) : refused([repeats])
      },
    }
  }

  began({ cause, before, after, written }: Began): void {
    const { covering, refused } = after
    const compacted = written as Compaction | undefined
    const isNew = covering !== undefined && covering.mark.id !== before.call.head.summary
    if (!isNew && compacted?.status !== 'refused' && !refused) return
    const outcome = compacted ?? this.#compactor.outcome
    this.#parts.onCompact({
      type: 'compact',
      status: isNew ? 'summarised' : 'refused',
      cause,
      tokensBefore: usedBy(before),
      tokensAfter: usedBy(after),
      summaryCount: covering?.place ?? 0,
      ...(isNew && { by: covering.mark.by }),
      reasons: refused ?? outcome?.reasons ?? [],
    })
  }

  /**
   * Writes the summary that the next epoch will need, off the hot path, once the window comes near
   * the line.
   */
  goesOn(call: Call, window: Window): void {
    const { ahead = AHEAD } = this.#parts.options
    if (ahead === false || this.running) return
    const job = this.#ahead(call, window, ahead)
    // It rejects only for what no compaction can repair; then the next epoch writes what it
    // needs.
    if (job) this.#compactor.run(job).catch(() => {})
  }

  /**
   * Begins the summary that the next epoch will need, if the window came near the line, and does
   * not wait for it.
   *
   * @returns nothing where there is none to write; `written` gives nothing where one was being
   * written, once that is done
   */
  async begin(): Promise<{ readonly written: Promise<Compaction | undefined> } | undefined> {
    // What the epoch shows is all that counts, not who asked last: the log says so even to a
    // process that built no context.
    const held = await heldBy(this.#parts.lane)
    // An epoch that ends for another cause is followed by one that shows other messages.
    if (!held || (held.judged.cause !== undefined && held.judged.cause !== 'window')) return undefined
    const job = this.#ahead(held.call, held.judged.window, this.#parts.options.ahead || AHEAD)
    return job && { written: this.#compactor.run(job) }
  }

  /** Id that the lane's next summary names as its base, and that summary's place in the chain. */
  get #next(): { readonly base: string | null; readonly place: number } {
    const current = this.#view?.head.marks.get(this.#slot)
    return { base: current?.id ?? null, place: (current?.chain ?? 0) + 1 }
  }

  /**
   * Why a summary is not written now: the epoch before began for the same cause, and hardly
   * anything came since the last summary.
   */
  #repeats(cause: EpochCause, prior: CurrentEpoch | undefined): string | undefined {
    if (prior?.mark.summary === undefined || prior.mark.cause !== cause) return undefined
    const { units } = this.#parts.lane.view.conversation
    const since = units.filter(({ row }) => row.seq > (this.#latest?.seq ?? 0)).length
    return since > 1
      ? undefined
      : `the epoch before began for the same cause (${cause}), ${since} step(s) ago`
  }

  /** What the messages before unit `from` hold that no summary covers. */
  async #uncovered(
    call: Call,
    from: number,
    prior: CurrentEpoch | undefined,
    covering: Covering | undefined,
  ): Promise<Uncovered | undefined> {
    if (!covering || this.#isRead(covering, call)) return this.#uncoveredHere(call, from, prior, covering)
    const wider = await this.#readBack(covering, call.measure)
    const { conversation, whole } = this.#parts.lane.view
    return wider
      ? uncoveredBefore(
          { ...wider, whole, summary: covering },
          wider.layout.indexOf(conversation.units[from]?.row.id, wider.rows),
        )
      : this.#uncoveredHere(call, from, prior, undefined)
  }

  /** The same of what is in memory, after a summary whose end is in memory. */
  #uncoveredHere(
    { measure }: Call,
    from: number,
    prior: CurrentEpoch | undefined,
    summary: Covering | undefined,
  ): Uncovered | undefined {
    const { conversation, rows, whole } = this.#parts.lane.view
    const begin = summary ? summary.mark.upto : whole ? null : prior?.mark.windowFrom
    const start = begin === undefined ? from : measure.layout(conversation).indexOf(begin, rows)
    return start < 0 ? undefined : uncoveredBefore({ conversation, rows, whole, summary, start }, from)
  }

  /** Whether all that follows a summary is in memory. */
  #isRead(covering: Covering, { measure }: Call): boolean {
    const { view } = this.#parts.lane
    return withinOf(covering, view, measure.layout(view.conversation)).isRead
  }

  /**
   * The log from where a summary ends, where epochs had to do without a further one; undefined
   * where that is too much.
   */
  async #readBack(
    { mark }: Covering,
    measure: Measure,
  ): Promise<(Pick<CutFrom, 'conversation' | 'rows' | 'start'> & { readonly layout: Layout }) | undefined> {
    const { store } = this.#parts
    const { rows: known, opener } = this.#parts.lane.view
    const later = known.filter((row) => row !== opener)
    const end = endOf(mark)
    if (!later[0] || later[0].ordinal - end.count > LONGEST_GAP) return undefined
    const isThere = later.some(({ id }) => id === end.from)
    const entries = isThere ? later : [...(await readRange(store, end.from, later[0].id)), ...later]
    const apart = await findOpener(store, entries, mark.upto)
    const conversation = fold(entries, undefined, apart)
    const layout = new Layout(conversation.units, measure.shelf)
    const rows = apart ? [apart, ...entries] : entries
    return { conversation, rows, layout, start: layout.indexOf(mark.upto, rows) }
  }

  #job(
    { measure }: Call,
    window: Window,
    { rounds, rows, covers, updates }: Uncovered,
    most: number,
    past: Past | undefined,
  ): CompactionJob {
    const { calls, view } = this.#parts.lane
    const folded = window.tokens - (window.opener ? (window.blocks[0]?.tokens ?? 0) : 0)
    return {
      policy: measure.policy,
      ...this.#next,
      before: updates,
      rounds,
      tokens: rows.reduce((sum, row) => sum + this.#tokensOf(row), 0) * measure.calibration,
      // The opener of a cut round may yet be folded, so what only it names is not kept.
      kept: (window.opener ? window.blocks.slice(1) : window.blocks)
        .map(({ parts }) => textIn({ content: parts }))
        .join('\n'),
      covers,
      room: most - window.tokens >= this.#parts.sizes.summary ? most - window.tokens : most - folded,
      tag: calls.fence(view.next.place),
      past,
    }
  }

  /** The requests of the epoch that holds, by what its mark and its head say. */
  async #pastOf(epoch: CurrentEpoch, uncovered: Uncovered): Promise<Past | undefined> {
    if (!this.#mayGoOn) return undefined
    const { store, calls, view } = this.#parts.lane
    const { mark } = epoch
    const texts = await readHead(store, mark.head)
    if (!texts) return undefined
    const measure = calls.measureBy(mark.calibration ?? 1)
    const window = measure.layout(view.conversation).show(mark, view.rows)
    return this.#past(epoch, measure.call(texts, epoch.place), window, uncovered)
  }

  #past(
    { mark, place }: CurrentEpoch,
    call: Call,
    window: Window,
    { rows, updates }: Uncovered,
  ): Past | undefined {
    // A summary of which there was no room for more than its pins is no part of them.
    if (!this.#mayGoOn || mark.withheld !== undefined || mark.summary !== updates?.mark.id) return undefined
    return pastRequests(call, window, rows, this.#parts.lane.calls.fence(place), mark.head)
  }

  /** Whether the model may be asked by one more turn: by the app's word, or since it is the one. */
  get #mayGoOn(): boolean {
    const { ask, model } = this.#parts.options
    if (ask !== undefined || !model) return ask === 'continuation'
    const { units } = this.#parts.lane.view.conversation
    const newest = units.findLast(({ message }) => message.role === 'assistant')
    const { usage } = newest?.message.metadata ?? {}
    return (usage as { readonly model?: Json } | undefined)?.model === model.id
  }

  #tokensOf(row: LogRow): number {
    const message = messageIn(row)
    return message ? this.#parts.lane.calls.count(row, message) : 0
  }

  /**
   * What the next epoch will need a summary of, once the window comes near the line: `share` of the
   * room or of a limit.
   */
  #ahead(call: Call, window: Window, share: number): CompactionJob | undefined {
    const { lane } = this.#parts
    const { policy, view } = lane
    const { max, keep: limits } = policy
    const { epoch, conversation, rows } = view
    if (!epoch || this.#latest?.mark.id !== epoch.mark.summary) return undefined
    const all = call.room + call.head.tokens.memory
    const used = window.tokens + call.head.tokens.memory
    const { rounds, messages } = extentOf(conversation.units, window, true)
    const now = { rounds, messages, tokens: window.tokens }
    const isNear = UNITS.some((unit) => now[unit] >= share * (max[unit] ?? Infinity))
    if (!(isNear || used >= share * all) || this.#repeats('window', epoch)) return undefined
    if (this.#loss(call, window) !== undefined) return undefined
    const layout = call.measure.layout(conversation)
    const keep = this.#keep(call)
    const reserve = this.#reserve(keep)
    // What comes until a limit is crossed will be kept too: as much more of the window as is left
    // to the nearest one.
    const left = UNITS.map((unit) => {
      const most = max[unit]
      if (most === undefined) return Infinity
      return (window.tokens * Math.max(0, most - now[unit])) / Math.max(1, now[unit])
    })
    const coming = Math.floor(Math.max(0, Math.min(all - used, ...left)))
    const kept = EXTENTS.flatMap((unit) => {
      const limit = limits[unit]
      const more = Math.max(0, (max[unit] ?? 0) - now[unit])
      return limit === undefined ? [] : [[unit, Math.max(1, limit - more)]]
    })
    const cut = cutBack(layout, policy, {
      start: window.from,
      oldBefore: Math.max(0, layout.indexOf(epoch.mark.cuts.oldBefore, rows)),
      room: all - reserve,
      keep: keep - (limits.tokens === undefined ? reserve : 0) - coming,
      limits: Object.fromEntries(kept),
      mayFold: true,
    })
    const summary = epoch.mark.summary === undefined ? undefined : this.#summary
    if (!cut || (epoch.mark.summary !== undefined && !summary)) return undefined
    // What an epoch had to do without is summarised when the next one begins.
    if (summary && !this.#isRead(summary, call)) return undefined
    const uncovered = this.#uncoveredHere(call, cut.from, epoch, summary)
    if (!uncovered) return undefined
    return this.#job(
      call,
      layout.show(cut, rows),
      uncovered,
      limits.tokens === undefined ? keep - coming : all,
      this.#past(epoch, call, window, uncovered),
    )
  }

  /**
   * Tokens that are kept free for a summary with its carry block and frame: at most half of what is
   * kept.
   */
  #reserve(keep: number): number {
    const { summary, carry } = this.#parts.sizes
    return Math.min(summary + carry + FRAME, Math.floor(keep / 2))
  }

  /** Tokens of a summary that says nothing. */
  #frame({ measure }: Call): number {
    const { calls, view } = this.#parts.lane
    const { place } = this.#next
    const mark = { text: '', carry: '', pinned: '', of: view.head.ordinal }
    const content = memoryText({ mark, place }, calls.fence(view.next.place))
    return countMessage(measure.policy.counter, { content })
  }
}

/** The summary in a row, unless it was forgotten. */
function coveringIn(row: LogRow | undefined): Covering | undefined {
  const mark = row && (markIn(row) as SummaryMark | undefined)
  return mark && { mark, seq: row.seq, place: row.chain ?? 1 }
}

/** Whether a summary's writer had read all that there is. */
function nothingSince({ rows }: View, { mark }: Covering): boolean {
  const seen = rows.find(({ id }) => id === mark.seen)
  return seen !== undefined && seen.ordinal === rows.at(-1)?.ordinal
}

function usedBy({ call: { head }, window }: Began['before']): number {
  return head.tokens.system + head.tokens.memory + window.tokens
}

/** Nothing fits; any other error is thrown on. */
function unlessTooSmall(error: unknown): undefined {
  if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
}
