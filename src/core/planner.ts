import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { EpochCause, EpochMark } from '../ports/op.ts'
import type { LogRow, ScopeStore } from '../ports/store.ts'
import { messageIn } from './bodies.ts'
import type { Call, Calls, ContextOptions } from './call.ts'
import { textIn } from './carry.ts'
import type { CompactionJob } from './compaction.ts'
import { type CutFrom, type Uncovered, uncoveredBefore } from './coverage.ts'
import { findOpener, readRange } from './entries.ts'
import { type Epoch, show } from './epoch.ts'
import { fold } from './fold.ts'
import type { Known } from './long-term/known.ts'
import type { Extent, Section } from './long-term/remembered.ts'
import type { Measure } from './measure.ts'
import type { Policy, WindowLimits } from './policy.ts'
import { type CurrentSummary, endOf, holds } from './summary.ts'
import type { View } from './view.ts'
import { type Band, cutBack, exceeds, extentOf, Layout, NOTHING, type Window } from './window.ts'

/** How much of what is remembered is tried to show, and all that there is to try where nothing is. */
const EXTENTS: readonly Extent[] = ['all', 'pinned', 'profile']
const WHOLE: readonly Extent[] = ['all']
/** What the frame of a summary takes at most, in tokens. */
const FRAME = 24
/** Most messages that are read again to summarise them after epochs that had to do without a summary. */
const LONGEST_GAP = 2_048

/** What the next epoch shows, and what would have to be summarised first. */
export interface Plan {
  readonly call: Call
  readonly band: Band
  readonly window: Window
  readonly summary?: CurrentSummary
  /** Id of the summary that would hold, but has no room. */
  readonly withheld?: string
  readonly job?: CompactionJob
  /** Why nothing can be summarised. */
  readonly refused?: readonly string[]
}

/** What a plan may assume about summaries. */
export interface Compacting {
  /** Whether one may be written first. */
  readonly may: boolean
  /** Whether one was written in this very call. */
  readonly done: boolean
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

/** Plans the epochs of one lane: where the window begins, how it is cut, and what is summarised. */
export class Planner {
  readonly #store: ScopeStore
  readonly #view: View
  readonly #calls: Calls
  readonly #policy: Policy

  constructor(store: ScopeStore, view: View, calls: Calls, policy: Policy) {
    this.#store = store
    this.#view = view
    this.#calls = calls
    this.#policy = policy
  }

