import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { SqlStorageLike } from './sql-schema.ts'

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
      exec(query, ...bindings) {
        const rows = attempt(() => sql.exec(query, ...bindings), name)
        // They are read only now, and any of them may fail.
        return { toArray: () => attempt(() => rows.toArray(), name) }
      },
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

/** @throws ERR_STORAGE, ERR_STORAGE_FULL where `run` throws */
export function attempt<Result>(run: () => Result, name: string): Result {
  try {
    return run()
  } catch (error) {
    throw storageError(error, name)
  }
}

/**
 * Failures are known by their texts: a Durable Object's have the name of SQLite's code at their
 * end, and not all of Deno's have its number.
 */
function storageError(cause: unknown, name: string): PlimsollError {
  if (isPlimsollError(cause)) return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  const isFull = /SQLITE_FULL|database or disk is full/.test(reason)
  return new PlimsollError(isFull ? 'ERR_STORAGE_FULL' : 'ERR_STORAGE', `${name}: ${reason}`, { cause })
}
