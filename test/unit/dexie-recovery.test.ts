import { Dexie } from 'dexie'
import { forceCloseDatabase } from 'fake-indexeddb'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { isPlimsollError, type PlimsollError } from '../../src/ports/errors.ts'
import { type LogRow, PAGE_ROWS, PAGE_UNITS } from '../../src/ports/store.ts'
import type { KeyValue, PageEvents } from '../../src/stores/browser.ts'
import { type DexieStore, type DexieStoreOptions, dexieStore } from '../../src/stores/dexie.ts'
import { openDatabase } from '../../src/stores/idb-open.ts'
import { TABLES } from '../../src/stores/idb-schema.ts'
import { RecoveringStore } from '../../src/stores/idb-store.ts'
import { type Requests, runInTransaction } from '../../src/stores/idb-transaction.ts'
import { LogTail } from '../../src/stores/log-tail.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { replicating, rowsOf } from '../contract/rebases.ts'
import { accepted, append, erase, mark, names, put, remove, SCOPE } from '../contract/samples.ts'
import {
  engineError,
  type Factory,
  failOnce,
  failWith,
  heal,
  IDBFactory,
  IDBKeyRange,
  IDBObjectStore,
  requests,
} from './support/faulty-indexeddb.ts'

const NAME = 'recovery'

function open(indexedDB: Factory, options: Partial<DexieStoreOptions> = {}): DexieStore {
  return dexieStore({ name: NAME, channel: null, mirror: null, indexedDB, IDBKeyRange, ...options })
}

function keyValue(): KeyValue & { readonly values: Map<string, string> } {
  const values = new Map<string, string>()
  return {
    values,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
  }
}

/** What a call rejects with. */
async function failure(call: Promise<unknown>): Promise<PlimsollError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isPlimsollError(error)) throw error ?? new Error('it did not reject')
  return error
}

/** The database as anybody else may open it. */
async function elsewhere<Result>(
  indexedDB: Factory,
  work: (database: Dexie) => Promise<Result>,
): Promise<Result> {
  const database = await new Dexie(NAME, { indexedDB, IDBKeyRange }).open()
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

/** Rows of the log that the engine copies out while `work` runs. */
async function rowsLoaded(work: () => Promise<void>): Promise<number> {
  let rows = 0
  const original = globalThis.structuredClone
  globalThis.structuredClone = <Value>(value: Value): Value => {
    if (typeof value === 'object' && value !== null && 'place' in value) rows++
    return original(value)
  }
  try {
    await work()
  } finally {
    globalThis.structuredClone = original
  }
  return rows
}

const idsOf = async (store: DexieStore): Promise<string[]> =>
  (await store.open(SCOPE).entries()).rows.map(({ id }) => id)

afterEach(heal)

describe('a request that fails', () => {
  it('once is made again on a new handle, whichever it is, and nothing is written twice', async () => {
    const indexedDB = new IDBFactory()
    await open(indexedDB)
      .open(SCOPE)
      .commit([append('op-0', ['m0'])], decide)
    for (let nth = 0, reached = true; reached; nth++) {
      const store = open(indexedDB)
      const scope = store.open(SCOPE)
      const failed = failOnce((_, index) => index === nth)
      const id = `n${nth}`
      const [result] = await scope.commit([append(id, [id])], decide)
      expect(result).toEqual(accepted(nth + 2))
      expect((await scope.changesSince(nth + 1)).rows.map((row) => row.id)).toEqual([id])
      expect((await scope.entries({ last: 1 })).rows.map((row) => row.id)).toEqual([id])
      expect(store.status()).toEqual({ state: 'ready', durable: true })
      await store.close()
      reached = failed()
    }
    heal()
    const ids = await idsOf(open(indexedDB))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThan(10)
  })

  it('whose outcome is not known is sent again under the same ids: one row, the first result', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    let failed = false
    // The handle is closed while the transaction runs, which is then completed all the same.
    failWith((request) => {
      if (request !== 'log.add' || failed) return
      failed = true
      queueMicrotask(() => void store.close())
    })
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toMatchObject([
      { status: 'accepted', seq: 2 },
    ])
    expect(await idsOf(store)).toEqual(['m1', 'm2'])
  })

  it('is not all there is: a transaction undone after all of them succeeded acknowledges nothing', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    const { put } = IDBObjectStore.prototype
    let undone = 0
    IDBObjectStore.prototype.put = function (...args: Parameters<typeof put>) {
      const request = put.apply(this, args)
      if (this.name === 'head' && undone++ === 0)
        request.addEventListener('success', () => this.transaction.abort())
      return request
    }
    try {
      expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
    } finally {
      IDBObjectStore.prototype.put = put
    }
    expect(undone).toBe(2)
    expect(await idsOf(store)).toEqual(['m1', 'm2'])
  })

  it('for as long as the handle lives is made on a new one, and that is opened once', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    failWith((request) => {
      if (!requests.includes('open') && request !== 'open') throw engineError('UnknownError')
    })
    expect((await scope.entries()).rows.map(({ id }) => id)).toEqual(['m1'])
    expect(requests.filter((request) => request === 'open')).toHaveLength(1)
    expect(store.status().state).toBe('ready')
  })

  it('on a handle that the engine says is closed is made on a new one', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    failWith((request) => {
      if (request === 'transaction' && !requests.includes('open')) throw engineError('InvalidStateError')
    })
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
    expect(await idsOf(store)).toEqual(['m1', 'm2'])
    expect(store.status().state).toBe('ready')
  })

  it('at ten calls at once opens one new handle for all of them', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    failWith((request) => {
      if (!requests.includes('open') && request !== 'open') throw engineError('UnknownError')
    })
    const reads = await Promise.all(names('r', 10).map(() => store.open(SCOPE).entries()))
    expect(reads.map(({ rows }) => rows.length)).toEqual(reads.map(() => 1))
    expect(requests.filter((request) => request === 'open')).toHaveLength(1)
  })

  it('late, on a handle that was replaced meanwhile, leaves the new one to the others', async () => {
    const engine = { indexedDB: new IDBFactory(), IDBKeyRange }
    const store = new RecoveringStore(
      { name: NAME, durability: 'strict', channel: null, mirror: null, ...engine },
      openDatabase,
    )
    const failing = (wait: () => unknown) => {
      let calls = 0
      return async <Handle>(handle: Handle): Promise<Handle> => {
        if (++calls > 1) return handle
        await wait()
        throw engineError('UnknownError')
      }
    }
    let replace = (): void => {}
    const replaced = new Promise<void>((done) => {
      replace = done
    })
    const handleOf = (done: object): unknown => ('result' in done ? done.result : done)
    const late = store.run(
      'late',
      failing(() => replaced),
    )
    const early = await store.run(
      'early',
      failing(() => undefined),
    )
    replace()
    expect(handleOf(await late)).toBe(handleOf(early))
    expect(handleOf(await store.run('after', async (handle) => handle))).toBe(handleOf(early))
  })
})

