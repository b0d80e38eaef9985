import type { Counter } from '../ports/counter.ts'

/**
 * An estimate of o200k tokens, in one pass over the classes of the characters; nothing is loaded.
 * It follows how the encoding parts a text before it looks anything up: words with the space or
 * sign before them, digits by threes, runs of signs, white space. Each part is a token, or more by
 * its length. It errs high.
 *
 * Limits: messages of some 2 000 characters of English, code, JSON, Chinese, Japanese or Korean are
 * mostly within -10 % and +20 % of the exact count, and together a few per cent above it; other
 * languages mostly within -15 % and +40 %, Indonesian at -25 %, Vietnamese at +50 %, Thai at twice.
 * An unbroken run of random characters is hardly ever below 0.9 of it. Words of random letters, and
 * rare characters of Chinese, can be counted at half where they come in short runs. What is joined
 * counts at most 40 tokens more than its two parts.
 */
export const defaultCounter: Counter = {
  id: 'classes/1',
  kind: 'estimate',
  count: (text) => (text === '' ? 0 : Math.max(1, Math.round(new Estimate(text).tokens()))),
}

// The weights are mean costs of such runs, from a fit that punished a count below the exact one
// more than one above, and rounded. It was made on every second message of: documentation, a novel,
// fortunes, TypeScript, lock files, rows of an API, recorded agents, and the messages of programs
// in some twenty languages; and checked on the rest. The last weight of a block, for letters beyond
// the length of a word, is what a run of 64 random letters needs.

/**
 * Tokens of a word of Latin letters: for the word, and for each letter beyond those that are free.
 */
type Word = readonly [run: number, free: number, each: number]

// What stands before a run, as the word that would follow it.
const NOTHING: Word = [1, 4, 0.3]
const SPACE: Word = [1, 5, 0.075]
/** A single one of `( - . _`, which shares a token with the word. */
const JOINT: Word = [1, 3, 0.15]
/** Another single sign; it is mostly a token of its own. */
const SIGN: Word = [1.65, 3, 0.17]
/** Inside a word, as in `they've`. */
const APOSTROPHE: Word = [0, 2, 0.5]
const SIGNS: Word = [1, 4, 0.09]
/** As in `getUser`. */
const LETTERS: Word = [1, 4, 0.02]
/**
 * A part of a name with a capital and at most two small letters: after two of them the letters look
 * random.
 */
const SHORT: Word = [1, 4, 0.02]
/** An accented letter: the rest of its word follows. */
const ACCENT: Word = [0, 0, 0.34]
const DIGITS: Word = [1, 4, 0.02]
/** Letters that look random: so does what follows. */
const NOISE: Word = [0.45, 0, 0.58]

const CAPITALISED: Word = [1, 3, 0.14]
const IN_CAPITALS: Word = [1, 2, 0.36]
/** Letters beyond this are hardly a word; random ones cost half a token each. */
const LONGEST_WORD = 14
const EACH_BEYOND = 0.55

const LONGEST_TAIL = 3
const SHORT_TAIL = 2

// After an accented letter the text is not English for a while: words have more tokens.
const REACH = 64
const EACH_FOREIGN = 0.07

// A run of signs is one token, and a part of one for each that differs from the one before it,
// beyond the first few.
const FREE_SIGNS = 3
const EACH_SIGN = 0.72
const EACH_REPEATED = 1 / 16
const EACH_REPEATED_WIDE = 1 / 4

const EACH_BREAK = 1 / 16
const EACH_SPACE = 1 / 128

type Block = readonly [from: number, to: number, run: number, each: number, beyond: number, longest: number]

/** What `beyond` is in blocks of signs. */
const NONE = 0
const LAST_ACCENTED = 0x24f
const HAN: Block = [0x4e00, 0x9fff, 0.3, 0.98, 2.6, 24]
/** Accented letters, as all of Latin beyond ASCII up to U+024F. */
const VIETNAMESE: Block = [0x1e00, 0x1eff, 0, 0.6, 1.45, 16]

/**
 * Characters beyond ASCII, from the first to the last: tokens for a run of letters, for each letter
 * of it, and for each letter beyond the longest that a word is. In blocks of signs: tokens for the
 * first sign of a run, and for each other.
 */
