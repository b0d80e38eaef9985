import { PlimsollError } from '../ports/errors.ts'
import { idIn, type Name, type OpResult, type SealedOp } from '../ports/op.ts'
import {
  type Attachment,
  type Changes,
  type Decide,
  type DerivedRow,
  type EntriesQuery,
  type Head,
  type IndexQuery,
  isNothing,
  type OutboxRow,
  type Page,
  type RegisterRow,
  type Sum,
} from '../ports/store.ts'
import type { HeadRow } from './idb-schema.ts'
import type { LogTail } from './log-tail.ts'
import { type MapScopeStore, mapScopes } from './map-scope.ts'

/** What a store still knows of a scope whose database failed. */
export interface Remembered {
  readonly head: Head
  readonly tail: LogTail | undefined
  /** With its state as the replica of a home. */
  readonly row: Pick<HeadRow, 'replica'>
}

/** What goes on in memory of a store whose database failed. */
export class MemoryMode {
  readonly store = mapScopes()
  readonly #cause: unknown
  readonly #scopes = new Map<string, MemoryModeScope>()

  /** @param cause why the database is given up */
  constructor(cause: unknown) {
    this.#cause = cause
  }

  scope(name: string, remembered: Remembered | undefined): MemoryModeScope {
    let scope = this.#scopes.get(name)
    if (!scope) {
      scope = new MemoryModeScope(this.store.open({ userId: name }), remembered, this.#cause)
      this.#scopes.set(name, scope)
    }
    return scope
  }
}

/**
 * A scope that goes on in memory where its database failed: with the rows of its log that were in
 * memory then. What was before those cannot be read, and says so; registers, and what was derived,
 * begin empty.
 *
 * @throws ERR_STORAGE from whatever needs rows that are not in memory
 */
export class MemoryModeScope {
  readonly #memory: MapScopeStore
  readonly #cause: unknown
  /** All rows after this seq are in memory. */
  readonly #after: number
  readonly #seeded: Promise<unknown>
  readonly #isRemembered: boolean

  constructor(memory: MapScopeStore, remembered: Remembered | undefined, cause: unknown) {
    const { head, tail, row } = remembered ?? {}
    const log = tail?.rows ?? []
    this.#memory = memory
    this.#cause = cause
    this.#isRemembered = remembered !== undefined
    this.#after = tail?.after ?? head?.seq ?? 0
    this.#seeded = memory.commit([], () => ({
      results: [],
      erase: log.some(({ kind }) => kind === 'erase'),
      log,
      registers: [],
      unlisted: [],
      listed: [],
      sums: new Map(),
      emptied: log.flatMap(({ kind, id }) => (kind === 'delete' ? (id as Name) : [])),
      marks: [...(head?.marks.values() ?? [])],
      refused: [],
      used: [],
      ...(row?.replica !== undefined && { replica: { state: row.replica } }),
    }))
  }

  /** @returns the results, and whether anything was written. */
  async commit(
    ops: readonly SealedOp[],
    decide: Decide,
  ): Promise<{ readonly results: readonly OpResult[]; readonly wrote: boolean }> {
    await this.#seeded
    // What is to be removed is in the database: nobody must take it for removed.
    if (ops.some(({ envelope }) => envelope.kind === 'erase')) this.#need(-1)
    let wrote = false
    const results = await this.#memory.commit(ops, (all, rows) => {
      for (const { envelope } of ops) {
        const { ids, round, target } = envelope
        const removed = target === undefined ? [] : (idIn('entry', target) ?? target)
        const named = [round ?? [], removed].flat().filter((id) => !ids.includes(id))
        if (rows.head.seq === 0 || named.some((id) => !rows.entries.has(id))) this.#need(0)
      }
      const decision = decide(all, rows)
      wrote = !isNothing(decision)
      return decision
    })
    return { results, wrote }
  }

  async entries(query: EntriesQuery = {}): Promise<Page> {
    await this.#seeded
    const { first, after, from = after, to } = query
    for (const id of [from, to])
      if (id !== undefined && (await this.#memory.entries({ from: id, first: 1 })).rows.length === 0)
        this.#need(0)
    if (from === undefined && first !== undefined) this.#need(0)
    const page = await this.#memory.entries(query)
    if (page.more || from !== undefined || this.#after === 0) return page
    if (page.rows.length === 0) this.#need(0)
    return { ...page, more: true }
  }

  async head(): Promise<Head> {
    await this.#seeded
    const head = await this.#memory.head()
    if (head.seq === 0) this.#need(0)
    return head
  }

  register(key: string): Promise<RegisterRow | undefined> {
    return this.#memory.register(key)
  }

  registers(prefix: string, after?: string): Promise<readonly RegisterRow[]> {
    return this.#memory.registers(prefix, after)
  }

  indexed(group: string, query?: IndexQuery): Promise<readonly RegisterRow[]> {
    return this.#memory.indexed(group, query)
  }

  sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    return this.#memory.sums(groups)
  }

  async changesSince(seq: number): Promise<Changes> {
    await this.#seeded
    this.#need(seq)
    return this.#memory.changesSince(seq)
  }

  attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    return this.#memory.attach(attachment, at)
  }

  async attachment(id: string): Promise<Attachment | undefined> {
    const found = await this.#memory.attachment(id)
    // Whatever is known of the log says nothing of them.
    if (!found) this.#need(-1)
    return found
  }

  async attached(ids: readonly string[]): Promise<readonly string[]> {
    const found = await this.#memory.attached(ids)
    if (found.length < ids.length) this.#need(-1)
    return found
  }

  async derive(row: DerivedRow, seq: number): Promise<boolean> {
    await this.#seeded
    // Whether rows that are not in memory were emptied since then, nobody knows.
    return seq >= this.#after && this.#memory.derive(row, seq)
  }

  derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    return this.#memory.derived(prefix, after)
  }

  /**
   * What waits for a home is in the database. A scope of which nothing was read from there is here
   * a replica of its own, that begins empty.
   */
  async outbox(after: number): Promise<readonly OutboxRow[]> {
    await this.#seeded
    if (this.#isRemembered) this.#need(-1)
    return this.#memory.outbox(after)
  }

  /** @throws ERR_STORAGE unless all rows after `seq` are in memory */
  #need(seq: number): void {
    if (seq >= this.#after) return
    throw new PlimsollError(
      'ERR_STORAGE',
      'dexieStore: the database failed, and this call needs rows that are not in memory',
      { cause: this.#cause },
    )
  }
}