describe('a transaction', () => {
  it('that ends before its work is done, since that waited for something else, fails', async () => {
    const indexedDB = new IDBFactory()
    await open(indexedDB).open(SCOPE).head()
    await elsewhere(indexedDB, async (database) => {
      const transaction = database.backendDB().transaction(['meta'], 'readwrite')
      const work = async (requests: Requests): Promise<string> => {
        await requests.get(requests.table('meta'), ['database'])
        await new Promise((resolve) => setTimeout(resolve, 20))
        return 'done'
      }
      await expect(runInTransaction(transaction, { indexedDB, IDBKeyRange }, work)).rejects.toMatchObject({
        name: 'TransactionInactiveError',
      })
    })
  })
})

describe('memory mode', () => {
  it('begins when the database cannot be opened, and says so before the first call resolves', async () => {
    failWith((request) => {
      if (request === 'open') throw engineError('SecurityError')
    })
    const store = open(new IDBFactory())
    const told: string[] = []
    store.onStatus(({ state, durable }) => told.push(`${state} ${durable}`))
    const scope = store.open(SCOPE)
    expect(await scope.commit([append('op-1', ['m1'])], decide)).toEqual([accepted(1)])
    expect(told).toEqual(['memory false'])
    expect(store.status()).toMatchObject({ state: 'memory', durable: false, cause: { code: 'ERR_STORAGE' } })
    expect(await idsOf(store)).toEqual(['m1'])
    expect(requests.filter((request) => request === 'open').length).toBeLessThanOrEqual(2)
  })

  it('is where a browser without IndexedDB begins', async () => {
    vi.stubGlobal('process', Object.create(process, { versions: { value: {} } }))
    try {
      const store = dexieStore({ name: NAME, mirror: null, channel: null })
      expect(await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)).toEqual([accepted(1)])
      expect(store.status()).toMatchObject({ state: 'memory', durable: false })
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('goes on with what is in memory when the database fails for good: order, marks, deletes and results', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    const ops = [append('op-1', ['m1', 'm2']), mark('op-2', 'epoch', 'e1')]
    await scope.commit(ops, decide)
    await scope.commit([append('op-3', ['m3'], { round: 'm1' })], decide)
    const before = await scope.changesSince(0)
    failWith(() => {
      throw engineError('UnknownError')
    })
    expect(await scope.changesSince(0)).toEqual(before)
    expect(store.status().durable).toBe(false)
    expect(await scope.commit([append('op-4', ['m4'], { round: 'm1' }), ...ops], decide)).toEqual([
      accepted(4),
      { ...accepted(1), repeated: true },
      { ...accepted(2), repeated: true },
    ])
    expect(await idsOf(store)).toEqual(['m1', 'm2', 'e1', 'm3', 'm4'])
    expect((await scope.head()).marks.get('epoch/lane')?.id).toBe('e1')
  })

  it('keeps the state of a replica, and says that what waits for its home cannot be read', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    const outbox = [{ order: 1, value: 'one' }]
    await scope.commit([append('op-1', ['m1'])], replicating(decide, { state: 'state', outbox }))
    failWith(() => {
      throw engineError('UnknownError')
    })
    expect((await rowsOf(scope, [])).replica).toBe('state')
    expect(await failure(scope.outbox?.(0) as Promise<unknown>)).toMatchObject({ code: 'ERR_STORAGE' })
    const more = [{ order: 2, value: 'two' }]
    await scope.commit([append('op-2', ['m2'])], replicating(decide, { state: 'more', outbox: more }))
    expect(await failure(scope.outbox?.(0) as Promise<unknown>)).toMatchObject({ code: 'ERR_STORAGE' })
  })

  it('lets a scope of which nothing was read be the replica of a home', async () => {
    failWith((request) => {
      if (request === 'open') throw engineError('SecurityError')
    })
    const scope = open(new IDBFactory()).open(SCOPE)
    const outbox = [{ order: 1, value: 'one' }]
    await scope.commit([append('op-1', ['m1'])], replicating(decide, { state: 'state', outbox }))
    expect(await scope.outbox?.(0)).toEqual(outbox)
    expect((await rowsOf(scope, [])).replica).toBe('state')
  })

  it('tells of what is written, and not of a commit that writes nothing', async () => {
    failWith((request) => {
      if (request === 'open') throw engineError('SecurityError')
    })
    const store = open(new IDBFactory())
    const [scope, other] = [store.open(SCOPE), store.open(SCOPE)]
    const told = vi.fn()
    other.watch?.(told)
    await scope.commit([append('op-1', ['m1'])], decide)
    expect(told).toHaveBeenCalledTimes(1)
    await rowsOf(scope, [])
    expect(told).toHaveBeenCalledTimes(1)
    await scope.commit([], replicating(decide, { state: 'state' }))
    expect(told).toHaveBeenCalledTimes(2)
  })

  it('knows of a scope what anybody read who has it open', async () => {
    const indexedDB = new IDBFactory()
    await open(indexedDB)
      .open(SCOPE)
      .commit([append('op-1', ['m1', 'm2'])], decide)
    const store = open(indexedDB)
    const reader = store.open(SCOPE)
    const writer = store.open(SCOPE)
    const before = await reader.entries({ last: 9 })
    expect(before.rows).toHaveLength(2)
    failWith(() => {
      throw engineError('UnknownError')
    })
    // The one that has read nothing comes first.
    expect(await writer.commit([append('op-2', ['m3'], { round: 'm1' })], decide)).toEqual([accepted(2)])
    expect((await reader.entries({ last: 9 })).rows.map(({ id }) => id)).toEqual(['m1', 'm2', 'm3'])
  })

  it('rejects what needs rows that are not in memory, rather than calling them absent', async () => {
    const indexedDB = new IDBFactory()
    await open(indexedDB)
      .open(SCOPE)
      .commit([append('op-1', ['m1', 'm2', 'm3'])], decide)
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.head()
    await scope.commit([append('op-2', ['m4']), append('op-3', ['m5'])], decide)
    failWith(() => {
      throw engineError('UnknownError')
    })
    expect((await scope.changesSince(1)).rows.map(({ id }) => id)).toEqual(['m4', 'm5'])
    expect(await scope.entries({ last: 9 })).toMatchObject({ rows: [{ id: 'm4' }, { id: 'm5' }], more: true })
    expect(await scope.commit([append('op-4', ['m6'], { round: 'm4' })], decide)).toEqual([accepted(4)])
    for (const call of [
      () => scope.changesSince(0),
      () => scope.entries({ first: 2 }),
      () => scope.entries({ from: 'm1' }),
      () => scope.entries({ to: 'm2' }),
      () => scope.entries({ to: 'm4' }),
      () => scope.commit([append('op-5', ['m7'], { round: 'm1' })], decide),
      () => scope.commit([remove('op-6', 'entry:m1')], decide),
    ])
      expect((await failure(call())).code).toBe('ERR_STORAGE')
    expect(await idsOf(store)).toEqual(['m4', 'm5', 'm6'])
  })
})

