import { checkReadable } from '../../kernel/log/bodies.ts'
import { SHARED } from '../../kernel/log/message.ts'
import { partId } from '../../kernel/log/rounds.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Json } from '../../ports/message.ts'
import type { IndexEntry, Name, Op } from '../../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { factIn, factKey, outranks, sourceName } from './fact.ts'
import {
  ascending,
  bandGroup,
  dayStart,
  EXPIRING,
  type FactPlaces,
  hasEnded,
  madeIn,
  pastIndexOf,
  placesOf,
} from './fact-index.ts'
import { UNTOLD_INDEX, untoldKey } from './kept.ts'
import { LIVE } from './live.ts'
import { areNear, areSameWords, bandsOf } from './near-duplicates.ts'

export interface FactCaps {
  /** Most live facts of one scope. Default: no cap. */
  readonly facts?: number
  /**
   * Most new facts of one scope in an hour of the clock, by their `createdAt`: imports of older
   * ones are not counted. Default 120.
   */
  readonly perHour?: number
}

/** Facts that share a band and are looked at. */
const CANDIDATES = 16
/** Facts that have ended, and that one write takes off the lists. */
const SWEPT = 8
const PER_HOUR = 120

interface Change {
  readonly row: RegisterRow | undefined
  readonly fact: Fact
  readonly index: readonly IndexEntry[]
  /** What it goes with, beside its own sources. */
  readonly from: readonly Name[]
}

/**
 * What one write to a scope's facts would do, over what it read. Thrown away when the commit meets
 * a conflict.
 */
export class FactPlan {
  readonly #store: ScopeStore
  /** By what facts stand in indexes here. */
  readonly places: FactPlaces
  readonly #isMarked: boolean
  readonly #rows = new Map<string, RegisterRow | undefined>()
  readonly #changes = new Map<string, Change>()

  /** @param isMarked whether each write is marked, to be noted in the user's scope later */
  constructor(store: ScopeStore, places: FactPlaces, isMarked: boolean) {
    this.#store = store
    this.places = places
    this.#isMarked = isMarked
  }

  /** A fact as it would be after this write. `null`: it was forgotten. */
  async get(id: string): Promise<Fact | null | undefined> {
    const key = factKey(id)
    const change = this.#changes.get(key)
    if (change) return change.fact
    if (!this.#rows.has(key)) this.#rows.set(key, checkReadable(await this.#store.register(key)))
    const row = this.#rows.get(key)
    return row && (factIn(row) ?? null)
  }

  /**
   * Writes a fact that was read with {@link get} or {@link twinOf}, or one that is not there.
   *
   * @param from the user's fact that stands for it from now on: it goes with that one
   */
  put(fact: Fact, from?: Name): void {
    const key = factKey(fact.id)
    const row = this.#rows.get(key)
    const kept = row?.sources?.filter((name) => name.startsWith(SHARED)) ?? []
    const index = placesOf(fact, this.places)
    this.#changes.set(key, { row, fact, index, from: from ? [from] : kept })
  }

  /**
   * The live near-duplicate of a fact, of its kind and project; of several the one of the highest
   * rank, then the one with the lowest id.
   */
  async twinOf(fact: Fact): Promise<Fact | undefined> {
    const near = new Map<string, Fact>()
    for (const band of bandsOf(fact))
      for (const row of await this.#store.indexed(bandGroup(band), { first: CANDIDATES })) {
        if (!this.#rows.has(row.key)) this.#rows.set(row.key, row)
        const stored = factIn(this.#rows.get(row.key) ?? row)
        if (stored) near.set(row.key, stored)
      }
    for (const [key, change] of this.#changes) near.set(key, change.fact)
    return [...near.values()].filter((one) => this.#isTwin(one, fact)).sort(byStanding)[0]
  }

  /** The ops of this write, sweep included; none where nothing would change. @throws ERR_LIMIT */
  async ops(operation: string, caps: FactCaps, opIds: (fact: Fact) => string): Promise<readonly Op[]> {
    if (this.#changes.size === 0) return []
    await this.#sweep()
    await this.#checkCaps(operation, caps)
    const puts = Array.from(this.#changes, ([key, { row, fact, index, from }]) => ({
      kind: 'put' as const,
      opId: opIds(fact),
      key,
      base: row?.version ?? null,
      value: fact as unknown as Json,
      sources: [...fact.sources.map(sourceName), ...from],
      index,
    }))
    if (!this.#isMarked) return puts
    const marks = puts.map(async ({ opId, key: of }): Promise<Op> => {
      const key = untoldKey(of)
      const base = (await this.#store.register(key))?.version ?? null
      return { kind: 'put', opId: partId(opId, 'untold'), key, base, value: true, index: UNTOLD_INDEX }
    })
    return [...puts, ...(await Promise.all(marks))]
  }

  #isTwin(one: Fact, fact: Fact): boolean {
    return (
      one.kind === fact.kind &&
      one.project === fact.project &&
      one.supersededBy === undefined &&
      !hasEnded(one, this.places.now) &&
      (fact.kind === 'constraint' ? areSameWords : areNear)(one.text, fact.text)
    )
  }

  /** Takes facts that have ended off the lists. Their registers stay. */
  async #sweep(): Promise<void> {
    const to = ascending(dayStart(this.places.now) + 1)
    for (const row of await this.#store.indexed(EXPIRING, { to, first: SWEPT })) {
      const fact = factIn(row)
      if (fact && !this.#changes.has(row.key))
        this.#changes.set(row.key, { row, fact, index: pastIndexOf(fact), from: [] })
    }
  }

  async #checkCaps(operation: string, caps: FactCaps): Promise<void> {
    const changes = [...this.#changes.values()]
    const made = changes.filter(({ row }) => row === undefined).map(({ fact }) => madeIn(fact.createdAt))
    if (made.length === 0) return
    const { facts = Number.POSITIVE_INFINITY, perHour = PER_HOUR } = caps
    const hour = madeIn(this.places.now)
    const sums = await this.#store.sums([LIVE, hour])
    const more = changes.reduce((sum, { row, index }) => sum + liveIn(index) - liveIn(row?.index), 0)
    if (more > 0 && (sums.get(LIVE)?.count ?? 0) + more > facts)
      throw limit(operation, `${facts} live facts`, 'facts', facts)
    const ofHour = made.filter((group) => group === hour).length
    if (ofHour > 0 && (sums.get(hour)?.count ?? 0) + ofHour > perHour)
      throw limit(operation, `${perHour} new facts an hour`, 'perHour', perHour)
  }
}

function liveIn(index: readonly IndexEntry[] = []): number {
  return index.some(({ group }) => group === LIVE) ? 1 : 0
}

function byStanding(a: Fact, b: Fact): number {
  if (outranks(a, b)) return -1
  return outranks(b, a) || a.id > b.id ? 1 : -1
}

function limit(operation: string, most: string, cap: keyof FactCaps, limit: number): PlimsollError {
  return new PlimsollError('ERR_LIMIT', `${operation}: the scope may have at most ${most} (${cap})`, {
    limit,
  })
}
