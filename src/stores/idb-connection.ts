import type { Handle, OpenOptions } from './idb-open.ts'
import { RESERVE, type ReserveRow, TABLES, type TableName } from './idb-schema.ts'
import { all, type Engine, Requests, runInTransaction } from './idb-transaction.ts'

export interface ConnectionOptions extends OpenOptions {
  readonly durability: 'strict' | 'relaxed'
}

const ALL = Object.keys(TABLES) as readonly TableName[]

/**
 * What reads rows: a connection, each time in a transaction of its own, or one transaction for all.
 */
export interface Reader {
  /** Runs `work` in a transaction that sees one state of these tables. */
  read<Result>(tables: readonly TableName[], work: (requests: Requests) => Promise<Result>): Promise<Result>
  /** One row. */
  first<Row>(table: TableName, key: IDBValidKey): Promise<Row | undefined>
  /** Whether what is read next is read in the same transaction. */
  readonly shared: boolean
}

/**
 * One open handle of the database, and the engine's own requests on it. Closed ones are thrown
 * away, never used again.
 */
export class Connection implements Reader {
  readonly shared = false
  readonly #handle: Handle
  readonly #options: ConnectionOptions

  constructor(handle: Handle, options: ConnectionOptions) {
    this.#handle = handle
    this.#options = options
  }

  async read<Result>(
    tables: readonly TableName[],
    work: (requests: Requests) => Promise<Result>,
  ): Promise<Result> {
    return work(new Requests(this.#transaction(tables, 'readonly'), this.#engine()))
  }

  /** Runs `work` in one transaction over all tables; resolves when it is complete, not before. */
  async write<Result>(work: (requests: Requests) => Promise<Result>, tables = ALL): Promise<Result> {
    return runInTransaction(this.#transaction(tables, 'readwrite'), this.#engine(), work)
  }

  async first<Row>(table: TableName, key: IDBValidKey): Promise<Row | undefined> {
    const request = this.#transaction([table], 'readonly').objectStore(table).get(key)
    const [row] = await all<Row>([request])
    return row
  }

  /** Runs `work` on a reader that has one transaction for all that it reads of a scope. */
  snapshot<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.read(['head', 'log', 'register', 'index', 'sum'], (requests) =>
      work({
        shared: true,
        read: (_, read) => read(requests),
        first: (table, key) => requests.once(table, key),
      }),
    )
  }

  /** Puts the reserve; fails where there is no room for it. */
  async fillReserve(bytes: Uint8Array): Promise<void> {
    const row: ReserveRow = { key: RESERVE, bytes }
    await this.write(async (requests) => void requests.table('meta').put(row), ['meta'])
  }

  /**
   * Gives the reserve back. Engines that are full refuse whatever else there is in a transaction.
   */
  async freeReserve(): Promise<void> {
    await this.write(async (requests) => void requests.table('meta').delete(RESERVE), ['meta'])
  }

  close(): void {
    this.#handle.close()
  }

  #engine(): Engine {
    const { indexedDB = globalThis.indexedDB, IDBKeyRange = globalThis.IDBKeyRange } = this.#options
    return { indexedDB, IDBKeyRange }
  }

  #transaction(tables: readonly string[], mode: IDBTransactionMode): IDBTransaction {
    return this.#handle.transaction(tables, mode, { durability: this.#options.durability })
  }
}