describe('an index', () => {
  const index = [{ group: 'group', order: '1', weight: 2 }]

  it('is as it should be, whichever request of a commit, a read or a snapshot fails', async () => {
    const indexedDB = new IDBFactory()
    await open(indexedDB)
      .open(SCOPE)
      .commit([put('op-0', 'key', null, { index })], decide)
    let version = 'op-0'
    for (let nth = 0, reached = true; reached; nth++) {
      const store = open(indexedDB)
      const scope = store.open(SCOPE)
      const next = `op-${nth + 1}`
      const moved = [{ group: 'group', order: `${nth % 2}`, weight: nth }]
      const failed = failOnce((_, index) => index === nth)
      await scope.commit([put(next, 'key', version, { index: moved })], decide)
      expect(await scope.indexed('group')).toMatchObject([{ version: next, index: moved }])
      expect(await scope.sums(['group'])).toEqual(new Map([['group', { count: 1, weight: nth }]]))
      const read = await scope.snapshot?.(async (reads) => [
        await reads.indexed('group', { to: '2' }),
        await reads.sums(['group', 'other']),
      ])
      expect(read).toEqual([await scope.indexed('group'), await scope.sums(['group'])])
      expect(store.status().state).toBe('ready')
      await store.close()
      version = next
      reached = failed()
    }
    expect(Number(version.slice(3))).toBeGreaterThan(10)
  })

  it('costs a commit nothing that touches no register, and others what they change', async () => {
    const scope = open(new IDBFactory()).open(SCOPE)
    await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null, { index })], decide)
    const asked = async (op: ReturnType<typeof put>): Promise<string[]> => {
      heal()
      await scope.commit([op], decide)
      return requests.filter((request) => /^(index|sum|derived)\./.test(request))
    }
    expect(await asked(append('op-3', ['m2']))).toEqual([])
    expect(requests).toEqual(['transaction', 'meta.get', 'head.get', 'log.add', 'head.put'])
    expect(await asked(mark('op-4', 'epoch', 'e1'))).toEqual([])
    expect(await asked(put('op-5', 'other', null))).toEqual([])
    expect(await asked(put('op-6', 'key', 'op-2', { index }))).toEqual([])
    const moved = [{ group: 'group', order: '2', weight: 2 }]
    expect(await asked(put('op-7', 'key', 'op-6', { index: moved }))).toEqual(['index.delete', 'index.put'])
    expect(await asked(put('op-8', 'key', 'op-7'))).toEqual(['sum.get', 'sum.delete', 'index.delete'])
    expect(await asked(remove('op-9', 'entry:m1'))).toEqual(['derived.delete'])
  })

  it('costs a plain append of a replica what it writes to its outbox, and no look-up', async () => {
    const scope = open(new IDBFactory()).open(SCOPE)
    const commit = (order: number): Promise<unknown> =>
      scope.commit(
        [append(`op-${order}`, [`m${order}`])],
        replicating(decide, { state: `${order}`, outbox: [{ order, value: 'value' }] }),
      )
    await commit(1)
    heal()
    await commit(2)
    expect(requests).toEqual(['transaction', 'meta.get', 'head.get', 'log.add', 'outbox.put', 'head.put'])
    heal()
    expect(await scope.outbox?.(0)).toHaveLength(2)
    expect(requests).toEqual(['transaction', 'outbox.getAll'])
  })

  it('is read in one range, and its registers at once', async () => {
    const scope = open(new IDBFactory()).open(SCOPE)
    const keys = names('key', 3)
    await scope.commit(
      keys.map((key) => put(`op-${key}`, key, null, { index })),
      decide,
    )
    heal()
    expect((await scope.indexed('group')).map(({ key }) => key)).toEqual(keys)
    expect(requests).toEqual(['transaction', 'index.getAll', ...keys.map(() => 'register.get')])
    heal()
    await scope.sums(['group', 'other'])
    expect(requests).toEqual(['transaction', 'sum.get', 'sum.get'])
    heal()
    expect(await scope.indexed('group', { first: 0 })).toEqual([])
    expect(await scope.sums([])).toEqual(new Map())
    expect(requests).toEqual([])
  })

  it('begins empty in memory mode, as registers do, and goes on from there', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null, { index })], decide)
    failWith(() => {
      throw engineError('UnknownError')
    })
    expect([...(await scope.indexed('group')), ...(await scope.sums(['group']))]).toEqual([])
    expect(store.status().durable).toBe(false)
    await scope.commit([put('op-3', 'other', null, { index })], decide)
    expect((await scope.indexed('group')).map(({ key }) => key)).toEqual(['other'])
    expect(await scope.sums(['group'])).toEqual(new Map([['group', { count: 1, weight: 2 }]]))
    expect(await scope.snapshot?.((reads) => reads.indexed('group'))).toHaveLength(1)
  })
})

