/** The durable store for Node, Deno and Bun: `plimsoll/sqlite`. */
import { PlimsollError } from '../ports/errors.ts'
import { checkOptions, invalid } from '../ports/options.ts'
import type { ScopeStore, Store } from '../ports/store.ts'
import { attempt, withStorageErrors } from './sql-errors.ts'
import { SqlStore } from './sql-store.ts'
import { namesOf, openSqlite, type SqliteHandle } from './sqlite-handle.ts'
import { SqliteStorage } from './sqlite-storage.ts'

export interface SqliteStoreOptions {
  /**
   * The database file; made where it is not there, in a folder that is. Beside it SQLite keeps
   * `-wal` and `-shm`, and a writer `-lock`.
   */
  readonly path: string
  /**
   * `full`: a commit resolves when it is on disk. `normal`: when the operating system has it; many
   * times as fast, survives the end of the process, but perhaps not one of the machine.
   *
   * @default 'full'
   */
  readonly synchronous?: 'full' | 'normal'
  /**
   * Only reads, beside the writer or without one. What it is asked to write is refused with
   * `ERR_READ_ONLY`.
   *
   * @default false
   */
  readonly readonly?: boolean
}

const OPTIONS = ['path', 'synchronous', 'readonly']

export interface SqliteStore extends Store {
  /**
   * Writes a copy of the database, as it is now, to a file that is not there or is empty, while
   * others read and write. This process does nothing else meanwhile. The copy keeps what is
   * forgotten later.
   *
   * @throws ERR_STORAGE, ERR_STORAGE_FULL: the file is no copy then
   */
  backup(path: string): Promise<void>
  /**
   * Writes the whole file again, so that no byte is left in it of what was removed: where SQLite
   * moves rows between pages, a copy may stay in the unused part of one. This process does nothing
   * else meanwhile. Needs as much room again as the file takes.
   *
   * @throws ERR_STORAGE, ERR_STORAGE_FULL, ERR_READ_ONLY
   */
  vacuum(): Promise<void>
  /** Closes the database and lets go of its lock. What is called after it is refused. */
  close(): Promise<void>
}

/**
 * How long a call waits for another process that holds a lock for a moment, in milliseconds. A
 * checkpoint waits as long for readers.
 */
const PATIENCE_MS = 1_000

/**
 * A store in one file of SQLite, by `node:sqlite` (Node and Deno) or `bun:sqlite`. One process
 * writes, through one store; any number read beside it. The file is opened, and locked, at once.
 *
 * A commit is one synchronous transaction, in WAL mode. What is forgotten is overwritten in the
 * file, and the write-ahead log is emptied behind it; see {@link SqliteStore.vacuum}.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @throws ERR_NOT_CONFIGURED: a runtime without SQLite, for example Node before 22.13
 * @throws ERR_STORAGE_LOCKED: another store has the file open for writing, in this process or in
 * another one
 * @throws ERR_STORAGE, ERR_STORAGE_FULL where SQLite failed, with its error as `cause`; so does
 * every call
 * @throws ERR_UPGRADE_REQUIRED where a newer version of this library made the tables
 * @example
 * ```ts
 * import { createMemory } from 'plimsoll'
 * import { sqliteStore } from 'plimsoll/sqlite'
 *
 * const memory = createMemory({ store: sqliteStore({ path: 'memory.db' }), budget: 16_000 })
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): SqliteStore {
  checkOptions('sqliteStore', 'options', options, OPTIONS)
  const { path, synchronous = 'full', readonly = false } = options
  checkPath('sqliteStore', path)
  if (synchronous !== 'full' && synchronous !== 'normal')
    throw invalid('sqliteStore', 'synchronous', `must be 'full' or 'normal'`)
  if (typeof readonly !== 'boolean') throw invalid('sqliteStore', 'readonly', 'must be true or false')
  const name = `sqliteStore: ${path}`
  return attempt(() => (readonly ? reader(path, name) : writer(path, name, synchronous)), name)
}

/** Under each name of a file there would be another lock, and another write-ahead log. */
function checkNames(path: string): void {
  if (namesOf(path) > 1)
    throw new PlimsollError(
      'ERR_STORAGE',
      `sqliteStore: ${path} has another name (a hard link), under which it could be written too; ` +
        'remove that, or take a copy',
    )
}

function checkPath(operation: string, path: unknown): void {
  if (typeof path !== 'string' || /^(:memory:)?$|^file:|\0/.test(path))
    throw invalid(operation, 'path', 'must be that of a file, and no URL; a store in memory is `mapStore()`')
}

const ADVICE = { newer: 'update this one', older: 'take another file' }

function writer(path: string, name: string, synchronous: 'full' | 'normal'): SqliteStore {
  const handle = openSqlite(path, false)
  const handles = [handle]
  try {
    checkNames(path)
    handles.push(lockOf(handle, path))
    setUp(handle, path, synchronous)
    const checkpoint = checkpointOf(handle)
    // The writer before may have ended between a removal and its checkpoint.
    checkpoint(true)
    const storage = new SqliteStorage(handle, false)
    const store = new SqlStore(storage, { name, advice: ADVICE, onCommit: checkpoint })
    store.prepare()
    return {
      open: (scope) => store.open(scope),
      oldestUnused: () => store.oldestUnused(),
      removeUnused: (until) => store.removeUnused(until),
      scopes: (after) => store.scopes(after),
      vacuum: async () => {
        attempt(() => vacuum(handle), 'vacuum')
        checkpoint(true)
      },
      ...end(handles),
    }
  } catch (error) {
    close(handles)
    throw error
  }
}

