import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { durableObjectMemory } from '../../src/durable-object.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { attach, readAttachment } from '../../src/operations/attachments.ts'
import { nextWorkAt, runDueWork } from '../../src/operations/upkeep.ts'
import type { Memory } from '../../src/ports/memory.ts'
import type { OpResult } from '../../src/ports/op.ts'
import { type Decide, type EntriesQuery, PAGE_UNITS, type Store } from '../../src/ports/store.ts'
import { durableObjectStore } from '../../src/stores/durable-object.ts'
import { mapStore } from '../../src/stores/map.ts'
import { PART_UNITS } from '../../src/stores/parts.ts'
import { describeStore } from '../contract/index.ts'
import { replicating } from '../contract/rebases.ts'
import { append, erase, mark, put, remove, SCOPE } from '../contract/samples.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { isWhole } from '../everywhere/runs.ts'
import { heard } from './edge/in-object.ts'
import { ObjectStore } from './object-store.ts'

const newObject = (): DurableObjectStub => env.SESSIONS.get(env.SESSIONS.newUniqueId())
const newStore = (): ObjectStore => new ObjectStore(newObject())

describeStore('Durable Object', newStore, {
  reopen: async (store) => {
    const { stub } = store as ObjectStore
    await evictDurableObject(stub)
    return new ObjectStore(stub)
  },
})

// A push has it on Node, and here as what the other stores are compared with.
if (isWhole) describeStore('map', () => mapStore())

describeDifferential('Durable Object', newStore, {
  again: (store) => new ObjectStore((store as ObjectStore).stub),
  runs: 60,
})

/** Runs something inside a fresh object, on a store in its database. */
function inside<Result>(
  run: (store: Store, storage: DurableObjectStorage) => Promise<Result>,
): Promise<Result> {
  return runInDurableObject(newObject(), (_, { storage }) => run(durableObjectStore(storage), storage))
}