const BLOCKS: readonly Block[] = [
  [0, 0x7f, 1, EACH_SIGN, NONE, 0], // signs of ASCII
  HAN,
  [0x3041, 0x309f, 0.1, 0.42, 1.4, 16], // Hiragana
  [0x30a0, 0x30ff, 0, 0.63, 1.35, 16], // Katakana
  [0xac00, 0xd7a3, 0.7, 0.53, 2.85, 16], // Hangul
  [0x3000, 0x3040, 0.7, 1.4, NONE, 0], // punctuation of Chinese and Japanese
  [0xfe00, 0xffff, 1, 1.4, NONE, 0], // full-width forms; variants, as after emoji
  [0xc0, 0xff, 0.2, 0.4, 1.2, 16], // accented letters of Western Europe
  [0x100, LAST_ACCENTED, 0, 0.96, 2.1, 16], // and of the rest of Europe
  [0x410, 0x44f, 0.3, 0.23, 1.27, 16], // Cyrillic
  [0x400, 0x45f, 0, 0.6, 2, 16], // Cyrillic of Ukrainian, Serbian and others
  [0x2000, 0x206f, 1, 1.3, NONE, 0], // punctuation
  [0x2070, 0x27ff, 1, 2, NONE, 0], // arrows, mathematics, boxes, pictures
  [0x530, 0x6ff, 0.5, 0.32, 1.9, 16], // Armenian, Hebrew, Arabic
  [0x900, 0xdff, 0, 0.44, 2, 16], // India
  [0xe00, 0xe7f, 0, 0.35, 1.8, 24], // Thai, without spaces between words
  [0x370, 0x3ff, 0.3, 0.37, 1, 16], // Greek
  VIETNAMESE,
  [0xd83c, 0xdfff, 1.25, 1.25, NONE, 0], // halves of emoji
  [0x80, 0xbf, 1, 1, NONE, 0], // signs of Latin-1
  [0x250, 0x36f, 0, 1.9, 1.9, 16], // phonetic letters, combining marks
  [0x1000, 0x10ff, 0, 0.54, 1.95, 16], // Burmese, Georgian
  [0x1780, 0x17ff, 0, 0.55, 2.1, 24], // Khmer
]
/** One character that no block holds: it has three bytes, so three tokens at most. */
const OTHER: Block = [0xffff, 0xffff, 0, 3, 3, 1]
/** From here on, a run of letters after letters is a word of its own. */
const FIRST_UNSPACED = 0xe00

const EACH_SIMPLIFIED = 0.66
/**
 * Han with the radical for silk or speech in the form that only simplified Chinese gives it:
 * Unicode has these characters side by side.
 */
const SIMPLIFIED = /[\u7ea0-\u7f35\u8ba0-\u8c36]/

/**
 * Goes from run to run. Each of the methods for a kind of run moves on to its end, and gives its
 * tokens.
 */
class Estimate {
  readonly #text: string
  #at = 0
  #before = NOTHING
  /** Where the effect ends that an accented letter has. */
  #foreign = 0
  /** Where the effect ends that a character of simplified Chinese has. */
  #simplified = 0

  constructor(text: string) {
    this.#text = text
  }

  tokens(): number {
    let tokens = 0
    while (this.#at < this.#text.length) {
      const code = this.#text.charCodeAt(this.#at)
      if (isLetter(code)) tokens += this.#word()
      else if (isDigit(code)) tokens += this.#digits()
      else if (isSpace(code)) tokens += this.#spaces()
      else {
        const block = blockOf(code)
        tokens += block[4] === NONE ? this.#signs(block) : this.#letters(block)
      }
    }
    return tokens
  }

