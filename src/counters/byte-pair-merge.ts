import { isByteOrderMark, NO_RANK, type Vocabulary } from './vocabulary.ts'

/** Longest piece, in bytes, that is merged by looking through all of its pairs; between 64 and 192 it makes no difference. */
const SHORT = 96
/** Room for a rank beside a place in one number: heap keys compare by rank, then by place. */
const PLACES = 2 ** 32

/**
 * Merges the bytes of a piece into tokens, always the leftmost pair of the lowest rank first (byte-pair encoding as in
 * tiktoken). The usual way, looking through all pairs for each merge, takes time that grows with the square of the piece; here
 * long pieces keep their pairs in a heap, so it grows with n log n.
 */
export class BytePairMerge {
  readonly #vocabulary: Vocabulary
  readonly #starts = new Int32Array(SHORT + 1)
  readonly #ranks = new Int32Array(SHORT + 1)
  readonly #hashes = new Int32Array(SHORT + 1)

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** Number of tokens in a piece that is no token itself; they are added to `tokens` where it is given. */
  merge(bytes: Uint8Array, from: number, to: number, tokens?: number[]): number {
    return to - from <= SHORT ? this.#short(bytes, from, to, tokens) : this.#long(bytes, from, to, tokens)
  }

  #short(bytes: Uint8Array, from: number, to: number, tokens: number[] | undefined): number {
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
      ranks[place] =
        place + 1 < parts
          ? this.#rank(bytes, from, to, starts[place] as number, starts[place + 2] as number, hashes)
          : NO_RANK
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
    if (tokens)
      for (let place = 0; place < parts; place++)
        tokens.push(
          this.#token(bytes, from, to, starts[place] as number, starts[place + 1] as number, hashes),
        )
    return parts
  }

  #long(bytes: Uint8Array, from: number, to: number, tokens: number[] | undefined): number {
    const length = to - from
    const vocabulary = this.#vocabulary
    const hashes = new Int32Array(length + 1)
    vocabulary.hashBeginnings(bytes, from, to, hashes)
    /** Where the part that begins at a place ends, and where the one before it begins. */
    const ends = new Int32Array(length)
    const before = new Int32Array(length + 1)
    /** Rank of the part at a place merged with the next; `NO_RANK` also where no part begins any more. */
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
      // Merged meanwhile, with something else: a pair of the same rank at the same place would be the same bytes.
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
    if (tokens)
      for (let place = 0; place < length; place = ends[place] as number)
        tokens.push(this.#token(bytes, from, to, place, ends[place] as number, hashes))
    return parts
  }

  #token(
    bytes: Uint8Array,
    from: number,
    to: number,
    start: number,
    end: number,
    hashes: Int32Array,
  ): number {
    return end - start === 1
      ? this.#vocabulary.byte(bytes[from + start] as number)
      : this.#rank(bytes, from, to, start, end, hashes)
  }

  /**
   * Rank of the stretch from `start` to `end` of the piece. As in gpt-tokenizer, whose decoder drops it, a byte order mark before whole
   * characters is as if it were not there.
   */
  #rank(bytes: Uint8Array, from: number, to: number, start: number, end: number, hashes: Int32Array): number {
    const begin = from + start
    if (bytes[begin] !== 0xef || !isByteOrderMark(bytes, begin, from + end))
      return this.#vocabulary.rankWithin(bytes, from, hashes, start, end)
    const whole = isBorder(bytes, begin + 3, to) && isBorder(bytes, from + end, to)
    return whole ? this.#vocabulary.rankWithin(bytes, from, hashes, start + 3, end) : NO_RANK
  }
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