describe('a commit in a Durable Object', () => {
  it('of 64 writers at a time gives every op one seq, without gaps, each writer’s in its order (T4)', async () => {
    const scope = newStore().open(SCOPE)
    const written = await Promise.all(
      Array.from({ length: 64 }, async (_, writer) => {
        const seqs: number[] = []
        for (let op = 0; op < 5; op++) {
          const [result] = await scope.commit([append(`w${writer}/${op}`, [`m${writer}/${op}`])], decide)
          if (result?.status === 'accepted') seqs.push(result.seq)
        }
        return seqs
      }),
    )
    for (const seqs of written) expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(written.flat().toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 320 }, (_, index) => index + 1),
    )
    expect(await scope.head()).toMatchObject({ seq: 320, ordinal: 320 })
  })

  it('reads no row that it does not write, but the one before them', async () => {
    await inside(async (_, storage) => {
      const said: string[] = []
      const scope = durableObjectStore({
        transactionSync: (closure) => storage.transactionSync(closure),
        sql: {
          exec: (query, ...bindings) => {
            said.push(query.slice(0, 6))
            return storage.sql.exec(query, ...bindings)
          },
        },
      }).open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      said.length = 0
      await scope.commit([append('op-2', ['m2', 'm3'])], decide)
      await scope.commit([append('op-3', ['m4'], { round: 'm2' }), append('op-4', ['m5'])], decide)
      expect(said).toEqual(['INSERT', 'INSERT'])
      expect((await scope.changesSince(1)).rows.map(({ id }) => id)).toEqual(['m2', 'm3', 'm4', 'm5'])
      expect(said).toEqual(['INSERT', 'INSERT', 'SELECT'])
      const again = await scope.commit([append('op-2', ['m2', 'm3']), append('op-5', ['m4'])], decide)
      expect(again).toEqual([
        { status: 'accepted', seq: 2, applied: true, repeated: true },
        { status: 'rejected', reason: 'duplicate-id' },
      ])
      expect((await scope.head()).seq).toBe(4)
    })
  })

  it('of others, through another store or undone from outside, is seen by the next one', async () => {
    await inside(async (store, storage) => {
      const [scope, other] = [store.open(SCOPE), durableObjectStore(storage).open(SCOPE)]
      await scope.commit([append('op-1', ['m1'])], decide)
      await other.commit([append('op-2', ['m2'])], decide)
      expect(await scope.commit([append('op-3', ['m3'])], decide)).toMatchObject([{ seq: 3 }])
      await other.commit([remove('op-4', 'entry:m2')], decide)
      expect((await scope.changesSince(0)).rows.map(({ body }) => body === null)).toEqual([
        false,
        true,
        false,
        true,
      ])
      const undone = storage.transaction(async () => {
        await scope.commit([append('op-5', ['m5'])], decide)
        await scope.commit([append('op-6', ['m6'])], decide)
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      expect((await scope.changesSince(4)).rows).toEqual([])
      expect(await scope.commit([append('op-7', ['m7'])], decide)).toMatchObject([{ seq: 5 }])
    })
  })

  it('after one that was undone from outside goes on where the log ends', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      const undone = storage.transaction(async () => {
        await scope.commit([append('op-2', ['m2'])], decide)
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      await durableObjectStore(storage)
        .open(SCOPE)
        .commit([append('op-3', ['m3'])], decide)
      expect((await scope.changesSince(1)).rows.map(({ id }) => id)).toEqual(['m3'])
      expect(await scope.commit([append('op-4', ['m4'])], decide)).toMatchObject([{ seq: 3 }])
      expect((await scope.entries()).rows.map(({ id }) => id)).toEqual(['m1', 'm3', 'm4'])
    })
  })

  it('of one op a thousand times at once writes one row, and all get its first result (T5)', async () => {
    const scope = newStore().open(SCOPE)
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        scope.commit([append('op-1', ['m1'], { bodies: [`body ${index}`] })], decide),
      ),
    )
    const repeated = results.filter(([result]) => result?.repeated)
    expect([results.length, repeated.length]).toEqual([1_000, 999])
    const { rows } = await scope.entries()
    expect(rows.map(({ id, body }) => [id, body])).toEqual([['m1', 'body 0']])
  })

  it('answers the same when the object is evicted between every two calls (T6)', async () => {
    const [calm, evicted] = [newStore(), newStore()]
    const answers: (readonly OpResult[])[][] = [[], []]
    for (let step = 0; step < 12; step++) {
      const ops = [
        append(`op-${step}`, [`m${step}`]),
        append(`op-${step - 1}`, [`m${step - 1}`]),
        put(`put-${step}`, 'key', step === 0 ? null : `put-${step - 1}`),
      ]
      for (const [index, store] of [calm, evicted].entries())
        answers[index]?.push(await store.open(SCOPE).commit(ops, decide))
      await evictDurableObject(evicted.stub)
    }
    expect(answers[1]).toEqual(answers[0])
    expect((await evicted.open(SCOPE).entries()).rows).toEqual((await calm.open(SCOPE).entries()).rows)
  })

  it('refuses a decide that is async, and writes nothing (T8)', async () => {
    await inside(async (store) => {
      const scope = store.open(SCOPE)
      const late = (async (...given: Parameters<Decide>) => decide(...given)) as unknown as Decide
      await expect(scope.commit([append('op-1', ['m1'])], late)).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
      })
      expect(await scope.head()).toMatchObject({ seq: 0 })
    })
  })

  it('that fails midway leaves what was there, and the same op can be sent again', async () => {
    await inside(async (_, storage) => {
      for (const failing of ['plimsoll_log', 'plimsoll_register', 'plimsoll_mark', 'plimsoll_scope']) {
        let broken = true
        const store = durableObjectStore({
          transactionSync: (closure) => storage.transactionSync(closure),
          sql: {
            exec: (query, ...bindings) => {
              if (broken && /^\s*(INSERT|UPDATE)/.test(query) && query.includes(failing))
                throw new Error('disk I/O error')
              return storage.sql.exec(query, ...bindings)
            },
          },
        })
        const scope = store.open({ userId: failing })
        const ops = [append('op-1', ['m1', 'm2']), put('op-2', 'key', null), mark('op-3', 'epoch', 'e1')]
        await expect(scope.commit(ops, decide)).rejects.toMatchObject({
          code: 'ERR_STORAGE',
          cause: { message: 'disk I/O error' },
        })
        expect(await scope.head()).toEqual({ seq: 0, ordinal: 0, marks: new Map() })
        broken = false
        const results = await scope.commit(ops, decide)
        expect(results.map((result) => result.status)).toEqual(['accepted', 'accepted', 'accepted'])
        expect(await scope.head()).toMatchObject({ seq: 3, first: 'm1' })
      }
    })
  })

  it('takes batches of any size, below the limit of bound parameters (T15)', async () => {
    const scope = newStore().open(SCOPE)
    for (const size of [1, 89, 90, 91, 100, 101, 300]) {
      const ops = Array.from({ length: size }, (_, index) =>
        append(`${size}/${index}`, [`m${size}/${index}`]),
      )
      const results = await scope.commit(ops, decide)
      expect(results.every(({ status }) => status === 'accepted')).toBe(true)
      const again = await scope.commit(ops, decide)
      expect(again.every(({ repeated }) => repeated)).toBe(true)
    }
  })
})

