/** The counter of a configuration. */

import type { CounterJson } from '../configuration.ts'
import * as frozen from '../frozen.mjs'
import { withoutLabels } from '../names.ts'

export interface CounterLike {
  readonly id: string
  count(text: string): number
  /** As the library's own do, which count more of a message than its texts. */
  message?(message: unknown): number
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
  const ofChars = (chars: number) => unlabelled(library.charsPerToken(chars))
  switch (counter.type) {
    case 'default':
      return alike(frozen.defaultCounter)
    case 'utf8':
      return unlabelled(library.utf8Bound)
    case 'chars':
      return ofChars(counter.chars)
    case 'calibrated':
      return library.calibrated(counter.of === 'chars' ? ofChars(4) : alike(frozen.defaultCounter))
  }
}

/** Counts no references of facts, which the frozen build does not show: so all else is compared. */
function unlabelled(counter: CounterLike): CounterLike {
  const { message } = counter
  return {
    ...counter,
    count: (text) => counter.count(withoutLabels(text)),
    ...(message && {
      message: (given) => message.call(counter, JSON.parse(withoutLabels(JSON.stringify(given)))),
    }),
  }
}

const TAG = /ctx-[0-9a-f]{8}/g

/**
 * Counts all fences alike. The default counter, that of the frozen build on both sides, looks at
 * the digits of a fence, which come from the lane: of another lane all counts would be others, and
 * nothing could be compared.
 */
function alike(counter: CounterLike): CounterLike {
  return unlabelled({ ...counter, count: (text) => counter.count(text.replace(TAG, 'ctx-00000000')) })
}
