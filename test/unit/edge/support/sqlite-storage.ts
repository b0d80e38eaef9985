import type { SqlStorageLike } from '../../../../src/stores/sql-schema.ts'
import { openSqlite } from '../../../../src/stores/sqlite-handle.ts'
import { SqliteStorage } from '../../../../src/stores/sqlite-storage.ts'

export interface FailingStorage extends SqlStorageLike {
  /** Statements that ran, their first words only. */
  readonly said: string[]
  /** From now on every statement that begins so fails, or the next so many. */
  failAt(beginning: string | readonly string[] | undefined, times?: number): void
}

/**
 * A Durable Object's storage over Node's SQLite, in memory: another object that is made over it
 * knows what a restarted one would.
 */
export function sqliteStorage(): FailingStorage {
  const storage = new SqliteStorage(openSqlite(':memory:', false), false)
  const said: string[] = []
  let failing: readonly string[] = []
  let left = 0
  return {
    said,
    failAt: (beginning, times = Infinity) => {
      failing = [beginning ?? []].flat()
      left = times
    },
    sql: {
      exec: (query, ...bindings) => {
        said.push(query.slice(0, 40))
        if (failing.some((beginning) => query.startsWith(beginning)) && left-- > 0)
          throw new Error('no room: SQLITE_FULL')
        return storage.sql.exec(query, ...bindings)
      },
    },
    transactionSync: (closure) => storage.transactionSync(closure),
  }
}
