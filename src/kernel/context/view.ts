import type { Message } from '../../ports/message.ts'
import type { EpochMark } from '../../ports/op.ts'
import type { EntryKind, Head, LogRow, Reads, ScopeStore } from '../../ports/store.ts'
import { isEntry, PAGE_ROWS } from '../../ports/store.ts'
import { markIn, messageIn } from '../log/bodies.ts'
import { type Covering, endOf } from './covering.ts'
import { findOpener, readEntry, readRange } from '../log/entries.ts'
import { type Conversation, fold, grow } from '../log/fold.ts'
import { HEAD_KEY } from './head.ts'

/** Rows of a first page, when there is no epoch to say where to begin; each further page is twice as long. */
const FIRST_PAGE = 64
/** Rows that are kept at most while a lane has no epoch. */
const MOST_ROWS = 8 * PAGE_ROWS

/** A stretch of a log without gaps, as a conversation. */
export interface Slice {
  /** Entries in the log's order; first the opener, where there is one. */
  readonly rows: readonly LogRow[]
  /** The message that opened the round of the other rows, where it stands apart before them. */
  readonly opener: LogRow | undefined
  readonly conversation: Conversation
  /** The messages before the rows, as ranges, parted where a summary begins and ends to cover them. */
  before(covering: Covering | undefined): Promise<readonly Gap[]>
}

/** A range of messages that are not in memory, by id and by ordinal. */
export interface Gap {
  readonly from: string
  readonly to: string
  readonly first: number
  readonly last: number
}

/** Rounds that were added to. */
export interface Joined {
  readonly rounds: ReadonlySet<string>
  /** Those that opened after so many messages count. */
  readonly after: number
}

/** A lane's current epoch: its mark, where that stands in the log, and its place in the lane's chain. */
export interface CurrentEpoch {
  readonly mark: EpochMark
  readonly seq: number
  readonly place: number
}

/** Reads what belongs to the view beside its rows, in the same snapshot; `isReloaded`: what was read before may be forgotten since. */
type Also = (reads: Reads, view: View, isReloaded: boolean) => Promise<void>

/**
 * The end of a scope's log, as far back as one lane's window needs it, kept in memory and brought up to date by reading
 * what is new.
 */
export class View implements Slice {
  readonly #store: ScopeStore
  readonly #slot: string
  readonly #also: Also
  readonly #messages = new Map<string, Message>()
  #loaded = false
  #seq = 0
  #head: Head = { seq: 0, ordinal: 0, marks: new Map() }
  #entries: LogRow[] = []
  /** Whether `#entries` begin with the log's first. */
  #whole = false
  #registersAt = 0
  #page = FIRST_PAGE
  #opener: LogRow | undefined
  /** Ordinals of messages that opened rounds before the entries, as far as they were asked for. */
  readonly #opened = new Map<string, number>()
  /** Id of the epoch to which the entries were trimmed. */
  #trimmed: string | undefined
  /** Rewinds between the opener and the entries: they may hide it. */
  #rewinds: readonly LogRow[] = []
  #epoch: CurrentEpoch | undefined
  // Derived from the above, and dropped whenever they change.
  #rows: readonly LogRow[] | undefined
  #conversation: Conversation | undefined
  #before: readonly Gap[] | undefined
  #parted:
    | { readonly covering: Covering; readonly gaps: readonly Gap[]; readonly parts: readonly Gap[] }
    | undefined

  constructor(store: ScopeStore, lane: string, also: Also = async () => {}) {
    this.#store = store
    this.#slot = `epoch/${lane}`
    this.#also = also
  }

  get head(): Head {
    return this.#head
  }

  /** Seq of the newest change to a register of the session's own, heads aside, as far as it was seen. */
  get registersAt(): number {
    return this.#registersAt
  }

  /** The lane's current epoch, if there is one that can be read. */
  get epoch(): CurrentEpoch | undefined {
    return this.#epoch
  }

  /** Id that the lane's next epoch names as its base, and that epoch's place in the chain. */
  get next(): { readonly base: string | null; readonly place: number } {
    const current = this.#head.marks.get(this.#slot)
    return { base: current?.id ?? null, place: (current?.chain ?? 0) + 1 }
  }

  get opener(): LogRow | undefined {
    return this.#opener
  }

