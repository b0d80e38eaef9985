import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { vi } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import type { SessionObject } from '../../../src/edge/objects/session-object.ts'
import type { User } from './caller.ts'

/** Rows of an object's tables, as text. */
export interface Rows {
  readonly [table: string]: string
}

/** Not state: who asked lately, what is to be looked after later, and what keys are hashed with. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'plimsoll_edge_answer_key',
  'plimsoll_edge_replica',
  'plimsoll_edge_work',
])

export function userObject(user: User): DurableObjectStub {
  return env.USERS.getByName(objectName(user))
}

export function sessionObject(user: User, sessionId: string): DurableObjectStub {
  return env.SESSIONS.getByName(objectName({ ...user, sessionId }))
}

/**
 * Has a session write what it owes its user of notes of facts, which its alarm does behind the
 * answers, some seconds later.
 */
export async function notesWritten(user: User, session: string): Promise<void> {
  await vi.waitFor(
    () =>
      runInDurableObject(sessionObject(user, session), async (object, { storage: { sql } }) => {
        const isOwed = (): boolean =>
          sql.exec(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_edge_work'`).toArray().length > 0 &&
          sql.exec(`SELECT 1 FROM plimsoll_edge_work WHERE kind = 'notes'`).toArray().length > 0
        if (!isOwed()) return
        sql.exec(`UPDATE plimsoll_edge_work SET due = 0 WHERE kind = 'notes'`)
        await (object as SessionObject).alarm()
        if (isOwed()) throw new Error(`${session} owes its user notes of facts`)
      }),
    { timeout: 20_000, interval: 50 },
  )
}

/** All that an object holds. */
export function rowsOf(stub: DurableObjectStub): Promise<Rows> {
  return runInDurableObject(stub, async (_, { storage }) => {
    const tables = storage.sql
      .exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'plimsoll%' ORDER BY name`)
      .toArray()
      .map(({ name }) => name as string)
    const rows = tables.map((table) => [table, textOf(storage.sql.exec(`SELECT * FROM ${table}`))])
    return { ...Object.fromEntries(rows), alarm: `${await storage.getAlarm()}` }
  })
}

/**
 * What is stored of a user, and of one of the user's sessions by itself, once its notes are
 * written: without its copy of what is the user's.
 */
export async function stateOf(user: User, session: string): Promise<Rows> {
  await notesWritten(user, session)
  const [ofUser, ofSession] = await Promise.all([
    stateIn(userObject(user), [user.tenant ?? null, user.userId, null]),
    stateIn(sessionObject(user, session), [user.tenant ?? null, user.userId, session]),
  ])
  return Object.fromEntries([
    ...Object.entries(ofUser).map(([table, rows]) => [`user ${table}`, rows]),
    ...Object.entries(ofSession).map(([table, rows]) => [`session ${table}`, rows]),
  ])
}

function stateIn(stub: DurableObjectStub, scope: readonly (string | null)[]): Promise<Rows> {
  return runInDurableObject(stub, (_, { storage: { sql } }) => {
    const tables = sql
      .exec(
        `SELECT name, EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'scope') AS scoped FROM sqlite_master m
          WHERE type = 'table' AND name LIKE 'plimsoll%'`,
      )
      .toArray()
      .filter(({ name }) => !BOOKKEEPING.has(name as string))
    // A store that was never asked has no tables.
    const where = tables.some(({ scoped }) => scoped === 1)
      ? 'WHERE scope = (SELECT scope FROM plimsoll_scope WHERE name = ?)'
      : ''
    return Object.fromEntries(
      tables.map(({ name, scoped }) => [
        name,
        scoped === 1
          ? textOf(sql.exec(`SELECT * FROM ${name} ${where}`, JSON.stringify(scope)))
          : textOf(sql.exec(`SELECT * FROM ${name}`)),
      ]),
    )
  })
}

function textOf(cursor: SqlStorageCursor<Record<string, SqlStorageValue>>): string {
  return [...cursor.raw()].map((row) => JSON.stringify(row)).join('\n')
}

/** Keeps all rows of an object. @returns puts them back, as from a backup, and ends the object */
export async function backup(stub: DurableObjectStub): Promise<() => Promise<void>> {
  const tables = ({ sql }: DurableObjectStorage): string[] =>
    sql
      .exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'plimsoll%'`)
      .toArray()
      .map(({ name }) => name as string)
  const kept = await runInDurableObject(
    stub,
    (_, { storage }) =>
      new Map(tables(storage).map((name) => [name, [...storage.sql.exec(`SELECT * FROM ${name}`).raw()]])),
  )
  return async () => {
    await runInDurableObject(stub, (_, { storage }) => {
      for (const name of tables(storage)) storage.sql.exec(`DELETE FROM ${name}`)
      for (const [name, rows] of kept)
        for (const row of rows)
          storage.sql.exec(`INSERT INTO ${name} VALUES (${row.map(() => '?').join()})`, ...row)
    })
    await evictDurableObject(stub)
  }
}

/** Tables whose rows differ. */
export function changedIn(before: Rows, after: Rows): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (table) => (before[table] ?? '') !== (after[table] ?? ''),
  )
}
