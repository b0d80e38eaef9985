import type { Json } from '../../ports/message.ts'

/** Of the Web's own classes, those for UTF-8. */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}
declare class TextDecoder {
  decode(bytes: Uint8Array): string
}

/** Whole numbers (from 0 to 2^53) in 7 bits a byte, the lowest first. */
export function toVarints(numbers: readonly number[]): Uint8Array<ArrayBuffer> {
  let size = numbers.length
  for (let rest of numbers) for (; rest > 127; rest = Math.floor(rest / 128)) size++
  const bytes = new Uint8Array(size)
  let at = 0
  for (let rest of numbers) {
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes[at++] = (rest & 127) | 128
    bytes[at++] = rest
  }
  return bytes
}

/** A value as JSON in UTF-8, behind how many bytes that is. */
export function toPrefixed(value: Json): readonly Uint8Array[] {
  // JSON has escapes for half a surrogate pair, and UTF-8 nothing.
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  return [toVarints([bytes.length]), bytes]
}

/** Reads what {@link toVarints} and {@link toPrefixed} gave, one after the other. */
export class Varints {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The next number; 0, where none is left. */
  next(): number {
    let byte = this.#bytes[this.#at++] ?? 0
    if (byte < 128) return byte
    let value = byte & 127
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 127) * scale
    }
    return value
  }

  /** The next value. */
  json(): unknown {
    const end = this.next() + this.#at
    const text = new TextDecoder().decode(this.#bytes.subarray(this.#at, end))
    this.#at = end
    return JSON.parse(text)
  }

  /** What was not read yet. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }
}