describe('what reads a Durable Object', () => {
  it('leaves no statement open, however little of it is wanted', async () => {
    await inside(async (_, storage) => {
      const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
      const scope = durableObjectStore(heard(storage, (cursor) => void cursors.push(cursor))).open(SCOPE)
      const long = 'x'.repeat(PAGE_UNITS / 2)
      await scope.commit([append('op-1', ['m1', 'm2', 'm3'], { bodies: [long, long, long] })], decide)
      await scope.commit(
        [mark('op-2', 'epoch', 'e1'), put('op-3', 'a/1', null), put('op-4', 'b/1', null)],
        decide,
      )
      for (const key of ['a/1', 'a/2', 'a/3', 'b/1'])
        await scope.derive({ key, bytes: new Uint8Array(PAGE_UNITS / 2) }, 10)
      for (const order of [1, 2, 3]) {
        const outbox = [{ order, value: long }]
        await scope.commit([], replicating(decide, { state: '', outbox }))
      }
      for (const query of [
        {},
        { first: 1 },
        { last: 2 },
        { from: 'm1', first: 2 },
        { kinds: ['epoch'], last: 1 },
      ])
        await scope.entries(query as EntriesQuery)
      await scope.registers('a/')
      await scope.changesSince(0)
      expect(await scope.derived('a/')).toHaveLength(2)
      expect(await scope.outbox?.(0)).toHaveLength(2)
      // One that gives no rows is done when it has run.
      expect(cursors.filter((cursor) => cursor.next().done !== true)).toEqual([])
    })
  })
})