describe('what is derived', () => {
  const row = (key: string, size = 3) => ({ key, bytes: new Uint8Array(size).fill(size) })
  const refuse = (name: string) =>
    failWith(() => {
      throw engineError(name)
    })

  it('is kept, whichever request of it fails', async () => {
    const indexedDB = new IDBFactory()
    for (let nth = 0, reached = true; reached; nth++) {
      const store = open(indexedDB)
      const scope = store.open(SCOPE)
      const failed = failOnce((_, index) => index === nth)
      expect(await scope.derive(row('a', nth), 0)).toBe(true)
      expect(await scope.derived('a')).toEqual([row('a', nth)])
      expect(store.status().state).toBe('ready')
      await store.close()
      reached = failed()
    }
  })

  it('is loaded no further than its page and a few rows, however large they are', async () => {
    const scope = open(new IDBFactory()).open(SCOPE)
    for (const key of names('k', 20)) await scope.derive(row(key, PAGE_UNITS / 2), 0)
    let loaded = 0
    const original = globalThis.structuredClone
    globalThis.structuredClone = <Value>(value: Value): Value => {
      if (typeof value === 'object' && value !== null && 'bytes' in value) loaded++
      return original(value)
    }
    try {
      expect(await scope.derived('k')).toHaveLength(2)
    } finally {
      globalThis.structuredClone = original
    }
    expect(loaded).toBeLessThanOrEqual(4)
  })

  it('begins empty in memory mode, and is refused there if anything may have been emptied since', async () => {
    const indexedDB = new IDBFactory()
    const before = open(indexedDB).open(SCOPE)
    await before.commit([append('op-1', ['m1', 'm2'])], decide)
    await before.commit([append('op-2', ['m3'])], decide)
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.derive(row('a'), 2)
    await scope.head()
    await scope.commit([append('op-3', ['m4']), append('op-4', ['m5'])], decide)
    refuse('UnknownError')
    expect(await scope.derived('')).toEqual([])
    expect(store.status().durable).toBe(false)
    expect(await scope.derive(row('b'), 1)).toBe(false)
    for (const seq of [2, 4]) expect(await scope.derive(row('b', seq), seq)).toBe(true)
    expect(await scope.derived('')).toEqual([row('b', 4)])
    await scope.commit([remove('op-5', 'entry:m5')], decide)
    expect(await scope.derived('')).toEqual([])
    expect(await scope.derive(row('b'), 4)).toBe(false)
    expect(await scope.derive(row('b'), 5)).toBe(true)
  })

  it('erases nothing in memory mode, and lists no scopes: what is to be removed is in the database', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    refuse('UnknownError')
    expect(await scope.derived('')).toEqual([])
    expect(store.status().state).toBe('memory')
    for (const call of [
      scope.commit([erase('op-2')], decide),
      store.open({ userId: 'unknown' }).commit([erase('op-2')], decide),
      store.scopes(),
    ])
      await expect(call).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    await scope.commit([append('op-3', ['m2'])], decide)
  })

  it('from before a delete or an erase is refused, also where that was the last before memory mode', async () => {
    for (const last of [remove('op-2', 'entry:m1'), erase('op-2')]) {
      const scope = open(new IDBFactory()).open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.commit([last, append('op-3', ['m3'])], decide)
      refuse('UnknownError')
      expect(await scope.derive(row('a'), 1)).toBe(false)
      expect(await scope.derive(row('a'), 3)).toBe(true)
      heal()
    }
  })

  it('for which there is no room is refused as full, and what was there stays', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.derive(row('a'), 0)
    refuse('QuotaExceededError')
    expect((await failure(scope.derive(row('a', 9), 0))).code).toBe('ERR_STORAGE_FULL')
    heal()
    expect(await scope.derived('')).toEqual([row('a')])
    expect(store.status().state).toBe('ready')
  })

  it('is read but not written after an upgrade by a newer version', async () => {
    const indexedDB = new IDBFactory()
    const scope = open(indexedDB).open(SCOPE)
    await scope.derive(row('a'), 0)
    await elsewhere(indexedDB, (database) => database.table('meta').update('database', { writer: 3 }))
    expect((await failure(scope.derive(row('a', 9), 0))).code).toBe('ERR_UPGRADE_REQUIRED')
    expect(await scope.derived('')).toEqual([row('a')])
  })

  it('that comes before the first message is of the same scope as that, also in another tab', async () => {
    const indexedDB = new IDBFactory()
    const other = open(indexedDB).open({ ...SCOPE, sessionId: 'other' })
    const [tab, later] = [open(indexedDB).open(SCOPE), open(indexedDB).open(SCOPE)]
    expect((await tab.head()).seq).toBe(0)
    await other.derive(row('a'), 0)
    await later.derive(row('b'), 0)
    await tab.commit([append('op-1', ['m1'])], decide)
    expect(await tab.derived('')).toEqual([row('b')])
    await tab.commit([remove('op-2', 'entry:m1')], decide)
    expect(await later.derived('')).toEqual([])
    expect(await other.derived('')).toEqual([row('a')])
  })
})

