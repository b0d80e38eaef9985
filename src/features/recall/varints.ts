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

/** A text as numbers: its length, then its UTF-16 units. */
export function unitsOf(text: string): number[] {
  const units = [text.length]
  for (let at = 0; at < text.length; at++) units.push(text.charCodeAt(at))
  return units
}

/** Units of a text that are put together at once: engines take few arguments more. */
const AT_ONCE = 4_096

/** Reads the numbers of {@link toVarints}, one after the other. */
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

  /** A text, as {@link unitsOf} gives it. */
  text(): string {
    const parts: string[] = []
    for (let left = this.next(); left > 0; left -= AT_ONCE)
      parts.push(String.fromCharCode(...Array.from({ length: Math.min(left, AT_ONCE) }, () => this.next())))
    return parts.join('')
  }
}
