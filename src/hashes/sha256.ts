/** Of the Web's own classes, the one for UTF-8. */
declare class TextEncoder {
  encodeInto(text: string, bytes: Uint8Array): { readonly read: number; readonly written: number }
}

const BLOCK = 64
/**
 * The first 32 bits after the point of the roots of the first primes: square roots to begin with, a
 * cube root for each round.
 */
const START = new Int32Array(8)
const ROUNDS = new Int32Array(BLOCK)
for (let number = 2, count = 0; count < BLOCK; number++) {
  let factor = 2
  while (number % factor > 0) factor++
  if (factor < number) continue
  if (count < START.length) START[count] = (Math.sqrt(number) % 1) * 2 ** 32
  ROUNDS[count++] = (Math.cbrt(number) % 1) * 2 ** 32
}

const DIGITS = '0123456789abcdef'
const encoder = new TextEncoder()
// What one hash works on at a time: nothing is allocated for each.
const schedule = new Int32Array(BLOCK)
const bytes = new Uint8Array(64 * BLOCK)
const view = new DataView(bytes.buffer)

/** SHA-256 (FIPS 180-4) over the UTF-8 bytes of well-formed texts, one after the other. */
export class Sha256 {
  readonly #state: Int32Array
  readonly #outer: Int32Array | undefined
  /** Its beginning has the bytes that do not fill a block yet. */
  readonly #rest = new Uint8Array(BLOCK)
  #length = 0

  /** @param key at most 64 ASCII characters: then it is HMAC (RFC 2104). Default: it has no key */
  constructor(key = '') {
    this.#state = key ? keyed(key, 0x36) : START.slice()
    this.#outer = key ? keyed(key, 0x5c) : undefined
    if (key) this.#length = BLOCK
  }

  update(text: string): void {
    this.#length += this.#take(this.#state, text)
    this.#rest.set(bytes.subarray(0, BLOCK))
  }

  /** The hash, in hex, of what came so far and of a last text, in whose place more may come. */
  hex(last: string): string {
    let state = this.#state.slice()
    finish(state, this.#length + this.#take(state, last))
    if (this.#outer) {
      for (const [index, word] of state.entries()) view.setInt32(index * 4, word)
      state = this.#outer.slice()
      finish(state, BLOCK + state.byteLength)
    }
    let hex = ''
    for (let bit = 0; bit < 256; bit += 4)
      hex += DIGITS[((state[bit >> 5] as number) >>> (28 - (bit & 31))) & 15]
    return hex
  }

  /** Compresses all whole blocks; `bytes` begins with the rest then. @returns bytes of the text */
  #take(state: Int32Array, text: string): number {
    let filled = this.#length % BLOCK
    let length = 0
    bytes.set(this.#rest)
    for (let at = 0; at < text.length; ) {
      const { read, written } = encoder.encodeInto(at > 0 ? text.slice(at) : text, bytes.subarray(filled))
      const end = filled + written
      filled = end % BLOCK
      compress(state, end - filled)
      bytes.copyWithin(0, end - filled, end)
      at += read
      length += written
    }
    return length
  }
}

/** The state after a block of the key's characters, each changed by the same bits. */
function keyed(key: string, by: number): Int32Array {
  const state = START.slice()
  // After the key's end come zeros.
  for (let at = 0; at < BLOCK; at++) bytes[at] = key.charCodeAt(at) ^ by
  compress(state, BLOCK)
  return state
}

/** Pads the last bytes, which `bytes` begins with, by the length of all, and adds them. */
function finish(state: Int32Array, length: number): void {
  const end = (length % BLOCK) + 9 > BLOCK ? 2 * BLOCK : BLOCK
  bytes.fill(0, length % BLOCK, end)
  bytes[length % BLOCK] = 0x80
  // In bits, as a number of 64 bits.
  view.setUint32(end - 8, length / 2 ** 29)
  view.setUint32(end - 4, length << 3)
  compress(state, end)
}

/** Adds the first so many bytes, in whole blocks. */
function compress(state: Int32Array, size: number): void {
  for (let at = 0; at < size; at += BLOCK) {
    for (let index = 0; index < 16; index++) schedule[index] = view.getInt32(at + index * 4)
    for (let index = 16; index < BLOCK; index++) {
      const early = schedule[index - 15] as number
      const late = schedule[index - 2] as number
      const low = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
      const high = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
      schedule[index] = ((schedule[index - 16] as number) + low + (schedule[index - 7] as number) + high) | 0
    }
    let a = state[0] as number
    let b = state[1] as number
    let c = state[2] as number
    let d = state[3] as number
    let e = state[4] as number
    let f = state[5] as number
    let g = state[6] as number
    let h = state[7] as number
    for (let index = 0; index < BLOCK; index++) {
      const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
      const chosen = (e & f) ^ (~e & g)
      const first = (h + high + chosen + (ROUNDS[index] as number) + (schedule[index] as number)) | 0
      const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + low + majority) | 0
    }
    state[0] = (state[0] as number) + a
    state[1] = (state[1] as number) + b
    state[2] = (state[2] as number) + c
    state[3] = (state[3] as number) + d
    state[4] = (state[4] as number) + e
    state[5] = (state[5] as number) + f
    state[6] = (state[6] as number) + g
    state[7] = (state[7] as number) + h
  }
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by))
