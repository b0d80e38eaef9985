import type { Cuts } from '../../ports/op.ts'
import type { WindowLimits } from '../../ports/session.ts'
import type { Unit } from '../log/fold.ts'
import type { Policy } from '../policy.ts'
import type { Band, Layout, Window } from './window.ts'

/**
 * What writing a token to a provider's cache costs above reading it, in reads: Anthropic's five
 * minutes, (1.25 - 0.1) / 0.1.
 */
const REWRITE = 11.5

/** What a window is cut back to. */
export interface CutTask {
  /** First unit that may show; the window never moves back. */
  readonly start: number
  /** First unit whose outputs were not shrunk yet. */
  readonly oldBefore: number
  /** Tokens that the window may have at most … */
  readonly room: number
  /** … those to which it is cut back … */
  readonly keep: number
  /** … and what else it is cut back to. */
  readonly limits: WindowLimits
  /** Whether a summary covers the user message of a round into which the cut falls. */
  readonly mayFold?: boolean
}

/** A band, with the index of the first unit that it shows. */
export type CutBand = Band & { readonly from: number }

/**
 * Cuts the window back, cheapest first, until it holds at most `keep` tokens and what the limits
 * allow: outputs before the newest quarter of the cap shrink, then whole rounds leave, then the
 * oldest steps of an oversized round. The cut falls on a round's border if at least half of `keep`
 * stays filled there, else on a step's. If the newest unit does not fit into `room` by itself, its
 * outputs are squeezed. Where the user message of a cut round does not fit beside it, it is folded,
 * if it may be. Pure.
 *
 * @returns undefined when not even the floor fits into `room`.
 */
export function cutBack(layout: Layout, policy: Policy, task: CutTask): CutBand | undefined {
  const { units } = layout
  const newest = units.length - 1
  if (newest < 0) return { windowFrom: null, cuts: {}, from: 0 }
  const old = Math.max(task.oldBefore, protectedFrom(layout, policy.protect, task.start))
  const whole = longest(layout, policy, task, old, false)
  if (whole.from < newest || whole.tokens <= task.room) return band(layout, whole.from, old, {})
  const step = (units[newest] as Unit).row.id
  const squeezed = squeezeTo(layout, newest, task.room - layout.openerTokens(newest))
  const mayFold = task.mayFold && layout.openerOf(newest) !== undefined
  // Results cut to markers would make the model call again; a folded message is summarised.
  if (squeezed !== undefined && (squeezed >= policy.old || !mayFold))
    return band(layout, newest, old, { squeeze: { from: step, tokens: squeezed } })
  if (!mayFold) return undefined
  const folded = longest(layout, policy, task, old, true)
  if (folded.tokens <= task.room && layout.openerOf(folded.from))
    return band(layout, folded.from, old, { foldOpener: true })
  const least = squeezeTo(layout, newest, task.room)
  if (least === undefined) return undefined
  return band(layout, newest, old, { foldOpener: true, squeeze: { from: step, tokens: least } })
}

/** The first of the limits that a window exceeds, with what it shows of that unit. */
export function exceededBy(
  policy: Policy,
  units: readonly Unit[],
  window: Pick<Window, 'from' | 'opener' | 'tokens'>,
): { readonly unit: keyof WindowLimits; readonly size: number; readonly shown: number } | undefined {
  const { max, sliding } = policy
  const isCounted = max.rounds !== undefined || max.messages !== undefined
  const { rounds, messages } = isCounted ? extentOf(units, window, sliding === true) : new Extent()
  const shown = { rounds: rounds - openRounds(policy, units.at(-1)), messages, tokens: window.tokens }
  for (const unit of ['rounds', 'messages', 'tokens'] as const) {
    const size = max[unit]
    if (size !== undefined && shown[unit] > size) return { unit, size, shown: shown[unit] }
  }
  return undefined
}

/**
 * Whether a window that may keep `keep.tokens`, and has no size to grow to, has cost as much above
 * them as its cut would. Each call before paid again for the tokens above; the cut pays to write
 * what is kept, without what is new to this call, which is written either way. Where the two are
 * equal, the sum is at most about twice the least that any order of cuts costs
 * (docs/benchmarks.md).
 *
 * @param more what is paid for the cut beside that
 */
export function cutPays({ keep, max }: Policy, { blocks, tokens }: Window, more = 0): boolean {
  const { tokens: least } = keep
  if (least === undefined || max.tokens !== undefined || tokens <= least) return false
  let shown = 0
  let carried = tokens - least
  let called = 0
  for (const { role, tokens: size } of blocks) {
    // Each reply answered a call that showed what stands before it.
    if (role === 'assistant') {
      called = shown
      carried += Math.max(0, shown - least)
    }
    shown += size
  }
  return carried >= REWRITE * Math.max(0, least - (tokens - called)) + more
}

