import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { SealedOp } from '../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import type { SqlValue } from '../../src/stores/sql-schema.ts'
import { SqlStore } from '../../src/stores/sql-store.ts'
import { type SqliteStore, type SqliteStoreOptions, sqliteStore } from '../../src/stores/sqlite.ts'
import { openSqlite, type SqliteHandle } from '../../src/stores/sqlite-handle.ts'
import { SqliteStorage } from '../../src/stores/sqlite-storage.ts'
import { describeStore } from '../contract/index.ts'
import { replicating } from '../contract/rebases.ts'
import { append, erase, mark, put, readAll, remove, SCOPE } from '../contract/samples.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { killWriters } from '../kill/sqlite-kills.ts'
import { SqliteFiles } from './support/sqlite-files.ts'

const files = new SqliteFiles()
afterAll(() => files.remove())

const newPath = (): string => files.newPath()
const newStore = (): SqliteStore => files.open()
const pathOf = (store: Store): string => files.pathOf(store)
const readerOf = (store: Store): SqliteStore => files.openReader(store)

describeStore('SQLite', newStore, {
  reopen: async (store) => {
    await (store as SqliteStore).close()
    return files.open(pathOf(store))
  },
})
describeDifferential('SQLite', newStore, { again: readerOf, runs: 60 })

/** How often a word is in a database file and those beside it. */
function timesInFiles(path: string, word: string): number {
  const name = path.slice(files.folder.length + 1)
  return readdirSync(files.folder)
    .filter((file) => file.startsWith(name))
    .reduce(
      (sum, file) => sum + readFileSync(join(files.folder, file)).toString('latin1').split(word).length - 1,
      0,
    )
}

