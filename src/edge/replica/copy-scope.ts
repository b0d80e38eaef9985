import { nothingWritten } from '../../kernel/log/decide.ts'
import { registerPages } from '../../kernel/log/register-pages.ts'
import { carriers, type Followed, followed } from '../../operations/transfer/follow.ts'
import { attachmentsOf, emptiedIn, marksOf } from '../../operations/transfer/rows.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Name } from '../../ports/op.ts'
import { type LogRow, PAGE_UNITS, type RegisterRow, type ScopeStore } from '../../ports/store.ts'

export interface CopyOptions {
  /** Contract: Unix milliseconds; for attachments alone. */
  readonly now: () => number
}

/** Most passes over a source that goes on to change. */
const MOST_PASSES = 8
/** Registers that were deleted and are written at once. */
const DELETED_AT_ONCE = 64

/**
 * Copies a session's scope as it is: log with seqs, ordinals and marks, registers with versions,
 * indexes and sums, what was deleted, and the attachments that messages name. The copy's contexts
 * are byte for byte those of the source. Idempotent and resumable: a run goes on where another one
 * ended, page by page of about 1 MiB. What the source writes meanwhile is copied too.
 *
 * Not copied, since the port does not tell: answers to ops that were refused, and attachments that
 * no message names. What was derived is rebuilt from the log. `indexed` of the head says whether
 * anything stands in an index, rather than ever stood.
 *
 * @param from may be in another object
 * @param to a scope in this object, empty, or what an earlier run left, which nobody else writes to
 * or has open
 * @returns the seq up to which it is a copy
 * @throws ERR_CONFLICT: `to` holds something else, or the source was erased or changed at every
 * look
 * @throws ERR_DECRYPT: a row of either cannot be decrypted. It is not taken for one that was
 * forgotten
 */
export async function copyScope(
  from: ScopeStore,
  to: ScopeStore,
  options: CopyOptions,
): Promise<{ readonly seq: number }> {
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    // Deletes after this are for the next pass: only what this one compares can be emptied with
    // them.
    const { seq } = await from.head()
    const copy = new Copy(from, to, options)
    await copy.compare()
    await copy.log(seq)
    await copy.registers()
    if ((await from.head()).seq === seq) return { seq }
  }
  throw conflict('the source changed during every attempt')
}

/** One pass of a copy. */
class Copy {
  readonly #from: ScopeStore
  readonly #to: ScopeStore
  readonly #options: CopyOptions
  /** How far the copy is. */
  #at = 0
  /** Registers that were ever put. */
  readonly #keys = new Set<string>()
  /** Entries that are in the copy and were emptied at the source since. */
  readonly #emptied: Name[] = []
  readonly #attached = new Set<string>()

  constructor(from: ScopeStore, to: ScopeStore, options: CopyOptions) {
    this.#from = from
    this.#to = to
    this.#options = options
  }

  /** Looks through what is there already: all of it must be the source's beginning. */
  async compare(): Promise<void> {
    for (;;) {
      const { rows: copied } = await this.#to.changesSince(this.#at)
      if (copied.length === 0) return
      const { rows } = await this.#from.changesSince(this.#at)
      // One of the pages may hold more, where bodies are gone; both end with an op.
      const count = Math.min(rows.length, copied.length)
      if (count === 0) throw conflict('the source has less than the copy')
      for (let index = 0; index < count; index++)
        this.#compare(rows[index] as LogRow, copied[index] as LogRow)
      this.#at = (copied[count - 1] as LogRow).seq
    }
  }

  #compare(row: LogRow, copied: LogRow): void {
    for (const { id, unreadable } of [row, copied]) if (unreadable) throw undecryptable(id)
    if (nameOf(row) !== nameOf(copied) || (row.body !== copied.body && row.body !== null))
      throw conflict(`the copy has something else at ${copied.seq}`)
    if (row.body !== copied.body) this.#emptied.push(`entry:${row.id}`)
    if (row.kind === 'put') this.#keys.add(row.id)
  }

  /** Copies the log up to a seq. */
  async log(seq: number): Promise<void> {
    while (this.#at < seq) {
      const page = await this.#from.changesSince(this.#at)
      const rows = page.rows.filter((row) => row.seq <= seq)
      const last = rows.at(-1)
      // What was there at the last look is not any more.
      if (!last) throw conflict('the source was erased')
      for (const { id, unreadable } of rows) if (unreadable) throw undecryptable(id)
      const used = rows.flatMap(attachmentsOf)
      await this.#attach(used)
      const emptied = new Set([...this.#emptied.splice(0), ...rows.flatMap(emptiedIn)])
      const at = this.#at
      await this.#write(at, { log: rows, marks: marksOf(rows), emptied: [...emptied], used })
      for (const { kind, id } of rows) if (kind === 'put') this.#keys.add(id)
      this.#at = last.seq
    }
  }

  /** Copies registers as they are now. */
  async registers(): Promise<void> {
    let batch: RegisterRow[] = []
    let units = 0
    const flush = async (): Promise<void> => {
      const rows = batch
      batch = []
      units = 0
      const emptied = rows.flatMap(({ key, body }): Name[] => (body === null ? [`register:${key}`] : []))
      if (rows.length > 0) await this.#write(this.#at, { registers: rows, emptied })
    }
    for await (const page of registerPages(this.#from, '')) {
      for (const row of page) {
        if (row.unreadable) throw undecryptable(row.key)
        const size = row.body?.length ?? 0
        if (units + size > PAGE_UNITS) await flush()
        batch.push(row)
        units += size
        this.#keys.delete(row.key)
      }
      await flush()
    }
    for (const key of this.#keys) {
      const row = await this.#from.register(key)
      if (row?.unreadable) throw undecryptable(key)
      if (row) batch.push(row)
      if (batch.length === DELETED_AT_ONCE) await flush()
    }
    await flush()
  }

  async #attach(ids: readonly string[]): Promise<void> {
    for (const id of new Set(ids)) {
      if (this.#attached.has(id)) continue
      const attachment = await this.#from.attachment(id)
      if (attachment) await this.#to.attach(attachment, this.#options.now())
      this.#attached.add(id)
    }
  }

  async #write(at: number, what: Followed): Promise<void> {
    let isMoved = false
    await this.#to.commit(carriers(what), (ops, rows) => {
      isMoved = rows.head.seq !== at
      return isMoved ? nothingWritten([]) : followed(ops, rows, what)
    })
    if (isMoved) throw conflict('others write to the copy')
  }
}

/** What never changes of a row. */
function nameOf({ body: _, derived: __, contexts: ___, ...row }: LogRow): string {
  return JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function conflict(reason: string): PlimsollError {
  return new PlimsollError('ERR_CONFLICT', `copyScope: ${reason}`)
}

function undecryptable(id: string): PlimsollError {
  return new PlimsollError('ERR_DECRYPT', `copyScope: ${id} cannot be decrypted`, { id })
}
