/** What is in the SQLite files of a stopped workerd. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface MessageRow {
  readonly id: string
  readonly seq: number
  /** File and scope in which it is. */
  readonly home: string
}

export interface Found {
  readonly messages: readonly MessageRow[]
  /**
   * Keys of registers that hold something, those of copies too, by the name of the scope in which
   * they are.
   */
  readonly registers: ReadonlyMap<string, ReadonlySet<string>>
  readonly problems: readonly string[]
}

/** Database files of objects; beside them workerd keeps its own of alarms. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]+\.sqlite$/.test(name))
    .map((name) => join(folder, name))
}

/**
 * Reads all objects in a folder; looks whether each file is whole, and whether seqs have gaps where
 * a scope is at home.
 */
export function readObjects(folder: string, isHome: (scope: string) => boolean): Found {
  const messages: MessageRow[] = []
  const registers = new Map<string, ReadonlySet<string>>()
  const problems: string[] = []
  for (const file of filesIn(folder)) {
    const database = new DatabaseSync(file)
    const all = <Row>(query: string, ...values: (string | number)[]): Row[] =>
      database.prepare(query).all(...values) as Row[]
    try {
      const [check] = all<{ quick_check: string }>('PRAGMA quick_check')
      if (check?.quick_check !== 'ok') problems.push(`${file}: quick_check says ${check?.quick_check}`)
      if (all(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_log'`).length === 0) continue
      for (const { scope, name } of all<{ scope: number; name: string }>(
        'SELECT scope, name FROM plimsoll_scope',
      )) {
        const home = `${file} ${name}`
        const keys = all<{ sort: string }>(
          'SELECT sort FROM plimsoll_register WHERE scope = ? AND (body IS NOT NULL OR parts > 0)',
          scope,
        )
        registers.set(home, new Set(keys.map(({ sort }) => sort)))
        if (!isHome(name)) continue
        let last = 0
        const rows = all<{ seq: number; id: string; kind: string }>(
          'SELECT seq, id, kind FROM plimsoll_log WHERE scope = ? ORDER BY n',
          scope,
        )
        for (const { seq, id, kind } of rows) {
          if (seq !== last && seq !== last + 1) problems.push(`${home}: seq ${seq} follows ${last}`)
          last = seq
          if (kind === 'message') messages.push({ id, seq, home })
        }
      }
    } finally {
      database.close()
    }
  }
  return { messages, registers, problems }
}