  /** Moves on over characters from the first to the last, and says how many there were. */
  #skip(first: number, last: number): number {
    const text = this.#text
    let end = this.#at
    while (end < text.length && text.charCodeAt(end) >= first && text.charCodeAt(end) <= last) end++
    const length = end - this.#at
    this.#at = end
    return length
  }

  #word(): number {
    const before = this.#before
    const foreign = this.#at < this.#foreign ? EACH_FOREIGN : 0
    const upper = this.#skip(0x41, 0x5a)
    const lower = this.#skip(0x61, 0x7a)
    let length = upper + lower
    let word = before
    this.#before = LETTERS
    if (looksRandom(upper, lower, before)) word = this.#before = NOISE
    else if (upper > 1) {
      word = IN_CAPITALS
      if (lower > 0) {
        // The last capital of several begins a word of its own.
        length = upper - 1
        if (before !== SPACE) this.#before = NOISE
      }
    } else if (upper > 0) {
      if (before === SPACE) word = CAPITALISED
      if (lower <= SHORT_TAIL && before === LETTERS) this.#before = SHORT
      if (lower <= SHORT_TAIL && before === SHORT) this.#before = NOISE
    }
    const [run, free, each] = word
    return run + foreign * length + each * beyond(free, length) + EACH_BEYOND * beyond(LONGEST_WORD, length)
  }

  #digits(): number {
    const alone = this.#before === SPACE ? 1 : 0
    this.#before = DIGITS
    return alone + Math.ceil(this.#skip(0x30, 0x39) / 3)
  }

  /**
   * A token for each group of line breaks, and one for what is left of an indent when its last
   * space joins a word.
   */
  #spaces(): number {
    const text = this.#text
    let tokens = 0
    let indent = 0
    let last = 0
    let at = this.#at
    for (let code = text.charCodeAt(at); isSpace(code); code = text.charCodeAt(++at)) {
      if (code === 0x20 || code === 0x09) indent++
      else {
        // Signs take in the breaks after them.
        if (indent > 0 || (at === this.#at && this.#before !== SIGNS)) tokens++
        indent = 0
      }
      tokens += code === 0x20 ? EACH_SPACE : EACH_BREAK
      last = code
    }
    if (indent > 1 || (indent > 0 && last === 0x09)) tokens++
    this.#at = at
    this.#before = last === 0x20 ? SPACE : NOTHING
    return tokens
  }

  #signs(block: Block): number {
    const text = this.#text
    const before = this.#before
    const start = this.#at
    let tokens = 0
    let narrow = 0
    let last = -1
    let code = text.charCodeAt(start)
    do {
      if (code === last) tokens += code < 0x80 ? EACH_REPEATED : EACH_REPEATED_WIDE
      else if (code < 0x80) narrow++
      else tokens += block[last < 0 ? 2 : 3]
      last = code
      code = text.charCodeAt(++this.#at)
      // Beyond the text the code is NaN, which no block holds.
      if (isLetter(code) || isDigit(code) || isSpace(code)) break
      block = blockOf(code)
    } while (block[4] === NONE)
    if (this.#at - start === 1 && before !== SPACE && isLetter(code)) {
      this.#before = joinOf(last)
      return 0
    }
    this.#before = SIGNS
    return narrow > 0 ? tokens + 1 + EACH_SIGN * beyond(FREE_SIGNS, narrow) : tokens
  }

  #letters(block: Block): number {
    const before = this.#before
    const start = this.#at++
    const length = 1 + this.#skip(block[0], block[1])
    this.#before = LETTERS
    if (block[1] <= LAST_ACCENTED || block === VIETNAMESE) {
      this.#before = ACCENT
      this.#foreign = this.#at + REACH
    }
    if (block === HAN && SIMPLIFIED.test(this.#text.slice(start, this.#at)))
      this.#simplified = this.#at + REACH
    const each = block === HAN && start < this.#simplified ? EACH_SIMPLIFIED : block[3]
    const tokens = each * length + (block[4] - each) * beyond(block[5], length)
    if (block[0] < FIRST_UNSPACED && (before === LETTERS || before === ACCENT)) return tokens
    return Math.max(1, block[2] + tokens)
  }
}

const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

const beyond = (free: number, count: number): number => (count > free ? count - free : 0)

function blockOf(code: number): Block {
  for (const block of BLOCKS) if (code >= block[0] && code <= block[1]) return block
  return OTHER
}

/**
 * As in base64 and hex: several capitals and a few small letters that no space is before, or
 * letters after digits.
 */
function looksRandom(upper: number, lower: number, before: Word): boolean {
  if (before === NOISE) return true
  if (before === DIGITS) return upper !== 1 || lower <= LONGEST_TAIL
  return upper > 1 && lower > 0 && lower <= LONGEST_TAIL && before !== SPACE
}

/** What a single sign before a word is to it. */
function joinOf(sign: number): Word {
  if (sign === 0x27) return APOSTROPHE
  return sign === 0x28 || sign === 0x2d || sign === 0x2e || sign === 0x5f ? JOINT : SIGN
}
