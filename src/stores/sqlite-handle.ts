import { PlimsollError } from '../ports/errors.ts'
import type { SqlRow } from './sql-schema.ts'

/**
 * As much of an open database as is used here: `DatabaseSync` of Node and Deno, Bun's `Database`.
 */
export interface SqliteHandle {
  exec(query: string): unknown
  prepare(query: string): SqliteStatement
  close(): void
}

export interface SqliteStatement {
  all(...values: SqliteValue[]): SqlRow[]
}

export type SqliteValue = string | number | null | Uint8Array

/** The runtime, as much as is used of it. */
interface Runtime {
  readonly process?: {
    readonly version?: string
    readonly getBuiltinModule?: (name: string) => unknown
  }
}

type Driver = (path: string, isReader: boolean) => SqliteHandle

/**
 * Opens a database of SQLite by what the runtime brings with it.
 *
 * @throws ERR_NOT_CONFIGURED where that has none; else what the runtime throws
 */
export function openSqlite(path: string, isReader: boolean): SqliteHandle {
  return driver()(path, isReader)
}

/** How many names a file has; 1 where the runtime does not say. */
export function namesOf(path: string): number {
  const fs = load('node:fs') as
    | { readonly statSync: (path: string) => { readonly nlink: number } }
    | undefined
  return fs?.statSync(path).nlink ?? 1
}

function load(name: string): unknown {
  try {
    return (globalThis as Runtime).process?.getBuiltinModule?.(name)
  } catch {
    // Deno refuses names that it does not know.
    return undefined
  }
}

function driver(): Driver {
  const node = load('node:sqlite') as
    | { readonly DatabaseSync: new (path: string, options: object) => SqliteHandle }
    | undefined
  if (node) return (path, readOnly) => new node.DatabaseSync(path, { readOnly })
  const bun = load('bun:sqlite') as
    | { readonly Database: new (path: string, options: object) => SqliteHandle }
    | undefined
  if (bun)
    return (path, readonly) =>
      new bun.Database(path, readonly ? { readonly } : { create: true, readwrite: true })
  throw new PlimsollError(
    'ERR_NOT_CONFIGURED',
    `plimsoll/sqlite: needs Node 22.13 or later, Deno 2 or Bun, found ${(globalThis as Runtime).process?.version ?? 'none of them'}`,
  )
}
