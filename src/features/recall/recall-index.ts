import { joinedBytes } from '../../ports/joined-bytes.ts'
import type { Json } from '../../ports/message.ts'
import type { Stemmer } from '../../ports/stemmer.ts'
import type { MessageTerms } from './message-terms.ts'
import { Scores } from './scores.ts'
import { toPrefixed, toVarints, Varints } from './varints.ts'

/** A message, beside its terms. */
export type RecallEntry = readonly [id: string, day: number, speaker: string]

/**
 * Where a term occurs and how often: the place times 16, and a count below that. A number of 31
 * bits, so that engines keep it small.
 */
export type Posting = number

/** A count beyond this is no stronger sign. */
const MOST_COUNT = 15

export function placeOf(posting: Posting): number {
  return posting >> 4
}

export function countOf(posting: Posting): number {
  return posting & 15
}

/**
 * The messages of one session in the order of its log, each with its passages, found by their
 * terms. A message's number is how many were added before it, a passage's place how many passages
 * were; both stay when others are removed. At most 2^26 passages.
 */
export class RecallIndex {
  /** Role and words of the name, of all who spoke. */
  readonly speakers = new Set<string>()
  /** What its passages score in the query that is asked. */
  readonly scores = new Scores()
  readonly #format: string
  /** By number; none, where a message was removed. */
  readonly #entries: (RecallEntry | null)[] = []
  readonly #numbers = new Map<string, number>()
  /** By number, the place of its first passage; then that of the next message. */
  readonly #starts = [0]
  /** By place, the number of the message. */
  readonly #messages: number[] = []
  /** By place: whether it asks something (1, or 0). */
  readonly #asks: (0 | 1)[] = []
  /** By place, the length of all before it; then that of all. */
  readonly #lengths = [0]
  /** Places of removed messages. */
  #empty = 0
  /** By term, oldest first. */
  readonly #postings = new Map<string, Posting[]>()

  /**
   * @param stemmer what the terms were made with: it goes into blocks, and a block of another is
   * refused
   */
  constructor(stemmer?: Stemmer) {
    this.#format = `4 ${stemmer?.id ?? ''}`
  }

  /** How many messages were added, removed ones included: numbers are below it. */
  get size(): number {
    return this.#entries.length
  }

  /** How many messages are in it. */
  get documents(): number {
    return this.#numbers.size
  }

  /** How many passages are in it. */
  get passages(): number {
    return this.places - this.#empty
  }

  /** How many passages were added: places are below it. */
  get places(): number {
    return this.#messages.length
  }

  /** Terms of the passages at places from `from` up to and without `to`, which may lie outside. */
  lengthOf(from: number, to: number): number {
    const lengths = this.#lengths
    return (lengths[Math.min(to, this.places)] as number) - (lengths[Math.max(from, 0)] as number)
  }

  /** Appends a message; one that is there already stays as it is. */
  add(id: string, { day, speaker, passages }: MessageTerms): void {
    if (this.has(id)) return
    for (const { terms, asks } of passages) {
      const place = this.#place(terms.length, asks ? 1 : 0)
      for (const term of terms) this.#post(term, place)
    }
    this.#push([id, day, speaker])
  }

  has(id: string): boolean {
    return this.#numbers.has(id)
  }

