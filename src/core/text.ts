/** UTF-8 bytes of a well-formed text. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // A surrogate pair is two units and four bytes, so each half adds one; anything else from 0x800 on adds two.
    bytes += unit < 0x800 || isSurrogate(unit) ? 1 : 2
  }
  return bytes
}

/** Code points of a text, without building an array of them. */
export function codePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    if (!isHighSurrogate(text.charCodeAt(index))) continue
    count--
    index++
  }
  return count
}

/** UTF-16 units that two texts share at their beginning. */
export function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length
}

/** The first `length` units of a text, less one where that would part a surrogate pair. */
export function headOf(text: string, length: number): string {
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length)
}

/** Halvings of a text to find out how much of it fits. */
const STEPS = 12

/** How many units of a text's beginning fit, to within a 4096th of it; 0: none do. `fits` holds up to some length. */
export function longestHead(text: string, fits: (head: string) => boolean): number {
  let low = 0
  let high = text.length
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) >> 1
    if (fits(headOf(text, middle))) low = middle
    else high = middle
  }
  return low
}

/** The last `length` units of a text, less one where that would part a surrogate pair. */
export function tailOf(text: string, length: number): string {
  const from = Math.max(0, text.length - length)
  return text.slice(isHighSurrogate(text.charCodeAt(from - 1)) ? from + 1 : from)
}

/** Control characters, and those that turn or hide text. Marks of emoji and of scripts that join letters go with them. */
const HIDDEN =
  /[\p{Cc}\u{AD}\u{61C}\u{180E}\u{200B}-\u{200F}\u{202A}-\u{202E}\u{2060}-\u{2069}\u{FEFF}\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]/gu

/** A text without what no reader should see (P10 of the threat model of memory poisoning); newlines and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => (hidden === '\n' || hidden === '\t' ? hidden : ''))
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
