import type { Fact } from '../../ports/fact.ts'

/**
 * Words that carry nothing by themselves. Persons (you, her), modals (must, may) and what turns a
 * sentence are not among them.
 */
const FUNCTION_WORDS = new Set(
  `a an the this that these those it its is are was were be been being am do does did have has had i my me mine we our us ourselves
  myself of in on at for by with to as and so also then there here which who whom what please very really just quite
  some such about into onto within during`.split(/\s+/),
)
/** Words that turn what follows: each counts together with the content word after it. */
const TURNING = new Set(
  `not no never none nor neither nothing nobody without except unless until only over than before after instead rather from
  against between`.split(/\s+/),
)
/** Words that change how far or whether a sentence holds. */
const MODAL = new Set(
  `if or but must should shall may might can could will would all any every each most many few more less sometimes often rarely
  seldom hardly barely almost maybe perhaps probably else otherwise while first last again anymore longer`.split(
    /\s+/,
  ),
)

const BETWEEN = /[\s,;!?()[\]{}"“”„«»‹›`…|、。，！？；：「」『』（）【】—–·•]+/u
const EDGES = /^['*:]+|['*:.-]+$/gu
/** Numbers, paths, names of programs, flags, sums of money. */
const NAME = /[\p{N}_/\\@#$%&+=<>~^.:*]|^-/u
/** Scripts that put no space between words, and Hangul, whose words carry their particles. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
/** Characters of those scripts that negate or compare. */
const UNSPACED_TURNING = /[不没沒無无非未勿禁别別比ぬ]|ない|なし|ません|안|않|없|못|말|ไม่|อย่า/u
/** Share of the longer text's words that the shorter one has to hold. */
const SHARE = 0.8
/** Seeds of the hashes whose least values a text is known by, two a band. */
const SEEDS = [0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f, 0x165667b1, 0xd3a2646c] as const
const BAND_HASHES = 2

/**
 * The content words of a text, each with whether it always counts: negations, comparisons, modals,
 * numbers and identifiers do.
 *
 * Words are compared without case, plural -s and possessive 's, and function words are left out;
 * identifiers are compared as they are written. A word that turns what follows is one word with it
 * (`not tabs`), so that "tabs, not spaces" and "spaces, not tabs" differ. Text of scripts without
 * spaces is taken as pairs of characters.
 */
export function contentWords(text: string): ReadonlyMap<string, boolean> {
  const words = wordsOf(text)
  const content = words.filter(({ word }) => !FUNCTION_WORDS.has(word))
  const kept = content.length > 0 ? content : words
  const found = new Map<string, boolean>()
  for (const [index, { word, counts }] of kept.entries()) {
    if (TURNING.has(word)) found.set(`${word} ${kept[index + 1]?.word ?? ''}`, true)
    else found.set(word, counts || MODAL.has(word))
  }
  if (found.size === 0) found.set(text.trim(), true)
  return found
}

/**
 * Whether two texts say the same: they have the same content words, or one has all of the other's,
 * these are at least four fifths of its own, and what it has beyond them does not always count.
 */
export function areNear(one: string, other: string): boolean {
  const [few, many] = [contentWords(one), contentWords(other)].sort((a, b) => a.size - b.size) as [
    ReadonlyMap<string, boolean>,
    ReadonlyMap<string, boolean>,
  ]
  if (few.size < SHARE * many.size) return false
  for (const word of few.keys()) if (!many.has(word)) return false
  for (const [word, counts] of many) if (counts && !few.has(word)) return false
  return true
}

/**
 * Whether two texts have the same content words. Of rules only these say the same: "never on
 * Sundays" forbids less than "never", so neither may stand for the other.
 */
export function areSameWords(one: string, other: string): boolean {
  return contentWords(one).size === contentWords(other).size && areNear(one, other)
}

/**
 * Three hashes of a fact, at least one of which near-duplicates of the same kind and project very
 * likely share. Each is made from the least values that two of six hash functions take over the
 * content words (MinHash, Broder 1997): texts that share four fifths of their words have a band in
 * common in 95 of 100 cases, and the same words always do. The functions are 32-bit FNV-1a of the
 * word, mixed with a seed of their own by the finaliser of MurmurHash3; they are fixed, for what is
 * stored rests on them.
 */
export function bandsOf({
  kind,
  project = '',
  text,
}: Pick<Fact, 'kind' | 'project' | 'text'>): readonly string[] {
  const hashes = Array.from(contentWords(text).keys(), fnv)
  const least = SEEDS.map((seed) => hashes.reduce((low, hash) => Math.min(low, mixed(hash ^ seed)), 2 ** 32))
  const bands: string[] = []
  for (let first = 0; first < SEEDS.length; first += BAND_HASHES) {
    const band = [kind, project, ...least.slice(first, first + BAND_HASHES)].join('\n')
    bands.push(`${bands.length}/${fnv(band).toString(36)}`)
  }
  return bands
}

interface Word {
  readonly word: string
  /** Whether it always counts. */
  readonly counts: boolean
}

function wordsOf(text: string): readonly Word[] {
  return text
    .normalize('NFKC')
    .replaceAll('’', "'")
    .split(BETWEEN)
    .map((token) => token.replace(EDGES, ''))
    .filter((token) => token !== '')
    .flatMap(wordsIn)
}

function wordsIn(token: string): readonly Word[] {
  if (token.search(UNSPACED) >= 0)
    return [
      ...token
        .split(UNSPACED)
        .filter((rest) => rest !== '')
        .flatMap(wordsIn),
      ...(token.match(UNSPACED) ?? []).flatMap(pairsIn),
    ]
  if (NAME.test(token)) {
    const word = /^[\p{N}$%.,:+-]/u.test(token) ? token.toLowerCase() : token
    return [{ word, counts: true }]
  }
  return token
    .toLowerCase()
    .split('-')
    .filter((word) => word !== '')
    .flatMap(plainWords)
    .map((word) => ({ word, counts: false }))
}

function plainWords(word: string): readonly string[] {
  if (word === 'cannot' || word === "can't") return ['can', 'not']
  if (word === "won't") return ['will', 'not']
  if (word.endsWith("n't")) return [word.slice(0, -3), 'not']
  const [stem = '', ending] = word.split("'")
  // I'm, you're, we've, she'll, they'd: what is short for a verb says little, but will and would
  // count elsewhere too.
  if (ending === 'll') return [stem, 'will']
  return [singular(stem)]
}

function singular(word: string): string {
  return word.length > 3 && /[^sui]s$/u.test(word) ? word.slice(0, -1) : word
}

function pairsIn(run: string): readonly Word[] {
  const characters = [...run]
  const pairs =
    characters.length === 1
      ? characters
      : characters.slice(1).map((next, index) => `${characters[index]}${next}`)
  return pairs.map((word) => ({ word, counts: UNSPACED_TURNING.test(word) }))
}

function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
