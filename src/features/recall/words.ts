/** Of a longer text only this much of its beginning is read, in UTF-16 units. */
const MOST_HEAD = 8192
/** And this much of its end. */
const MOST_TAIL = 2048

const NOT_ASCII = /[^\0-\x7f]/
const ACCENTS = /[\u0300-\u036f]/g
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** The same, read faster. */
const ASCII_WORD = /[a-z0-9]+/g
/**
 * A character of a script without spaces between words (kana, Han, Hangul, and what stands between
 * them), and the one after it.
 */
const UNSPACED = /[\u3040-\ud7af](?=([\u3040-\ud7af])?)/g

/**
 * The words of a text, in its order: compatible forms as one (NFKC), in lower case, without
 * accents. Chinese, Japanese and Korean text gives its pairs of neighbouring characters, and Han
 * characters by themselves as well: that needs no dictionary, and is the same on every engine. Of a
 * text beyond 10 Ki units the first 8 Ki and the last 2 Ki are read. Linear in the text.
 */
export function wordsOf(text: string): readonly string[] {
  // A surrogate pair that this parts is no part of a word any more.
  const read =
    text.length > MOST_HEAD + MOST_TAIL ? `${text.slice(0, MOST_HEAD)} ${text.slice(-MOST_TAIL)}` : text
  return (
    (NOT_ASCII.test(read) ? folded(read).toLowerCase().match(WORD) : read.toLowerCase().match(ASCII_WORD)) ??
    []
  )
}

function folded(text: string): string {
  // Decomposed, accents are characters of their own; composed again, Hangul and kana are what they
  // were.
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').replace(UNSPACED, pairs)
}

function pairs(one: string, next = ''): string {
  const isHan = one >= '\u3400' && one <= '\u9fff'
  return isHan && next !== '' ? ` ${one} ${one}${next} ` : ` ${one}${next} `
}
