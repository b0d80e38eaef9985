/**
 * One counter on one adversarial family, in a process of its own, so that it can be stopped in the
 * middle of a call: sizes double until a call takes too long. Started by `growth.ts` with the names
 * and a {@link GrowthPlan} as JSON.
 */

import { send } from '../child.ts'
import { families } from './adversarial.ts'
import { flat } from './flat.ts'
import { type LibraryName, loadLibrary } from './libraries.ts'

export interface GrowthPlan {
  /** Sizes in UTF-16 units. */
  readonly from: number
  readonly to: number
  /** No size follows one at which a call took longer than this. */
  readonly stopMs: number
  /**
   * How often all sizes are gone through, so that a slow second of the machine does not hit one
   * size only.
   */
  readonly passes: number
  /** In a pass, the calls of a size are repeated until they took this long together. */
  readonly leastMs: number
}

export interface Timed {
  readonly size: number
  /** The fastest call of a pass. */
  readonly ms: number
}

const WARM_UP_UNITS = 1_024
const WARM_UP_MS = 100

const [name = '', family = '', plan = ''] = process.argv.slice(2)
const { from, to, stopMs, passes, leastMs } = JSON.parse(plan) as GrowthPlan
const library = await loadLibrary(name as LibraryName)
const make = families[family] as (length: number) => string

/**
 * Every call gets another part of it: of the same text, up to some size, a processor remembers each
 * branch.
 */
const source = flat(make(2 * to))
let place = 0

for (let ms = 0; ms < WARM_UP_MS; ) ms += call(WARM_UP_UNITS)
for (let pass = 0; pass < passes; pass++) {
  for (let size = from; size <= to; size *= 2) {
    const ms = fastest(size)
    await send({ size, ms } satisfies Timed)
    if (ms > stopMs) break
  }
}
process.disconnect()

function fastest(size: number): number {
  let fastest = Number.POSITIVE_INFINITY
  let sum = 0
  do {
    const ms = call(size)
    sum += ms
    fastest = Math.min(fastest, ms)
  } while (sum < leastMs)
  return fastest
}

function call(size: number): number {
  const text = flat(source.slice(place, place + size))
  place = (place + size) % to
  library.forget?.()
  const start = performance.now()
  library.count(text)
  return performance.now() - start
}
