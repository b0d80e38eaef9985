import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { randomFrom } from '../history.ts'
import { mean } from '../stats.ts'
import { type Engine, engines, type Index } from './engines.ts'
import type { Transcript } from './transcripts.ts'
import { frequencies, rarest, wordsOf } from './words.ts'

/** A query made from a message, which is to be found by it. */
export interface KnownItem {
  readonly kind: Kind
  readonly query: string
  /** A message that holds this text is the right one. */
  readonly source: string
}

export const KINDS = ['rare words', 'rare words amid', 'identifier', 'sentence'] as const
/**
 * The three rarest words near a random place; the same where the place is amid a long text, which
 * ours does not index; the rarest path, name or number of a message; a whole sentence of the
 * user's.
 */
export type Kind = (typeof KINDS)[number]
export const AMID: Kind = 'rare words amid'

/** How much is searched for an item. */
const SCOPES = ['its conversation', 'the whole file'] as const

export const ALL_FILES = 'all files'

/** Over all queries of a kind; shares in percent. */
export interface Found {
  /** Or {@link ALL_FILES}. */
  readonly file: string
  readonly scope: (typeof SCOPES)[number]
  readonly kind: Kind
  readonly system: string
  readonly queries: number
  readonly r1: number
  readonly r10: number
  readonly mrr: number
}

/** A place is this many characters long. */
const PLACE = 300
/** What ours indexes of a long text, in characters. */
const INDEXED_HEAD = 224 * 1024
const INDEXED_TAIL = 32 * 1024
const WORDS = 3
const DEPTH = 50
const IDENTIFIER =
  /[\p{L}\p{N}_]+(?:[./:@-]+[\p{L}\p{N}_]+)+|\p{L}+_[\p{L}\p{N}_]+|[\p{L}]*\p{N}[\p{L}\p{N}]{3,}/gu
const SENTENCE_WORDS = { least: 5, most: 40 }

/**
 * So many messages of each file, each asked for in as many ways as it allows; by file, and over all
 * of them.
 */
export function measureKnownItems(
  transcripts: readonly Transcript[],
  perFile: number,
  progress: (line: string) => void,
): Found[] {
  const files = [...new Set(transcripts.map(({ file }) => file))]
  const ranks = files.flatMap((file) => {
    progress(`known items: ${file}`)
    const own = transcripts.filter((transcript) => transcript.file === file)
    const asked = askedOf(
      own.map(({ documents }) => documents),
      perFile,
    )
    const whole = {
      documents: asked.flatMap(({ documents }) => documents),
      items: asked.flatMap(({ items }) => items),
    }
    return engines.flatMap((engine) => [
      ...ranksIn(engine, asked).map((rank) => ({ ...rank, file, scope: SCOPES[0] })),
      ...ranksIn(engine, [whole]).map((rank) => ({ ...rank, file, scope: SCOPES[1] })),
    ])
  })
  return [...files, ALL_FILES].flatMap((file) => {
    const some = ranks.filter((rank) => file === ALL_FILES || rank.file === file)
    return SCOPES.flatMap((scope) =>
      KINDS.flatMap((kind) =>
        engines.flatMap(({ name: system }) => {
          const places = some.flatMap((rank) => {
            const of = rank.scope === scope && rank.system === system && rank.item.kind === kind
            return of ? rank.place : []
          })
          return places.length === 0 ? [] : { file, scope, kind, system, ...shares(places) }
        }),
      ),
    )
  })
}

interface Asked {
  readonly documents: readonly RecallDocument[]
  readonly items: readonly KnownItem[]
}

interface Rank {
  readonly item: KnownItem
  readonly system: string
  /** Of the first right message, from 1; infinite where there is none. */
  readonly place: number
}

function askedOf(conversations: readonly (readonly RecallDocument[])[], messages: number): Asked[] {
  const random = randomFrom(1)
  const chosen = new Set(shuffled(conversations.flat(), random).slice(0, messages))
  return conversations.map((documents) => {
    const frequency = frequencies(documents.map(({ text }) => text))
    const items = documents.flatMap((document) =>
      chosen.has(document) ? itemsOf(document, frequency, random) : [],
    )
    return { documents, items }
  })
}

function ranksIn(engine: Engine, asked: readonly Asked[]): Rank[] {
  return asked.flatMap(({ documents, items }) => {
    const index = engine.index(documents)
    const texts = new Map(documents.map(({ id, text }) => [id, text]))
    return items.map((item): Rank => ({ item, system: engine.name, place: placeOf(item, index, texts) }))
  })
}

function placeOf({ query, source }: KnownItem, index: Index, texts: ReadonlyMap<string, string>): number {
  const found = index.search(query, DEPTH).findIndex((id) => texts.get(id)?.includes(source))
  return found < 0 ? Number.POSITIVE_INFINITY : found + 1
}

function shares(places: readonly number[]): Pick<Found, 'queries' | 'r1' | 'r10' | 'mrr'> {
  const percent = (value: (place: number) => number) => Number((100 * mean(places.map(value))).toFixed(1))
  return {
    queries: places.length,
    r1: percent((place) => (place === 1 ? 1 : 0)),
    r10: percent((place) => (place <= 10 ? 1 : 0)),
    mrr: percent((place) => 1 / place),
  }
}

function itemsOf(
  { text, role }: RecallDocument,
  frequency: ReadonlyMap<string, number>,
  random: () => number,
): KnownItem[] {
  const one = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]
  const items: KnownItem[] = []
  const start = Math.floor(random() * Math.max(1, text.length - PLACE))
  const source = wholeWords(text.slice(start, start + PLACE), start > 0)
  const words = rarest(wordsOf(source), WORDS, frequency)
  const amid = start + PLACE > INDEXED_HEAD && start < text.length - INDEXED_TAIL
  if (words.length === WORDS) items.push({ kind: amid ? AMID : 'rare words', query: words.join(' '), source })
  const identifiers = indexedOf(text).match(IDENTIFIER) ?? []
  const rarity = (identifier: string) =>
    Math.min(...wordsOf(identifier).map((word) => frequency.get(word) ?? 0))
  const least = Math.min(...identifiers.map(rarity))
  const identifier = one(identifiers.filter((found) => rarity(found) === least && Number.isFinite(least)))
  if (identifier !== undefined) items.push({ kind: 'identifier', query: identifier, source: identifier })
  const sentence = role === 'user' ? one(sentencesOf(indexedOf(text))) : undefined
  if (sentence !== undefined) items.push({ kind: 'sentence', query: sentence, source: sentence })
  return items
}

/** A place without the words that it cuts. */
function wholeWords(place: string, cutBefore: boolean): string {
  const trimmed = cutBefore ? place.replace(/^[\p{L}\p{N}_]+/u, '') : place
  return trimmed.replace(/[\p{L}\p{N}_]+$/u, '')
}

function indexedOf(text: string): string {
  return text.length <= INDEXED_HEAD + INDEXED_TAIL ? text : wholeWords(text.slice(0, INDEXED_HEAD), false)
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/u).filter((sentence) => {
    const { length } = wordsOf(sentence)
    return length >= SENTENCE_WORDS.least && length <= SENTENCE_WORDS.most
  })
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item)
}
