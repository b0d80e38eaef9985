import { headOf } from '../../text/text.ts'

/** Halvings of a text to find out how much of it fits. */
const STEPS = 12

/**
 * How many units of a text's beginning fit, to within a 4096th of it; 0: none do. `fits` holds up
 * to some length.
 */
export function longestHead(text: string, fits: (head: string) => boolean): number {
  let low = 0
  let high = text.length
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) >> 1
    if (fits(headOf(text, middle))) low = middle
    else high = middle
  }
  return low
}