  /**
   * Removes a message, if it is there: it is not found again, and its words are in no window and in
   * no later block. Linear in the index.
   */
  remove(id: string): void {
    const number = this.#numbers.get(id)
    if (number === undefined) return
    this.#numbers.delete(id)
    this.#entries[number] = null
    this.speakers.clear()
    for (const entry of this.#entries) if (entry) this.speakers.add(entry[2])
    const [first, end] = [this.startOf(number), this.startOf(number + 1)]
    this.#empty += end - first
    const lost = this.lengthOf(first, end)
    for (let place = first; place < this.places; place++)
      this.#lengths[place + 1] =
        place < end ? (this.#lengths[first] as number) : (this.#lengths[place + 1] as number) - lost
  }

  /**
   * Leaves that many places empty, as if messages of one passage had been removed there: what is on
   * either side of them is not side by side.
   */
  leave(places: number): void {
    for (let left = places; left > 0; left--) {
      this.#place(0, 0)
      this.#push(null)
    }
  }

  /**
   * The messages with numbers from `from` up to and without `to`, for {@link load}: JSON of the
   * messages and terms, then as varints for each message its passages and their lengths, then for
   * each term how many postings it has, and how far each is from the one before. Of a removed
   * message only its places are kept.
   */
  encode(from: number, to: number): Uint8Array<ArrayBuffer> {
    const terms: string[] = []
    const numbers: number[] = []
    const entries = this.#entries.slice(from, to)
    for (let number = from; number < to; number++) {
      const [first, end] = [this.startOf(number), this.startOf(number + 1)]
      numbers.push(end - first)
      for (let place = first; place < end; place++)
        numbers.push(2 * this.lengthOf(place, place + 1) + this.asksAt(place))
    }
    const [start, end] = [this.startOf(from), this.startOf(to)]
    const isWhole = !entries.includes(null)
    for (const [term, postings] of this.#postings) {
      const first = firstFrom(postings, start * 16)
      const all = postings.slice(first, firstFrom(postings, end * 16, first))
      const within = isWhole ? all : all.filter((posting) => this.at(placeOf(posting)))
      if (within.length === 0) continue
      terms.push(term)
      numbers.push(within.length)
      let before = start * 16
      for (const posting of within) {
        numbers.push(posting - before)
        before = posting
      }
    }
    return joinedBytes([...toPrefixed([this.#format, entries, terms] as Json), toVarints(numbers)])
  }

  /**
   * Appends the messages of a block, without reading their texts: the index is then as if they had
   * been added.
   *
   * @returns false, with nothing appended, where the block is of another format or stemmer: it has
   * to be rebuilt
   */
  load(block: Uint8Array): boolean {
    const numbers = new Varints(block)
    const [format, entries, terms] = numbers.json() as [string, (RecallEntry | null)[], string[]]
    if (format !== this.#format) return false
    const start = this.places * 16
    for (const entry of entries) {
      for (let left = numbers.next(); left > 0; left--) {
        const passage = numbers.next()
        this.#place(passage >> 1, (passage & 1) as 0 | 1)
      }
      this.#push(entry)
    }
    for (const term of terms) {
      const postings = this.#postingsOf(term)
      let posting = start
      for (let left = numbers.next(); left > 0; left--) {
        posting += numbers.next()
        postings.push(posting)
      }
    }
    return true
  }

  /** The message at a place below {@link places}; `null`, where it was removed. */
  at(place: number): RecallEntry | null {
    return this.#entries[this.numberAt(place)] as RecallEntry | null
  }

  /** The number of the message at a place. */
  numberAt(place: number): number {
    return this.#messages[place] as number
  }

  /** Whether the passage at a place asks something: 1, or 0. */
  asksAt(place: number): 0 | 1 {
    return this.#asks[place] as 0 | 1
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id)
  }

  /** The first place of a message; of the number after the last, {@link places}. */
  startOf(number: number): number {
    return this.#starts[number] as number
  }

  /** Where a term occurs, oldest first. */
  postings(term: string): readonly Posting[] {
    const all = this.#postings.get(term) ?? []
    return this.documents === this.size ? all : all.filter((posting) => this.at(placeOf(posting)))
  }

  /** Adds a place of the message that is pushed next. */
  #place(length: number, asks: 0 | 1): number {
    this.#messages.push(this.size)
    this.#asks.push(asks)
    return this.#lengths.push((this.#lengths.at(-1) as number) + length) - 2
  }

  /** Adds a message, whose places were added. */
  #push(entry: RecallEntry | null): void {
    if (entry) {
      const [id, , speaker] = entry
      this.#numbers.set(id, this.size)
      this.speakers.add(speaker)
    } else this.#empty += this.places - (this.#starts.at(-1) as number)
    this.#entries.push(entry)
    this.#starts.push(this.places)
  }

  #post(term: string, place: number): void {
    const postings = this.#postingsOf(term)
    const end = postings.length - 1
    const last = end < 0 ? -1 : (postings[end] as number)
    if (placeOf(last) < place) postings.push(place * 16 + 1)
    else if (countOf(last) < MOST_COUNT) postings[end] = last + 1
  }

  #postingsOf(term: string): Posting[] {
    let postings = this.#postings.get(term)
    if (!postings) {
      postings = []
      this.#postings.set(term, postings)
    }
    return postings
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