/** Each call reads one state, whatever the writer does meanwhile. */
function reader(path: string, name: string): SqliteStore {
  const handle = openSqlite(path, true)
  try {
    checkNames(path)
    handle.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    const storage = withStorageErrors(new SqliteStorage(handle, true), name)
    const store = new SqlStore(storage, { name, advice: ADVICE, isReader: true })
    /** Contract: `work` has read all that it reads when it returns. */
    const read = <Result>(work: () => Result): Result =>
      storage.transactionSync(() => {
        // A newer version may have changed the tables since the last call.
        store.prepare()
        return work()
      })
    read(() => {})
    return {
      open: (scope) => readerOf(store.open(scope), read),
      oldestUnused: async () => read(() => store.oldestUnused()),
      removeUnused: refused('removeUnused'),
      scopes: async (after) => read(() => store.scopes(after)),
      vacuum: refused('vacuum'),
      ...end([handle]),
    }
  } catch (error) {
    close([handle])
    throw error
  }
}

function readerOf(scope: ScopeStore, read: <Result>(work: () => Result) => Result): ScopeStore {
  return {
    commit: refused('commit'),
    entries: async (query) => read(() => scope.entries(query)),
    head: async () => read(() => scope.head()),
    register: async (key) => read(() => scope.register(key)),
    registers: async (prefix, after) => read(() => scope.registers(prefix, after)),
    indexed: async (group, query) => read(() => scope.indexed(group, query)),
    sums: async (groups) => read(() => scope.sums(groups)),
    changesSince: async (seq) => read(() => scope.changesSince(seq)),
    attach: refused('attach'),
    attachment: async (id) => read(() => scope.attachment(id)),
    attached: async (ids) => read(() => scope.attached(ids)),
    derive: refused('derive'),
    derived: async (prefix, after) => read(() => scope.derived(prefix, after)),
    close: () => scope.close(),
  }
}

function refused(operation: string): () => Promise<never> {
  return async () => {
    throw new PlimsollError('ERR_READ_ONLY', `${operation}: this store was opened with \`readonly\``)
  }
}

/** What ends the use of a database, for readers and writers. */
function end(handles: SqliteHandle[]): Pick<SqliteStore, 'backup' | 'close'> {
  const [handle] = handles
  return {
    backup: async (path) => {
      checkPath('backup', path)
      attempt(() => handle?.prepare('VACUUM INTO ?').all(path), 'backup')
    },
    close: async () => attempt(() => close(handles), 'close'),
  }
}

function close(handles: SqliteHandle[]): void {
  for (const handle of handles.splice(0)) handle.close()
}

/**
 * What says that a process writes to a file: an open transaction on a database beside it, which the
 * operating system ends together with the process. The database itself cannot be locked so, since
 * then nobody could read it.
 */
function lockOf(handle: SqliteHandle, path: string): SqliteHandle {
  // As SQLite resolved it: a link to the file has the same lock.
  const [main] = handle.prepare('PRAGMA database_list').all()
  const lock = openSqlite(`${main?.file}-lock`, false)
  try {
    lock.exec('PRAGMA busy_timeout = 0')
    lock.exec('PRAGMA journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (!String(error).includes('database is locked')) throw error
    throw new PlimsollError(
      'ERR_STORAGE_LOCKED',
      `sqliteStore: another store writes to ${path}, in this process or in another one; ` +
        'end it, or open this one with `readonly`',
      { cause: error },
    )
  }
}

function setUp(handle: SqliteHandle, path: string, synchronous: 'full' | 'normal'): void {
  handle.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
  const [mode] = handle.prepare('PRAGMA journal_mode = WAL').all()
  if (mode?.journal_mode !== 'wal')
    throw new PlimsollError(
      'ERR_STORAGE',
      `sqliteStore: ${path} is where SQLite cannot keep a write-ahead log`,
    )
  handle.exec(`PRAGMA synchronous = ${synchronous}`)
  // On macOS `fsync` alone leaves what it wrote in the disk's own memory.
  if (synchronous === 'full') handle.exec('PRAGMA fullfsync = ON')
  handle.exec('PRAGMA secure_delete = ON')
  // No text goes to a file that is not ours to empty.
  handle.exec('PRAGMA temp_store = MEMORY')
}

function vacuum(handle: SqliteHandle): void {
  // It makes a copy, which need not fit into memory, and holds nothing that was removed.
  handle.exec('PRAGMA temp_store = FILE')
  try {
    handle.exec('VACUUM')
  } finally {
    handle.exec('PRAGMA temp_store = MEMORY')
  }
}

/**
 * Empties the write-ahead log, which holds pages as they were before a removal. It cannot while
 * somebody reads them: it waits a moment, and else is tried again after each commit.
 */
function checkpointOf(handle: SqliteHandle): (removed: boolean) => void {
  let isOwed = false
  return (removed) => {
    if (!removed && !isOwed) return
    isOwed = true
    try {
      handle.exec(`PRAGMA busy_timeout = ${removed ? PATIENCE_MS : 0}`)
      const [outcome] = handle.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
      isOwed = outcome?.busy !== 0
    } catch {
      // What was committed stays so: the log is emptied after a later commit, or when it is opened.
    } finally {
      handle.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    }
  }
}