  /** Rewinds between the opener and the other rows. */
  get rewinds(): readonly LogRow[] {
    return this.#rewinds
  }

  /** Whether the whole log is here. */
  get whole(): boolean {
    return this.#whole
  }

  get rows(): readonly LogRow[] {
    this.#rows ??= this.#opener ? [this.#opener, ...this.#entries] : this.#entries
    return this.#rows
  }

  get conversation(): Conversation {
    this.#conversation ??= fold(
      [...this.#rewinds, ...this.#entries],
      (row) => this.#message(row),
      this.#opener,
    )
    return this.#conversation
  }

  async before(covering: Covering | undefined): Promise<readonly Gap[]> {
    const gaps = this.#before ?? (await this.#readBefore(this.#store))
    if (!covering || gaps.length === 0) return gaps
    if (this.#parted?.covering !== covering || this.#parted.gaps !== gaps)
      this.#parted = { covering, gaps, parts: await partedBy(this.#store, gaps, covering) }
    return this.#parted.parts
  }

  /** The entry of that id, from memory or from the log. */
  async entry(reads: Reads, id: string): Promise<LogRow | undefined> {
    return this.#entries.findLast((row) => row.id === id) ?? readEntry(reads, id)
  }

  /** Reads what is new since the last time; the first time, the window. */
  async refresh(): Promise<void> {
    if (!this.#loaded) {
      await this.#load()
      return
    }
    for (let more = true; more; ) {
      const changes = await this.#store.changesSince(this.#seq)
      more = changes.more
      this.#head = changes.head
      if (changes.rows.length === 0) break
      if (changes.rows.some(({ kind }) => kind === 'delete' || kind === 'erase')) {
        await this.#load()
        return
      }
      const changed = changes.rows.findLast(({ kind, id }) => kind === 'put' && !id.startsWith(HEAD_KEY))
      this.#registersAt = changed?.seq ?? this.#registersAt
      const entries = changes.rows.filter(isEntry)
      this.#entries.push(...entries)
      this.#seq = changes.rows.at(-1)?.seq ?? this.#seq
      this.#rows = undefined
      this.#conversation &&= grow(this.#conversation, entries, (row) => this.#message(row))
    }
    if (this.next.base !== (this.#epoch?.mark.id ?? null)) await this.#readEpoch(this.#store)
    await this.#also(this.#store, this, false)
    // A writer that never builds a context has no epoch to trim by.
    if (!this.#epoch && this.#entries.length > MOST_ROWS) await this.#load()
    // As a view that is read now would be: whoever began the epoch, and whatever was read back since.
    if (this.#epoch) await this.#trim(this.#epoch.mark)
  }

  /** Reads the end of the log as a lane without an epoch would: what was shown again may stand before what is held here. */
  async reopen(): Promise<void> {
    if (!this.#whole) await this.#readBack(FIRST_PAGE, [])
  }

  /** Reads a further page of older entries. */
  async extend(): Promise<void> {
    if (!this.#whole) await this.#readBack(Math.min(PAGE_ROWS, this.#page * 2), this.#entries)
  }

  /** Reads back to the first of these rounds that opened after so many messages. @returns whether there is one */
  async include({
    rounds,
    after,
  }: {
    readonly rounds: ReadonlySet<string>
    readonly after: number
  }): Promise<boolean> {
    for (const id of rounds)
      if (!this.#opened.has(id)) this.#opened.set(id, (await readEntry(this.#store, id))?.ordinal ?? 0)
    const found = [...rounds].flatMap((id) => this.#opened.get(id) ?? []).filter((ordinal) => ordinal > after)
    if (found.length === 0) return false
    const first = Math.min(...found)
    while (!this.#whole && (this.#entries[0]?.ordinal ?? 0) > first) await this.extend()
    return true
  }

  /** Reads so many entries before the first of these. */
  async #readBack(last: number, entries: readonly LogRow[]): Promise<void> {
    const [first] = entries
    const { rows, more } = await this.#store.entries({ last, ...(first && { to: first.id }) })
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
    if (index < 0) {
      // Another writer's epoch may begin before what is held here: it took a rewind back.
      if (readFrom !== undefined || !this.#whole) await this.#load()
      this.#trimmed = id
      return
    }
    const dropped = this.#entries.slice(0, index)
    await this.#hold(this.#store, this.#entries.slice(index), this.#whole && index === 0, windowFrom)
    for (const { id } of dropped) this.#messages.delete(id)
    this.#page = FIRST_PAGE
    this.#trimmed = id
  }

  /** The message in a row, parsed once. */
  #message(row: LogRow): Message | undefined {
    let message = this.#messages.get(row.id)
    if (message || row.body === null) return message
    message = messageIn(row)
    if (message) this.#messages.set(row.id, message)
    return message
  }

  #changed(): void {
    this.#rows = undefined
    this.#conversation = undefined
  }

  async #load(): Promise<void> {
    const store = this.#store
    await (store.snapshot ? store.snapshot((reads) => this.#loadFrom(reads)) : this.#loadFrom(store))
  }

  async #loadFrom(reads: Reads): Promise<void> {
    this.#loaded = false
    this.#messages.clear()
    this.#opened.clear()
    this.#trimmed = undefined
    this.#entries = []
    this.#changed()
    this.#page = FIRST_PAGE
    this.#before = undefined
    this.#head = await reads.head()
    this.#seq = this.#head.seq
    this.#registersAt = this.#seq
    await this.#readEpoch(reads)
    await this.#also(reads, this, true)
    const mark = this.#epoch?.mark
    const from = mark?.readFrom ?? mark?.windowFrom ?? undefined
    const { rows, more } = mark
      ? { rows: await readRange(reads, from), more: from !== undefined }
      : await reads.entries({ last: this.#page })
    // What was written after the head was read comes with the next refresh.
    const known = rows.filter((row) => row.seq <= this.#seq)
    await this.#hold(reads, known, !more, mark?.windowFrom)
    if (mark) await this.#readBefore(reads)
    this.#trimmed = mark?.id
    this.#loaded = true
  }

  /** Takes entries over, with the opener that belongs to them; nothing changes before all is read. */
  async #hold(reads: Reads, entries: LogRow[], whole: boolean, windowFrom?: string | null): Promise<void> {
    const { opener, rewinds } = whole ? NOTHING_APART : await readApart(reads, entries, windowFrom)
    this.#rewinds = rewinds
    this.#opener = opener
    this.#entries = entries
    this.#whole = whole
    this.#before = undefined
    this.#changed()
  }

  async #readBefore(reads: Reads): Promise<readonly Gap[]> {
    this.#before = this.#whole ? [] : await rangesBefore(reads, this.#head.first, this.#entries, this.#opener)
    return this.#before
  }

  async #readEpoch(reads: Reads): Promise<void> {
    const current = this.#head.marks.get(this.#slot)
    this.#epoch = undefined
    if (!current) return
    const row = await this.entry(reads, current.id)
    const mark = row && (markIn(row) as EpochMark | undefined)
    if (mark) this.#epoch = { mark, seq: current.seq, place: current.chain }
  }
}

/**
 * The slice that was shown when message `id` was the newest, with the epoch in force then: before any rewind that followed,
 * unless the lane's first epoch came after that. Undefined when the lane had no epoch yet, or it cannot be read any more.
 */
export async function readPast(
  store: Reads,
  lane: string,
  id: string,
): Promise<(Slice & { readonly epoch: CurrentEpoch; readonly rewinds: readonly LogRow[] }) | undefined> {
  const after = async (kinds: readonly EntryKind[]): Promise<string | undefined> =>
    (await store.entries({ after: id, first: 1, kinds })).rows[0]?.id
  let to = await after(['message', 'rewind'])
  let row = await lastEpoch(store, lane, to)
  if (!row) {
    to = await after(['message'])
    row = await lastEpoch(store, lane, to)
  }
  const mark = row && (markIn(row) as EpochMark | undefined)
  if (!row || !mark) return undefined
  const entries = await readRange(store, mark.readFrom ?? mark.windowFrom ?? undefined, to)
  const { opener, rewinds } = await readApart(store, entries, mark.windowFrom)
  const { first } = await store.head()
  const rows = opener ? [opener, ...entries] : entries
  return {
    rows,
    opener,
    rewinds,
    conversation: fold([...rewinds, ...entries], undefined, opener),
    before: async (covering) => partedBy(store, await rangesBefore(store, first, entries, opener), covering),
    epoch: { mark, seq: row.seq, place: row.chain ?? 1 },
  }
}

/** The newest applied epoch of a lane before an entry. */
async function lastEpoch(store: Reads, lane: string, to: string | undefined): Promise<LogRow | undefined> {
  for (let before = to; ; ) {
    const page = await store.entries({
      last: PAGE_ROWS,
      kinds: ['epoch'],
      ...(before !== undefined && { to: before }),
    })
    const found = page.rows.findLast((row) => row.lane === lane && row.applied)
    if (found || !page.more) return found
    before = page.rows[0]?.id
  }
}

/** What belongs to entries but stands apart before them: their opener, and the rewinds since, which may hide it. */
interface Apart {
  readonly opener: LogRow | undefined
  readonly rewinds: readonly LogRow[]
}

const NOTHING_APART: Apart = { opener: undefined, rewinds: [] }

async function readApart(
  store: Reads,
  entries: readonly LogRow[],
  windowFrom: string | null | undefined,
): Promise<Apart> {
  const opener = await findOpener(store, entries, windowFrom)
  return opener ? { opener, rewinds: await rewindsBetween(store, opener, entries) } : NOTHING_APART
}

/** Rewinds between an opener and entries further on. */
async function rewindsBetween(
  store: Reads,
  { id: from }: LogRow,
  entries: readonly LogRow[],
): Promise<readonly LogRow[]> {
  const rewinds: LogRow[] = []
  for (let to = entries[0]?.id; to !== undefined; ) {
    const page = await store.entries({ from, to, last: PAGE_ROWS, kinds: ['rewind'] })
    rewinds.unshift(...page.rows)
    to = page.more ? page.rows[0]?.id : undefined
  }
  return rewinds
}

/** The messages before `entries` as ranges: all, or those before the opener and those between it and the entries. */
async function rangesBefore(
  store: Reads,
  oldest: string | undefined,
  entries: readonly LogRow[],
  opener: LogRow | undefined,
): Promise<readonly Gap[]> {
  // Entries without any message stand after all messages but theirs.
  const first = entries.find(({ kind }) => kind === 'message') ?? entries.at(-1)
  if (!first || oldest === undefined) return []
  const last = first.kind === 'message' ? first.ordinal - 1 : first.ordinal
  const kinds: readonly EntryKind[] = ['message']
  const before = async (row: LogRow): Promise<string> =>
    (await store.entries({ to: row.id, last: 1, kinds })).rows[0]?.id ?? oldest
  const gaps: Gap[] = []
  const start = opener ? opener.ordinal + 1 : 1
  if (opener && opener.ordinal > 1)
    gaps.push({ from: oldest, to: await before(opener), first: 1, last: opener.ordinal - 1 })
  if (start <= last) {
    const from = opener && (await store.entries({ after: opener.id, first: 1, kinds })).rows[0]
    gaps.push({ from: from?.id ?? oldest, to: await before(first), first: start, last })
  }
  return gaps
}

/** Ranges, parted where what a summary covers begins and ends. */
async function partedBy(
  store: Reads,
  gaps: readonly Gap[],
  covering: Covering | undefined,
): Promise<readonly Gap[]> {
  if (!covering) return gaps
  const { from, skipped = 0 } = covering.mark
  const end = endOf(covering.mark)
  return partedAt(store, await partedAt(store, gaps, skipped, from), end.count, end.from)
}

/** Ranges, parted between the messages of these ordinals: `last`, and the one after it, whose id is given. */
async function partedAt(
  store: Reads,
  gaps: readonly Gap[],
  last: number,
  next: string | undefined,
): Promise<readonly Gap[]> {
  const index = gaps.findIndex((gap) => gap.first <= last && last < gap.last)
  const gap = gaps[index]
  if (!gap || next === undefined) return gaps
  const { rows } = await store.entries({ to: next, last: 1, kinds: ['message'] })
  const parts = [
    { from: gap.from, to: rows[0]?.id ?? gap.from, first: gap.first, last },
    { from: next, to: gap.to, first: last + 1, last: gap.last },
  ]
  return [...gaps.slice(0, index), ...parts, ...gaps.slice(index + 1)]
}
