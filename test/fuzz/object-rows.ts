import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Rows of tables, as text. */
export interface Rows {
  readonly [table: string]: string
}

/** Not state: who asked lately, and what is to be looked after later. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'plimsoll_edge_answer_key',
  'plimsoll_edge_replica',
  'plimsoll_edge_work',
])

type ScopeName = readonly [tenant: string | null, user: string, session: string]

interface Opened {
  readonly database: DatabaseSync
  /** Name of the scope of which this is the home. */
  readonly scope: string
}

/** What workerd's files hold of one session and its user, read beside the running process. */
export class ObjectRows {
  readonly #folders: readonly [sessions: string, users: string]
  /** Files that hold something else. */
  readonly #others = new Set<string>()
  #opened: readonly Opened[] = []

  constructor(objects: string, sessions: string, users: string) {
    this.#folders = [join(objects, sessions), join(objects, users)]
  }

  /** Opens the files of a session and of its user, which have been written to. */
  open([tenant, user, session]: ScopeName): void {
    const [sessions, users] = this.#folders
    this.#opened = [
      this.#find(sessions, JSON.stringify([tenant, user, session])),
      this.#find(users, JSON.stringify([tenant, user, null])),
    ]
  }

  close(): void {
    for (const { database } of this.#opened) database.close()
    this.#opened = []
  }

  /** All rows, without a session's copy of what is its user's. */
  read(): Rows {
    return Object.assign({}, ...this.#opened.map(rowsIn))
  }

  /** Tables whose rows differ. */
  changedSince(before: Rows): readonly string[] {
    const now = this.read()
    return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
      (table) => (before[table] ?? '') !== (now[table] ?? ''),
    )
  }

  #find(folder: string, scope: string): Opened {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      if (!/^[0-9a-f]+\.sqlite$/.test(name) || this.#others.has(file)) continue
      const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
      if (has(database, scope)) return { database, scope }
      database.close()
      this.#others.add(file)
    }
    throw new Error(`no file in ${folder} is the home of ${scope}`)
  }
}

function has(database: DatabaseSync, scope: string): boolean {
  const made = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_scope'`).get()
  return (
    made !== undefined &&
    database.prepare('SELECT 1 FROM plimsoll_scope WHERE name = ?').get(scope) !== undefined
  )
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
