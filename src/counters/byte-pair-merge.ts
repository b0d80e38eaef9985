import { isByteOrderMark, NO_RANK, type Vocabulary } from './vocabulary.ts'

/**
 * Longest piece, in bytes, that is merged by looking through all of its pairs; between 64 and 192
 * it makes no difference.
 */
const SHORT = 96
/** Room for a rank beside a place in one number: heap keys compare by rank, then by place. */
const PLACES = 2 ** 32
/**
 * Bytes of a stretch of a long piece that is merged at a time: what that takes stays in a
 * processor's cache.
 */
const STRETCH = 8_192
/**
 * Tokens at the end of a stretch that the next one merges again, since what follows may have been
 * part of them.
 */
const OVERLAP = 8
/** Borders at which the next stretch is tried to begin, before this one is made longer. */
const TRIES = 8

/**
 * Merges the bytes of a piece into tokens, always the leftmost pair of the lowest rank first
 * (byte-pair encoding as in tiktoken). The usual way, looking through all pairs for each merge,
 * takes time that grows with the square of the piece. Here longer pieces keep their pairs in a
 * heap, and long ones are merged stretch by stretch, so time grows with the piece.
 *
 * Stretches may be joined where the last token of one and the first of the next, merged on their
 * own, stay these two: a sequence of tokens is the encoding of its bytes if and only if each two
 * neighbours are the encoding of theirs (van Antwerpen and Neubeck, "So many tokens, so little
 * time", GitHub, 2024).
 */
export class BytePairMerge {
  readonly #vocabulary: Vocabulary
  readonly #stretch: number
  readonly #overlap: number
  readonly #starts = new Int32Array(SHORT + 1)
  readonly #ranks = new Int32Array(SHORT + 1)
  readonly #hashes = new Int32Array(SHORT + 1)

  /**
   * @param stretch bytes that are merged at a time, where a piece is longer.
   * @param overlap tokens of a stretch that the next one merges again.
   */
  constructor(vocabulary: Vocabulary, stretch = STRETCH, overlap = OVERLAP) {
    this.#vocabulary = vocabulary
    this.#stretch = stretch
    this.#overlap = overlap
  }

  /**
   * Number of tokens in a piece that is no token itself; they are added to `tokens` where it is
   * given.
   */
  merge(bytes: Uint8Array, from: number, to: number, tokens?: number[]): number {
    if (to - from > this.#stretch && !holdsByteOrderMark(bytes, from, to))
      return this.#mergeLong(bytes, from, to, tokens)
    return this.#take(bytes, this.#borders(bytes, from, to), tokens)
  }

  /** Merges stretch by stretch. */
  #mergeLong(bytes: Uint8Array, from: number, to: number, tokens: number[] | undefined): number {
    let count = 0
    let length = this.#stretch
    let borders = this.#borders(bytes, from, from + length)
    while (borders.at(-1) !== to) {
      const start = borders[0] as number
      const next = this.#goOn(bytes, borders, to)
      if (next) {
        const end = borders.indexOf(next[0] as number)
        count += this.#take(bytes, borders.subarray(0, end + 1), tokens)
        borders = next
        length = this.#stretch
      } else {
        // No border that may be joined: a longer stretch has other ones.
        length *= 2
        borders = this.#borders(bytes, start, Math.min(start + length, to))
      }
    }
    return count + this.#take(bytes, borders, tokens)
  }

