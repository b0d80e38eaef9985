import { isPlimsollError } from '../../ports/errors.ts'
import { withStorageErrors } from '../../stores/sql-errors.ts'
import type { SqlRow, SqlStorageLike, SqlValue } from '../../stores/sql-schema.ts'

/**
 * SQLite's words for a table that was not made yet, or that is gone with the rest of the database.
 */
const NO_TABLE = 'no such table'

/**
 * Tables of the edge beside those of the store, in the SQLite of one Durable Object. They are made
 * by the first insert, so that asking an object for something that is not there leaves it
 * empty. Nothing is kept in memory of whether they are there: a transaction that was undone or
 * `deleteAll()` may have taken them away. All of it is synchronous, so that it is durable together
 * with what else its caller writes before the next `await`.
 *
 * @throws ERR_STORAGE, ERR_STORAGE_FULL
 */
export class EdgeTables {
  readonly #storage: SqlStorageLike
  readonly #schema: readonly string[]

  /**
   * @param schema statements that make them, each of which does nothing where it was done
   * (`IF NOT EXISTS`)
   */
  constructor(storage: SqlStorageLike, schema: readonly string[]) {
    this.#storage = withStorageErrors(storage)
    this.#schema = schema
  }

  /**
   * Runs a statement that reads, or changes what is there, and gives what it returns: nothing where
   * no table was made.
   */
  run(query: string, ...bindings: SqlValue[]): SqlRow[] {
    return this.#attempt(query, bindings) ?? []
  }

  /** Runs a statement that inserts, and gives what it returns. */
  insert(query: string, ...bindings: SqlValue[]): SqlRow[] {
    const inserted = this.#attempt(query, bindings)
    if (inserted) return inserted
    for (const statement of this.#schema) this.#storage.sql.exec(statement)
    return this.#storage.sql.exec(query, ...bindings).toArray()
  }

  /** All of it, or nothing if it throws. Contract: the closure is synchronous. */
  transaction<Result>(closure: () => Result): Result {
    return this.#storage.transactionSync(closure)
  }

  #attempt(query: string, bindings: readonly SqlValue[]): SqlRow[] | undefined {
    try {
      return this.#storage.sql.exec(query, ...bindings).toArray()
    } catch (error) {
      if (isPlimsollError(error) && error.message.includes(NO_TABLE)) return undefined
      throw error
    }
  }
}
