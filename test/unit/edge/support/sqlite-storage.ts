import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { SqlRow, SqlStorageLike, SqlValue } from '../../../../src/stores/sql-schema.ts'

export interface SqliteStorage extends SqlStorageLike {
  /** Statements that ran, their first words only. */
  readonly said: string[]
  /** From now on every statement that begins so fails, or the next so many. */
  failAt(beginning: string | undefined, times?: number): void
}

/**
 * A Durable Object's storage over Node's SQLite, in memory: another object that is made over it
 * knows what a restarted one would.
 */
export function sqliteStorage(): SqliteStorage {
  const database = new DatabaseSync(':memory:')
  const said: string[] = []
  let failing: string | undefined
  let left = 0
  let depth = 0
  return {
    said,
    failAt: (beginning, times = Infinity) => {
      failing = beginning
      left = times
    },
    sql: {
      exec(query: string, ...bindings: SqlValue[]) {
        said.push(query.slice(0, 40))
        if (failing !== undefined && query.startsWith(failing) && left-- > 0)
          throw new Error('no room: SQLITE_FULL')
        const values = bindings.map(
          (value): SQLInputValue => (value instanceof ArrayBuffer ? new Uint8Array(value) : value),
        )
        const rows = database
          .prepare(query)
          .all(...values)
          .map(
            (row): SqlRow =>
              Object.fromEntries(
                Object.entries(row).map(([name, value]) => [
                  name,
                  value instanceof Uint8Array ? value.slice().buffer : value,
                ]),
              ),
          )
        return { toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() }
      },
    },
    transactionSync<Result>(closure: () => Result): Result {
      const name = `s${depth++}`
      database.exec(`SAVEPOINT ${name}`)
      try {
        const result = closure()
        database.exec(`RELEASE ${name}`)
        return result
      } catch (error) {
        database.exec(`ROLLBACK TO ${name}`)
        database.exec(`RELEASE ${name}`)
        throw error
      } finally {
        depth--
      }
    },
  }
}