describe('a failure of SQLite', () => {
  it('rejects every call with a code, and has the original as its cause', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1', 'm2'])], decide)
      for (const table of ['log', 'register', 'mark'])
        storage.sql.exec(`ALTER TABLE plimsoll_${table} RENAME TO hidden_${table}`)
      for (const call of [
        () => scope.commit([append('op-2', ['m3'])], decide),
        () => scope.entries(),
        () => scope.head(),
        () => scope.register('key'),
        () => scope.registers(''),
        () => scope.changesSince(0),
      ])
        await expect(call()).rejects.toMatchObject({
          name: 'PlimsollError',
          code: 'ERR_STORAGE',
          cause: { message: expect.stringContaining('no such table: plimsoll_') },
        })
      for (const table of ['log', 'register', 'mark'])
        storage.sql.exec(`ALTER TABLE hidden_${table} RENAME TO plimsoll_${table}`)
      expect(await scope.commit([append('op-2', ['m3'])], decide)).toEqual([
        { status: 'accepted', seq: 2, applied: true },
      ])
    })
  })

  it('in the middle of reading rows, or for want of room, is known from the others', async () => {
    await inside(async (_, storage) => {
      let failing: { readonly query: RegExp; readonly message: string; readonly late?: boolean } | undefined
      const store = durableObjectStore({
        transactionSync: (closure) => storage.transactionSync(closure),
        sql: {
          exec: (query, ...bindings) => {
            const fails = failing?.query.test(query) ? failing : undefined
            const message = fails?.message ?? ''
            if (fails && !fails.late) throw new Error(message)
            const rows = storage.sql.exec(query, ...bindings)
            if (!fails) return rows
            return {
              toArray: () => {
                throw new Error(message)
              },
            }
          },
        },
      })
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1', 'm2'])], decide)
      const message = 'database disk image is malformed: SQLITE_CORRUPT'
      for (const [query, call] of [
        [/ORDER BY n DESC LIMIT/, () => scope.entries()],
        [/FROM plimsoll_mark/, () => store.open(SCOPE).head()],
      ] as const) {
        failing = { query, message, late: true }
        await expect(call()).rejects.toMatchObject({ code: 'ERR_STORAGE', cause: { message } })
      }
      failing = { query: /^INSERT INTO plimsoll_log/, message: 'database or disk is full: SQLITE_FULL' }
      const commit = scope.commit([append('op-2', ['m3'])], decide)
      await expect(commit).rejects.toMatchObject({ code: 'ERR_STORAGE_FULL', cause: expect.any(Error) })
      failing = undefined
      expect(await scope.head()).toMatchObject({ seq: 1 })
    })
  })

  it('that also fails the end of its transaction is the one that is reported; what `decide` throws is its own', async () => {
    await inside(async (_, storage) => {
      let full = true
      const scope = durableObjectStore({
        transactionSync: (closure) => {
          try {
            return storage.transactionSync(closure)
          } catch (error) {
            throw full ? new Error('no such savepoint: SQLITE_ERROR') : error
          }
        },
        sql: {
          exec: (query, ...bindings) => {
            if (full && query.startsWith('INSERT INTO plimsoll_log'))
              throw new Error('database or disk is full: SQLITE_FULL')
            return storage.sql.exec(query, ...bindings)
          },
        },
      }).open(SCOPE)
      const ops = [append('op-1', ['m1'])]
      await expect(scope.commit(ops, decide)).rejects.toMatchObject({ code: 'ERR_STORAGE_FULL' })
      full = false
      const own = new RangeError('of decide')
      const throwing: Decide = () => {
        throw own
      }
      await expect(scope.commit(ops, throwing)).rejects.toBe(own)
      const ending = durableObjectStore({
        sql: storage.sql,
        transactionSync: (closure) => {
          closure()
          throw new Error('disk I/O error: SQLITE_IOERR')
        },
      }).open(SCOPE)
      await expect(ending.commit(ops, decide)).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    })
  })
})

