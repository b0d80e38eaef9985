/**
 * o200k's pre-tokenizer: parts a text into the pieces inside which bytes are merged. It says the
 * same as this expression, of which each alternative is named where it is followed:
 *
 * ```text
 * word    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'(?i:s|d|m|t|ll|ve|re))?
 * capitals [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'(?i:s|d|m|t|ll|ve|re))?
 * digits  \p{N}{1,3}
 * signs    ?[^\s\p{L}\p{N}]+[\r\n/]*
 * lines   \s*[\r\n]+
 * indent  \s+(?!\S)
 * space   \s+
 * ```
 *
 * An expression makes a string of each piece and keeps the way back through a run of a million
 * letters; this scans bytes, each at most three times.
 */

/** Classes of characters, as bits; every byte of a character has the class of the character. */
const UPPER = 1 // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
const LOWER = 2 // \p{Ll}\p{Lm}\p{Lo}\p{M}
const MARK = 4 // \p{M}
const DIGIT = 8 // \p{N}
const SIGN = 16 // [^\s\p{L}\p{N}]
const SPACE = 32 // \s
const BREAK = 64 // [\r\n]

const SPACE_BYTE = 0x20
const APOSTROPHE = 0x27
const SLASH = 0x2f
/** Set in the small letters of ASCII, not in the capitals. */
const LOWER_CASE = 0x20
const [D, E, L, M, R, S, T, V] = [0x64, 0x65, 0x6c, 0x6d, 0x72, 0x73, 0x74, 0x76]

/**
 * Classes of 256 code points each, made when a text first needs them, from the engine's own Unicode
 * tables.
 */
const pages: (Uint8Array | undefined)[] = []
const ascii = pageOf(0)

function pageOf(code: number): Uint8Array {
  const number = code >> 8
  let page = pages[number]
  if (!page) {
    page = Uint8Array.from({ length: 256 }, (_, low) => classOf(String.fromCodePoint((number << 8) | low)))
    pages[number] = page
  }
  return page
}

function classOf(character: string): number {
  if (/\p{M}/u.test(character)) return UPPER | LOWER | MARK | SIGN
  if (/[\p{Lm}\p{Lo}]/u.test(character)) return UPPER | LOWER
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return UPPER
  if (/\p{Ll}/u.test(character)) return LOWER
  if (/\p{N}/u.test(character)) return DIGIT
  if (/[\r\n]/.test(character)) return SPACE | BREAK
  return /\s/u.test(character) ? SPACE : SIGN
}

/** Writes the class of each of the first `end` bytes of well-formed UTF-8. */
export function classify(bytes: Uint8Array, end: number, classes: Uint8Array): void {
  for (let at = 0; at < end; ) {
    const byte = bytes[at] as number
    if (byte < 0x80) {
      classes[at++] = ascii[byte] as number
      continue
    }
    const width = widthOf(byte)
    let code = byte & (0x7f >> width)
    for (let next = 1; next < width; next++) code = (code << 6) | ((bytes[at + next] as number) & 0x3f)
    const found = pageOf(code)[code & 0xff] as number
    for (let next = 0; next < width; next++) classes[at++] = found
  }
}

/** Where the piece that begins at `start` ends. */
export function pieceEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  const first = classes[start] as number
  if (first & DIGIT) return digitsEnd(bytes, classes, start, end)
  if (!(first & (SIGN | SPACE))) return Math.abs(wordEnd(bytes, classes, start, end))
  if (!(first & BREAK)) {
    const word = wordEnd(bytes, classes, start + widthOf(bytes[start] as number), end)
    if (word > 0) return word
    // A mark is also a letter that can be lower case, and `word` comes before `capitals`.
    if (first & MARK) return wordEnd(bytes, classes, start, end)
    if (word < 0) return -word
  }
  const signs = bytes[start] === SPACE_BYTE ? start + 1 : start
  let at = signs
  while (at < end && (classes[at] as number) & SIGN) at++
  if (at === signs) return spaceEnd(bytes, classes, start, end)
  while (at < end && ((classes[at] as number) & BREAK || bytes[at] === SLASH)) at++
  return at
}

/**
 * Where `word` ends, without what may open it; else, negative, where `capitals` ends; 0 where there
 * is neither.
 */
function wordEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  let at = start
  let lower = start
  while (at < end) {
    const found = classes[at] as number
    if (!(found & UPPER)) break
    at++
    if (found & LOWER) lower = at
  }
  const upper = at
  while (at < end && (classes[at] as number) & LOWER) at++
  // Without a lower-case letter after them, the expression gives letters back until the last one is
  // of either case.
  if (at > upper) return contractionEnd(bytes, at, end)
  if (lower > start) return contractionEnd(bytes, lower, end)
  return upper > start ? -contractionEnd(bytes, upper, end) : 0
}

function contractionEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end || bytes[at] !== APOSTROPHE) return at
  const first = (bytes[at + 1] as number) | LOWER_CASE
  if (first === S || first === D || first === M || first === T) return at + 2
  if (at + 2 >= end) return at
  const second = (bytes[at + 2] as number) | LOWER_CASE
  const long = (first === L && second === L) || ((first === V || first === R) && second === E)
  return long ? at + 3 : at
}

function digitsEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  let at = start
  for (let digits = 0; digits < 3 && at < end && (classes[at] as number) & DIGIT; digits++)
    at += widthOf(bytes[at] as number)
  return at
}

function spaceEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  let at = start
  let lines = start
  while (at < end) {
    const found = classes[at] as number
    if (!(found & SPACE)) break
    at++
    if (found & BREAK) lines = at
  }
  if (lines > start) return lines
  if (at === end) return at
  // The last one belongs to what follows, unless it is the only one.
  let last = at - 1
  while (((bytes[last] as number) & 0xc0) === 0x80) last--
  return last > start ? last : at
}

/** Bytes of a character, from its first byte. */
function widthOf(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}