describe('an attachment', () => {
  const attachment = (id: string) => ({ id, mediaType: 'image/png', bytes: Uint8Array.of(1, 2, 3) })
  const refuse = (name: string) =>
    failWith(() => {
      throw engineError(name)
    })

  it('is kept once, whichever request of it fails', async () => {
    const indexedDB = new IDBFactory()
    for (let nth = 0, reached = true; reached; nth++) {
      const store = open(indexedDB)
      const scope = store.open(SCOPE)
      const failed = failOnce((_, index) => index === nth)
      const id = `a${nth}`
      expect(await scope.attach(attachment(id), 1)).toBe('stored')
      expect(await scope.attachment(id)).toEqual(attachment(id))
      expect(store.status().state).toBe('ready')
      await store.close()
      reached = failed()
    }
  })

  it('that comes before the first message is of the same scope as that, also in another tab', async () => {
    const indexedDB = new IDBFactory()
    const other = open(indexedDB).open({ ...SCOPE, sessionId: 'other' })
    const [tab, later] = [open(indexedDB).open(SCOPE), open(indexedDB).open(SCOPE)]
    expect((await tab.head()).seq).toBe(0)
    await other.attach(attachment('a'), 1)
    await later.attach(attachment('b'), 1)
    await other.commit([append('op-1', ['m1'])], decide)
    await tab.commit([append('op-1', ['m1']), remove('op-2', 'attachment:b')], decide)
    expect(await later.attachment('b')).toBeUndefined()
    expect(await other.attachment('a')).toEqual(attachment('a'))
  })

  it('goes on in memory, where those in the database are not called absent', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    await scope.attach(attachment('a'), 1)
    refuse('UnknownError')
    expect(await scope.attach(attachment('b'), 2)).toBe('stored')
    expect(store.status().durable).toBe(false)
    expect(await scope.attachment('b')).toEqual(attachment('b'))
    expect((await failure(scope.attachment('a'))).code).toBe('ERR_STORAGE')
    expect(await store.oldestUnused()).toBe(2)
    expect(await store.removeUnused(2)).toBe(1)
    expect((await failure(scope.attachment('b'))).code).toBe('ERR_STORAGE')
  })

  it('for which there is no room is refused as full, and nothing is written', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.head()
    refuse('QuotaExceededError')
    expect((await failure(scope.attach(attachment('a'), 1))).code).toBe('ERR_STORAGE_FULL')
    heal()
    expect(await scope.attachment('a')).toBeUndefined()
    expect(await store.oldestUnused()).toBeUndefined()
  })

  it('is neither put nor removed after an upgrade by a newer version', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.attach(attachment('a'), 1)
    await elsewhere(indexedDB, (database) => database.table('meta').update('database', { writer: 3 }))
    for (const call of [scope.attach(attachment('b'), 1), store.removeUnused(9)])
      expect((await failure(call)).code).toBe('ERR_UPGRADE_REQUIRED')
    expect(await scope.attachment('a')).toEqual(attachment('a'))
  })
})