describe('a long text in a Durable Object', () => {
  const sizes = [PART_UNITS - 1, PART_UNITS, PART_UNITS + 1, 2 ** 18, 2 ** 21, 2 ** 23]

  it('comes back byte for byte, of any length up to an entry’s limit (T14)', async () => {
    const scope = newStore().open(SCOPE)
    for (const [index, size] of sizes.entries()) {
      const start = 'x'.repeat(index % 2)
      const text = `${start}${'🚆'.repeat(Math.floor((size - start.length) / 2))}`.padEnd(size, 'y')
      await scope.commit([append(`op-${size}`, [`m${size}`], { bodies: [text] })], decide)
      await scope.commit([put(`put-${size}`, `key${size}`, null, { body: text })], decide)
      const { rows } = await scope.entries({ from: `m${size}`, first: 1 })
      expect(rows[0]?.body === text).toBe(true)
      expect((await scope.register(`key${size}`))?.body === text).toBe(true)
    }
  })

  it('of which a part is gone is an error, not a shorter text', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'], { bodies: ['x'.repeat(3 * PART_UNITS)] })], decide)
      storage.sql.exec('DELETE FROM plimsoll_part WHERE part = 1')
      await expect(scope.entries()).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    })
  })

  it('that is refused leaves none of its parts', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      const long = append('op-2', ['m1'], { bodies: ['x'.repeat(3 * PART_UNITS)] })
      expect(await scope.commit([long], decide)).toMatchObject([{ status: 'rejected' }])
      expect(storage.sql.exec('SELECT count(*) AS parts FROM plimsoll_part').one().parts).toBe(0)
    })
  })

  it('is gone with its parts when its entry is deleted, its register written over, or the scope erased', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      const parts = (): number =>
        storage.sql.exec('SELECT count(*) AS parts FROM plimsoll_part').one().parts as number
      const long = 'x'.repeat(3 * PART_UNITS)
      await scope.commit([append('op-1', ['m1', 'm2'], { bodies: [long, long] })], decide)
      await scope.commit([put('op-2', 'key', null, { body: long })], decide)
      expect(parts()).toBe(9)
      await scope.commit([remove('op-3', 'entry:m1')], decide)
      expect(parts()).toBe(6)
      await scope.commit([put('op-4', 'key', 'op-2', { body: 'short' })], decide)
      expect(parts()).toBe(3)
      await scope.commit([put('op-5', 'other', null, { body: long })], decide)
      await scope.commit([erase('op-6')], decide)
      expect(parts()).toBe(0)
    })
  })
})

describe('bytes in a Durable Object', () => {
  const bytes = new Uint8Array(700_000).fill(7)

  it('of which a part is gone are an error, not other bytes', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.attach({ id: 'a', mediaType: 'image/png', bytes }, 1)
      await scope.derive({ key: 'a', bytes }, 0)
      storage.sql.exec('DELETE FROM plimsoll_part WHERE part = 1')
      await expect(scope.attachment('a')).rejects.toMatchObject({ code: 'ERR_STORAGE' })
      await expect(scope.derived('')).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    })
  })

  it('that were derived are gone with their parts when they are replaced, and with any delete or erase', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      const parts = (): number =>
        storage.sql.exec('SELECT count(*) AS parts FROM plimsoll_part').one().parts as number
      const keys = ['a', 'a/b', '\u{1f44d}', '\ud83d', '%', '_']
      const derive = async (): Promise<void> => {
        const { seq } = await scope.head()
        for (const key of keys) await scope.derive({ key, bytes }, seq)
      }
      await derive()
      expect(parts()).toBe(3 * keys.length)
      await scope.derive({ key: 'a', bytes: bytes.subarray(1) }, 0)
      await scope.derive({ key: 'a/b', bytes: bytes.subarray(-1) }, 0)
      expect(parts()).toBe(3 * keys.length - 2)
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.commit([remove('op-2', 'entry:m1')], decide)
      expect(parts()).toBe(0)
      await derive()
      await scope.commit([erase('op-3')], decide)
      expect(parts()).toBe(0)
    })
  })

  it('that are refused leave none of their parts', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1']), remove('op-2', 'entry:m1')], decide)
      expect(await scope.derive({ key: 'a', bytes }, 1)).toBe(false)
      expect(storage.sql.exec('SELECT count(*) AS parts FROM plimsoll_part').one().parts).toBe(0)
    })
  })
})

