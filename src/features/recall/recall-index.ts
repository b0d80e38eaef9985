import type { Stemmer } from '../../ports/stemmer.ts'
import { Scores } from './scores.ts'
import { MOST_COUNT, type Traits } from './terms.ts'
import { toVarints, varintsIn } from './varints.ts'

/** A document, beside its terms. */
export type RecallEntry = readonly [id: string, ...Traits]

/**
 * Where a term occurs and how often: the place times 16, and a count below that. A number of 31
 * bits, so that engines keep it small.
 */
export type Posting = number

export function placeOf(posting: Posting): number {
  return posting >> 4
}

export function countOf(posting: Posting): number {
  return posting & 15
}

/**
 * The documents of one session in the order of its log, found by their terms. A document's place is
 * how many were added before it, and stays its place when others are removed. At most 2^26
 * documents.
 */
export class RecallIndex {
  /** Role and words of the name, of all who spoke. */
  readonly speakers = new Set<string>()
  /** What its documents score in the query that is asked. */
  readonly scores = new Scores()
  readonly #format: string
  /** By place; none, where a document was removed. */
  readonly #entries: (RecallEntry | null)[] = []
  readonly #places = new Map<string, number>()
  /** By term, oldest first. */
  readonly #postings = new Map<string, Posting[]>()
  /** By place, the length of all before it; then that of all. */
  readonly #lengths = [0]

  /**
   * @param stemmer what the terms were made with: it goes into blocks, and a block of another is
   * refused
   */
  constructor(stemmer?: Stemmer) {
    this.#format = `2 ${stemmer?.id ?? ''}`
  }

  /** How many documents were added, removed ones included: places are below it. */
  get size(): number {
    return this.#entries.length
  }

  /** How many are in it. */
  get documents(): number {
    return this.#places.size
  }

  /** Terms of the documents at places from `from` up to and without `to`, which may lie outside. */
  lengthOf(from: number, to: number): number {
    const { size } = this
    return (this.#lengths[Math.min(to, size)] as number) - (this.#lengths[Math.max(from, 0)] as number)
  }

  /**
   * Appends a document; one that is there already stays as it is.
   *
   * @param terms from `termsOf`; none where the document cannot be read: only its place is kept
   * then
   */
  add(id: string, terms: string): void {
    if (this.has(id)) return
    const place = this.size
    const [head = '', ...lines] = terms.split('\n')
    this.#push(head === '' ? null : [id, ...(JSON.parse(head) as Traits)])
    for (let line = 0; line < lines.length; line++)
      if (lines[line] !== '')
        for (const term of (lines[line] as string).split(' ')) this.#post(term, place, line + 1)
  }

  has(id: string): boolean {
    return this.#places.has(id)
  }

  /**
   * Removes a document, if it is there: it is not found again, and its words are in no window and
   * in no later block. Linear in the index.
   */
  remove(id: string): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#places.delete(id)
    this.#entries[place] = null
    this.speakers.clear()
    this.#lengths.length = 1
    for (const entry of this.#entries.splice(0)) this.#push(entry)
  }

  /**
   * Leaves that many places empty, as if documents there had been removed: what is on either side
   * of them is not side by side.
   */
  leave(places: number): void {
    for (let left = places; left > 0; left--) this.#push(null)
  }

  /**
   * The documents at places from `from` up to and without `to`, for {@link load}: as varints a text
   * with documents and terms, then for each term how many postings it has, and how far each is from
   * the one before. Of a removed document only its place is kept.
   */
  encode(from: number, to: number): Uint8Array {
    const terms: string[] = []
    const numbers: number[] = []
    for (const [term, postings] of this.#postings) {
      const first = firstFrom(postings, from * 16)
      const within = postings
        .slice(first, firstFrom(postings, to * 16, first))
        .filter((posting) => this.#entries[placeOf(posting)])
      if (within.length === 0) continue
      terms.push(term)
      numbers.push(within.length)
      within.forEach((posting, index) => {
        numbers.push(posting - (within[index - 1] ?? from * 16))
      })
    }
    const text = JSON.stringify([this.#format, this.#entries.slice(from, to), terms])
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
    return toVarints([text.length, ...units, ...numbers])
  }

  /**
   * Appends the documents of a block, without reading their texts: the index is then as if they had
   * been added.
   *
   * @returns false, with nothing appended, where the block is of another format or stemmer: it has
   * to be rebuilt
   */
  load(block: Uint8Array): boolean {
    const numbers = varintsIn(block)
    let at = 0
    const next = (): number => numbers[at++] ?? 0
    let text = ''
    for (let left = next(); left > 0; left--) text += String.fromCharCode(next())
    const [format, entries, terms] = JSON.parse(text) as [string, (RecallEntry | null)[], string[]]
    if (format !== this.#format) return false
    const start = this.size * 16
    for (const entry of entries) this.#push(entry)
    for (const term of terms) {
      let posting = start
      for (let left = next(); left > 0; left--) {
        posting += next()
        this.#post(term, placeOf(posting), countOf(posting))
      }
    }
    return true
  }

  /** The document at a place below the size; `null`, where it was removed. */
  at(place: number): RecallEntry | null {
    return this.#entries[place] as RecallEntry | null
  }

  placeOf(id: string): number | undefined {
    return this.#places.get(id)
  }

  /** Where a term occurs, oldest first. */
  postings(term: string): readonly Posting[] {
    const all = this.#postings.get(term) ?? []
    return this.documents === this.size ? all : all.filter((posting) => this.#entries[placeOf(posting)])
  }

  #push(entry: RecallEntry | null): void {
    if (entry) {
      const [id, , , , speaker] = entry
      this.#places.set(id, this.size)
      this.speakers.add(speaker)
    }
    this.#entries.push(entry)
    this.#lengths.push((this.#lengths.at(-1) as number) + (entry?.[1] ?? 0))
  }

  #post(term: string, place: number, count: number): void {
    const postings = this.#postings.get(term)
    if (!postings) {
      this.#postings.set(term, [place * 16 + count])
      return
    }
    const end = postings.length - 1
    const last = postings[end] as number
    if (placeOf(last) < place) postings.push(place * 16 + count)
    else postings[end] = place * 16 + Math.min(MOST_COUNT, countOf(last) + count)
  }
}

/** Index of the first posting that is not below a bound, from an index on. They are in order. */
function firstFrom(postings: readonly Posting[], bound: number, from = 0): number {
  let [low, high] = [from, postings.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((postings[middle] as Posting) < bound) low = middle + 1
    else high = middle
  }
  return low
}