  /** The borders of the next stretch, which begins at one of these, where the two may be joined. */
  #goOn(bytes: Uint8Array, borders: Int32Array, to: number): Int32Array | undefined {
    const last = borders.length - 1 - this.#overlap
    for (let at = last; at > 0 && at > last - TRIES; at--) {
      const [before, start] = [borders[at - 1] as number, borders[at] as number]
      const next = this.#borders(bytes, start, Math.min(start + this.#stretch, to))
      const pair = this.#borders(bytes, before, next[1] as number)
      if (pair.length === 3 && pair[1] === start) return next
    }
    return undefined
  }

  /** Where the tokens of a stretch begin, and where the last one ends. */
  #borders(bytes: Uint8Array, from: number, to: number): Int32Array {
    return to - from <= SHORT ? this.#scan(bytes, from, to) : this.#heap(bytes, from, to)
  }

  /** Looks through all pairs for each merge. */
  #scan(bytes: Uint8Array, from: number, to: number): Int32Array {
    const vocabulary = this.#vocabulary
    const starts = this.#starts
    const ranks = this.#ranks
    const hashes = this.#hashes
    vocabulary.hashBeginnings(bytes, from, to, hashes)
    let parts = to - from
    for (let place = 0; place < parts; place++) {
      starts[place] = place
      ranks[place] =
        place + 1 < parts
          ? vocabulary.pair(bytes[from + place] as number, bytes[from + place + 1] as number)
          : NO_RANK
    }
    starts[parts] = parts
    for (;;) {
      let lowest = NO_RANK
      let place = 0
      for (let at = 0; at < parts; at++) {
        const rank = ranks[at] as number
        if (rank < lowest) {
          lowest = rank
          place = at
        }
      }
      if (lowest === NO_RANK) break
      parts--
      for (let at = place + 1; at <= parts; at++) {
        starts[at] = starts[at + 1] as number
        ranks[at] = ranks[at + 1] as number
      }
      const start = starts[place] as number
      ranks[place] =
        place + 1 < parts ? this.#rank(bytes, from, to, start, starts[place + 2] as number, hashes) : NO_RANK
      if (place > 0)
        ranks[place - 1] = this.#rank(
          bytes,
          from,
          to,
          starts[place - 1] as number,
          starts[place + 1] as number,
          hashes,
        )
    }
    const borders = new Int32Array(parts + 1)
    for (let place = 0; place <= parts; place++) borders[place] = from + (starts[place] as number)
    return borders
  }

  /** Keeps the pairs in a heap. */
  #heap(bytes: Uint8Array, from: number, to: number): Int32Array {
    const length = to - from
    const vocabulary = this.#vocabulary
    const hashes = new Int32Array(length + 1)
    vocabulary.hashBeginnings(bytes, from, to, hashes)
    /** Where the part that begins at a place ends, and where the one before it begins. */
    const ends = new Int32Array(length)
    const before = new Int32Array(length + 1)
    /**
     * Rank of the part at a place merged with the next; `NO_RANK` also where no part begins any
     * more.
     */
    const ranks = new Int32Array(length).fill(NO_RANK)
    const heap = new Heap(length)
    for (let place = 0; place < length; place++) {
      ends[place] = place + 1
      before[place] = place - 1
      if (place + 1 === length) break
      const rank = vocabulary.pair(bytes[from + place] as number, bytes[from + place + 1] as number)
      ranks[place] = rank
      if (rank !== NO_RANK) heap.append(rank * PLACES + place)
    }
    heap.order()
    const renew = (place: number, end: number): void => {
      const rank = this.#rank(bytes, from, to, place, end, hashes)
      ranks[place] = rank
      if (rank !== NO_RANK) heap.push(rank * PLACES + place)
    }
    let parts = length
    while (heap.size > 0) {
      const lowest = heap.pop()
      const rank = Math.floor(lowest / PLACES)
      const place = lowest - rank * PLACES
      // Merged meanwhile, with something else: a pair of the same rank at the same place would be
      // the same bytes.
      if (ranks[place] !== rank) continue
      const next = ends[place] as number
      const end = ends[next] as number
      ends[place] = end
      before[end] = place
      ranks[next] = NO_RANK
      parts--
      if (end < length) renew(place, ends[end] as number)
      else ranks[place] = NO_RANK
      if (place > 0) renew(before[place] as number, end)
    }
    const borders = new Int32Array(parts + 1)
    borders[parts] = to
    for (let place = 0, at = 0; at < parts; at++) {
      borders[at] = from + place
      place = ends[place] as number
    }
    return borders
  }

  /** Number of tokens between borders; adds them to `tokens`. */
  #take(bytes: Uint8Array, borders: Int32Array, tokens: number[] | undefined): number {
    const last = borders.length - 1
    if (tokens)
      for (let at = 0; at < last; at++) {
        const [start, end] = [borders[at] as number, borders[at + 1] as number]
        const begin = isByteOrderMark(bytes, start, end) ? start + 3 : start
        tokens.push(this.#vocabulary.rank(bytes, begin, end))
      }
    return last
  }

  /**
   * Rank of the stretch from `start` to `end` of the piece. As in gpt-tokenizer, whose decoder
   * drops it, a byte order mark before whole characters is as if it were not there.
   */
  #rank(bytes: Uint8Array, from: number, to: number, start: number, end: number, hashes: Int32Array): number {
    const begin = from + start
    if (bytes[begin] !== 0xef || !isByteOrderMark(bytes, begin, from + end))
      return this.#vocabulary.rankWithin(bytes, from, hashes, start, end)
    const whole = isBorder(bytes, begin + 3, to) && isBorder(bytes, from + end, to)
    return whole ? this.#vocabulary.rankWithin(bytes, from, hashes, start + 3, end) : NO_RANK
  }
}

function holdsByteOrderMark(bytes: Uint8Array, from: number, to: number): boolean {
  const piece = bytes.subarray(from, to)
  for (let at = piece.indexOf(0xef); at >= 0; at = piece.indexOf(0xef, at + 1))
    if (isByteOrderMark(piece, at, piece.length)) return true
  return false
}

/** Whether a character ends before `at`. */
function isBorder(bytes: Uint8Array, at: number, end: number): boolean {
  return at >= end || ((bytes[at] as number) & 0xc0) !== 0x80
}

/** A binary heap of numbers, the smallest first. */
class Heap {
  size = 0
  #keys: Float64Array

  constructor(capacity: number) {
    this.#keys = new Float64Array(capacity)
  }

  /** Adds a key without order; {@link order} has to follow. */
  append(key: number): void {
    this.#keys[this.size++] = key
  }

  order(): void {
    for (let at = (this.size >> 1) - 1; at >= 0; at--) this.#sink(at, this.#keys[at] as number)
  }

  push(key: number): void {
    if (this.size === this.#keys.length) {
      const keys = new Float64Array(2 * this.size)
      keys.set(this.#keys)
      this.#keys = keys
    }
    const keys = this.#keys
    let at = this.size++
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = keys[parent] as number
      if (above <= key) break
      keys[at] = above
      at = parent
    }
    keys[at] = key
  }

  /** Contract: the heap is not empty. */
  pop(): number {
    const keys = this.#keys
    const smallest = keys[0] as number
    this.#sink(0, keys[--this.size] as number)
    return smallest
  }

  /** Puts a key into the place `at` or below it. */
  #sink(at: number, key: number): void {
    const keys = this.#keys
    const { size } = this
    let hole = at
    for (;;) {
      let child = 2 * hole + 1
      if (child >= size) break
      if (child + 1 < size && (keys[child + 1] as number) < (keys[child] as number)) child++
      const below = keys[child] as number
      if (below >= key) break
      keys[hole] = below
      hole = child
    }
    keys[hole] = key
  }
}
