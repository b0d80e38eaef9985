import { createHash, createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { objectName } from '../../src/edge/objects/object-name.ts'
import type { Scope } from '../../src/ports/op.ts'
import { scopeName } from '../../src/ports/scope-name.ts'
import { SESSIONS, USERS } from '../kill/bare-workerd.ts'

/** Rows of tables, as text. */
export interface Rows {
  readonly [table: string]: string
}

/**
 * Not state: who asked lately, what is to be looked after later, which sessions have read what the
 * user shares (each reads it before its call is judged, also before one that is refused), and the
 * words by which sessions are found, which an alarm sends minutes after they were said.
 */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'plimsoll_edge_answer_key',
  'plimsoll_edge_copy',
  'plimsoll_edge_replica',
  'plimsoll_edge_words',
  'plimsoll_edge_words_part',
  'plimsoll_edge_work',
])

/**
 * Kept answers: what was accepted before may have forgotten something elsewhere, and who asks
 * next, refused or not, empties them.
 */
const ANSWERS = ' plimsoll_edge_answer'

interface Opened {
  readonly database: DatabaseSync
  /** Name of the scope of which this is the home. */
  readonly scope: string
}

const NOTES_MS = 20_000

/** What workerd's files hold of one session and its user, read beside the running process. */
export class ObjectRows {
  readonly #folder: string
  #opened: readonly Opened[] = []
  /** Sessions of which notes are waited for. */
  #noting: readonly Scope[] = []

  /** @param folder of all objects */
  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Opens the files of a session and of its user, which have been written to.
   *
   * @param others more of the user's sessions that may keep facts
   */
  open(session: Required<Pick<Scope, 'userId' | 'sessionId'>>, others: readonly string[]): void {
    const { userId } = session
    this.#opened = [session, { userId }].map((home) => {
      const [database, scope] = [opened(this.#file(home)), scopeName(home)]
      if (!database.prepare('SELECT 1 FROM plimsoll_scope WHERE name = ?').get(scope))
        throw new Error(`nothing was written of ${scope}`)
      return { database, scope }
    })
    this.#noting = [session, ...others.map((sessionId) => ({ userId, sessionId }))]
  }

  close(): void {
    for (const { database } of this.#opened) database.close()
    this.#opened = []
  }

  /**
   * All rows, without a session's copy of what is its user's, once the notes of the sessions' facts
   * are written, and what derives from what was forgotten is gone: this is done behind the answers,
   * and by alarms.
   */
  async read(): Promise<Rows> {
    for (const scope of this.#noting) await this.#noted(scope)
    return Object.assign({}, ...this.#opened.map(rowsIn))
  }

  /** Tables whose rows differ. */
  async changedSince(before: Rows): Promise<readonly string[]> {
    const now = await this.read()
    return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((table) => {
      const [was, is] = [before[table] ?? '', now[table] ?? '']
      return was !== is && !(table.endsWith(ANSWERS) && isPart(is, was))
    })
  }

  async #noted(scope: Scope): Promise<void> {
    const file = this.#file(scope)
    if (!existsSync(file)) return
    const database = opened(file)
    try {
      for (const end = Date.now() + NOTES_MS; owes(database); await pause(5))
        if (Date.now() > end) throw new Error(`${scopeName(scope)} owes its user notes, or their end`)
    } finally {
      database.close()
    }
  }

  #file(scope: Scope): string {
    const { uniqueKey } = scope.sessionId === undefined ? USERS : SESSIONS
    return join(this.#folder, uniqueKey, `${objectId(uniqueKey, objectName(scope))}.sqlite`)
  }
}

/** The id that workerd gives the object of a name. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash('sha256').update(uniqueKey).digest()
  const signed = (data: string | Buffer): Buffer =>
    createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const first = signed(name)
  return Buffer.concat([first, signed(first)]).toString('hex')
}

function opened(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
}

/** Whether all rows of a table were there before. */
function isPart(rows: string, before: string): boolean {
  const all = new Set(before.split('\n'))
  return rows === '' || rows.split('\n').every((row) => all.has(row))
}

function owes(database: DatabaseSync): boolean {
  const made = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_edge_work'`).get()
  const query = `SELECT 1 FROM plimsoll_edge_work WHERE kind IN ('notes', 'shared')`
  return made !== undefined && database.prepare(query).get() !== undefined
}

function rowsIn({ database, scope }: Opened): Rows {
  const tables = database
    .prepare(
      `SELECT name, EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'scope') AS scoped FROM sqlite_master m
        WHERE type = 'table' AND name LIKE 'plimsoll%'`,
    )
    .all() as { name: string; scoped: number }[]
  return Object.fromEntries(
    tables
      .filter(({ name }) => !BOOKKEEPING.has(name))
      .map(({ name, scoped }) => {
        const own = scoped ? 'WHERE scope = (SELECT scope FROM plimsoll_scope WHERE name = ?)' : ''
        const rows = database.prepare(`SELECT * FROM ${name} ${own}`).all(...(scoped ? [scope] : []))
        return [`${scope} ${name}`, rows.map((row) => JSON.stringify(row)).join('\n')]
      }),
  )
}