/** Rounds and messages of a window, with or without the user message of a cut round. */
export function extentOf(
  units: readonly Unit[],
  { from, opener }: Pick<Window, 'from' | 'opener'>,
  withOpener: boolean,
): Extent {
  const extent = new Extent()
  for (let index = units.length - 1; index >= from; index--) extent.add(units[index] as Unit)
  if (withOpener && opener) extent.messages++
  return extent
}

/** A sliding window of rounds shows the open one beside its complete ones. */
function openRounds({ sliding }: Policy, newest: Unit | undefined): number {
  return sliding && newest && (newest.message.role !== 'assistant' || newest.calls.length > 0) ? 1 : 0
}

/** Rounds and messages of units that are added from the newest on. */
class Extent {
  rounds = 0
  messages = 0
  #round: string | undefined

  add({ round, results }: Unit): void {
    if (round !== this.#round) this.rounds++
    this.#round = round
    this.messages += 1 + results.length
  }
}

function band(
  layout: Layout,
  from: number,
  old: number,
  cuts: Pick<Cuts, 'foldOpener' | 'squeeze'>,
): CutBand {
  const { units } = layout
  const capOpener = !cuts.foldOpener && layout.openerOf(from) && !layout.isNewestRound(from)
  return {
    windowFrom: units[from]?.row.id ?? null,
    cuts: {
      ...(old > from && { oldBefore: (units[old] as Unit).row.id }),
      ...(capOpener && { capOpener }),
      ...cuts,
    },
    from,
  }
}

/** The longest end of the units within `keep` and the limits; the newest unit whatever it takes. */
function longest(
  layout: Layout,
  policy: Policy,
  { start, keep, limits }: CutTask,
  old: number,
  isFolded: boolean,
): { readonly from: number; readonly tokens: number } {
  const { units } = layout
  const newest = units.length - 1
  const most = {
    rounds: (limits.rounds ?? Infinity) + openRounds(policy, units[newest]),
    messages: policy.max.messages ?? Infinity,
  }
  const { messages: enough = Infinity } = limits
  const bySlidingMessages = policy.sliding && policy.max.messages !== undefined
  const extent = new Extent()
  let tokens = 0
  let best = { from: newest, tokens: 0 }
  for (let index = newest; index >= Math.min(start, newest); index--) {
    // A step into which a limit in messages falls stays whole, if the window's own limit allows it.
    const isFull = extent.messages >= enough
    tokens += layout.tokens(index, index < old ? 'old' : 'new')
    extent.add(units[index] as Unit)
    const whole = isFolded ? tokens : tokens + layout.openerTokens(index)
    if (index < newest) {
      if (tokens > keep || isFull || extent.rounds > most.rounds || extent.messages > most.messages) break
      const opener = bySlidingMessages && !isFolded && layout.openerOf(index) ? 1 : 0
      if (whole > keep || extent.messages + opener > most.messages) continue
    }
    best = { from: index, tokens: whole }
  }
  if (bySlidingMessages) return best
  return { ...best, from: roundBorder(layout, best.from, keep, old) ?? best.from }
}

/** First unit of the newest that hold at most `protect` tokens; the newest is always among them. */
function protectedFrom(layout: Layout, protect: number, start: number): number {
  let index = layout.units.length - 1
  let tokens = layout.tokens(index, 'new')
  while (index > start) {
    tokens += layout.tokens(index - 1, 'new')
    if (tokens > protect) break
    index--
  }
  return index
}

/** The first border of a round at or after `from` at which at least half of `keep` stays filled. */
function roundBorder(layout: Layout, from: number, keep: number, old: number): number | undefined {
  const { units } = layout
  const border = units.findIndex(({ row, round }, index) => index >= from && row.id === round)
  if (border < 0) return undefined
  let tokens = 0
  for (let index = border; index < units.length; index++)
    tokens += layout.tokens(index, index < old ? 'old' : 'new')
  return tokens >= keep / 2 && tokens + layout.openerTokens(border) <= keep ? border : undefined
}

/**
 * Most tokens for each output of a unit that fits `room`, by bisection; undefined: not even
 * markers.
 */
function squeezeTo(layout: Layout, index: number, room: number): number | undefined {
  if (layout.tokens(index, 0) > room) return undefined
  let low = 0
  let high = room
  while (high - low > Math.max(8, low / 16)) {
    const middle = (low + high) >> 1
    if (layout.tokens(index, middle) <= room) low = middle
    else high = middle
  }
  return low
}
