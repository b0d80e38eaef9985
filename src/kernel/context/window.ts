import type { Block } from '../../ports/context.ts'
import type { Cuts } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import type { BlockShelf, Blocks, Shown } from './blocks.ts'
import type { Unit } from '../log/fold.ts'
import type { Policy } from '../policy.ts'
import type { WindowLimits } from '../../ports/session.ts'

/** Where a window begins and how its entries are shown: what an epoch freezes. */
export interface Band {
  readonly windowFrom: string | null
  readonly cuts: Cuts
}

/** The window as it is shown. */
export interface Window {
  readonly blocks: readonly Block[]
  /** Results that the newest step still waits for, shown as errors: the beginning of the tail. */
  readonly waiting: readonly Block[]
  /** Tokens of both. */
  readonly tokens: number
  /** Index of the first unit from `windowFrom` on. */
  readonly from: number
  /** The units that show, the opener of a cut round included. */
  readonly units: readonly Unit[]
  readonly opener?: Unit
}

/** No window at all. */
export const NOTHING: Window = { blocks: [], waiting: [], tokens: 0, from: 0, units: [] }

/** A window, with what it was asked by. */
interface Shot {
  readonly cuts: Cuts
  /** Units of the layout at that time. */
  readonly end: number
  readonly window: Window
}

/** How each unit from a point on is shown under a band; a lookup over units in the order in which they show. */
export class Layout {
  readonly units: readonly Unit[]
  readonly #shelf: BlockShelf
  /** Index of the unit of each entry, made when it is first needed. */
  #places: Map<string, number> | undefined
  /** The window that was asked for last, here or in the layout that this one grew from. */
  #last: Shot | undefined

  constructor(units: readonly Unit[], shelf: BlockShelf) {
    this.units = units
    this.#shelf = shelf
  }

  /** Index of the unit of an entry; where the entry does not show, of the first one after it; -1 if there is none. */
  indexOf(
    id: string | null | undefined,
    rows: readonly { readonly id: string; readonly ordinal: number }[],
  ): number {
    if (id === null || id === undefined) return 0
    const place = this.#placeOf(id)
    if (place !== undefined) return place
    const ordinal = rows.find((row) => row.id === id)?.ordinal
    return ordinal === undefined ? -1 : this.units.findIndex((unit) => unit.row.ordinal > ordinal)
  }

