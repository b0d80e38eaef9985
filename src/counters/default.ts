import type { Counter } from '../ports/counter.ts'
import { ASCII, CHARACTERS, PAIRS } from './default-tables.ts'

/**
 * An estimate of o200k tokens, in one pass over the text; nothing is loaded. It follows how the
 * encoding parts a text before it looks anything up: words with the space or sign before them,
 * digits by threes, runs of signs, white space. A word of Latin letters costs what the pairs of
 * its letters cost, a character of another script what it costs to be a common one or not. So
 * what nobody writes counts what it costs, wherever it stands.
 *
 * It errs high. English, code, JSON and outputs of tools are some 5 % above the exact count in
 * all, most other languages up to a half. 1 000 tokens of the classes of text that tests hold it to
 * (random letters a to z, ids, hashes, rare Chinese characters, emoji …) are not counted below 0.98
 * of them. What is still counted too low, such as runs of closing brackets, docs/context.md lists.
 */
export const defaultCounter: Counter = {
  id: 'pairs/1',
  kind: 'estimate',
  family: 'o200k',
  count: (text) => (text === '' ? 0 : Math.max(1, Math.round(tokensOf(text)))),
}

// The weights, in 64ths of a token, and the tables are from a fit that punished a count below the
// exact one more than one above. It was made on prose, chats, code, recorded agents and messages of
// programs in some forty languages, and on random characters of each kind; and checked on others.

/** What a word costs beside its letters, by its shape. */
type Word = readonly [small: number, capitalised: number, capitals: number, mixed: number]
const AFTER_SPACE: Word = [54, 56, 43, 56]
const AFTER_NOTHING: Word = [56, 52, 53, 2]
/** After a single sign that mostly shares a token with it, or after another one. */
const AFTER_JOINT: Word = [62, 72, 76, 6]
const AFTER_SIGN: Word = [94, 106, 90, 20]
const EACH_LETTER: Word = [-1, -1, 4, 8]

/** Part of the word before it. */
const CONTRACTION = /'([sdmt]|ll|[rv]e)/iy

// From one sign to another, by how many of the two belong to the structure of code: the first two
// times in a run, and later.
const CHANGES = [120, 24, 5, 72, 46, 41]

/**
 * The kind of each UTF-16 unit: 0 a small letter, 1 a capital, 2 a digit, 3 white space; from 8 on
 * signs of ASCII, of which bit 0 says that it belongs to the structure of code, bit 1 that a line
 * of it is a few tokens, bit 2 that it shares a token with the word after it; from 16 on two kinds
 * for each block of Unicode, the odd one for its common characters.
 */
let kinds: Uint8Array | undefined
/** What a character of a block costs, by its kind. */
const each: number[] = []
/** By the first letter times 30 and the second; 0 is the border of a word, a to z are 1 to 26. */
const pairs: number[] = []

/** From `default-tables.ts`, where it is said how they are written. */
function makeTables(): Uint8Array {
  const made = new Uint8Array(0x1_0000)
  let at = 0
  const read = (): number => {
    let number = 0
    let digit = 42
    while (digit > 41) {
      digit = CHARACTERS.charCodeAt(at++) - 40
      number = number * 42 + (digit % 42)
    }
    return number
  }
  let place = 0
  for (let kind = 16; place < 0x1_0000; kind += 2) {
    made.fill(kind, place)
    place += read()
    each[kind + 1] = 4 * read() - 20
    each[kind] = 4 * read()
  }
  for (place = 0; at < CHARACTERS.length; made[place] = (made[place] as number) | 1) place += read()
  made.fill(0, 0xc0, 0x250).fill(0, 0x1e00, 0x1f00)
  for (place = 0; place < 128; place++) made[place] = ASCII.charCodeAt(place) - 48
  for (place = 0; place < 900; place++) {
    const weight = (PAIRS.charCodeAt(place / 3) - 40) >> (2 * (place % 3))
    pairs[place] = [0, 9, 19, 64][weight & 3] as number
  }
  return made
}

