import type { SqlValue } from '../../stores/sql-schema.ts'

/** What names of the library's tables begin with. */
const OWN = 'plimsoll_'
/** What names of tables and indexes begin with that are the platform's and SQLite's. */
const THEIRS = ['_cf_', 'sqlite_', '__']

/**
 * Writes the database of an object again with the rows that are left: what was deleted stays in its
 * file and its log else, until chance writes it over, and workerd refuses `secure_delete`,
 * `VACUUM` and checkpoints. All of it happens before this returns, in one go with what its caller
 * wrote; the promise is that of the disk. The alarm is gone with the rest. No transaction is around
 * it, since `deleteAll` takes none: an object that ends in the middle of it, which no caller sees
 * done, may have lost what was left, never kept what was deleted.
 *
 * An object that holds tables or values of an app's own is left as it is.
 */
export async function rewrite(storage: RewrittenStorage): Promise<void> {
  const { sql, kv } = storage
  const made = sql
    .exec('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL')
    .toArray()
    .map(({ type, name, sql: statement }) => ({
      type: type as string,
      name: name as string,
      statement: statement as string,
    }))
    .filter(({ name }) => !THEIRS.some((prefix) => name.startsWith(prefix)))
  if (made.some(({ name }) => !name.startsWith(OWN)) || [...kv.list({ limit: 1 })].length > 0) return
  const tables = made.filter(({ type }) => type === 'table')
  const rows = new Map(tables.map(({ name }) => [name, [...sql.exec(`SELECT * FROM ${name}`).raw()]]))
  const deleted = storage.deleteAll()
  for (const { name, statement } of tables) {
    sql.exec(statement)
    for (const row of rows.get(name) ?? [])
      sql.exec(`INSERT INTO ${name} VALUES (${row.map(() => '?').join()})`, ...(row as SqlValue[]))
  }
  for (const { type, statement } of made) if (type !== 'table') sql.exec(statement)
  await deleted
  await storage.sync()
}

/** As much of a Durable Object's `ctx.storage` as is used here. */
export type RewrittenStorage = Pick<DurableObjectStorage, 'sql' | 'kv' | 'deleteAll' | 'sync'>
