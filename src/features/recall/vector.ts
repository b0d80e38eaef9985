import { aborted } from '../../ports/aborted.ts'
import type { Embedder } from '../../ports/embedder.ts'
import type { Host } from '../../ports/host.ts'

/** Texts that an embedder is given at once. */
export const TEXTS = 64
/** Milliseconds within which it answers, or has failed. */
export const TIMEOUT = 10_000
const LONGEST = 4_096
/** Vectors are kept in a byte a number: what a vector points at takes no more. */
const MOST = 127

/** A vector, in whole numbers of -127 to 127. */
export type Vector = Int8Array

/**
 * A vector for each text. @throws what the embedder throws; where it took too long, or gave none
 */
export type Embed = (texts: readonly string[], use: 'passage' | 'query') => Promise<readonly Vector[]>

/** An app's embedder, within its limits, and checked. */
export function embedding(embedder: Embedder, host: Pick<Host, 'timeout'>): Embed {
  return async (texts, use) => {
    const vectors: Vector[] = []
    for (let at = 0; at < texts.length; at += TEXTS) {
      const some = texts.slice(at, at + TEXTS)
      // The embedder may take texts off its list.
      const { length } = some
      const { signal, clear } = host.timeout(TIMEOUT)
      try {
        const given = await Promise.race([embedder.embed(some, use), aborted(signal)])
        if (!Array.isArray(given) || given.length !== length)
          throw new Error(`the embedder did not give a vector for each of ${length} texts`)
        // Not by map, which leaves holes out.
        for (const one of given) vectors.push(rounded(one))
      } finally {
        clear()
      }
    }
    const [first] = vectors
    const odd = vectors.find(({ length }) => length !== first?.length)
    if (first && odd) throw lengthsDiffer(first, odd)
    return vectors
  }
}

/** @throws it is no vector */
function rounded(given: ArrayLike<number>): Vector {
  const length = given?.length
  // What says that it is longer is not read.
  const numbers = length > 0 && length <= LONGEST ? Array.from(given) : [Number.NaN]
  if (!numbers.every(Number.isFinite))
    throw new Error(`the embedder gave something else than 1 to ${LONGEST} finite numbers`)
  // A vector of zeros stays one: what is no number is 0 there.
  const most = numbers.reduce((high, number) => Math.max(high, Math.abs(number)), 0)
  return Int8Array.from(numbers, (number) => Math.round((number / most) * MOST))
}

/** The cosine of two vectors of one length; of one that is zero, 0. The same on every engine. */
export function cosine(one: Vector, other: Vector): number {
  const { length } = one
  let product = 0
  let squares = 0
  let others = 0
  for (let at = 0; at < length; at++) {
    const [left, right] = [one[at] as number, other[at] as number]
    product += left * right
    squares += left * left
    others += right * right
  }
  return squares > 0 && others > 0 ? product / Math.sqrt(squares * others) : 0
}

/** One of them is of another model. */
export function lengthsDiffer(one: Vector, other: Vector): Error {
  return new Error(`vectors of ${one.length} and ${other.length} numbers: another model needs another id`)
}