  /**
   * Plans the next epoch with the newest summary that holds and all that is remembered, by what was reported meanwhile; if nothing fits
   * so, by the calibration that holds, then with less of what is remembered, and at last with no more of the summary than what is pinned.
   *
   * @param known what is remembered now. @param own what the tail holds beside what the app gave.
   */
  async next(
    held: Call,
    options: ContextOptions,
    cause: EpochCause,
    prior: Epoch | undefined,
    compacting: Compacting,
    known: Known,
    own: readonly Section[],
  ): Promise<Plan> {
    const reported = this.#calls.reported() ?? held.measure.calibration
    const calibrations =
      reported > held.measure.calibration ? [reported, held.measure.calibration] : [reported]
    const usable = this.#usable(prior)
    const extents = this.#calls.remember(known, calibrations[0] as number, 'all') ? EXTENTS : WHOLE
    const shown = extents.map((extent) => ({ memory: usable, extent }))
    if (usable) shown.push({ memory: { ...usable, pinsOnly: true }, extent: extents.at(-1) ?? 'all' })
    const attempts = shown.flatMap((one) => calibrations.map((calibration) => ({ ...one, calibration })))
    for (const [index, { memory, extent, calibration }] of attempts.entries()) {
      const remembered = this.#calls.remember(known, calibration, extent)
      const { place } = this.#view.next
      const call = this.#calls.make(calibration, options, place, { summary: memory, remembered }, own)
      try {
        if (!memory?.pinsOnly) return await this.#planWith(call, cause, prior, memory, compacting)
        // A summary that has no room in this call is not replaced by one that knows less.
        const plan = await this.#planWith(call, cause, prior, undefined, { ...compacting, may: false })
        return { ...plan, withheld: memory.mark.id }
      } catch (error) {
        if (index === attempts.length - 1 || !isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      }
    }
    throw new Error('unreachable: the last attempt returns or throws')
  }

  /** The newest summary that the next epoch may show: the one that shows now, or one that was written since, if it holds. */
  #usable(prior: Epoch | undefined): CurrentSummary | undefined {
    const { latest, summary, epoch, rows } = this.#view
    const known = [epoch?.mark.summary, epoch?.mark.withheld]
    const isNew = latest && (known.includes(latest.mark.id) || latest.seq > (epoch?.seq ?? 0))
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
    const layout = call.measure.layout(this.#view.conversation)
    const keep = this.#keep(all, layout)
    // A summary that was written for this epoch is used even if a little came since.
    const isFresh = done || (isNew && this.#nothingSince(summary))
    const most = !isNew ? keep : isFresh ? all : keep + Math.floor((all - keep) / 2)
    const limits = isNew ? this.#policy.max : this.#policy.keep
    const explicit = this.#policy.keep.tokens !== undefined
    const plan = await this.#plan(call, cause, prior?.mark, summary, {
      room: call.room,
      keep: isNew || !explicit ? most - memory : keep,
      limits,
    })
    const { compaction } = this.#policy
    if (!compaction || !may) return plan
    if (!(await this.#uncovered(call, plan.from, prior, summary))) return plan
    const reserve = reserveOf(compaction, keep)
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
    const uncovered = await this.#uncovered(call, from, prior, summary)
    if (!uncovered) return plan
    return { ...plan, job: this.#job(call, window, uncovered, explicit ? all : keep) }
  }

  /** Whether its writer had read all that there is. */
  #nothingSince({ mark }: CurrentSummary): boolean {
    const { rows } = this.#view
    const seen = rows.find(({ id }) => id === mark.seen)
    return seen !== undefined && seen.ordinal === rows.at(-1)?.ordinal
  }

  /** What the messages before unit `from` hold that no summary covers. */
  async #uncovered(
    { measure }: Call,
    from: number,
    prior: Epoch | undefined,
    summary: CurrentSummary | undefined,
  ): Promise<Uncovered | undefined> {
    const { conversation, rows, whole } = this.#view
    const layout = measure.layout(conversation)
    if (summary && !this.#isRead(summary)) {
      const wider = await this.#readBack(summary, measure)
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
    const { rows, opener, conversation } = this.#view
    const isLoose = conversation.loose.some(({ id }) => id === mark.upto)
    return !isLoose && rows.some((row) => row !== opener && row.id === endOf(mark).from)
  }

  /** The log from where a summary ends, where epochs had to do without a further one; undefined where that is too much. */
  async #readBack(
    { mark }: CurrentSummary,
    measure: Measure,
  ): Promise<(Pick<CutFrom, 'conversation' | 'rows' | 'start'> & { readonly layout: Layout }) | undefined> {
    const { rows: known, opener } = this.#view
    const later = known.filter((row) => row !== opener)
    const end = endOf(mark)
    if (!later[0] || later[0].ordinal - end.count > LONGEST_GAP) return undefined
    const isThere = later.some(({ id }) => id === end.from)
    const entries = isThere ? later : [...(await readRange(this.#store, end.from, later[0].id)), ...later]
    const apart = await findOpener(this.#store, entries, mark.upto)
    const conversation = fold(entries, undefined, apart)
    const layout = new Layout(conversation.units, measure.shelf)
    const rows = apart ? [apart, ...entries] : entries
    return { conversation, rows, layout, start: layout.indexOf(mark.upto, rows) }
  }

  #job(
    call: Call,
    window: Window,
    { rounds, rows, covers, updates }: Uncovered,
    most: number,
  ): CompactionJob {
    const { measure } = call
    const folded = window.tokens - (window.opener ? (window.blocks[0]?.tokens ?? 0) : 0)
    const least = measure.policy.compaction?.summary ?? 0
    const { base, place } = this.#view.nextSummary
    return {
      policy: measure.policy,
      base,
      place,
      before: updates,
      rounds,
      tokens: rows.reduce((sum, row) => sum + this.#tokensOf(row), 0) * measure.calibration,
      // The opener of a cut round may yet be folded, so what only it names is not kept.
      kept: (window.opener ? window.blocks.slice(1) : window.blocks)
        .flatMap(({ parts }) => parts.map((part) => textIn({ content: [part] })))
        .join('\n'),
      covers,
      room: most - window.tokens >= least ? most - window.tokens : most - folded,
      tag: this.#calls.fence(this.#view.next.place),
    }
  }

  #tokensOf(row: LogRow): number {
    const message = messageIn(row)
    return message ? this.#calls.count(row, message) : 0
  }

  /** What the next epoch will need a summary of, once the window comes near the line: `share` of the room or of a limit. */
  ahead(call: Call, window: Window, share: number): CompactionJob | undefined {
    const { compaction, max, keep: limits } = this.#policy
    const { latest, epoch, conversation, rows, whole } = this.#view
    if (!compaction || !epoch || latest?.mark.id !== epoch.mark.summary) return undefined
    const all = call.room + call.head.tokens.memory
    const used = window.tokens + call.head.tokens.memory
    const extent = extentOf(window.units)
    const near =
      used >= share * all ||
      extent.rounds >= share * (max.rounds ?? Infinity) ||
      extent.messages >= share * (max.messages ?? Infinity) ||
      window.tokens >= share * (max.tokens ?? Infinity)
    if (!near || this.repeats('window', epoch)) return undefined
    const layout = call.measure.layout(conversation)
    const keep = this.#keep(all, layout)
    const reserve = reserveOf(compaction, keep)
    // What comes until a limit is crossed will be kept too: as much more of the window as is left to the nearest one.
    const left = (limit: number | undefined, now: number): number =>
      limit === undefined ? Infinity : (window.tokens * Math.max(0, limit - now)) / Math.max(1, now)
    const coming = Math.floor(
      Math.max(
        0,
        Math.min(
          all - used,
          (max.tokens ?? Infinity) - window.tokens,
          left(max.rounds, extent.rounds),
          left(max.messages, extent.messages),
        ),
      ),
    )
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
        keep: keep - (limits.tokens === undefined ? reserve : 0) - coming,
        mayFold: true,
      },
    )
    const { summary } = this.#view
    if (!cut || (epoch.mark.summary !== undefined && !summary)) return undefined
    const known = summary === undefined || this.#isRead(summary)
    // What an epoch had to do without is summarised when the next one begins.
    if (!known) return undefined
    const start = summary ? layout.indexOf(summary.mark.upto, rows) : whole ? 0 : window.from
    const uncovered = uncoveredBefore({ conversation, rows, whole, summary, start }, cut.from)
    if (!uncovered) return undefined
    const kept = show(layout, rows, cut)
    const most = limits.tokens === undefined ? keep - coming : all
    return this.#job(call, kept, uncovered, most)
  }

  /** Why a summary is not written now: the epoch before began for the same cause, and hardly anything came since the last summary. */
  repeats(cause: EpochCause, prior: Epoch | undefined): string | undefined {
    if (prior?.mark.summary === undefined || prior.mark.cause !== cause) return undefined
    const { latest, conversation } = this.#view
    const since = conversation.units.filter(({ row }) => row.seq > (latest?.seq ?? 0)).length
    return since > 1
      ? undefined
      : `the epoch before began for the same cause (${cause}), ${since} step(s) ago`
  }

  /** Where the next epoch's window begins, reading further back while that could show more. @throws ERR_BUDGET_TOO_SMALL */
  async #plan(
    call: Call,
    cause: EpochCause,
    prior: EpochMark | undefined,
    summary: CurrentSummary | undefined,
    target: Target,
  ): Promise<Plan & { readonly from: number }> {
    const { room: most, keep, limits, mayFold = false } = target
    const { max } = this.#policy
    if (prior && this.#isEmpty(call, prior)) return this.#plan(call, cause, undefined, summary, target)
    const { place } = this.#view.next
    const policy = { ...this.#policy, keep: limits }
    for (;;) {
      const { conversation, rows, whole, opener } = this.#view
      const { units } = conversation
      const layout = call.measure.layout(conversation)
      const shown = prior && show(layout, rows, prior)
      const newest = units.length > 0 ? layout.window(units.length - 1, 0, {}) : NOTHING
      const closing = this.#calls.tail(call, newest, place)?.tokens ?? 0
      const room = most - closing
      const covered = summary ? rows.find(({ id }) => id === summary.mark.upto) : undefined
      const sameSummary = prior?.summary === summary?.mark.id
      if (prior && shown && sameSummary && (cause === 'late' || cause === 'rewind' || cause === 'forget'))
        if (shown.tokens <= Math.min(room, max.tokens ?? room) && !exceeds(units, shown.from, max)) {
          const windowFrom = units[shown.from]?.row.id ?? prior.windowFrom
          const band = { windowFrom, cuts: prior.cuts }
          return { call, band, window: shown, from: shown.from, ...(summary && { summary }) }
        }
      const isRead = summary !== undefined && this.#isRead(summary)
      // What a summary covers does not show again. Where it ends in a round that opened before all that is in memory, all of this follows.
      const uncovered =
        covered && !conversation.loose.includes(covered) ? layout.indexOf(covered.id, rows) : 0
      // What it does not cover may be of such a round too.
      if (uncovered < 0 && !prior && !whole && summary && !this.#hasAll(summary)) {
        await this.#view.extend()
        continue
      }
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
      if (cut && cut.from <= (opener ? 1 : 0) && !prior && !whole && !isRead) {
        await this.#view.extend()
        continue
      }
      // Where nothing shows, the window begins after the newest entry.
      const band = cut && { windowFrom: cut.windowFrom ?? rows.at(-1)?.id ?? null, cuts: cut.cuts }
      const window = band && show(layout, rows, band)
      if (!cut || !band || !window || window.tokens > room) throw this.#tooSmall(call)
      return {
        call,
        band,
        window,
        from: cut.from,
        ...(summary && { summary }),
      }
    }
  }

  /** Whether all that a summary's writer had not read is in memory with the round that it belongs to. */
  #hasAll({ mark }: CurrentSummary): boolean {
    const { conversation, rows } = this.#view
    const { loose, hidden } = conversation
    const read = rows.find(({ id }) => id === mark.seen)?.ordinal ?? mark.count
    return !loose.some(({ id, ordinal }) => ordinal > read && !hidden.has(id))
  }

  /** Whether nothing shows any more of an epoch's window: then the next one begins as in a new lane, further back. */
  #isEmpty({ measure }: Call, prior: EpochMark): boolean {
    const { conversation, rows } = this.#view
    return show(measure.layout(conversation), rows, prior).units.length === 0
  }

  /** Tokens that memory and window are cut back to together: half of what there is; more where the newest user message fills most of it. */
  #keep(all: number, layout: Layout): number {
    const { tokens } = this.#policy.keep
    if (tokens !== undefined) return tokens
    const user = layout.newestUser()
    return Math.max(Math.floor(all / 2), user + Math.floor((all - user) / 4))
  }

  #tooSmall(call: Call): PlimsollError {
    const breakdown = this.#calls.floor(call, this.#view.conversation, this.#view.next.place)
    return new PlimsollError(
      'ERR_BUDGET_TOO_SMALL',
      `context: the floor of ${breakdown.floor} tokens is above the cap of ${breakdown.cap}`,
      { breakdown },
    )
  }
}

/** Tokens that are kept free for a summary with its carry block and frame: at most half of what is kept. */
function reserveOf({ summary, carry }: NonNullable<Policy['compaction']>, keep: number): number {
  return Math.min(summary + carry + FRAME, Math.floor(keep / 2))
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
