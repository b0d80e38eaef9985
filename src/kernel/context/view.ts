import { defined } from '../../ports/defined.ts'
import type { Message } from '../../ports/message.ts'
import type { EpochMark } from '../../ports/op.ts'
import type { Head, LogRow, Reads, ScopeStore } from '../../ports/store.ts'
import { isEntry, PAGE_ROWS } from '../../ports/store.ts'
import { markIn, messageIn } from '../log/bodies.ts'
import { EMPTY_HEAD } from '../log/decide.ts'
import { findOpener, readAll, readEntry, readRange } from '../log/entries.ts'
import { type Conversation, fold, grow } from '../log/fold.ts'
import { HEAD_KEY } from '../log/message.ts'
import type { Policy } from '../policy.ts'
import { type Gap, readGaps } from './gaps.ts'

/** Rows of a first page without an epoch; each further page is twice as long. */
const FIRST_PAGE = 64
/** Rows that are kept at most while a lane has no epoch. */
const MOST_ROWS = 8 * PAGE_ROWS
/** No message takes fewer tokens by any counter of ours. */
const LEAST_TOKENS = 4

/** A stretch of a log without gaps, as a conversation. */
export interface Slice {
  /** Entries in the log's order; first the opener, where there is one. */
  readonly rows: readonly LogRow[]
  /** The message that opened the round of the other rows, where it stands apart before them. */
  readonly opener: LogRow | undefined
  readonly conversation: Conversation
  /** The messages before the rows, as ranges; the same list while they are the same. */
  before(): Promise<readonly Gap[]>
}

/** Rounds that were added to, of which those count that opened after so many messages. */
export interface Joined {
  readonly rounds: ReadonlySet<string>
  readonly after: number
}

/** A lane's current epoch: its mark, that one's seq, and its place in the lane's chain. */
export interface CurrentEpoch {
  readonly mark: EpochMark
  readonly seq: number
  /** Messages that the log held when it began. */
  readonly ordinal: number
  readonly place: number
}

/** Reads in the snapshot of the rows. `isReloaded`: what was read may be forgotten since. */
export type ReadAlso = (reads: Reads, view: View, isReloaded: boolean) => Promise<void>

/**
 * The end of a scope's log, as far back as one lane's window needs it, kept in memory and brought
 * up to date by reading what is new. Only the view changes its fields.
 */
export class View implements Slice {
  head: Head = EMPTY_HEAD
  /** Seq of the newest change that was seen to a register of the session's own, heads aside. */
  registersAt = 0
  /** The lane's current epoch, if there is one that can be read. */
  epoch: CurrentEpoch | undefined
  /**
   * More came since the epoch began than a window shows: it is over, and only the log's end is
   * here.
   */
  isOutgrown = false
  rows: readonly LogRow[] = []
  opener: LogRow | undefined
  /** Rewinds between the opener and the entries: they may hide it. */
  rewinds: readonly LogRow[] = []
  /** Whether the whole log is here. */
  whole = false
  readonly #store: ScopeStore
  readonly #also: ReadAlso
  readonly #slot: string
  readonly #most: number
  /** Parsed once. */
  readonly #messages = new WeakMap<LogRow, Message>()
  /** Ordinals of messages that opened rounds before the entries, as far as they were asked for. */
  readonly #opened = new Map<string, number>()
  #isLoaded = false
  #entries: readonly LogRow[] = []
  #seq = 0
  #page = FIRST_PAGE
  /** Id of the epoch to which the entries were trimmed. */
  #trimmed: string | undefined
  // Derived from the above, and dropped when it changes.
  #conversation: Conversation | undefined
  #gaps: readonly Gap[] | undefined

  constructor(store: ScopeStore, { lane, cap }: Pick<Policy, 'lane' | 'cap'>, also: ReadAlso) {
    this.#store = store
    this.#also = also
    this.#slot = `epoch/${lane}`
    this.#most = Math.max(MOST_ROWS, Math.ceil(cap / LEAST_TOKENS))
  }