/** Runs something where the runtime has these modules of SQLite, and no others. */
function withModules<Result>(modules: Readonly<Record<string, object>>, run: () => Result): Result {
  const { getBuiltinModule } = process
  process.getBuiltinModule = ((name: string) => modules[name]) as typeof getBuiltinModule
  try {
    return run()
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}

const ids = async (scope: ScopeStore): Promise<readonly string[]> =>
  (await scope.entries()).rows.map(({ id }) => id)

describe('sqliteStore', () => {
  it.each([
    ['path', { path: '' }],
    ['path', { path: ':memory:' }],
    ['path', { path: 'file:memory.db' }],
    ['path', { path: 'memory\0.db' }],
    ['path', {}],
    ['synchronous', { path: 'x.db', synchronous: 'off' }],
    ['readonly', { path: 'x.db', readonly: 'yes' }],
    ['name', { path: 'x.db', name: 'x' }],
  ])('refuses an option that says nothing to it: %s', (argument, options) => {
    expect(() => sqliteStore(options as SqliteStoreOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }),
    )
  })

  it('fails at once where the file cannot be opened, or is none of SQLite', () => {
    const noise = newPath()
    writeFileSync(noise, 'noise '.repeat(1_000))
    for (const [path, reason] of [
      [join(files.folder, 'no', 'such.db'), 'unable to open database file'],
      [noise, 'file is not a database'],
    ] as const)
      for (const readonly of [false, true])
        expect(() => sqliteStore({ path, readonly })).toThrow(
          expect.objectContaining({
            code: 'ERR_STORAGE',
            message: `sqliteStore: ${path}: ${reason}`,
            cause: expect.any(Error),
          }),
        )
    const text = readFileSync(noise, 'utf8')
    expect(text).toBe('noise '.repeat(1_000))
  })

  it('says what it needs where the runtime has no SQLite', () => {
    withModules({}, () => {
      expect(() => sqliteStore({ path: newPath() })).toThrow(
        expect.objectContaining({
          code: 'ERR_NOT_CONFIGURED',
          message: `plimsoll/sqlite: needs Node 22.13 or later, Deno 2 or Bun, found ${process.version}`,
        }),
      )
    })
  })

  it('takes the driver of Bun where that alone is there', async () => {
    const given: object[] = []
    class Database extends DatabaseSync {
      constructor(path: string, options: { readonly readonly?: boolean }) {
        super(path, { readOnly: options.readonly === true })
        given.push(options)
      }
    }
    const path = newPath()
    const [store, reader] = withModules({ 'bun:sqlite': { Database } }, () => {
      return [files.open(path), files.open(path, { readonly: true })] as const
    })
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    expect(await ids(reader.open(SCOPE))).toEqual(['m1'])
    const writes = { create: true, readwrite: true }
    expect(given).toEqual([writes, writes, { readonly: true }])
  })

  it('waits for the disk by default, and not with `normal`; keeps texts out of other files', () => {
    const said: string[] = []
    class Telling extends DatabaseSync {
      override exec(query: string): void {
        said.push(query)
        super.exec(query)
      }
    }
    withModules({ 'node:sqlite': { DatabaseSync: Telling } }, () => {
      files.open(newPath(), { synchronous: 'full' })
      expect(said).toEqual(
        expect.arrayContaining([
          'PRAGMA synchronous = full',
          'PRAGMA fullfsync = ON',
          'PRAGMA temp_store = MEMORY',
        ]),
      )
      said.length = 0
      files.open(newPath(), { synchronous: 'normal' })
      expect(said).toContain('PRAGMA synchronous = normal')
      expect(said).not.toContain('PRAGMA fullfsync = ON')
    })
  })

  it('refuses a place where there can be no write-ahead log, and lets go of the file', () => {
    const path = newPath()
    class Elsewhere extends DatabaseSync {
      override prepare(query: string) {
        return super.prepare(query.replace('journal_mode = WAL', 'journal_mode = DELETE'))
      }
    }
    withModules({ 'node:sqlite': { DatabaseSync: Elsewhere } }, () => {
      expect(() => sqliteStore({ path })).toThrow(/cannot keep a write-ahead log/)
    })
    expect(() => files.open(path)).not.toThrow()
  })

  it('refuses every call after it was closed; to close it again is nothing', async () => {
    const store = newStore()
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    await store.close()
    await store.close()
    for (const call of [
      () => scope.commit([append('op-2', ['m2'])], decide),
      () => scope.entries(),
      () => store.scopes(),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  })

  it('refuses tables of another format, and leaves them as they are', async () => {
    const store = newStore()
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    await store.close()
    const handle = openSqlite(pathOf(store), false)
    handle.exec(`UPDATE plimsoll_meta SET value = 3 WHERE key = 'schema'`)
    handle.close()
    for (const readonly of [false, true])
      expect(() => files.open(pathOf(store), { readonly })).toThrow(
        expect.objectContaining({ code: 'ERR_UPGRADE_REQUIRED' }),
      )
  })
})

describe('the statements of a SQLite store', () => {
  it('are planned once, whatever is bound to them', async () => {
    const handle = new DatabaseSync(':memory:')
    const store = new SqlStore(new SqliteStorage(handle as SqliteHandle, false), {
      name: 'test',
      advice: { newer: '', older: '' },
    })
    const scope = store.open(SCOPE)
    const listed = (key: string): SealedOp =>
      put(`op-${key}`, key, null, { index: [{ group: 'g', order: key }] })
    await scope.commit(
      [append('op-1', ['m1', 'm2', 'm3']), mark('op-2', 'rewind', 'r1'), listed('a'), listed('b')],
      decide,
    )
    const read = async (first: number): Promise<void> => {
      await scope.entries({ last: first })
      await scope.entries({ first })
      await scope.entries({ from: 'm1', to: 'm3', kinds: ['rewind'] })
      await scope.entries({ after: 'm1', first, kinds: ['epoch', 'rewind'] })
      await scope.changesSince(first)
      await scope.registers('')
      await scope.registers('', 'a')
      await scope.indexed('g', { first })
      await scope.indexed('g', { first, to: 'b' })
      await scope.indexed('g', { first, after: { order: 'a', key: 'a' } })
      await scope.derived('')
      await scope.derived('', 'a')
      await scope.outbox?.(first)
      await store.oldestUnused()
      await store.removeUnused(first)
      await store.scopes()
    }
    let planned = 0
    handle.setAuthorizer((code) => {
      // Of what begins and ends a transaction there is nothing to plan.
      if (code !== constants.SQLITE_TRANSACTION) planned++
      return constants.SQLITE_OK
    })
    await read(1)
    planned = 0
    await read(2)
    expect(planned).toBe(0)
  })
})

describe('a second writer of a SQLite file', () => {
  it('is refused, by any path to it, until the first is closed', async () => {
    const store = newStore()
    const link = newPath()
    symlinkSync(pathOf(store), link)
    for (const path of [pathOf(store), link])
      expect(() => sqliteStore({ path })).toThrow(
        expect.objectContaining({
          code: 'ERR_STORAGE_LOCKED',
          message: expect.stringContaining(`another store writes to ${path}`),
        }),
      )
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    await store.close()
    expect(await ids(files.open(link).open(SCOPE))).toEqual(['m1'])
  })

  it('is refused under another name of the file, where it would have a lock and a log of its own', async () => {
    const store = newStore()
    const name = newPath()
    linkSync(pathOf(store), name)
    for (const readonly of [false, true])
      expect(() => sqliteStore({ path: name, readonly })).toThrow(
        expect.objectContaining({ code: 'ERR_STORAGE', message: expect.stringContaining('hard link') }),
      )
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    await store.close()
    rmSync(pathOf(store))
    expect(await ids(files.open(name).open(SCOPE))).toEqual(['m1'])
  })

  it('is refused while another process writes, and not once that was killed', async () => {
    const path = newPath()
    const program = join(import.meta.dirname, '../kill/sqlite-writer.ts')
    const writer = spawn(process.execPath, [program, path, '1'])
    const ended = once(writer, 'exit')
    await once(writer.stdout, 'data')
    const open = () => files.open(path)
    expect(open).toThrow(expect.objectContaining({ code: 'ERR_STORAGE_LOCKED' }))
    expect(await files.open(path, { readonly: true }).scopes()).not.toEqual([])
    writer.kill('SIGKILL')
    await ended
    expect(open).not.toThrow()
  })

  it('finds all that the first acknowledged before it was killed, and nothing by halves', async () => {
    const { acknowledged, problems } = await killWriters(newPath(), 3)
    expect(problems).toEqual([])
    expect(acknowledged).toBeGreaterThan(0)
  })
})

describe('a reader of a SQLite file', () => {
  it('sees each commit of the writer, and writes nothing', async () => {
    const store = newStore()
    const [scope, reader] = [store.open(SCOPE), readerOf(store)]
    const beside = reader.open(SCOPE)
    for (const id of ['m1', 'm2', 'm3']) {
      await scope.commit([append(`op-${id}`, [id])], decide)
      expect(await readAll(beside)).toEqual(await readAll(scope))
    }
    await scope.commit([remove('op-4', 'entry:m1')], decide)
    expect(await readAll(beside)).toEqual(await readAll(scope))
    const bytes = new Uint8Array([1])
    for (const call of [
      () => beside.commit([append('op-5', ['m5'])], decide),
      () => beside.attach({ id: 'a', mediaType: 'x/y', bytes }, 0),
      () => beside.derive({ key: 'k', bytes }, 9),
      () => reader.removeUnused(0),
      () => reader.vacuum(),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'ERR_READ_ONLY' })
  })

  it('sees one state in each call, whatever is committed meanwhile', async () => {
    const store = newStore()
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    let meanwhile = (): unknown => undefined
    class Racing extends DatabaseSync {
      override prepare(query: string) {
        if (query.includes('FROM plimsoll_mark')) meanwhile()
        return super.prepare(query)
      }
    }
    const reader = withModules({ 'node:sqlite': { DatabaseSync: Racing } }, () => readerOf(store)).open(SCOPE)
    meanwhile = () => scope.commit([mark('op-2', 'epoch', 'e1')], decide)
    expect(await reader.head()).toMatchObject({ seq: 1, marks: new Map() })
    expect((await reader.head()).marks.size).toBe(1)
  })

  it('needs no writer, but one before it', async () => {
    const store = newStore()
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    await store.close()
    const reader = readerOf(store)
    expect(await ids(reader.open(SCOPE))).toEqual(['m1'])
    const again = files.open(pathOf(store))
    await again.open(SCOPE).commit([append('op-2', ['m2'])], decide)
    expect(await ids(reader.open(SCOPE))).toEqual(['m1', 'm2'])
    const empty = newPath()
    expect(() => files.open(empty, { readonly: true })).toThrow(
      expect.objectContaining({ code: 'ERR_STORAGE' }),
    )
    writeFileSync(empty, '')
    expect(() => files.open(empty, { readonly: true })).toThrow(/nothing was written here yet/)
  })

  it('has nothing of what another version derived, and notices one that changed the tables', async () => {
    const store = newStore()
    const scope = store.open(SCOPE)
    await scope.derive({ key: 'words', bytes: new Uint8Array([1]) }, 0)
    const reader = readerOf(store).open(SCOPE)
    expect(await reader.derived('')).toHaveLength(1)
    const handle = openSqlite(pathOf(store), false)
    handle.exec(`UPDATE plimsoll_meta SET value = 9 WHERE key = 'derived'`)
    expect(await reader.derived('')).toEqual([])
    handle.exec(`UPDATE plimsoll_meta SET value = 3 WHERE key = 'schema'`)
    handle.close()
    await expect(reader.head()).rejects.toMatchObject({ code: 'ERR_UPGRADE_REQUIRED' })
  })
})

describe('what was removed from a SQLite file', () => {
  const SECRET = 'the-canary'

  /** A message was deleted while another connection read it, and still does. */
  async function removedWhileRead() {
    const store = newStore()
    const scope = store.open(SCOPE)
    await scope.commit([append('entry:m1', ['m1'], { bodies: [SECRET] })], decide)
    const reading = openSqlite(pathOf(store), true)
    reading.exec('BEGIN')
    reading.prepare('SELECT id FROM plimsoll_log').all()
    await scope.commit([remove('op-1', 'entry:m1')], decide)
    return { store, scope, reading }
  }

  /** What tells of a secret in every table, beside others that do not. */
  async function fill(store: SqliteStore): Promise<ScopeStore> {
    const [scope, other] = [store.open(SCOPE), store.open({ userId: 'bob' })]
    const bytes = new TextEncoder().encode(`${SECRET} `.repeat(200))
    for (let index = 0; index < 120; index++) {
      const id = `m${index}`
      const body = `${SECRET} ${index} `.repeat(index % 10 === 0 ? 20_000 : 20)
      await other.commit([append(`entry:${id}`, [id])], decide)
      await scope.commit(
        [
          append(`entry:${id}`, [id], { bodies: [body], derived: [`${SECRET} ${index}`] }),
          put(`put-${index}`, `${SECRET}-${index}`, null, {
            body,
            sources: [`entry:${SECRET}-${index}`],
            index: [{ group: SECRET, order: `${SECRET}-${index % 7}`, weight: 1 }],
          }),
        ],
        decide,
      )
      if (index % 20 === 0) await scope.attach({ id: `a${index}`, mediaType: `x/${SECRET}`, bytes }, 0)
      if (index % 20 === 0) await scope.derive({ key: `words ${index}`, bytes }, 1_000)
    }
    return scope
  }

  it('is in neither the file nor its log after the whole scope was erased', async () => {
    const store = newStore()
    const scope = await fill(store)
    expect(timesInFiles(pathOf(store), SECRET)).toBeGreaterThan(100_000)
    await scope.commit([erase('erase')], decide)
    expect(readFileSync(`${pathOf(store)}-wal`)).toHaveLength(0)
    await store.vacuum()
    expect(timesInFiles(pathOf(store), SECRET)).toBe(0)
  })

  it('is not there after one message, document or attachment was deleted', async () => {
    const store = newStore()
    const scope = store.open(SCOPE)
    const bytes = new TextEncoder().encode(SECRET.repeat(50_000))
    await scope.commit([append('entry:m1', ['m1']), append('entry:m3', ['m3'])], decide)
    await scope.commit([append('entry:m2', ['m2'], { bodies: [SECRET], derived: [SECRET] })], decide)
    await scope.commit([put('put', 'key', null, { body: SECRET.repeat(20_000) })], decide)
    await scope.attach({ id: 'a1', mediaType: 'x/y', bytes }, 0)
    await scope.attach({ id: 'a2', mediaType: 'x/y', bytes }, 0)
    await scope.derive({ key: 'words', bytes }, 9)
    const times = (): number => timesInFiles(pathOf(store), SECRET)
    const all = times()
    await scope.commit([remove('op-1', 'entry:m2')], decide)
    const withoutMessage = times()
    await scope.commit([remove('op-2', 'register:key')], decide)
    const withoutRegister = times()
    await scope.commit([remove('op-3', 'attachment:a1')], decide)
    const withoutAttachment = times()
    await store.removeUnused(0)
    expect([all > withoutMessage, withoutMessage > withoutRegister]).toEqual([true, true])
    expect([withoutRegister > withoutAttachment, withoutAttachment > 0, times()]).toEqual([true, true, 0])
    expect(await ids(scope)).toEqual(['m1', 'm3', 'm2'])
  })

  it('leaves the log when it is opened again, where its writer ended too early', async () => {
    const { store, reading } = await removedWhileRead()
    await store.close()
    reading.exec('COMMIT')
    expect(timesInFiles(pathOf(store), SECRET)).toBeGreaterThan(0)
    files.open(pathOf(store))
    expect(timesInFiles(pathOf(store), SECRET)).toBe(0)
    reading.close()
  })

  it('leaves the log after the next commit where somebody was reading it', async () => {
    const { store, scope, reading } = await removedWhileRead()
    expect(timesInFiles(pathOf(store), SECRET)).toBeGreaterThan(0)
    reading.exec('COMMIT')
    reading.close()
    await scope.commit([append('entry:m2', ['m2'])], decide)
    expect(timesInFiles(pathOf(store), SECRET)).toBe(0)
  })
})

describe('the statements of a SQLite file', () => {
  it('are of any number', () => {
    const handle = openSqlite(newPath(), false)
    const { sql } = new SqliteStorage(handle, false)
    for (let lap = 0; lap < 2; lap++)
      for (let index = 0; index < 300; index++)
        expect(sql.exec(`SELECT ${index} AS n`).toArray()).toMatchObject([{ n: index }])
    handle.close()
  })
})

describe('a plain append', () => {
  it('of a replica looks nothing up, and is one transaction', async () => {
    const storage = new SqliteStorage(openSqlite(newPath(), false), false)
    const said: string[] = []
    const sql = {
      exec: (query: string, ...bindings: SqlValue[]) => {
        said.push(query.split(' ').slice(0, 3).join(' '))
        return storage.sql.exec(query, ...bindings)
      },
    }
    const transactionSync = <Result>(closure: () => Result): Result => storage.transactionSync(closure)
    const advice = { newer: '', older: '' }
    const scope = new SqlStore({ sql, transactionSync }, { name: 'sqliteStore', advice }).open(SCOPE)
    const commit = (order: number): Promise<unknown> =>
      scope.commit(
        [append(`op-${order}`, [`m${order}`])],
        replicating(decide, { state: `${order}`, outbox: [{ order, value: 'value' }] }),
      )
    await commit(1)
    await scope.head()
    said.length = 0
    await commit(2)
    expect(said).toEqual([
      'INSERT INTO plimsoll_log',
      'UPDATE plimsoll_scope SET',
      'DELETE FROM plimsoll_outbox',
      'INSERT INTO plimsoll_outbox',
    ])
    for (const op of [append('op-3', ['m3']), append('entry:m4', ['m4', 'm5']), append('entry:m6', ['m6'])]) {
      said.length = 0
      await scope.commit([op], decide)
      expect(said).toEqual(['INSERT INTO plimsoll_log'])
    }
  })
})

describe('a backup of a SQLite file', () => {
  it('is a store as it was then, made by a writer or a reader, and never over another file', async () => {
    const store = newStore()
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null)], decide)
    const before = await readAll(scope)
    const copies = [newPath(), newPath()]
    await store.backup(copies[0] as string)
    await readerOf(store).backup(copies[1] as string)
    await scope.commit([append('op-3', ['m2'])], decide)
    for (const path of copies) {
      expect(await readAll(files.open(path, { readonly: true }).open(SCOPE))).toEqual(before)
      expect(await readAll(files.open(path).open(SCOPE))).toEqual(before)
      await expect(store.backup(path)).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    }
    for (const none of ['', `${newPath()}\0.db`])
      await expect(store.backup(none)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })
})