describe('the tables of a Durable Object', () => {
  it('are made at the first call, all under one prefix, beside what else is there', async () => {
    await inside(async (_, storage) => {
      const tables = (): string[] =>
        storage.sql
          .exec(
            `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'`,
          )
          .toArray()
          .map(({ name }) => name as string)
      storage.sql.exec('CREATE TABLE own (value TEXT)')
      const store = durableObjectStore(storage)
      const scope = store.open(SCOPE)
      expect(tables()).toEqual(['own'])
      await scope.commit([append('op-1', ['m1'])], decide)
      const made = tables().filter((name) => name !== 'own' && !name.startsWith('sqlite_'))
      expect(made.length).toBeGreaterThan(5)
      expect(made.every((name) => name.startsWith('plimsoll_'))).toBe(true)
      expect(await storage.getAlarm()).toBeNull()
    })
  })

  it('of a newer version are neither read nor written', async () => {
    await inside(async (store, storage) => {
      await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
      storage.sql.exec(`UPDATE plimsoll_meta SET value = value + 1 WHERE key = 'schema'`)
      const older = durableObjectStore(storage).open(SCOPE)
      for (const call of [() => older.head(), () => older.commit([append('op-2', ['m2'])], decide)])
        await expect(call()).rejects.toMatchObject({ code: 'ERR_UPGRADE_REQUIRED' })
    })
  })

  it('of 0.1.0 are refused with what to do, and left as they are', async () => {
    await inside(async (_, storage) => {
      // As much of them as tells their version.
      const { sql } = storage
      sql.exec('CREATE TABLE plimsoll_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID')
      sql.exec(`INSERT INTO plimsoll_meta VALUES ('schema', 1)`)
      sql.exec('CREATE TABLE plimsoll_scope (scope INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)')
      sql.exec(`INSERT INTO plimsoll_scope VALUES (1, '["ada"]')`)
      const dump = () =>
        ['sqlite_master', 'plimsoll_meta', 'plimsoll_scope'].map((table) =>
          sql.exec(`SELECT * FROM ${table}`).toArray(),
        )
      const before = dump()
      const store = durableObjectStore(storage)
      const scope = store.open(SCOPE)
      for (const call of [
        () => scope.head(),
        () => scope.commit([append('op-1', ['m1'])], decide),
        () => scope.derive({ key: 'a', bytes: new Uint8Array(1) }, 0),
        () => store.scopes(),
        () => store.oldestUnused(),
      ])
        await expect(call()).rejects.toMatchObject({
          code: 'ERR_UPGRADE_REQUIRED',
          message: expect.stringMatching(
            /version 0\.1\.0 .* storage format 1; .* format 2 only: export them/,
          ),
        })
      expect(dump()).toEqual(before)
    })
  })

  it('of what is derived are made again where another version of them is there', async () => {
    await inside(async (store, storage) => {
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'], { bodies: ['x'.repeat(2 * PART_UNITS)] })], decide)
      await scope.derive({ key: 'a', bytes: new Uint8Array([1, 2]) }, 1)
      const { sql } = storage
      sql.exec('DROP TABLE plimsoll_derived')
      sql.exec('CREATE TABLE plimsoll_derived (of TEXT)')
      sql.exec(`UPDATE plimsoll_meta SET value = 0 WHERE key = 'derived'`)
      const later = durableObjectStore(storage).open(SCOPE)
      expect(await later.derived('')).toEqual([])
      expect((await later.entries()).rows[0]?.body).toHaveLength(2 * PART_UNITS)
      const owners = sql.exec('SELECT DISTINCT owner FROM plimsoll_part').toArray()
      expect(owners).toEqual([{ owner: expect.stringMatching(/^log/) }])
      const row = { key: 'b', bytes: new Uint8Array([3]) }
      expect(await later.derive(row, 1)).toBe(true)
      expect(await durableObjectStore(storage).open(SCOPE).derived('')).toEqual([row])
    })
  })
})

