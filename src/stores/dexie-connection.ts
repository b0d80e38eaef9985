import { Dexie } from 'dexie'
import { outdated } from './dexie-errors.ts'
import { DATABASE_VERSION, RESERVE, type ReserveRow, TABLES, type TableName } from './dexie-schema.ts'
import { all, type Engine, Requests, runInTransaction } from './idb-transaction.ts'

export interface ConnectionOptions extends Partial<Engine> {
  readonly name: string
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
 * One open handle of the database: Dexie opens, upgrades and closes it, the requests are the
 * engine's own. Closed ones are thrown away, never used again.
 */
export class Connection implements Reader {
  readonly shared = false
  readonly #durability: 'strict' | 'relaxed'
  readonly #given: Partial<Engine>
  readonly #dexie: Dexie

  /**
   * @param onReady runs each time the database was opened, before anything else does; Dexie may do
   * that on its own. What it throws fails the opening.
   * @param onClose runs when the handle was closed, by whomever.
   */
  constructor(
    { name, durability, ...engine }: ConnectionOptions,
    onReady: (connection: Connection) => Promise<void>,
    onClose: (connection: Connection) => void,
  ) {
    const dexie = new Dexie(name, { ...engine, autoOpen: false })
    // Runs for databases of older versions alone. What it throws undoes the upgrade.
    dexie
      .version(DATABASE_VERSION)
      .stores(TABLES)
      .upgrade(() => {
        throw outdated(name)
      })
    dexie.on('ready', () => onReady(this), true)
    // An upgrade by a newer tab, or a deletion, must not wait for this one. Dexie's own listener
    // would open it again.
    dexie.on('versionchange', () => {
      this.close()
      return false
    })
    dexie.on('close', () => onClose(this))
    this.#dexie = dexie
    this.#durability = durability
    this.#given = engine
  }

  async open(): Promise<this> {
    await this.#dexie.open()
    return this
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
    this.#dexie.close()
  }

  #engine(): Engine {
    const { indexedDB, IDBKeyRange } = globalThis
    return { indexedDB, IDBKeyRange, ...this.#given }
  }

  #transaction(tables: readonly string[], mode: IDBTransactionMode): IDBTransaction {
    const database = this.#dexie.backendDB()
    if (!database) throw new DOMException('the handle is closed', 'InvalidStateError')
    return database.transaction(tables, mode, { durability: this.#durability })
  }
}
