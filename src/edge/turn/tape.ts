import type { Host } from '../../ports/host.ts'
import { joinedBytes } from '../../ports/joined-bytes.ts'
import { type Deferred, deferred } from './deferred.ts'
import type { RunEnd, RunTables, Stretch } from './run-tables.ts'

/** Milliseconds in which bytes are gathered for one row: the price of a chat is in its rows. */
const FLUSH_MS = 15_000
/** Bytes that make a row by themselves. */
const FLUSH_BYTES = 2 ** 16

/** What a stream of a run is read from. */
export interface TapeSource {
  /** Bytes from number `at` on, some of them; undefined: there are none yet. */
  read(at: number): Uint8Array | undefined
  /** Whether nothing will be added to it. */
  readonly hasEnded: boolean
  /** Resolves when something was added, or nothing will be. */
  more(): Promise<void>
}

/** Where a tape is kept. */
export interface TapeStorage {
  readonly tables: RunTables
  readonly place: number
  readonly host: Pick<Host, 'now'>
  /**
   * Contract: told of each write to storage that failed. What it was to hold stays in memory, and
   * goes with the next one.
   */
  readonly onFailure: (error: unknown) => void
}

/**
 * What a run streams, while it goes on: kept in its object's storage, a row for some seconds but
 * for long texts, and in memory until it is there, the newest row for its readers too. However
 * many read it, and however slowly, it holds no more than that. Without a storage it is for one
 * reader, and lets go of what was read. No timer is kept, since with one an object cannot rest.
 */
export class RunTape implements TapeSource {
  readonly #storage: TapeStorage | undefined
  readonly #encoder = new TextEncoder()
  #pieces: Uint8Array[] = []
  #stored = 0
  /** The row that was written last: most who read are no further behind. */
  #last: Stretch | undefined
  #waiting = 0
  #hasEnded = false
  #hasFailed = false
  #flushedAt: number
  #next: Deferred | undefined

  constructor(storage?: TapeStorage) {
    this.#storage = storage
    this.#flushedAt = storage?.host.now() ?? 0
  }

  get size(): number {
    return this.#stored + this.#waiting
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether a write of it failed, so that its row may say that the run goes on. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  write(text: string): void {
    if (text === '' || this.#hasEnded) return
    const bytes = this.#encoder.encode(text)
    this.#pieces.push(bytes)
    this.#waiting += bytes.length
    const { host } = this.#storage ?? {}
    if (this.#waiting >= FLUSH_BYTES || (host && host.now() - this.#flushedAt >= FLUSH_MS)) this.#flush()
    this.#wake()
  }

  /** Stores what is in memory. */
  keep(): void {
    if (this.#waiting > 0) this.#flush()
  }

  /** Writes the last of it and how the run ended, both or none. */
  end(text: string, end: RunEnd): void {
    this.write(text)
    this.#hasEnded = true
    this.#flush(end)
    this.#wake()
  }

  /** Ends it without a trace, for a run that did not begin. */
  drop(): void {
    this.#hasEnded = true
    this.#wake()
  }

  read(at: number): Uint8Array | undefined {
    const last = this.#last
    if (last && at >= last.at && at < this.#stored) return last.bytes.slice(at - last.at)
    if (at < this.#stored) return this.#storage?.tables.read(this.#storage.place, at)
    if (at >= this.size) return undefined
    const bytes = this.#joined().slice(at - this.#stored)
    if (!this.#storage) this.#letGo()
    return bytes
  }

  more(): Promise<void> {
    if (this.#hasEnded) return Promise.resolve()
    this.#next ??= deferred()
    return this.#next.promise
  }

  #flush(end?: RunEnd): void {
    if (!this.#storage) return
    const { tables, place, host, onFailure } = this.#storage
    this.#flushedAt = host.now()
    const stretch: Stretch = { at: this.#stored, bytes: this.#joined() }
    try {
      if (end) tables.end(place, end, stretch)
      else tables.transaction(() => tables.write(place, stretch))
      if (stretch.bytes.length > 0) this.#last = stretch
      this.#letGo()
    } catch (error) {
      this.#hasFailed = true
      onFailure(error)
    }
  }

  /** What is in memory is in storage now, or was read by whom it is for. */
  #letGo(): void {
    this.#stored += this.#waiting
    this.#pieces = []
    this.#waiting = 0
  }

  #joined(): Uint8Array<ArrayBuffer> {
    const joined = joinedBytes(this.#pieces)
    this.#pieces = [joined]
    return joined
  }

  #wake(): void {
    this.#next?.resolve()
    this.#next = undefined
  }
}

/** What an ended run streamed. */
export function endedTape(tables: RunTables, place: number): TapeSource {
  return { read: (at) => tables.read(place, at), hasEnded: true, more: () => Promise.resolve() }
}
