/** What the bench and the workers that it asks have in common. */

/** UTF-8 bytes of a user message and of the reply. */
export const EXCHANGE_BYTES = [270, 490] as const
/** Messages that the peers, which know no budget, read at each call. */
export const LAST = 40

/**
 * What `PUT` asks for: exchanges `from` (inclusive) to `to` (exclusive), to be appended in bulk.
 */
export interface Fill {
  readonly from: number
  readonly to: number
}

/** What calls to objects did since that was last asked, by SQLite's own count. */
export interface Counts {
  /** Of methods of objects. */
  readonly calls: number
  /** That objects got over sockets. Default: none is counted. */
  readonly frames?: number
  readonly transactions: number
  /** Times that an alarm was set. */
  readonly alarms: number
  readonly statements: number
  readonly rowsRead: number
  /** Index entries included. */
  readonly rowsWritten: number
}
