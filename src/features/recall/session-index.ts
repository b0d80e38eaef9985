import { messageIn } from '../../kernel/log/bodies.ts'
import { hiddenBy } from '../../kernel/log/fold.ts'
import { readRewinds } from '../../kernel/log/history.ts'
import { joinedBytes } from '../../ports/joined-bytes.ts'
import { idIn, type Name } from '../../ports/op.ts'
import type { DerivedRow, LogRow, ScopeStore } from '../../ports/store.ts'
import { BLOCK, type LexicalTerms } from './lexical-terms.ts'
import { RecallIndex } from './recall-index.ts'
import { toPrefixed, Varints } from './varints.ts'

/** What keys of blocks begin with. The place of its first message follows. */
const PREFIX = 'recall/'
/** Digits of a place in a block's key, so that keys sort as numbers. */
const DIGITS = 15
/** Messages from the end of a log within which its last block is looked for. */
const FAR_BACK = 4 * BLOCK

/** What was read of a session's log. */
export interface SessionRead {
  readonly index: RecallIndex
  /** Up to which seq of the log. */
  readonly seq: number
  /** How often it was seen so far that all that is derived from the log is gone. */
  readonly dropped: number
  /** Messages that a rewind hides. */
  readonly hidden: ReadonlySet<string>
  /** Seq of the newest rewind; 0: there is none. */
  readonly rewoundAt: number
  /** Of what is kept elsewhere: what was said later may be missing, Unix milliseconds. */
  readonly asOf?: number
}

export interface SessionIndexParts extends LexicalTerms {
  readonly store: ScopeStore
}

/**
 * The words of one session's log, kept up to date by reading what is new. Blocks of them are kept
 * in the store, so that little has to be read when it is opened again; what is in no block is read
 * from its rows. Where a block ends depends on the log alone, so those who write at once write the
 * same.
 */
export class SessionIndex {
  readonly #parts: SessionIndexParts
  #index: RecallIndex
  /** Seq up to which the log is in the index. */
  #seq = 0
  /** As the head said when what is in the index was read. */
  #rebased: number | undefined
  /** Messages that are in blocks. */
  #kept = 0
  #dropped = 0
  /** By place, the seq of each message; of those in a loaded block, that of its last. */
  #seqs: number[] = []

  constructor(parts: SessionIndexParts) {
    this.#parts = parts
    this.#index = new RecallIndex(parts.stemmer)
  }

  /** Whether as much was read that is in no block as fills one. */
  get waits(): boolean {
    return this.#seqs.length - this.#kept >= BLOCK
  }