  /** Id that the lane's next epoch names as its base, and that epoch's place in the chain. */
  get next(): { readonly base: string | null; readonly place: number } {
    const current = this.head.marks.get(this.#slot)
    return { base: current?.id ?? null, place: (current?.chain ?? 0) + 1 }
  }

  get conversation(): Conversation {
    this.#conversation ??= fold([...this.rewinds, ...this.#entries], this.#message, this.opener)
    return this.#conversation
  }

  async before(): Promise<readonly Gap[]> {
    return this.#gaps ?? this.#readGaps(this.#store)
  }

  /** The entry of that id, from memory or from the log. */
  async entry(reads: Reads, id: string): Promise<LogRow | undefined> {
    return this.#entries.findLast((row) => row.id === id) ?? readEntry(reads, id)
  }

  /**
   * Reads what is new; the first time, and where much is new, something was forgotten or rows
   * changed their places, the window.
   */
  async refresh(): Promise<void> {
    const store = this.#store
    if (!this.#isLoaded) return this.#load()
    const { rows, head, more } = await store.changesSince(this.#seq)
    const isMoved = head.rebased !== this.head.rebased
    if (more || isMoved || rows.some(({ kind }) => kind === 'delete' || kind === 'erase')) return this.#load()
    this.head = head
    this.#seq = rows.at(-1)?.seq ?? this.#seq
    const changed = rows.findLast(({ kind, id }) => kind === 'put' && !id.startsWith(HEAD_KEY))
    this.registersAt = changed?.seq ?? this.registersAt
    const entries = rows.filter(isEntry)
    if (entries.length > 0) this.#show([...this.#entries, ...entries])
    this.#conversation &&= grow(this.#conversation, entries, this.#message)
    if (this.next.base !== (this.epoch?.mark.id ?? null)) await this.#readEpoch(store)
    await this.#also(store, this, false)
    // As a view that is read now would be, whatever was read back since.
    if (this.epoch) await this.#trim(this.epoch.mark)
    // A writer that never builds a context has no epoch to trim by.
    const isLong = this.epoch ? this.#isOver && !this.isOutgrown : this.#entries.length > MOST_ROWS
    if (isLong) await this.#load()
  }

  /** As a lane without an epoch: what was shown again may stand before what is held here. */
  async reopen(): Promise<void> {
    await this.#readBack(FIRST_PAGE, [])
  }

  /** Reads a further page of older entries. */
  async extend(): Promise<void> {
    await this.#readBack(Math.min(PAGE_ROWS, this.#page * 2), this.#entries)
  }

  /** Reads back to the first of these rounds that counts. @returns whether there is one */
  async include({ rounds, after }: Joined): Promise<boolean> {
    let first = Infinity
    for (const id of rounds) {
      const ordinal = this.#opened.get(id) ?? (await readEntry(this.#store, id))?.ordinal ?? 0
      this.#opened.set(id, ordinal)
      if (ordinal > after) first = Math.min(first, ordinal)
    }
    while (!this.whole && (this.#entries[0]?.ordinal ?? 0) > first) await this.extend()
    return first < Infinity
  }

  /** Whether more messages came since the epoch began than any window shows. */
  get #isOver(): boolean {
    return this.epoch !== undefined && this.head.ordinal - this.epoch.ordinal > this.#most
  }

  /** Reads so many entries before the first of these. */
  async #readBack(last: number, entries: readonly LogRow[]): Promise<void> {
    if (this.whole) return
    const { rows, more } = await this.#store.entries(defined({ last, to: entries[0]?.id }))
    // What was written since comes with the next refresh.
    const older = rows.filter(({ seq }) => seq <= this.#seq)
    await this.#hold(this.#store, [...older, ...entries], !more)
    this.#page = last
    this.#trimmed = undefined
  }

  /** Lets go of what an epoch does not show. */
  async #trim({ id, windowFrom, readFrom = windowFrom ?? undefined }: EpochMark): Promise<void> {
    if (this.#trimmed === id) return
    const index = this.#entries.findIndex((row) => row.id === readFrom)
    if (index >= 0) {
      await this.#hold(this.#store, this.#entries.slice(index), this.whole && index === 0, windowFrom)
      this.#page = FIRST_PAGE
    } else if (readFrom !== undefined) {
      // Another writer's epoch may begin before what is held here: it took a rewind back.
      await this.#load()
    }
    this.#trimmed = id
  }

  readonly #message = (row: LogRow): Message | undefined => {
    const message = this.#messages.get(row) ?? messageIn(row)
    if (message) this.#messages.set(row, message)
    return message
  }

  async #load(): Promise<void> {
    const store = this.#store
    await (store.snapshot ? store.snapshot((reads) => this.#loadFrom(reads)) : this.#loadFrom(store))
  }

  async #loadFrom(reads: Reads): Promise<void> {
    this.#isLoaded = false
    this.#opened.clear()
    this.#show([])
    this.#conversation = undefined
    this.#page = FIRST_PAGE
    this.head = await reads.head()
    this.#seq = this.head.seq
    this.registersAt = this.#seq
    await this.#readEpoch(reads)
    await this.#also(reads, this, true)
    const mark = this.epoch?.mark
    this.isOutgrown = this.#isOver
    const known = this.isOutgrown ? undefined : mark
    const from = known?.readFrom ?? known?.windowFrom ?? undefined
    const shown = known && { rows: await readRange(reads, from), more: from !== undefined }
    // What a window began with may be taken back for good.
    const { rows, more } = shown?.rows.length ? shown : await reads.entries({ last: FIRST_PAGE })
    // What was written after the head was read comes with the next refresh.
    const read = rows.filter((row) => row.seq <= this.#seq)
    await this.#hold(reads, read, !more, known?.windowFrom)
    if (mark) await this.#readGaps(reads)
    this.#trimmed = mark?.id
    this.#isLoaded = true
  }

  /** Takes entries over, with their opener; nothing changes before all is read. */
  async #hold(
    reads: Reads,
    entries: readonly LogRow[],
    whole: boolean,
    windowFrom?: string | null,
  ): Promise<void> {
    const { opener, rewinds } = await readApart(reads, entries, windowFrom)
    this.rewinds = rewinds
    this.opener = opener
    this.whole = whole
    this.#gaps = undefined
    this.#conversation = undefined
    this.#show(entries)
  }

  #show(entries: readonly LogRow[]): void {
    this.#entries = entries
    this.rows = this.opener ? [this.opener, ...entries] : entries
  }

  async #readGaps(reads: Reads): Promise<readonly Gap[]> {
    this.#gaps = await readGaps(reads, this.head.first, this.#entries, this.opener)
    return this.#gaps
  }

  async #readEpoch(reads: Reads): Promise<void> {
    const current = this.head.marks.get(this.#slot)
    this.epoch = undefined
    this.isOutgrown = false
    const row = current && (await this.entry(reads, current.id))
    const mark = row && (markIn(row) as EpochMark | undefined)
    if (mark) this.epoch = { mark, seq: current.seq, ordinal: row.ordinal, place: current.chain }
  }
}

/** What stands apart before entries: their opener, and the rewinds since, which may hide it. */
interface Apart {
  readonly opener: LogRow | undefined
  readonly rewinds: readonly LogRow[]
}

const NOTHING_APART: Apart = { opener: undefined, rewinds: [] }

export async function readApart(
  store: Reads,
  entries: readonly LogRow[],
  windowFrom: string | null | undefined,
): Promise<Apart> {
  const opener = await findOpener(store, entries, windowFrom)
  if (!opener) return NOTHING_APART
  const { id: to } = entries[0] as LogRow
  return { opener, rewinds: await readAll(store, { from: opener.id, to, kinds: ['rewind'] }) }
}