describe('an error', () => {
  it('of quota, however deep Dexie wraps it, is ERR_STORAGE_FULL at once; reads and deletes go on', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    const inner = Object.assign(new Error('wrapped'), {
      name: 'AbortError',
      inner: engineError('QuotaExceededError'),
    })
    const wrapped = Object.assign(new Error('wrapped again'), { name: 'AbortError', inner })
    failWith((request) => {
      if (request === 'log.add') throw wrapped
    })
    const error = await failure(scope.commit([append('op-2', ['m2'])], decide))
    expect(error.code).toBe('ERR_STORAGE_FULL')
    expect(error.cause).toBeInstanceOf(Error)
    expect(requests.filter((request) => request === 'log.add')).toHaveLength(1)
    expect(store.status()).toEqual({ state: 'ready', durable: true })
    expect(await idsOf(store)).toEqual(['m1'])
    heal()
    expect(await scope.commit([remove('op-3', 'entry:m1'), append('op-2', ['m2'])], decide)).toEqual([
      accepted(2),
      accepted(3),
    ])
  })

  it('of quota for a delete is overcome with the room that is kept for it', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1', 'm2'])], decide)
    const reserved = (): Promise<number> =>
      elsewhere(indexedDB, (database) => database.table('meta').where(':id').equals('reserve').count())
    await expect.poll(reserved).toBe(1)
    // An engine that is full until something was deleted.
    const full = (): void =>
      failWith((request) => {
        if (/\.(add|put)$/.test(request) && !requests.includes('meta.delete'))
          throw engineError('QuotaExceededError')
      })
    full()
    expect((await failure(scope.commit([append('op-2', ['m3'])], decide))).code).toBe('ERR_STORAGE_FULL')
    expect(requests).not.toContain('meta.delete')
    full()
    expect(await scope.commit([remove('op-3', 'entry:m1')], decide)).toEqual([accepted(2)])
    full()
    expect(await scope.commit([erase('op-4')], decide)).toEqual([accepted(3)])
    heal()
    expect(await reserved()).toBe(0)
    await store.close()
    await scope.head()
    await expect.poll(reserved).toBe(1)
  })

  it('that is the call’s own fault is not tried again, and does not end in memory mode', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    failWith((request) => {
      if (request === 'log.add') throw engineError('DataCloneError')
    })
    const error = await failure(scope.commit([append('op-2', ['m2'])], decide))
    expect(error.code).toBe('ERR_STORAGE')
    expect(error.cause).toMatchObject({ name: 'DataCloneError' })
    expect(requests.filter((request) => request === 'log.add')).toHaveLength(1)
    expect(store.status().state).toBe('ready')
  })

  it('that decide throws is passed on as it is, and a promise from it is refused', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    const later = (async () => ({ results: [] })) as never
    expect(await failure(scope.commit([append('op-1', ['m1'])], later))).toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'decide',
    })
    const own = new Error('mine')
    const throwing = (): never => {
      throw own
    }
    await expect(scope.commit([append('op-1', ['m1'])], throwing)).rejects.toBe(own)
    expect((await scope.head()).seq).toBe(0)
  })

  it('of the caller in a snapshot is passed on as it is; one of a read in it is tried again', async () => {
    const store = open(new IDBFactory())
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    const thrown = new TypeError('of the caller')
    let runs = 0
    const failing = scope.snapshot?.(async (reads) => {
      runs++
      await reads.head()
      throw thrown
    })
    await expect(failing).rejects.toBe(thrown)
    expect(runs).toBe(1)
    failOnce((request) => request === 'head.get')
    const page = await scope.snapshot?.(async (reads) => {
      runs++
      return reads.entries({ first: 1 })
    })
    expect(page?.rows.map(({ id }) => id)).toEqual(['m1'])
    expect(runs).toBe(3)
    expect(store.status().state).toBe('ready')
  })

  it('in the options is one of the caller', () => {
    for (const options of [{ name: '' }, { name: 7 }, { name: 'a', durability: 'none' }])
      expect(() => dexieStore(options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
      )
  })
})

describe('an upgrade', () => {
  /** What the next version of this library does. */
  const upgrade = async (indexedDB: Factory, writer: number): Promise<void> => {
    const next = new Dexie(NAME, { indexedDB, IDBKeyRange })
    next
      .version(3)
      .stores({ ...TABLES, extra: 'id' })
      .upgrade((transaction) => transaction.table('meta').update('database', { writer }))
    await next.open()
    next.close()
  }

  it('is not blocked by an open tab, whose commits are then refused and whose reads go on', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    const states: string[] = []
    store.onStatus(({ state }) => states.push(state))
    await upgrade(indexedDB, 3)
    const error = await failure(scope.commit([append('op-2', ['m2'])], decide))
    expect(error.code).toBe('ERR_UPGRADE_REQUIRED')
    expect(states).toEqual(['read-only'])
    expect(await idsOf(store)).toEqual(['m1'])
    expect((await scope.changesSince(0)).head.seq).toBe(1)
    const late = open(indexedDB)
    expect(await idsOf(late)).toEqual(['m1'])
    expect(late.status()).toMatchObject({ state: 'read-only', cause: { code: 'ERR_UPGRADE_REQUIRED' } })
    const rows = await elsewhere(indexedDB, (database) => database.table('log').count())
    expect(rows).toBe(1)
  })

  it('is noticed by the very next commit, also where the database’s own version stayed', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    await elsewhere(indexedDB, (database) => database.table('meta').update('database', { writer: 3 }))
    expect((await failure(scope.commit([append('op-2', ['m2'])], decide))).code).toBe('ERR_UPGRADE_REQUIRED')
    expect(store.status()).toMatchObject({ state: 'read-only', cause: { code: 'ERR_UPGRADE_REQUIRED' } })
    expect(await idsOf(store)).toEqual(['m1'])
  })

  it('from 0.1.0 there is none: its database is refused with what to do, and left as it is', async () => {
    const indexedDB = new IDBFactory()
    const old = new Dexie(NAME, { indexedDB, IDBKeyRange })
    old.version(1).stores({ meta: 'key', log: '[scope+seq+place],&[scope+entry]' })
    await old.open()
    const meta = { key: 'database', id: 'old', writer: 1, scopes: 1 }
    await old.table('meta').add(meta)
    old.close()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    for (const call of [
      () => scope.head(),
      () => scope.commit([append('op-1', ['m1'])], decide),
      () => store.scopes(),
      () => store.acceptLoss().then(() => scope.entries()),
    ]) {
      const error = await failure(call())
      expect(error.code).toBe('ERR_UPGRADE_REQUIRED')
      expect(error.message).toMatch(/recovery has storage format 1, of version 0\.1\.0, not 2; export it/)
    }
    expect(store.status()).toEqual({ state: 'ready', durable: true })
    await elsewhere(indexedDB, async (database) => {
      expect(database.verno).toBe(1)
      expect(database.tables.map(({ name }) => name).sort()).toEqual(['log', 'meta'])
      expect(await database.table('meta').toArray()).toEqual([meta])
    })
  })

  it('of what is derived alone makes that again, and stops no tab of another version', async () => {
    const indexedDB = new IDBFactory()
    const row = { key: 'a', bytes: Uint8Array.of(1) }
    const tab = open(indexedDB).open(SCOPE)
    await tab.commit([append('op-1', ['m1'])], decide)
    expect(await tab.derive(row, 1)).toBe(true)
    // What a tab with another version does.
    await elsewhere(indexedDB, (database) => database.table('meta').update('database', { derived: 0 }))
    expect(await tab.derived('')).toEqual([])
    expect(await tab.derive(row, 1)).toBe(false)
    expect(await tab.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
    expect(await elsewhere(indexedDB, (database) => database.table('derived').count())).toBe(1)
    const later = open(indexedDB).open(SCOPE)
    expect(await later.derived('')).toEqual([])
    expect(await elsewhere(indexedDB, (database) => database.table('derived').count())).toBe(0)
    expect(await later.derive(row, 2)).toBe(true)
    expect(await tab.derived('')).toEqual([row])
  })

  it('that this version may write after stops nothing', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    await upgrade(indexedDB, 1)
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
    expect(store.status().state).toBe('ready')
  })
})