describe('the work of a call on a Durable Object', () => {
  /** Rows read and written by one call, by SQLite's own count. */
  async function work(messages: number) {
    return inside(async (_, storage) => {
      const count = {
        read: 0,
        written: 0,
        cursors: [] as SqlStorageCursor<Record<string, SqlStorageValue>>[],
      }
      const store = durableObjectStore({
        transactionSync: (closure) => storage.transactionSync(closure),
        sql: {
          exec: (query, ...bindings) => {
            const cursor = storage.sql.exec(query, ...bindings)
            count.cursors.push(cursor)
            return cursor
          },
        },
      })
      const scope = store.open(SCOPE)
      for (let at = 0; at < messages; at += 500) {
        const ids = Array.from({ length: Math.min(500, messages - at) }, (_, index) => `m${at + index}`)
        await scope.commit([append(`fill-${at}`, ids)], decide)
      }
      const measure = async (call: () => Promise<unknown>) => {
        count.cursors.length = 0
        await call()
        const sum = (rows: 'rowsRead' | 'rowsWritten') =>
          count.cursors.reduce((total, cursor) => total + cursor[rows], 0)
        return { read: sum('rowsRead'), written: sum('rowsWritten') }
      }
      const { seq } = await scope.head()
      const calls = {
        append: await measure(() => scope.commit([append('op', ['a', 'b'])], decide)),
        changes: await measure(() => scope.changesSince(seq)),
        idle: await measure(() => scope.changesSince(seq + 1)),
        last40: await measure(() => scope.entries({ last: 40 })),
        marks: await measure(() => scope.entries({ last: 10, kinds: ['rewind'] })),
      }
      const index = [{ group: 'group', order: '1', weight: 1 }]
      const { seq: written } = await scope.head()
      for (let at = 0; at < messages / 10; at++) {
        await scope.commit([put(`put-${at}`, `key ${at}`, null, { index })], decide)
        await scope.derive({ key: `part ${at}`, bytes: new Uint8Array(1) }, written)
      }
      return {
        ...calls,
        put: await measure(() => scope.commit([put('put', 'key', null, { index })], decide)),
        indexed: await measure(() =>
          scope.indexed('group', { after: { order: '1', key: 'key 2' }, first: 3 }),
        ),
        sums: await measure(() => scope.sums(['group', 'other'])),
        after: await measure(() => scope.registers('', 'key 9999')),
        before: await measure(() => scope.registers('', undefined, 'key 0')),
        derived: await measure(() => scope.derived('', 'part 9999')),
      }
    })
  }

  it('does not grow with the log, in rows read and written', async () => {
    const [few, many] = [await work(1_000), await work(20_000)]
    expect(many).toEqual(few)
    expect(few.append.written).toBeLessThanOrEqual(6)
    expect(few.put.written).toBeLessThanOrEqual(7)
    expect(few.indexed.read).toBeLessThanOrEqual(8)
    expect(few.sums.read).toBeLessThanOrEqual(4)
    expect(Math.max(few.after.read, few.before.read, few.derived.read)).toBeLessThanOrEqual(2)
    expect(few.last40.read).toBeLessThanOrEqual(45)
    expect(few.changes.read).toBeLessThanOrEqual(20)
    expect(few.idle.read).toBeLessThanOrEqual(5)
    expect(few.marks.read).toBeLessThanOrEqual(5)
  })
})

describe('due work in a Durable Object', () => {
  it('is done when its owner calls for it, and sets no alarm itself', async () => {
    const stub = newObject()
    let now = 0
    const run = <Result>(work: (memory: Memory, storage: DurableObjectStorage) => Promise<Result>) =>
      runInDurableObject(stub, (_, ctx) =>
        work(durableObjectMemory(ctx, { budget: 8_000, clock: () => now }), ctx.storage),
      )
    const picture = { mediaType: 'image/png', bytes: new Uint8Array(300_000) }
    const ref = await run(async (memory, storage) => {
      const part = await attach(memory.session({ userId: 'ada' }), picture)
      expect(await storage.getAlarm()).toBeNull()
      return part.ref ?? ''
    })
    await evictDurableObject(stub)
    const due = await run((memory) => nextWorkAt(memory))
    expect(due).toBe(24 * 60 * 60 * 1000)
    now = due ?? 0
    await run(async (memory, storage) => {
      expect(await runDueWork(memory)).toBeUndefined()
      const session = memory.session({ userId: 'ada' })
      await expect(readAttachment(session, ref)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
      const [left] = storage.sql.exec('SELECT count(*) AS parts FROM plimsoll_part').toArray()
      expect(left?.parts).toBe(0)
      expect(await storage.getAlarm()).toBeNull()
    })
  })
})