  /** The index of the whole log, and the messages that a rewind hides. */
  async read(): Promise<SessionRead> {
    await this.#refresh()
    const rewinds = await readRewinds(this.#parts.store)
    const [hidden, rewoundAt] = [hiddenBy(rewinds), rewinds.at(-1)?.seq ?? 0]
    return { index: this.#index, seq: this.#seq, dropped: this.#dropped, hidden, rewoundAt }
  }

  /**
   * Keeps what is in no block yet, as far as it fills one; off the hot path. What was not read yet
   * for a search stays unread.
   */
  async keep(): Promise<void> {
    const end = this.#seq === 0 ? await this.#openEnd() : undefined
    // With what was forgotten meanwhile all blocks are gone.
    if (end && (await end.#advance()) && end.#kept > 0) return end.#write()
    await this.#refresh()
    return this.#write()
  }

  async #write(): Promise<void> {
    while (this.waits) {
      const end = this.#blockEnd()
      const bytes = this.#encode(end)
      // What was forgotten meanwhile must not come back with a block.
      if (!(await this.#parts.store.derive({ key: keyOf(this.#kept), bytes }, this.#seq))) return
      this.#kept = end
    }
  }

  /**
   * An index to write further blocks with, which holds nothing of those that are there: in a long
   * log they are many.
   */
  async #openEnd(): Promise<SessionIndex | undefined> {
    const { store } = this.#parts
    const { ordinal } = await store.head()
    let last: DerivedRow | undefined
    for (let after = keyOf(Math.max(0, ordinal - FAR_BACK)); ; after = last.key) {
      const row = (await store.derived(PREFIX, after)).at(-1)
      if (!row) break
      last = row
    }
    if (!last) return undefined
    const [kind, seq, messages] = headerIn(last.bytes).header
    if (kind !== this.#parts.id) return undefined
    const end = new SessionIndex(this.#parts)
    end.#index.leave(placeOf(last.key) + messages)
    end.#goOnAfter(seq)
    return end
  }

  async #refresh(): Promise<void> {
    try {
      while (!(await this.#advance())) this.#reset()
    } catch (error) {
      // A part of what was to be read may be in the index by now.
      this.#reset()
      throw error
    }
  }

  /** Reads on. False, where something was forgotten meanwhile that the index holds. */
  async #advance(): Promise<boolean> {
    const { store } = this.#parts
    // What was deleted up to there is in no row or block that is read from now on.
    const known = this.#seq === 0 ? await this.#load() : this.#seq
    const loaded = this.#seq
    // Of blocks that others kept meanwhile, some may be older than what was deleted before the
    // newest of them.
    let from = Math.min(known, loaded)
    for (let more = true; more; ) {
      const { rows, more: further, head } = await store.changesSince(from)
      more = further
      // Rows changed their places: with that all blocks are gone.
      if (this.#rebased !== head.rebased) {
        this.#rebased = head.rebased
        if (from > 0) return false
      }
      for (const row of rows) {
        if (row.kind === 'message' && row.seq > loaded) this.#add(row)
        if (row.seq > known && this.#isForgotten(row)) return false
      }
      from = rows.at(-1)?.seq ?? from
    }
    this.#seq = Math.max(loaded, from)
    return true
  }

  /**
   * Loads blocks, each of which goes on where the one before ends. @returns the seq of the log
   * before that
   */
  async #load(): Promise<number> {
    const { store } = this.#parts
    const { seq: known } = await store.head()
    for (let after: string | undefined; ; ) {
      const rows = await store.derived(PREFIX, after)
      for (const row of rows) if (!this.#take(row)) return known
      after = rows.at(-1)?.key
      if (after === undefined) return known
    }
  }

  /** Takes a block that goes on where the index ends. False: it does not, or is of another kind. */
  #take({ key, bytes }: DerivedRow): boolean {
    const { header, block } = headerIn(bytes)
    const [kind, seq] = header
    if (key !== keyOf(this.#kept) || kind !== this.#parts.id || !this.#index.load(block)) return false
    this.#goOnAfter(seq)
    return true
  }

  /** All that is in the index is in blocks, of which the last ends with that op. */
  #goOnAfter(seq: number): void {
    this.#kept = this.#index.size
    this.#seq = seq
    while (this.#seqs.length < this.#kept) this.#seqs.push(seq)
  }

  /**
   * Place after the block that comes next: where an op ends, so that reading on after its seq
   * leaves nothing out.
   */
  #blockEnd(): number {
    let end = this.#kept + BLOCK
    while (this.#seqs[end] === this.#seqs[end - 1]) end++
    return end
  }

  #encode(end: number): Uint8Array<ArrayBuffer> {
    const header: Header = [this.#parts.id, this.#seqs[end - 1] as number, end - this.#kept]
    return joinedBytes([...toPrefixed(header), this.#index.encode(this.#kept, end)])
  }

  /**
   * Takes note of what empties entries: with it all blocks are gone. @returns whether the index
   * holds any of them
   */
  #isForgotten({ kind, id }: LogRow): boolean {
    if (kind !== 'delete' && kind !== 'erase') return false
    this.#kept = 0
    this.#dropped++
    return kind === 'erase' || this.#index.has(idIn('entry', id as Name) ?? '')
  }

  #add(row: LogRow): void {
    this.#seqs.push(row.seq)
    const message = messageIn(row)
    if (message) this.#index.add(row.id, this.#parts.termsOf(message))
    // It keeps its place, so that its neighbours keep theirs.
    else this.#index.leave(1)
  }

  #reset(): void {
    this.#index = new RecallIndex(this.#parts.stemmer)
    this.#seq = 0
    this.#kept = 0
    this.#seqs = []
  }
}

function keyOf(place: number): string {
  return `${PREFIX}${String(place).padStart(DIGITS, '0')}`
}

/** Place of a block's first message. */
function placeOf(key: string): number {
  return Number(key.slice(PREFIX.length))
}

/** What a block begins with: how its terms were made, the seq of its last op, and its messages. */
type Header = readonly [kind: string, seq: number, messages: number]

function headerIn(bytes: Uint8Array): { readonly header: Header; readonly block: Uint8Array } {
  const reader = new Varints(bytes)
  return { header: reader.json() as Header, block: reader.rest() }
}
