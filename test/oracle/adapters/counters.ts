/** The counter of a configuration. */

import type { CounterJson } from '../configuration.ts'
import * as frozen from '../frozen.mjs'

export interface CounterLike {
  readonly id: string
  count(text: string): number
  /** Of a calibrated one. */
  report?(context: unknown, usage: number): void
}

/** What a build counts with. */
export interface CountersLike {
  charsPerToken(chars: number): CounterLike
  calibrated(counter: CounterLike): CounterLike
  readonly utf8Bound: CounterLike
}

export function counterOf(library: CountersLike, counter: CounterJson): CounterLike {
  switch (counter.type) {
    case 'default':
      return alike(frozen.defaultCounter)
    case 'utf8':
      return library.utf8Bound
    case 'chars':
      return library.charsPerToken(counter.chars)
    case 'calibrated':
      return library.calibrated(
        counter.of === 'chars' ? library.charsPerToken(4) : alike(frozen.defaultCounter),
      )
  }
}

const TAG = /ctx-[0-9a-f]{8}/g

/**
 * Counts all fences alike. The default counter, that of the frozen build on both sides, looks at
 * the digits of a fence, which come from the lane: of another lane all counts would be others, and
 * nothing could be compared.
 */
function alike(counter: CounterLike): CounterLike {
  return { ...counter, count: (text) => counter.count(text.replace(TAG, 'ctx-00000000')) }
}
