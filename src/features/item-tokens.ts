import type { Counter } from '../ports/counter.ts'
import { checkCount } from '../text/json.ts'

/**
 * Tokens of a value among others of an array, as JSON: alone, and a comma. By counters that are
 * exact, or upper bounds, or count characters, the sum of these is not below the count of the
 * array.
 *
 * @throws ERR_INVALID_ARGUMENT when the counter gives no count
 */
export function itemTokens(counter: Counter, value: object | string): number {
  const count = counter.count(JSON.stringify(value)) + counter.count(',')
  return checkCount(`counter ${counter.id}`, 'its count', count)
}
