import type { Block } from '../../ports/context.ts'
import type { Cuts } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import type { Unit } from '../log/fold.ts'
import type { BlockShelf, Blocks, Shown } from './blocks.ts'

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

/** How each unit from a point on is shown under a band. */
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

  /** Index of an entry's unit, or of the first after it if it does not show; -1: none. */
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

  /** The window of a band. */
  show({ windowFrom, cuts }: Band, rows: readonly LogRow[]): Window {
    const at = (id: string | null | undefined): number => {
      const index = this.indexOf(id, rows)
      return index < 0 ? this.units.length : index
    }
    const window = this.#window(at(windowFrom), at(cuts.oldBefore), cuts)
    this.#last = { cuts, end: this.units.length, window }
    return window
  }

  /** The window that begins at unit `from`, with outputs before unit `old` shrunk. */
  #window(from: number, old: number, cuts: Cuts): Window {
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
      blocks.unshift(this.#shelf.opening)
      tokens += this.#shelf.opening.tokens
    }
    const waiting = blocks.at(-1)?.section === 'tail' ? blocks.splice(-1) : []
    const units = [...(opener ? [opener] : []), ...this.units.slice(from)]
    return { blocks, waiting, tokens, from, units, ...(opener && { opener }) }
  }

  /** The newest unit alone, whole. */
  newest(): Window {
    return this.units.length > 0 ? this.#window(this.units.length - 1, 0, {}) : NOTHING
  }

  /** Tokens of one unit. */
  tokens(index: number, shown: Shown): number {
    const unit = this.units[index]
    return unit ? this.#shelf.unit(unit, shown, index === this.units.length - 1).tokens : 0
  }

  /** Tokens of what stands before unit `from`: its round's user message, or the opening. */
  openerTokens(from: number): number {
    const opener = this.openerOf(from)
    if (opener) return this.#shelf.opener(opener, !this.isNewestRound(from)).tokens
    return this.units[from] && this.units[from].message.role !== 'user' ? this.#shelf.opening.tokens : 0
  }

  /** The user message of the round into which a cut at `from` falls; none at a round's border. */
  openerOf(from: number): Unit | undefined {
    const unit = this.units[from]
    if (!unit || unit.row.id === unit.round) return undefined
    const opener = this.units[this.#placeOf(unit.round) ?? -1]
    return opener?.message.role === 'user' ? opener : undefined
  }

  /** Tokens of the newest round's user message, and of its newest unit, outputs cut to markers. */
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
 * The first row, in the log's order, that a window needs: of what it shows, and of the rows that
 * opened its rounds, but for the round into which the cut falls: its opener is read for itself.
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