function tokensOf(text: string): number {
  kinds ??= makeTables()
  const kindAt = kinds
  let parts = 0
  let at = 0
  let before = AFTER_NOTHING
  /** Where a run of signs ended. */
  let signs = -1
  while (at < text.length) {
    const start = at
    let code = text.charCodeAt(at)
    let kind = kindAt[code] as number
    const first = kind
    const left = before
    before = AFTER_NOTHING
    if (first < 2) {
      let letter = 0
      let capitals = 0
      let accent = 0
      for (let next = kind; next <= kind; next = kindAt[code] as number) {
        const row = letter * 30
        kind = next
        capitals += kind
        letter = code & 31
        if (code > 127) {
          letter = code < 256 ? 27 : code < 768 ? 28 : 29
          // Another one in the same word.
          parts += accent
          accent = 24
        }
        parts += pairs[row + letter] as number
        code = text.charCodeAt(++at)
      }
      const length = at - start
      const shape = capitals === length ? 2 : capitals > 1 ? 3 : capitals
      parts +=
        (pairs[letter * 30] as number) + (left[shape] as number) + (EACH_LETTER[shape] as number) * length
      // Beyond these it is hardly one word.
      parts += 12 * Math.max(0, length - 20)
      if (code === 39) {
        CONTRACTION.lastIndex = at
        if (CONTRACTION.test(text)) at = CONTRACTION.lastIndex
      }
    } else if (first === 2) {
      // By threes; a space is not part of them.
      while (kindAt[code] === 2) code = text.charCodeAt(++at)
      parts += 63 * (Number(left === AFTER_SPACE) + Math.ceil((at - start) / 3))
    } else if (first === 3) {
      // Up to the last line break it is a token, or part of the signs before it. The last character
      // of the rest joins what follows: a space a word or signs, any other a word.
      let lines = start
      while (kindAt[code] === 3) {
        at++
        if (code === 10 || code === 13) lines = at
        code = text.charCodeAt(at)
      }
      let end = at
      if (lines > start) parts += blank(text, start, lines) - (start === signs ? 63 : 0)
      if (end > lines && end < text.length) {
        if (text.charCodeAt(--end) === 32) before = AFTER_SPACE
        else if ((kindAt[code] as number) < 2) before = AFTER_SIGN
        else parts += 64
      }
      if (end > lines) parts += blank(text, lines, end)
    } else if (first < 16) {
      let sum = 64
      let changes = 0
      for (let last = code; ; last = code) {
        code = text.charCodeAt(++at)
        const next = kindAt[code] as number
        if (next >> 3 !== 1) break
        if (code === last) sum += kind & 2 ? 4 : 16
        else sum += CHANGES[(kind & 1) + (next & 1) + (changes++ < 2 ? 0 : 3)] as number
        kind = next
      }
      signs = at
      if (at - start === 1 && left !== AFTER_SPACE && (kindAt[code] as number) < 2)
        before = first & 4 ? AFTER_JOINT : AFTER_SIGN
      else parts += sum
    } else {
      let sum = 0
      let same = 0
      for (let last = 0; kind >> 1 === first >> 1; kind = kindAt[code] as number) {
        same = code === last ? same + 1 : 0
        // Lines are drawn with U+2500 to U+257F; no word has any other one three times.
        sum += same && code >> 7 === 74 ? 16 : Math.max(same > 1 ? 128 : 0, each[kind] as number)
        last = code
        code = text.charCodeAt(++at)
      }
      parts += Math.max(64, 6 * (at - start), sum)
    }
  }
  // One per cent more than the fit.
  return parts / 62.7
}

/** White space that is parted from what is around it. */
function blank(text: string, from: number, to: number): number {
  let sum = 63
  while (++from < to) {
    const last = text.charCodeAt(from - 1)
    const code = text.charCodeAt(from)
    if (code !== last) sum += code + last === 23 ? 8 : 44
    else sum += code === 32 ? 0.6 : code === 13 ? 32 : 4
  }
  return sum
}
