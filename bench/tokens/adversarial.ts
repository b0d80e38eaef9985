/**
 * Texts that no one writes and anyone can paste: what makes a tokenizer slow, and an estimate
 * wrong. Each family is a function of a length in UTF-16 units; the same length always gives the
 * same text, and a shorter one its beginning.
 */
import { randomFrom } from '../history.ts'

type Make = (length: number) => string

const SEED = 7

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'

export const families: Readonly<Record<string, Make>> = {
  a: repeated('a'),
  'random a-z': randomly(LOWER),
  spaces: repeated(' '),
  newlines: repeated('\n'),
  '-': repeated('-'),
  'one CJK character': repeated('漢'),
  'random CJK': randomly([0x4e00, 0x9fff]),
  emoji: repeated('😀'),
  'random emoji': randomly([0x1f600, 0x1f64f]),
  'emoji joined by ZWJ': repeated('👩‍👩‍👧‍👦'),
  base64: randomly(`${UPPER}${LOWER}${DIGITS}+/`),
  hex: randomly(`${DIGITS}abcdef`),
  digits: randomly(DIGITS),
  'random a-z, A-Z': randomly(`${LOWER}${UPPER}`),
  'random punctuation': randomly('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
  'combining marks': randomly([0x300, 0x36f]),
  Hangul: randomly([0xac00, 0xd7a3]),
  Cyrillic: randomly([0x410, 0x44f]),
  Arabic: randomly([0x621, 0x64a]),
  Thai: randomly([0xe01, 0xe2e]),
  Devanagari: randomly([0x904, 0x939]),
  'lone surrogates': randomly([0xd800, 0xdbff]),
}

/** The families on which the peers are measured too: each of their curves takes a while. */
export const PEER_FAMILIES: readonly string[] = [
  'a',
  'random a-z',
  'spaces',
  '-',
  'one CJK character',
  'random CJK',
  'emoji',
  'base64',
]

function repeated(unit: string): Make {
  return (length) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
}

/** Any of the characters of a string, or of the code points from the first to the last. */
function randomly(from: string | readonly [first: number, last: number]): Make {
  const size = typeof from === 'string' ? from.length : from[1] - from[0] + 1
  const at = (place: number) =>
    typeof from === 'string' ? from.charAt(place) : String.fromCodePoint(from[0] + place)
  return (length) => {
    const random = randomFrom(SEED)
    let made = ''
    while (made.length < length) made += at(Math.floor(random() * size))
    return made.slice(0, length)
  }
}
