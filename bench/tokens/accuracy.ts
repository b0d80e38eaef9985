/** How far the estimates are from the exact count. */
import { quantile, round } from '../stats.ts'
import { families } from './adversarial.ts'
import { corpora } from './corpora.ts'
import { DEFAULT, type Library, type LibraryName, loadLibrary, OURS } from './libraries.ts'

export interface Accuracy {
  readonly counter: LibraryName
  readonly corpus: string
  /** Estimate over exact, for all messages together. */
  readonly total: number
  /** Error of one message, in percent of the exact count: negative where it counts too few. */
  readonly p1: number
  readonly p50: number
  readonly p99: number
}

export interface Adversity {
  readonly counter: LibraryName
  readonly family: string
  /** Least and greatest estimate over exact, over the sizes. */
  readonly least: number
  readonly leastAt: number
  readonly most: number
}

const ESTIMATES: readonly LibraryName[] = [DEFAULT, 'tokenx', 'charsPerToken(4)']

export async function measureAccuracy(): Promise<Accuracy[]> {
  const exact = await loadLibrary(OURS)
  const found: Accuracy[] = []
  for (const counter of ESTIMATES) {
    const estimate = await loadLibrary(counter)
    for (const [corpus, messages] of Object.entries(corpora))
      found.push({ counter, corpus, ...errors(messages, estimate, exact) })
  }
  return found
}

function errors(messages: readonly string[], estimate: Library, exact: Library) {
  const counted = messages.map((message) => ({ is: exact.count(message), said: estimate.count(message) }))
  const sum = (key: 'is' | 'said') => counted.reduce((total, count) => total + count[key], 0)
  const percent = counted.map(({ is, said }) => (said / is - 1) * 100)
  return {
    total: round(sum('said') / sum('is'), 4),
    p1: round(quantile(percent, 0.01)),
    p50: round(quantile(percent, 0.5)),
    p99: round(quantile(percent, 0.99)),
  }
}

/** Each estimate on each adversarial family, at each of the sizes, in UTF-16 units. */
export async function measureAdversity(sizes: readonly number[]): Promise<Adversity[]> {
  const exact = await loadLibrary(OURS)
  const estimates = await Promise.all(ESTIMATES.map(loadLibrary))
  return Object.entries(families).flatMap(([family, make]) => {
    const texts = sizes.map((size) => make(size))
    const counts = texts.map((text) => exact.count(text))
    return estimates.map((estimate, index): Adversity => {
      const ratios = texts.map((text, at) => estimate.count(text) / (counts[at] as number))
      const least = Math.min(...ratios)
      return {
        counter: ESTIMATES[index] as LibraryName,
        family,
        least: round(least),
        leastAt: sizes[ratios.indexOf(least)] as number,
        most: round(Math.max(...ratios)),
      }
    })
  })
}
