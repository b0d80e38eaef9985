import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import { WRITER_VERSION } from './idb-schema.ts'

/** How deep Dexie and the browser wrap an error into others, at most. */
const MOST_WRAPS = 16

/** What is wrong with the call, whatever the state of the database: trying again gives the same. */
const LASTING = new Set(['ConstraintError', 'DataCloneError', 'DataError', 'InvalidArgumentError'])

/** A failure of storage as an error of ours, with what was thrown as `cause`. */
export function storageError(operation: string, error: unknown): PlimsollError {
  const own = within(error, (at) => isPlimsollError(at) && at)
  if (own) return own
  const name = nameOf(error)
  return hasName(error, 'QuotaExceededError')
    ? new PlimsollError('ERR_STORAGE_FULL', `${operation}: the browser has no room left`, { cause: error })
    : new PlimsollError('ERR_STORAGE', `${operation}: the database failed with ${name}`, { cause: error })
}

/** Whether a failure may pass: it is neither for want of room nor the call's own fault. */
export function mayPass(error: unknown): boolean {
  return !hasName(error, 'QuotaExceededError') && !LASTING.has(nameOf(error))
}

/** There is no IndexedDB, and never will be: memory alone would lose all, and nobody would know. */
export function noBrowser(): PlimsollError {
  return new PlimsollError('ERR_NOT_CONFIGURED', 'dexieStore: there is no IndexedDB; use plimsoll/sqlite')
}

/** The database is one of 0.1.0. */
export function outdated(name: string): PlimsollError {
  return new PlimsollError(
    'ERR_UPGRADE_REQUIRED',
    `dexieStore: database ${name} has storage format 1, of version 0.1.0, not 2; export it there, or use another name`,
  )
}

/** A newer version of this library wrote what this one must not write into. */
export function upgradeRequired(writer: number): PlimsollError {
  return new PlimsollError(
    'ERR_UPGRADE_REQUIRED',
    `dexieStore: the database needs writer version ${writer}, this code has ${WRITER_VERSION}; reload the page`,
  )
}

/** Whether an error, or any that it wraps, has that name. */
function hasName(error: unknown, name: string): boolean {
  return within(error, (at) => {
    const { failures } = at as { failures?: unknown }
    return nameOf(at) === name || (Array.isArray(failures) && failures.some((one) => nameOf(one) === name))
  })
}

/**
 * The first that is told of an error and those that it wraps. Dexie hides why a transaction was
 * aborted in `inner`.
 */
function within<Found>(error: unknown, look: (at: unknown) => Found | false): Found | false {
  for (let at = error, wraps = 0; at && wraps < MOST_WRAPS; wraps++) {
    const found = look(at)
    if (found) return found
    const { inner, cause } = at as { inner?: unknown; cause?: unknown }
    at = inner ?? cause
  }
  return false
}

function nameOf(error: unknown): string {
  return String((error as { name?: unknown } | null | undefined)?.name ?? error)
}