describe('the loss of the database', () => {
  it('while it is open is noticed, and not taken for an empty one until the app accepts it', async () => {
    const indexedDB = new IDBFactory()
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    const states: string[] = []
    store.onStatus(({ state }) => states.push(state))
    await new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(NAME)
      request.onsuccess = resolve
      request.onerror = reject
      request.onblocked = reject
    })
    for (const call of [
      () => scope.changesSince(0),
      () => scope.head(),
      () => scope.entries(),
      () => scope.register('key'),
      () => scope.registers(''),
      () => scope.indexed('group'),
      () => scope.sums(['group']),
      () => scope.derive({ key: 'a', bytes: Uint8Array.of(1) }, 1),
      () => scope.derived(''),
      () => scope.commit([append('op-2', ['m2'])], decide),
      () => store.open({ userId: 'other' }).head(),
    ])
      expect((await failure(call())).code).toBe('ERR_STORAGE_LOST')
    expect(states).toEqual(['lost'])

    await store.acceptLoss()
    expect(states).toEqual(['lost', 'ready'])
    // As many as there were, but not the same.
    await open(indexedDB)
      .open(SCOPE)
      .commit([append('op-2', ['m2'])], decide)
    expect((await scope.changesSince(0)).rows.map(({ id }) => id)).toEqual(['m2'])
    expect(await scope.commit([append('op-3', ['m3'])], decide)).toEqual([accepted(2)])
  })

  it('between two visits is noticed by the id that is kept outside of it', async () => {
    const mirror = keyValue()
    const first = open(new IDBFactory(), { mirror })
    await first.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    const emptied = new IDBFactory()
    const store = open(emptied, { mirror })
    expect((await failure(store.open(SCOPE).head())).code).toBe('ERR_STORAGE_LOST')
    expect((await failure(open(emptied, { mirror }).open(SCOPE).head())).code).toBe('ERR_STORAGE_LOST')
    await store.acceptLoss()
    expect(await store.open(SCOPE).commit([append('op-2', ['m2'])], decide)).toEqual([accepted(1)])
    expect(await idsOf(open(emptied, { mirror }))).toEqual(['m2'])
  })

  it('is also what another database in its place is', async () => {
    const mirror = keyValue()
    await open(new IDBFactory(), { mirror }).open(SCOPE).head()
    const other = new IDBFactory()
    await open(other)
      .open(SCOPE)
      .commit([append('op-1', ['m1'])], decide)
    const store = open(other, { mirror })
    expect((await failure(store.open(SCOPE).entries())).code).toBe('ERR_STORAGE_LOST')
    await store.acceptLoss()
    expect(await idsOf(store)).toEqual(['m1'])
  })

  it('is not assumed where only the copy of its id was lost, or cannot be kept', async () => {
    const indexedDB = new IDBFactory()
    const mirror = keyValue()
    await open(indexedDB, { mirror })
      .open(SCOPE)
      .commit([append('op-1', ['m1'])], decide)
    mirror.values.clear()
    expect(await idsOf(open(indexedDB, { mirror }))).toEqual(['m1'])
    expect(mirror.values.size).toBe(1)
    const refusing: KeyValue = {
      getItem: () => {
        throw engineError('SecurityError')
      },
      setItem: () => {
        throw engineError('QuotaExceededError')
      },
    }
    expect(await idsOf(open(indexedDB, { mirror: refusing }))).toEqual(['m1'])
  })

  it('is not what a handle that the browser closed is', async () => {
    const indexedDB = new IDBFactory()
    const handles: unknown[] = []
    const opened = indexedDB.open.bind(indexedDB)
    indexedDB.open = (...args: Parameters<typeof opened>) => {
      const request = opened(...args)
      request.addEventListener('success', () => handles.push(request.result))
      return request
    }
    const store = open(indexedDB)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    forceCloseDatabase(handles.at(-1) as never)
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
    expect(handles).toHaveLength(2)
    expect(store.status().state).toBe('ready')
  })
})

describe('a page', () => {
  it('that is hidden holds no handle, and goes on where it was when it shows again', async () => {
    const indexedDB = new IDBFactory()
    const listeners = new Map<string, () => void>()
    const page: PageEvents = {
      addEventListener: (type, listener) => void listeners.set(type, listener),
      removeEventListener: (type) => void listeners.delete(type),
    }
    const store = open(indexedDB, { page })
    const scope = store.open(SCOPE)
    let hints = 0
    scope.watch?.(() => hints++)
    await scope.commit([append('op-1', ['m1'])], decide)
    listeners.get('pagehide')?.()
    // Nothing tells a page that is hidden: it must not hold back what others do meanwhile.
    await elsewhere(indexedDB, (database) => database.table('log').count())
    listeners.get('pageshow')?.()
    expect(hints).toBe(1)
    heal()
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
    expect(requests).toContain('open')
    await store.close()
    expect(listeners.size).toBe(0)
  })
})

