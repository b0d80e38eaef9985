import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { SqlLike, SqlStorageLike } from './sql-schema.ts'

/**
 * The same storage, whose failures are errors of ours. What a transaction's closure throws by
 * itself stays what it is.
 *
 * @param name of what failed, which the errors begin with
 */
export function withStorageErrors(storage: SqlStorageLike, name = 'durableObjectStore'): SqlStorageLike {
  const { sql } = storage
  return {
    sql: {
      exec: (query, ...bindings) =>
        cursorOf(
          attempt(() => sql.exec(query, ...bindings), name),
          name,
        ),
    },
    transactionSync(closure) {
      let thrown: { readonly error: unknown } | undefined
      try {
        return storage.transactionSync(() => {
          try {
            return closure()
          } catch (error) {
            thrown = { error }
            throw error
          }
        })
      } catch (error) {
        // A failure that undoes the transaction makes its end fail too, which says less.
        throw thrown ? thrown.error : storageError(error, name)
      }
    },
  }
}

type Cursor = ReturnType<SqlLike['exec']>

/** Rows are read as they are iterated, so that any of them may fail. */
function cursorOf(rows: Cursor, name: string): Cursor {
  return {
    toArray: () => attempt(() => rows.toArray(), name),
    *[Symbol.iterator]() {
      try {
        yield* rows
      } catch (error) {
        throw storageError(error, name)
      }
    },
  }
}

/** @throws ERR_STORAGE, ERR_STORAGE_FULL where `run` throws */
export function attempt<Result>(run: () => Result, name: string): Result {
  try {
    return run()
  } catch (error) {
    throw storageError(error, name)
  }
}

/** `SQLITE_FULL`, as SQLite numbers it. */
const FULL = 13

/**
 * A Durable Object gives SQLite's errors as plain ones, which end in its name of the code; others
 * have the code's number.
 */
function storageError(cause: unknown, name: string): PlimsollError {
  if (isPlimsollError(cause)) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  const isFull = reason.includes('SQLITE_FULL') || sqliteCode(cause) === FULL
  return new PlimsollError(isFull ? 'ERR_STORAGE_FULL' : 'ERR_STORAGE', `${name}: ${reason}`, { cause })
}

/** The number of SQLite's code of an error, as Node gives it, or Bun; without what extends it. */
export function sqliteCode(error: unknown): number {
  const { errcode, errno } = (error ?? {}) as { errcode?: unknown; errno?: unknown }
  return Number(errcode ?? errno) & 0xff
}
