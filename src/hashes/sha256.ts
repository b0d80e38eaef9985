/** Of the Web's own classes, the one for UTF-8. */
declare class TextEncoder {
  encode(text: string): Uint8Array
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
const schedule = new Int32Array(BLOCK)

/**
 * SHA-256 (FIPS 180-4) over the UTF-8 bytes of well-formed texts, one after the other. It names
 * content; it is not for keys.
 */
export class Sha256 {
  #state = START
  /** Bytes that do not fill a block yet. */
  #rest: Uint8Array = new Uint8Array()
  #length = 0

  update(text: string): void {
    const bytes = this.#with(text, 0)
    this.#length += bytes.length - this.#rest.length
    this.#state = compressed(this.#state, bytes)
    this.#rest = bytes.slice(bytes.length - (bytes.length % BLOCK))
  }

  /** The hash, in hex, of what came so far and of a last text, in whose place more may come. */
  hex(last: string): string {
    const bytes = this.#with(last, 9)
    const end = bytes.length - 9
    const length = this.#length + end - this.#rest.length
    const padded = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK)
    padded.set(bytes)
    padded[end] = 0x80
    const view = new DataView(padded.buffer)
    // In bits, as a number of 64 bits.
    view.setUint32(padded.length - 8, length / 2 ** 29)
    view.setUint32(padded.length - 4, length << 3)
    let hex = ''
    const state = compressed(this.#state, padded)
    for (let bit = 0; bit < 256; bit += 4)
      hex += DIGITS[((state[bit >> 5] as number) >>> (28 - (bit & 31))) & 15]
    return hex
  }

  /** What does not fill a block yet, a text, and so many empty bytes. */
  #with(text: string, further: number): Uint8Array {
    const added = encoder.encode(text)
    const bytes = new Uint8Array(this.#rest.length + added.length + further)
    bytes.set(this.#rest)
    bytes.set(added, this.#rest.length)
    return bytes
  }
}

/** The state after all whole blocks of these bytes. */
function compressed(before: Int32Array, bytes: Uint8Array): Int32Array<ArrayBuffer> {
  const state = before.slice()
  const view = new DataView(bytes.buffer)
  for (let at = 0; at + BLOCK <= bytes.length; at += BLOCK) {
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
  return state
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by))
