import type { SqlLike, SqlStorageLike, SqlValue } from './sql-schema.ts'
import type { SqliteHandle, SqliteStatement, SqliteValue } from './sqlite-handle.ts'

/** Most statements that are kept prepared. Their texts differ by how many values they list. */
const STATEMENTS = 256

/** An open database with the methods of a Durable Object's storage. */
export class SqliteStorage implements SqlStorageLike {
  readonly sql: SqlLike = { exec: (query, ...bindings) => this.#exec(query, bindings) }
  readonly #handle: SqliteHandle
  readonly #begin: string
  readonly #statements = new Map<string, SqliteStatement>()
  #depth = 0

  /** @param isReader whether its transactions only read */
  constructor(handle: SqliteHandle, isReader: boolean) {
    this.#handle = handle
    // A transaction that asks for its write lock later may be refused it.
    this.#begin = isReader ? 'BEGIN' : 'BEGIN IMMEDIATE'
  }

  /** One in another is a part of it that is undone alone. */
  transactionSync<Result>(closure: () => Result): Result {
    const isOuter = this.#depth === 0
    this.#handle.exec(isOuter ? this.#begin : `SAVEPOINT plimsoll_${this.#depth}`)
    this.#depth++
    try {
      const result = closure()
      this.#handle.exec(isOuter ? 'COMMIT' : `RELEASE plimsoll_${this.#depth - 1}`)
      return result
    } catch (error) {
      this.#undo(isOuter)
      throw error
    } finally {
      this.#depth--
    }
  }

  #undo(isOuter: boolean): void {
    const name = `plimsoll_${this.#depth - 1}`
    try {
      this.#handle.exec(isOuter ? 'ROLLBACK' : `ROLLBACK TO ${name}; RELEASE ${name}`)
    } catch {
      // SQLite has undone it by itself, as it does where the disk is full.
    }
  }

  #exec(query: string, bindings: readonly SqlValue[]): ReturnType<SqlLike['exec']> {
    const values = bindings.map(
      (value): SqliteValue => (value instanceof ArrayBuffer ? new Uint8Array(value) : value),
    )
    const rows = this.#prepare(query).all(...values)
    return { toArray: () => rows }
  }

  #prepare(query: string): SqliteStatement {
    const found = this.#statements.get(query)
    if (found) return found
    if (this.#statements.size === STATEMENTS) this.#statements.clear()
    const made = this.#handle.prepare(query)
    this.#statements.set(query, made)
    return made
  }
}
