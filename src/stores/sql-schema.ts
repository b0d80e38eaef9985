/** As much of a Durable Object's `ctx.storage` as is used here. */
export interface SqlStorageLike {
  readonly sql: SqlLike
  /** Contract: runs the closure in one transaction, which a throw rolls back. */
  transactionSync<Result>(closure: () => Result): Result
}

export interface SqlLike {
  /**
   * Contract: the statement has run when this returns. Of its rows all are read, or none where it
   * gives none: in a Durable Object one that was not read to its end stays open until garbage is
   * collected, keeps its snapshot of the database, and makes all that follow slower.
   */
  exec(query: string, ...bindings: SqlValue[]): { toArray(): SqlRow[] }
}

export type SqlValue = string | number | null | ArrayBuffer
export interface SqlRow {
  readonly [column: string]: unknown
}

/**
 * A number and a text that are bound where a bare parameter would be a part of SQLite's plan: after
 * LIMIT, and beside another equality on an index that is read in its order. Then each call makes
 * the plan again, which takes longer than to read a few rows.
 */
export const NUMBER = '? + 0'
export const TEXT = `? || ''`

/** Version of the tables: storage format 2. Code that finds another one must not write. */
export const SCHEMA_VERSION = 2
/**
 * Version of the table of what is derived. Where that of a database is another one, the table is
 * dropped when it is opened, and made from the log again.
 */
export const DERIVED_VERSION = 2

export const DERIVED_TABLE = `CREATE TABLE plimsoll_derived (scope INTEGER NOT NULL, sort TEXT NOT NULL,
    size INTEGER NOT NULL, PRIMARY KEY (scope, sort)) WITHOUT ROWID`

/**
 * `n` numbers the rows of all scopes: a scope's rows have its number in the high bits and count up
 * in the low ones, so that the log needs no key but its rowid. Of the indexes, the first finds
 * entries by id, and with them the ops that are one with an entry, whose `op` is none; the second
 * the other ops by id, and the third the few marks among many messages.
 *
 * A scope's `stamp` counts what was written that does not show at the end of its log, and each row
 * has the stamp of its time: the last row says whether what is known of the scope is still so.
 * `replica` is what `ReplicaChange.state` was last. Reserved: `seal`, for the chain of rows up to
 * one.
 */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE plimsoll_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_scope (scope INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first TEXT,
    emptied INTEGER NOT NULL DEFAULT 0, indexed INTEGER NOT NULL DEFAULT 0,
    rebased INTEGER NOT NULL DEFAULT 0, stamp INTEGER, replica TEXT)`,
  `CREATE TABLE plimsoll_log (n INTEGER PRIMARY KEY, scope INTEGER NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL,
    kind TEXT NOT NULL, id TEXT NOT NULL, op TEXT, ordinal INTEGER NOT NULL, round TEXT, lane TEXT, base TEXT,
    applied INTEGER, chain INTEGER, sources TEXT, contexts TEXT, tok TEXT, stamp INTEGER, seal TEXT, parts INTEGER,
    body TEXT, derived TEXT)`,
  `CREATE UNIQUE INDEX plimsoll_log_id ON plimsoll_log (scope, id) WHERE kind NOT IN ('put', 'delete', 'erase')`,
  `CREATE UNIQUE INDEX plimsoll_log_op ON plimsoll_log (scope, op) WHERE place = 0 AND op IS NOT NULL`,
  `CREATE INDEX plimsoll_log_mark ON plimsoll_log (scope, kind) WHERE kind NOT IN ('message', 'put', 'delete', 'erase')`,
  `CREATE TABLE plimsoll_part (owner TEXT NOT NULL, part INTEGER NOT NULL, content NOT NULL, PRIMARY KEY (owner, part))`,
  `CREATE TABLE plimsoll_attachment (scope INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (scope, id)) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_unused (at INTEGER NOT NULL, scope INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (scope, id)) WITHOUT ROWID`,
  `CREATE INDEX plimsoll_unused_at ON plimsoll_unused (at)`,
  `CREATE TABLE plimsoll_register (scope INTEGER NOT NULL, sort TEXT NOT NULL, version TEXT NOT NULL, seq INTEGER NOT NULL,
    sources TEXT, places TEXT, parts INTEGER, body TEXT, PRIMARY KEY (scope, sort))`,
  `CREATE TABLE plimsoll_index (scope INTEGER NOT NULL, grp TEXT NOT NULL, sort TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (scope, grp, sort, key)) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_sum (scope INTEGER NOT NULL, grp TEXT NOT NULL, count INTEGER NOT NULL, weight INTEGER NOT NULL,
    PRIMARY KEY (scope, grp)) WITHOUT ROWID`,
  DERIVED_TABLE,
  `CREATE TABLE plimsoll_mark (scope INTEGER NOT NULL, slot TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL,
    chain INTEGER NOT NULL, PRIMARY KEY (scope, slot)) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_deleted (scope INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (scope, name)) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_refused (scope INTEGER NOT NULL, op TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (scope, op)) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_source (scope INTEGER NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (scope, source, name)) WITHOUT ROWID`,
  `CREATE TABLE plimsoll_outbox (scope INTEGER NOT NULL, n INTEGER NOT NULL, part INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (scope, n, part))`,
]