describe('reads', () => {
  it('of what this tab has just committed cost one get, until another tab writes', async () => {
    const indexedDB = new IDBFactory()
    const [store, tab] = [open(indexedDB), open(indexedDB)]
    const [scope, other] = [store.open(SCOPE), tab.open(SCOPE)]
    await scope.commit([append('op-1', ['m1', 'm2']), put('op-2', 'key', null)], decide)
    heal()
    const changes = await scope.changesSince(0)
    expect(changes.rows.map(({ id }) => id)).toEqual(['m1', 'm2', 'key'])
    expect(requests).toEqual(['transaction', 'head.get'])

    await other.commit([append('op-3', ['m3'])], decide)
    expect((await scope.changesSince(2)).rows.map(({ id }) => id)).toEqual(['m3'])
    expect(requests).toContain('log.getAll')
    expect(await scope.changesSince(0)).toEqual(await tab.open(SCOPE).changesSince(0))

    await other.commit([append('op-4', ['m4'])], decide)
    await scope.commit([append('op-5', ['m5'])], decide)
    expect((await scope.changesSince(2)).rows.map(({ id }) => id)).toEqual(['m3', 'm4', 'm5'])
  })

  it('of a page load no more than the page and a few rows, however large they are', async () => {
    const indexedDB = new IDBFactory()
    const writer = open(indexedDB).open(SCOPE)
    const body = 'x'.repeat(2 ** 20)
    for (const id of names('m', 20)) await writer.commit([append(id, [id], { bodies: [body] })], decide)
    await writer.commit([append('short', ['short'])], decide)
    const scope = open(indexedDB).open(SCOPE)
    expect(await rowsLoaded(async () => void (await scope.entries({ last: 9 })))).toBeLessThanOrEqual(5)
    expect(await rowsLoaded(async () => void (await scope.entries({ first: 9 })))).toBeLessThanOrEqual(5)
    expect(await rowsLoaded(async () => void (await scope.changesSince(0)))).toBeLessThanOrEqual(5)
  })

  it('of a scope that is opened are two, whatever its first context needs, and three of what its user shares', async () => {
    const indexedDB = new IDBFactory()
    const session = (store: DexieStore) => fullMemory({ store, budget: 2_000 }).session({ userId: 'ada' })
    const before = open(indexedDB)
    const writer = session(before)
    for (let index = 0; index < 60; index++) {
      await writer.append({ role: 'user', content: `message ${index}`.repeat(9) })
      await writer.context()
    }
    const expected = await writer.context()
    await before.close()
    const store = open(indexedDB)
    await store.open({ userId: 'nobody' }).head()
    heal()
    const context = await session(store).context()
    expect(context).toEqual(expected)
    expect(context.receipt.omitted).not.toEqual([])
    expect(requests).toEqual([
      // Whether a forget of the user is owed.
      ...['transaction', 'head.get', 'transaction', 'register.get'],
      ...['transaction', 'head.get', expect.stringMatching(/^log\./), 'register.get'],
      ...['transaction', 'head.get'],
    ])
  })

  it('of what is in memory give what the database would, for any query', async () => {
    const indexedDB = new IDBFactory()
    const scope = open(indexedDB).open(SCOPE)
    const ops = names('m', 40).map((id, index) =>
      index % 4 === 3 ? mark(id, 'epoch', id, { lane: id }) : append(id, [id, `${id}b`]),
    )
    await scope.commit(ops.slice(0, 20), decide)
    const reading = open(indexedDB).open(SCOPE)
    await reading.head()
    for (const op of ops.slice(20)) await reading.commit([op], decide)
    const ids = [undefined, 'm0003', 'm0019', 'm0020b', 'm0025', 'm0039', 'nobody']
    const counts = [{}, { first: 3 }, { last: 3 }, { first: 1 }, { last: 100 }]
    for (const from of ids)
      for (const to of ids)
        for (const count of counts)
          for (const kinds of [undefined, ['message'], ['epoch']] as const) {
            const query = { ...count, ...(from && { from }), ...(to && { to }), ...(kinds && { kinds }) }
            expect(await reading.entries(query)).toEqual(await open(indexedDB).open(SCOPE).entries(query))
          }
  })

  it('keep no more of a log in memory than two pages, in whole ops', () => {
    const rows = (seq: number, count: number): LogRow[] =>
      names(`${seq}-`, count).map((id, place) => ({
        ...{ seq, place, kind: 'message', id, opId: `op-${seq}`, ordinal: 0, body: 'x'.repeat(100) },
      }))
    const tail = new LogTail(0, [])
    for (let seq = 1; seq <= 500; seq++) tail.push(rows(seq, 7))
    expect(tail.rows.length).toBeLessThanOrEqual(2 * PAGE_ROWS)
    expect(tail.rows.length % 7).toBe(0)
    expect(tail.rows[0]?.seq).toBe(tail.after + 1)
    expect(tail.pageAfter(tail.after - 1)).toBeUndefined()
    expect(tail.pageAfter(498)?.rows).toHaveLength(14)
    tail.push([{ ...(rows(501, 1)[0] as LogRow), body: 'y'.repeat(2 * PAGE_UNITS + 1) }])
    expect(tail.rows.map(({ seq }) => seq)).toEqual([501])
  })
})
