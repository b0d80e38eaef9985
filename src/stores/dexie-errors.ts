import { isPlimsollError, PlimsollError } from '../ports/errors.ts'
import { WRITER_VERSION } from './dexie-schema.ts'

/** How deep Dexie and the browser wrap an error into others, at most. */
const MOST_WRAPS = 16

/** What is wrong with the call, whatever the state of the database: trying again gives the same. */
const LASTING = new Set(['ConstraintError', 'DataCloneError', 'DataError', 'InvalidArgumentError'])

/** A failure of storage as an error of ours, with what was thrown as `cause`. */
export function storageError(operation: string, error: unknown): PlimsollError {
  const own = ownIn(error)
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

/** The database is one of 0.1.0. */
export function outdated(name: string): PlimsollError {
  return new PlimsollError(
    'ERR_UPGRADE_REQUIRED',
    `dexieStore: database ${name} has storage format 1, of version 0.1.0; this one reads format 2 only: ` +
      'export it with 0.1.0, or use another name',
  )
}

/** A newer version of this library wrote what this one must not write into. */
export function upgradeRequired(writer: number): PlimsollError {
  return new PlimsollError(
    'ERR_UPGRADE_REQUIRED',
    `dexieStore: the database needs writer version ${writer}, this code has ${WRITER_VERSION}; reload the page`,
  )
}

/**
 * Whether an error, or any that it wraps, has that name. Dexie hides why a transaction was aborted
 * in `inner`.
 */
function hasName(error: unknown, name: string): boolean {
  for (let at = error, wraps = 0; at && wraps < MOST_WRAPS; wraps++) {
    if (nameOf(at) === name) return true
    const { inner, cause, failures } = at as { inner?: unknown; cause?: unknown; failures?: unknown }
    if (Array.isArray(failures) && failures.some((failure) => nameOf(failure) === name)) return true
    at = inner ?? cause
  }
  return false
}

/** An error of ours, which Dexie may have wrapped. */
function ownIn(error: unknown): PlimsollError | undefined {
  for (let at = error, wraps = 0; at && wraps < MOST_WRAPS; wraps++) {
    if (isPlimsollError(at)) return at
    at = (at as { inner?: unknown }).inner
  }
  return undefined
}

function nameOf(error: unknown): string {
  return String((error as { name?: unknown } | null | undefined)?.name ?? error)
}
