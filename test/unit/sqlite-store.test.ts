import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import { SqlStore } from '../../src/stores/sql-store.ts'
import { type SqliteStore, type SqliteStoreOptions, sqliteStore } from '../../src/stores/sqlite.ts'
import { openSqlite } from '../../src/stores/sqlite-handle.ts'
import { SqliteStorage } from '../../src/stores/sqlite-storage.ts'
import { describeStore } from '../contract/index.ts'
import { append, erase, put, readAll, remove, SCOPE } from '../contract/samples.ts'
import { describeDifferential } from '../everywhere/differential.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-sqlite-'))
const opened: SqliteStore[] = []
let files = 0

afterAll(async () => {
  for (const store of opened) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const newPath = (): string => join(folder, `${files++}.db`)

/** Files of stores, by their store. */
const paths = new WeakMap<Store, string>()

function openStore(path: string, options: Omit<SqliteStoreOptions, 'path'> = {}): SqliteStore {
  const store = sqliteStore({ path, synchronous: 'normal', ...options })
  paths.set(store, path)
  opened.push(store)
  return store
}

const newStore = (): SqliteStore => openStore(newPath())
const pathOf = (store: Store): string => paths.get(store) as string
const readerOf = (store: Store): SqliteStore => openStore(pathOf(store), { readonly: true })

describeStore('SQLite', newStore, {
  reopen: async (store) => {
    await (store as SqliteStore).close()
    return openStore(pathOf(store))
  },
})
describeDifferential('SQLite', newStore, { again: readerOf, runs: 60 })

/** How often a word is in a database file and those beside it. */
function timesInFiles(path: string, word: string): number {
  const name = path.slice(folder.length + 1)
  return readdirSync(folder)
    .filter((file) => file.startsWith(name))
    .reduce(
      (sum, file) => sum + readFileSync(join(folder, file)).toString('latin1').split(word).length - 1,
      0,
    )
}

const ids = async (scope: ScopeStore): Promise<readonly string[]> =>
  (await scope.entries()).rows.map(({ id }) => id)

describe('sqliteStore', () => {
  it.each([
    ['path', { path: '' }],
    ['path', { path: ':memory:' }],
    ['path', { path: 'file:memory.db' }],
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
    for (const path of [join(folder, 'no', 'such.db'), noise])
      expect(() => sqliteStore({ path })).toThrow(
        expect.objectContaining({ code: 'ERR_STORAGE', cause: expect.any(Error) }),
      )
    const text = readFileSync(noise, 'utf8')
    expect(text).toBe('noise '.repeat(1_000))
  })

  it('says what it needs where the runtime has no SQLite', () => {
    const { getBuiltinModule } = process
    process.getBuiltinModule = () => undefined as never
    try {
      expect(() => sqliteStore({ path: newPath() })).toThrow(
        expect.objectContaining({
          code: 'ERR_NOT_CONFIGURED',
          message: `plimsoll/sqlite: needs Node 22.13 or later, Deno 2 or Bun, found ${process.version}`,
        }),
      )
    } finally {
      process.getBuiltinModule = getBuiltinModule
    }
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
      expect(() => openStore(pathOf(store), { readonly })).toThrow(
        expect.objectContaining({ code: 'ERR_UPGRADE_REQUIRED' }),
      )
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
    expect(await ids(openStore(link).open(SCOPE))).toEqual(['m1'])
  })

  it('is refused while another process writes, and not once that was killed', async () => {
    const path = newPath()
    const writer = spawn(process.execPath, [join(import.meta.dirname, 'support/sqlite-writer.ts'), path])
    const written: string[] = []
    for await (const id of createInterface({ input: writer.stdout })) {
      if (written.length === 0)
        expect(() => sqliteStore({ path })).toThrow(expect.objectContaining({ code: 'ERR_STORAGE_LOCKED' }))
      if (written.push(id) === 20) writer.kill('SIGKILL')
    }
    const found = await ids(openStore(path).open(SCOPE))
    expect(found.slice(0, written.length)).toEqual(written)
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

  it('needs no writer, but one before it', async () => {
    const store = newStore()
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    await store.close()
    const reader = readerOf(store)
    expect(await ids(reader.open(SCOPE))).toEqual(['m1'])
    const again = openStore(pathOf(store))
    await again.open(SCOPE).commit([append('op-2', ['m2'])], decide)
    expect(await ids(reader.open(SCOPE))).toEqual(['m1', 'm2'])
    const empty = newPath()
    expect(() => openStore(empty, { readonly: true })).toThrow(
      expect.objectContaining({ code: 'ERR_STORAGE' }),
    )
    writeFileSync(empty, '')
    expect(() => openStore(empty, { readonly: true })).toThrow(/nothing was written here yet/)
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

  it('leaves the log after the next commit where somebody was reading it', async () => {
    const store = newStore()
    const scope = store.open(SCOPE)
    await scope.commit([append('entry:m1', ['m1'], { bodies: [SECRET] })], decide)
    const reading = openSqlite(pathOf(store), true)
    reading.exec('BEGIN')
    reading.prepare('SELECT id FROM plimsoll_log').all()
    await scope.commit([remove('op-1', 'entry:m1')], decide)
    expect(timesInFiles(pathOf(store), SECRET)).toBeGreaterThan(0)
    reading.exec('COMMIT')
    reading.close()
    await scope.commit([append('entry:m2', ['m2'])], decide)
    expect(timesInFiles(pathOf(store), SECRET)).toBe(0)
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
      expect(await readAll(openStore(path, { readonly: true }).open(SCOPE))).toEqual(before)
      expect(await readAll(openStore(path).open(SCOPE))).toEqual(before)
      await expect(store.backup(path)).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    }
    await expect(store.backup('')).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
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