describe('a SQLite file without room', () => {
  it('takes nothing by halves, is read on, and takes more once there is room', async () => {
    const handle = openSqlite(newPath(), false)
    const store = new SqlStore(new SqliteStorage(handle, false), {
      name: 'sqliteStore',
      advice: { newer: '', older: '' },
    })
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    const [size] = handle.prepare('PRAGMA page_count').all()
    handle.exec(`PRAGMA max_page_count = ${Number(size?.page_count) + 4}`)
    const before = await readAll(scope)
    const long = 'x'.repeat(200_000)
    for (const ops of [
      [append('op-2', ['m2'], { bodies: [long] })],
      [put('op-3', 'key', null), append('op-4', ['m3', 'm4'], { bodies: ['short', long] })],
    ]) {
      await expect(scope.commit(ops, decide)).rejects.toMatchObject({
        code: 'ERR_STORAGE_FULL',
        message: 'sqliteStore: database or disk is full',
      })
      expect(await readAll(scope)).toEqual(before)
    }
    const bytes = new Uint8Array(200_000)
    await expect(scope.attach({ id: 'a', mediaType: 'x/y', bytes }, 0)).rejects.toMatchObject({
      code: 'ERR_STORAGE_FULL',
    })
    expect(await scope.attachment('a')).toBeUndefined()
    handle.exec('PRAGMA max_page_count = 100000')
    await scope.commit([append('op-2', ['m2'], { bodies: [long] })], decide)
    expect(await ids(scope)).toEqual(['m1', 'm2'])
    handle.close()
  })
})
