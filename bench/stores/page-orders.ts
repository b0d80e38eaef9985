/** What the bench and its page have in common. */

/** UTF-8 bytes of a user message and of the reply. */
export const EXCHANGE_BYTES = [440, 440] as const
/** Messages that a peer, which knows no budget, reads. */
export const LAST = 40
/** Such that a context shows about as many messages: a window is between half full and full. */
export const BUDGET = 5_300
/** Messages that are in a log before it is timed, where nothing else is said. */
export const START = 1_000

export type Durability = 'strict' | 'relaxed'

export const OURS = 'plimsoll'
export const ENCRYPTED = 'plimsoll, encrypted'
/** One transaction that reads and writes the same rows, through Dexie's API. */
export const SAME_JOB = 'Dexie, the same job'
/** Two rows into a table with the same indexes. */
export const SAME_INDEXES = 'Dexie bulkAdd, the same indexes'
/** A table as an app would have it: found by id, ordered by session and seq. */
export const PLAIN = 'Dexie bulkAdd, id and order'
export const APPEND_AND_READ = `Dexie bulkAdd, then the last ${LAST}`
export const OPEN_AND_READ = `Dexie open, then the last ${LAST}`
export const RAW = 'raw IndexedDB, the same indexes'
