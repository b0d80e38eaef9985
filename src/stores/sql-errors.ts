import { PlimsollError } from '../ports/errors.ts'
import type { SqlLike, SqlStorageLike } from './sql-schema.ts'

/**
 * The same storage, whose failures are errors of ours. What a transaction's closure throws by
 * itself stays what it is.
 */
export function withStorageErrors(storage: SqlStorageLike): SqlStorageLike {
  const { sql } = storage
  return {
    sql: { exec: (query, ...bindings) => cursorOf(attempt(() => sql.exec(query, ...bindings))) },
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
        throw thrown ? thrown.error : storageError(error)
      }
    },
  }
}

type Cursor = ReturnType<SqlLike['exec']>

/** Rows are read as they are iterated, so that any of them may fail. */
function cursorOf(rows: Cursor): Cursor {
  return {
    toArray: () => attempt(() => rows.toArray()),
    *[Symbol.iterator]() {
      try {
        yield* rows
      } catch (error) {
        throw storageError(error)
      }
    },
  }
}

function attempt<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw storageError(error)
  }
}

/** A Durable Object gives SQLite's errors as plain ones, which end in its name of the code. */
function storageError(cause: unknown): PlimsollError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const code = reason.includes('SQLITE_FULL') ? 'ERR_STORAGE_FULL' : 'ERR_STORAGE'
  return new PlimsollError(code, `durableObjectStore: ${reason}`, { cause })
}
