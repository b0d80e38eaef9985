import type { PlimsollError } from '../ports/errors.ts'

/** How a store does. Nothing changes for the worse without a change of status. */
export interface StoreStatus {
  /**
   * - `ready`: all is well, as far as is known.
   * - `read-only`: a newer version of this library upgraded the database. Reads go on, commits
   *   reject with `ERR_UPGRADE_REQUIRED`: ask for a reload.
   * - `memory`: the database failed, also after it was opened again. What is written now is kept in
   *   this process only.
   * - `lost`: the database is gone, or is another one. All calls reject with `ERR_STORAGE_LOST`
   *   until `acceptLoss()`.
   */
  readonly state: 'ready' | 'read-only' | 'memory' | 'lost'
  /** Whether what a commit acknowledges survives this process. */
  readonly durable: boolean
  /** Why, for `memory`, `lost` and `read-only`. */
  readonly cause?: PlimsollError
}

export const READY: StoreStatus = { state: 'ready', durable: true }
