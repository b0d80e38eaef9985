import { BYTES_PER_UNIT, writeUtf8 } from './utf8.ts'

/** Multiplier of the rolling hash: any odd number will do (this is FNV's prime). */
const BASE = 0x0100_0193
/**
 * No token has these bytes. Above every rank, so that the lowest of several is found by comparing.
 */
export const NO_RANK = 0x7fff_ffff

/** A vocabulary as typed arrays, so that a worker can hand it over without a copy. */
export interface VocabularyTables {
  /** All tokens' bytes, by rank, one after the other. */
  readonly bytes: Uint8Array
  /** Where each token begins in `bytes`, and where the last one ends. */
  readonly offsets: Uint32Array
  /** Open-addressing hash table of (hash, rank + 1), 0 where free; a power of two of pairs. */
  readonly slots: Int32Array
  /** Rank of each two bytes, at `first * 256 + second`. */
  readonly pairs: Int32Array
}

/**
 * The tokens of a byte-pair encoding, found by their bytes. A hash of any stretch of a text follows
 * from the hashes of two of its beginnings (Rabin and Karp), so looking a stretch up takes the same
 * time however long it is, but for one comparison of bytes where the hash is met.
 */
export class Vocabulary {
  /** Bytes of the longest token. */
  readonly longest: number
  readonly tables: VocabularyTables
  readonly #powers: Int32Array
  readonly #mask: number

  constructor(tables: VocabularyTables) {
    const { offsets, slots } = tables
    this.tables = tables
    let longest = 0
    for (let rank = 0; rank + 1 < offsets.length; rank++)
      longest = Math.max(longest, (offsets[rank + 1] as number) - (offsets[rank] as number))
    this.longest = longest
    this.#mask = slots.length / 2 - 1
    this.#powers = new Int32Array(longest + 1)
    this.#powers[0] = 1
    for (let length = 1; length <= longest; length++)
      this.#powers[length] = Math.imul(this.#powers[length - 1] as number, BASE)
  }

  /** Rank of two bytes, or {@link NO_RANK}. */
  pair(first: number, second: number): number {
    return this.tables.pairs[(first << 8) | second] as number
  }

  /** Rank of the bytes from `from` to `to`, or {@link NO_RANK}. */
  rank(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from
    if (length > this.longest) return NO_RANK
    let hash = 0
    for (let at = from; at < to; at++) hash = extend(hash, bytes[at] as number)
    return this.#find(bytes, from, length, hash)
  }

  /** Hashes of all beginnings of `bytes.subarray(from, to)`, for {@link rankWithin}. */
  hashBeginnings(bytes: Uint8Array, from: number, to: number, hashes: Int32Array): void {
    let hash = 0
    hashes[0] = 0
    for (let at = from; at < to; at++) {
      hash = extend(hash, bytes[at] as number)
      hashes[at - from + 1] = hash
    }
  }

  /**
   * {@link rank} of a stretch (`from` and `to` counted from `start`) of what was given to
   * {@link hashBeginnings}.
   */
  rankWithin(bytes: Uint8Array, start: number, hashes: Int32Array, from: number, to: number): number {
    const length = to - from
    if (length > this.longest) return NO_RANK
    const before = Math.imul(hashes[from] as number, this.#powers[length] as number)
    return this.#find(bytes, start + from, length, ((hashes[to] as number) - before) | 0)
  }

  #find(bytes: Uint8Array, from: number, length: number, hash: number): number {
    const { slots, offsets, bytes: tokens } = this.tables
    const mask = this.#mask
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const rank = (slots[2 * slot + 1] as number) - 1
      if (rank < 0) return NO_RANK
      if (slots[2 * slot] !== hash) continue
      const start = offsets[rank] as number
      if ((offsets[rank + 1] as number) - start !== length) continue
      let same = 0
      while (same < length && tokens[start + same] === bytes[from + same]) same++
      if (same === length) return rank
    }
  }
}

/**
 * Builds the tables from tokens by rank: each a string, or bytes where those are no well-formed
 * UTF-8.
 *
 * Tokens that begin with a byte order mark (U+FEFF) are left out: gpt-tokenizer, to which counts
 * are identical, never finds them (its decoder drops the mark).
 */
export function buildTables(tokens: readonly (string | readonly number[])[]): VocabularyTables {
  const offsets = new Uint32Array(tokens.length + 1)
  const size = 2 ** Math.ceil(Math.log2(tokens.length * 2))
  const slots = new Int32Array(2 * size)
  const pairs = new Int32Array(256 * 256).fill(NO_RANK)
  let bytes = new Uint8Array(tokens.length * 8)
  let end = 0
  for (let rank = 0; rank < tokens.length; rank++) {
    const start = end
    const token = tokens[rank] as string | readonly number[]
    const room = end + token.length * BYTES_PER_UNIT
    if (bytes.length < room) {
      const larger = new Uint8Array(2 * room)
      larger.set(bytes)
      bytes = larger
    }
    if (typeof token === 'string') end = writeUtf8(token, bytes, end)
    else for (const byte of token) bytes[end++] = byte
    offsets[rank + 1] = end
    if (isByteOrderMark(bytes, start, end)) continue
    if (end - start === 2) pairs[((bytes[start] as number) << 8) | (bytes[start + 1] as number)] = rank
    let hash = 0
    for (let at = start; at < end; at++) hash = extend(hash, bytes[at] as number)
    let slot = spread(hash) & (size - 1)
    while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & (size - 1)
    slots[2 * slot] = hash
    slots[2 * slot + 1] = rank + 1
  }
  return { bytes: bytes.slice(0, end), offsets, slots, pairs }
}

/** Whether the bytes begin with U+FEFF. */
export function isByteOrderMark(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf
}

function extend(hash: number, byte: number): number {
  return (Math.imul(hash, BASE) + byte + 1) | 0
}

/**
 * Spreads a rolling hash over all of its bits (the finalizer of MurmurHash3), as a slot is named by
 * the lowest.
 */
function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return mixed ^ (mixed >>> 16)
}
