import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * A file of its own for a peer, written as the library's store writes: on disk before an answer.
 */
export function openDatabase(folder: string, name: string, tables: string): DatabaseSync {
  const database = new DatabaseSync(join(folder, `${name}.db`))
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  database.exec(tables)
  return database
}

/** All of it or nothing. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}
