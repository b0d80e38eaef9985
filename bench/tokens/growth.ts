/**
 * How the time of one call grows with an unkind text, each counter and family in a process of its
 * own.
 */

import { runChild } from '../child.ts'
import { median, round, growth as slope } from '../stats.ts'
import { PEER_FAMILIES } from './adversarial.ts'
import type { GrowthPlan, Timed } from './growth-cell.ts'
import { DEFAULT, type LibraryName, OURS } from './libraries.ts'

export interface Growth {
  readonly library: LibraryName
  readonly family: string
  /** Fastest call at each size, in UTF-16 units. */
  readonly times: readonly Timed[]
  /** The e of time ~ size^e; only where there are two sizes. */
  readonly exponent?: number
  /** Why it ended before its time. */
  readonly note?: string
}

/** Ours beside gpt-tokenizer, on one size of one family. */
export interface Beside {
  readonly family: string
  readonly size: number
  readonly oursMs?: number
  readonly theirsMs?: number
}

export interface GrowthOptions {
  readonly families: readonly string[]
  readonly largest: number
  readonly stopMs: number
  /** In a pass, the calls of a size are repeated until they took this long together. */
  readonly leastMs: number
  readonly besideAt: number
  readonly progress: (line: string) => void
}

const SMALLEST = 1_024
/** For all sizes of a family together, with the start of the process. */
const LIMIT_MS = 25_000
const OUR_PASSES = 7

const BESIDE = 'a'
const BESIDE_LIMIT_MS = 90_000
const PEERS: readonly LibraryName[] = ['gpt-tokenizer', 'tiktoken', 'js-tiktoken', 'tokenx']

/**
 * Shorter calls say more about how a call begins than about growth; but so many sizes are looked at
 * in any case.
 */
const LEAST_MS = 2
const LEAST_SIZES = 4

export async function measureGrowth(options: GrowthOptions): Promise<Growth[]> {
  const { largest: to, stopMs, leastMs, progress } = options
  const found: Growth[] = []
  for (const family of options.families) {
    const add = async (library: LibraryName, passes: number) => {
      progress(`growth: ${family}, ${library}`)
      const plan = { from: SMALLEST, to, stopMs, passes, leastMs }
      found.push(await measure(library, family, plan, LIMIT_MS))
    }
    await add(OURS, OUR_PASSES)
    await add(DEFAULT, OUR_PASSES)
    if (PEER_FAMILIES.includes(family)) for (const peer of PEERS) await add(peer, 1)
  }
  return found
}

export async function measureBeside({ besideAt: size, progress }: GrowthOptions): Promise<Beside> {
  progress(`growth: ${size} units of '${BESIDE}' beside gpt-tokenizer`)
  const plan = { from: size, to: size, stopMs: 0, leastMs: 0 }
  const theirs = await measure('gpt-tokenizer', BESIDE, { ...plan, passes: 1 }, BESIDE_LIMIT_MS)
  const ours = await measure(OURS, BESIDE, { ...plan, passes: OUR_PASSES }, BESIDE_LIMIT_MS)
  const [theirsMs, oursMs] = [theirs.times[0]?.ms, ours.times[0]?.ms]
  return { family: BESIDE, size, ...(oursMs && { oursMs }), ...(theirsMs && { theirsMs }) }
}

async function measure(
  library: LibraryName,
  family: string,
  plan: GrowthPlan,
  limitMs: number,
): Promise<Growth> {
  const args = [library, family, JSON.stringify(plan)]
  const { messages, stopped } = await runChild<Timed>('tokens/growth-cell.ts', args, { limitMs })
  const times = fastestOf(messages)
  const exponent = exponentOf(times)
  return {
    library,
    family,
    times: times.map(({ size, ms }) => ({ size, ms: round(ms) })),
    ...(exponent !== undefined && { exponent: round(exponent) }),
    ...(stopped && { note: stopped }),
  }
}

/** One for each size. */
function fastestOf(calls: readonly Timed[]): Timed[] {
  const fastest = new Map<number, number>()
  for (const { size, ms } of calls) fastest.set(size, Math.min(ms, fastest.get(size) ?? ms))
  return [...fastest].map(([size, ms]) => ({ size, ms }))
}

/**
 * The median of the slopes between all pairs of sizes (Theil and Sen): a few slow calls do not move
 * it.
 */
function exponentOf(times: readonly Timed[]): number | undefined {
  const long = times.filter(({ ms }) => ms >= LEAST_MS)
  const fitted = long.length < LEAST_SIZES ? times.slice(-LEAST_SIZES) : long
  const slopes = fitted.flatMap((small, index) =>
    fitted
      .slice(index + 1)
      .map((large) => slope({ size: small.size, cost: small.ms }, { size: large.size, cost: large.ms })),
  )
  return slopes.length === 0 ? undefined : median(slopes)
}