  /** The layout of the same units and others after them. */
  grown(units: readonly Unit[]): Layout {
    const layout = new Layout(units, this.#shelf)
    layout.#places = this.#places
    layout.#last = this.#last
    for (let index = this.units.length; index < units.length; index++)
      layout.#places?.set((units[index] as Unit).row.id, index)
    return layout
  }

  /** The window that begins at unit `from`, with outputs before unit `old` shrunk. */
  window(from: number, old: number, cuts: Cuts): Window {
    const last = this.#last
    const { squeeze, capOpener, foldOpener } = cuts
    // The cuts of an epoch are one object, and it has one beginning. What waited may have come.
    const goesOn = last?.cuts === cuts && last.window.waiting.length === 0
    const opener = goesOn ? last.window.opener : foldOpener ? undefined : this.openerOf(from)
    const blocks: Block[] = goesOn ? [...last.window.blocks] : []
    let tokens = goesOn ? last.window.tokens : 0
    const show = (shown: Blocks): void => {
      for (const block of shown.blocks) blocks.push(block)
      tokens += shown.tokens
    }
    if (opener && !goesOn) show(this.#shelf.opener(opener, capOpener === true))
    const newest = this.units.length - 1
    for (let index = goesOn ? last.end : from; index < this.units.length; index++) {
      const unit = this.units[index] as Unit
      show(this.#shelf.unit(unit, this.#shown(unit, index, old, squeeze), index === newest))
    }
    // A summary before the window is a user's message too.
    if (!foldOpener && blocks.length > 0 && blocks[0]?.role !== 'user') {
      blocks.unshift(this.#shelf.opening())
      tokens += this.#shelf.opening().tokens
    }
    const waiting = blocks.at(-1)?.section === 'tail' ? blocks.splice(-1) : []
    const units = this.units.slice(from)
    const window: Window = opener
      ? { blocks, waiting, tokens, from, units: [opener, ...units], opener }
      : { blocks, waiting, tokens, from, units }
    this.#last = { cuts, end: this.units.length, window }
    return window
  }

  /** The newest unit alone, whole. */
  newest(): Window {
    return this.units.length > 0 ? this.window(this.units.length - 1, 0, {}) : NOTHING
  }

  /** Tokens of one unit. */
  tokens(index: number, shown: Shown): number {
    const unit = this.units[index]
    return unit ? this.#shelf.unit(unit, shown, index === this.units.length - 1).tokens : 0
  }

  /** Tokens of what stands before unit `from`: the user message of its round, or the opening that providers require. */
  openerTokens(from: number): number {
    const opener = this.openerOf(from)
    if (opener) return this.#shelf.opener(opener, !this.isNewestRound(from)).tokens
    return this.units[from] && this.units[from].message.role !== 'user' ? this.#shelf.opening().tokens : 0
  }

  /** The user message of the round into which a cut at `from` falls; none at a round's border. */
  openerOf(from: number): Unit | undefined {
    const unit = this.units[from]
    if (!unit || unit.row.id === unit.round) return undefined
    const opener = this.units[this.#placeOf(unit.round) ?? -1]
    return opener?.message.role === 'user' ? opener : undefined
  }

  /** Tokens of the newest round's user message, and of the rest of its newest unit with each output cut to its marker. */
  floor(): { readonly user: number; readonly step: number } {
    const newest = this.units.length - 1
    const step = this.units[newest]?.message.role === 'user' ? 0 : this.tokens(newest, 0)
    return { user: this.newestUser(), step }
  }

  /** Tokens of the newest round's user message. */
  newestUser(): number {
    const newest = this.units.length - 1
    return this.units[newest]?.message.role === 'user'
      ? this.tokens(newest, 'new')
      : this.openerTokens(newest)
  }

  #placeOf(id: string): number | undefined {
    // What is looked up is the window's own beginning, as a rule.
    if (this.units[0]?.row.id === id) return 0
    this.#places ??= new Map(this.units.map((unit, index) => [unit.row.id, index]))
    return this.#places.get(id)
  }

  isNewestRound(from: number): boolean {
    return this.units[from]?.round === this.units.at(-1)?.round
  }

  #shown(unit: Unit, index: number, old: number, squeeze: Cuts['squeeze']): Shown {
    if (squeeze?.from === unit.row.id) return squeeze.tokens
    return index < old ? 'old' : 'new'
  }
}

/**
 * Cuts the window back, cheapest first, until it holds at most `keep` tokens and the policy's `keep` limits: the watermark
 * moves up to the newest quarter of the cap, then whole rounds leave, then the oldest steps of an oversized round. The cut
 * falls on a round's border if at least half of `keep` stays filled there, else on a step's. If the newest unit does not
 * fit into `room` by itself, its outputs are squeezed. Pure.
 *
 * Where the user message of a cut round does not fit beside its newest step, it is folded, if it may be.
 *
 * @returns undefined when not even the floor fits into `room`.
 */
export function cutBack(layout: Layout, policy: Policy, task: CutTask): CutBand | undefined {
  const { units } = layout
  const newest = units.length - 1
  if (newest < 0) return { windowFrom: null, cuts: {}, from: 0 }
  const old = Math.max(task.oldBefore, protectedFrom(layout, policy.protect, task.start))
  const whole = longest(layout, policy, task, old, (index) => layout.openerTokens(index))
  if (whole.from < newest || whole.tokens <= task.room) return band(layout, whole.from, old, {})
  const step = (units[newest] as Unit).row.id
  const squeezed = squeezeTo(layout, newest, task.room - layout.openerTokens(newest))
  const mayFold = task.mayFold && layout.openerOf(newest) !== undefined
  // Results that are cut to their markers would make the model call again; a folded message is still summarised.
  if (squeezed !== undefined && (squeezed >= policy.old || !mayFold))
    return band(layout, newest, old, { squeeze: { from: step, tokens: squeezed } })
  if (!mayFold) return undefined
  const folded = longest(layout, policy, task, old, () => 0)
  if (folded.tokens <= task.room && layout.openerOf(folded.from))
    return band(layout, folded.from, old, { foldOpener: true })
  const least = squeezeTo(layout, newest, task.room)
  if (least === undefined) return undefined
  return band(layout, newest, old, { foldOpener: true, squeeze: { from: step, tokens: least } })
}

/** What a window is cut back to. */
export interface CutTask {
  /** First unit that may show; the window never moves back. */
  readonly start: number
  /** First unit whose outputs were not shrunk yet. */
  readonly oldBefore: number
  /** Tokens that the window may have at most … */
  readonly room: number
  /** … and those to which it is cut back. */
  readonly keep: number
  /** Whether a summary covers the user message of a round into which the cut falls. */
  readonly mayFold?: boolean
}

export type CutBand = Band & { readonly from: number }

function band(
  layout: Layout,
  from: number,
  old: number,
  cuts: Pick<Cuts, 'foldOpener' | 'squeeze'>,
): CutBand {
  const { units } = layout
  const capOpener = !cuts.foldOpener && layout.openerOf(from) && !layout.isNewestRound(from)
  const oldBefore = units[old]?.row.id
  return {
    windowFrom: units[from]?.row.id ?? null,
    cuts: {
      ...(old > from && oldBefore !== undefined && { oldBefore }),
      ...(capOpener && { capOpener }),
      ...cuts,
    },
    from,
  }
}

/** The longest end of the units that stays within `keep` and the policy's limits; the newest unit whatever it takes. */
function longest(
  layout: Layout,
  { keep: limits, max }: Policy,
  { start, keep }: CutTask,
  old: number,
  openerTokens: (from: number) => number,
): { readonly from: number; readonly tokens: number } {
  const { units } = layout
  const newest = units.length - 1
  let from = newest
  let tokens = layout.tokens(newest, 'new')
  let fits = tokens + openerTokens(newest)
  const extent = new Extent(units[newest] as Unit)
  for (let index = newest - 1; index >= start; index--) {
    // A limit in messages falls inside of a step as a rule; then that step stays whole, if the window's own limit allows it.
    const full = extent.isFull(limits)
    tokens += layout.tokens(index, index < old ? 'old' : 'new')
    extent.add(units[index] as Unit)
    if (tokens > keep || full || extent.exceeds({ ...max, rounds: limits.rounds ?? Infinity })) break
    const whole = tokens + openerTokens(index)
    if (whole > keep) continue
    from = index
    fits = whole
  }
  if (from < newest) from = roundBorder(layout, from, keep, old) ?? from
  return { from, tokens: fits }
}

/** Whether the units of a window are more than the limits allow. */
export function exceeds(units: readonly Unit[], from: number, limits: WindowLimits): boolean {
  const newest = units.at(-1)
  if (!newest || (limits.rounds === undefined && limits.messages === undefined)) return false
  const extent = new Extent(newest)
  for (let index = units.length - 2; index >= from; index--) extent.add(units[index] as Unit)
  return extent.exceeds(limits)
}

/** Rounds and messages of a window. */
export function extentOf(units: readonly Unit[]): { readonly rounds: number; readonly messages: number } {
  const newest = units.at(-1)
  if (!newest) return { rounds: 0, messages: 0 }
  const extent = new Extent(newest)
  for (let index = units.length - 2; index >= 0; index--) extent.add(units[index] as Unit)
  return extent
}

/** Counts rounds and messages of a window that grows backwards. */
class Extent {
  rounds = 1
  messages: number
  #round: string

  constructor(newest: Unit) {
    this.#round = newest.round
    this.messages = 1 + newest.results.length
  }

  add(unit: Unit): void {
    if (unit.round !== this.#round) this.rounds++
    this.#round = unit.round
    this.messages += 1 + unit.results.length
  }

  /** Whether no further message fits into the limit. */
  isFull({ messages = Infinity }: WindowLimits): boolean {
    return this.messages >= messages
  }

  exceeds({ rounds = Infinity, messages = Infinity }: WindowLimits): boolean {
    return this.rounds > rounds || this.messages > messages
  }
}

/** First unit of the newest ones that together hold at most `protect` tokens; the newest is always among them. */
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
  let border = from
  while (border < units.length && units[border]?.row.id !== units[border]?.round) border++
  if (border >= units.length) return undefined
  let tokens = 0
  for (let index = border; index < units.length; index++)
    tokens += layout.tokens(index, index < old ? 'old' : 'new')
  return tokens >= keep / 2 && tokens + layout.openerTokens(border) <= keep ? border : undefined
}

/** Most tokens for each output of a unit so that it fits into `room`, by bisection; undefined if its markers do not. */
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

/**
 * The first row, in the log's order, that a window needs: of what it shows, and of the rows that opened its rounds (a result
 * stands after its step). The round into which the cut falls is aside: its opener is read for itself.
 */
export function firstNeeded(
  rows: readonly LogRow[],
  { units, opener }: Pick<Window, 'units' | 'opener'>,
): LogRow | undefined {
  const start = units[opener ? 1 : 0]
  const needed = new Set<string>()
  for (const unit of units) {
    if (unit === opener) continue
    needed.add(unit.row.id)
    if (unit.round !== start?.round) needed.add(unit.round)
  }
  return rows.find(({ id }) => needed.has(id))
}
