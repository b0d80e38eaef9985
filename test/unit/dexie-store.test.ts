import { IDBFactory, IDBKeyRange, IDBObjectStore } from 'fake-indexeddb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { ScopeStore } from '../../src/ports/store.ts'
import { dexieStore, guardTransactions } from '../../src/stores/dexie.ts'
import { mapStore } from '../../src/stores/map.ts'
import { describeStore } from '../contract/index.ts'
import { rebasing, replicating, rowsOf, stateOf } from '../contract/rebases.ts'
import { accepted, append, put, readLog, SCOPE } from '../contract/samples.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { isWhole } from '../everywhere/runs.ts'

const options = { name: 'test', channel: null, IDBKeyRange }
type Factory = InstanceType<typeof IDBFactory>
const factories = new WeakMap<object, Factory>()

function open(indexedDB: Factory = new IDBFactory()): ReturnType<typeof dexieStore> {
  const store = dexieStore({ ...options, indexedDB })
  factories.set(store, indexedDB)
  return store
}

let undo = (): void => {}
beforeAll(() => {
  undo = guardTransactions()
})
afterAll(() => undo())

// A push plays the contract in a real browser.
describe.runIf(isWhole)('where all cases run', () => {
  describeStore('Dexie', () => open(), { reopen: async (store) => open(factories.get(store)) })
})

describeDifferential('Dexie', () => open(), { again: (store) => open(factories.get(store)), runs: 40 })

it('in plain Node fails, and names the store for it, rather than to keep all in memory', async () => {
  const store = dexieStore({ name: 'server', channel: null })
  const scope = store.open(SCOPE)
  for (const call of [() => scope.head(), () => scope.entries(), () => store.scopes()])
    await expect(call()).rejects.toMatchObject({
      code: 'ERR_NOT_CONFIGURED',
      message: 'dexieStore: there is no IndexedDB; use plimsoll/sqlite',
    })
  expect(store.status()).toEqual({ state: 'ready', durable: true })
})

it('removes from the outbox in one request what stands there in a row', async () => {
  const scope = open().open(SCOPE)
  const orders = [1, 2, 3, 4, 5, 6, 8, 9, 12]
  const outbox = orders.map((order) => ({ order, value: `${order}` }))
  await scope.commit([], replicating(decide, { state: 'one', outbox }))
  const remove = vi.spyOn(IDBObjectStore.prototype, 'delete')
  await scope.commit([], replicating(decide, { state: 'two', sent: [2, 3, 4, 5, 8, 12, 9] }))
  const removals = remove.mock.calls.length
  remove.mockRestore()
  expect(removals).toBe(4)
  expect((await scope.outbox?.(0))?.map(({ order }) => order)).toEqual([1, 6])
})

describe('a plain append, decided by what this tab knows', () => {
  /** The same scope in two tabs, which share nothing but the database. */
  function openTwice(): readonly [ScopeStore, ScopeStore] {
    const indexedDB = new IDBFactory()
    return [open(indexedDB).open(SCOPE), open(indexedDB).open(SCOPE)]
  }

  it('forgets nothing that another tab was refused meanwhile', async () => {
    const [one, other] = openTwice()
    await one.commit([append('op-1', ['m1'])], decide)
    const late = put('op-2', 'key', 'stale')
    const [conflict] = await other.commit([late], decide)
    await one.commit([append('op-3', ['m3'])], decide)
    for (const tab of [one, other])
      expect(await tab.commit([late], decide)).toEqual([{ ...conflict, repeated: true }])
  })

  it('is decided again where another tab wrote the state of the replica', async () => {
    const [one, other] = openTwice()
    await one.commit([append('op-1', ['m1'])], replicating(decide, { state: '1' }))
    await other.commit([], replicating(decide, { state: '2' }))
    await one.commit([append('op-2', ['m2'])], (ops, rows) => ({
      ...decide(ops, rows),
      replica: { state: `${rows.replica} and 3` },
    }))
    expect((await rowsOf(other, [])).replica).toBe('2 and 3')
    await one.commit([append('op-3', ['m3'])], decide)
    expect((await rowsOf(other, [])).replica).toBe('2 and 3')
  })

  it('is decided again where another tab took rows back, however alike the log ends', async () => {
    const [one, other] = openTwice()
    const [first, lost, mine] = [append('op-1', ['m1']), append('op-2', ['m2']), append('op-3', ['m3'])]
    const theirs = append('op-4', ['m4'])
    const [before, after] = [mapStore().open(SCOPE), mapStore().open(SCOPE)]
    for (const op of [first, lost, mine]) for (const scope of [one, before]) await scope.commit([op], decide)
    for (const op of [first, theirs, mine]) await after.commit([op], decide)
    await other.commit([theirs, mine], rebasing(await stateOf(before, []), await stateOf(after, []), 1))

    const late = append('op-5', ['m5'], { round: 'm2' })
    expect(await one.commit([late], decide)).toEqual([{ status: 'rejected', reason: 'unknown-round' }])
    expect(await one.commit([append('op-6', ['m6'], { round: 'm4' })], decide)).toEqual([accepted(4)])
    for (const tab of [one, other])
      expect((await readLog(tab)).map(({ id }) => id)).toEqual(['m1', 'm4', 'm3', 'm6'])
  })
})
