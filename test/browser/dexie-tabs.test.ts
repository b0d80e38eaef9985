import { Dexie } from 'dexie'
import { afterEach, describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { isPlimsollError } from '../../src/ports/errors.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { TABLES } from '../../src/stores/idb-schema.ts'
import { accepted, append, readLog, SCOPE } from '../contract/samples.ts'

const stores: DexieStore[] = []

function open(name: string): DexieStore {
  const store = dexieStore({ name })
  stores.push(store)
  return store
}

/** Another tab: a page of its own, with its own copy of the library and of Dexie. */
async function tab(): Promise<{ run: Run; close: () => void }> {
  const frame = document.createElement('iframe')
  frame.src = '/test/browser/tab.html'
  document.body.append(frame)
  const inside = () => (frame.contentWindow as (Window & { run?: Run }) | null)?.run
  await expect.poll(inside, { timeout: 10_000 }).toBeTruthy()
  return { run: inside() as Run, close: () => frame.remove() }
}

type Run = (name: string, prefix: string, count: number) => Promise<number>

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no error',
    (error: unknown) => (isPlimsollError(error) ? error.code : error),
  )

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})

describe('two tabs', () => {
  it('that append 500 messages each at once give 1,000 rows in one order without gaps', async () => {
    const name = crypto.randomUUID()
    const tabs = await Promise.all([tab(), tab()])
    await Promise.all(tabs.map(({ run }, index) => run(name, `tab ${index} `, 500)))
    const log = await readLog(open(name).open(SCOPE))
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1))
    expect(log.map(({ ordinal }) => ordinal)).toEqual(log.map(({ seq }) => seq))
    for (const prefix of ['tab 0 ', 'tab 1 '])
      expect(log.flatMap(({ id }) => (id.startsWith(prefix) ? id : []))).toEqual(
        Array.from({ length: 500 }, (_, index) => `${prefix}${index}`),
      )
    for (const { close } of tabs) close()
  }, 60_000)

  it('tell each other what they wrote', async () => {
    const name = crypto.randomUUID()
    const other = await tab()
    let hints = 0
    const scope = open(name).open(SCOPE)
    scope.watch?.(() => hints++)
    expect((await scope.head()).seq).toBe(0)
    await other.run(name, 'm', 1)
    await expect.poll(() => hints).toBe(1)
    expect((await scope.changesSince(0)).rows.map(({ id }) => id)).toEqual(['m0'])
    other.close()
  })
})

describe('an upgrade by a newer version', () => {
  it('is not blocked by an open tab, whose commits are then refused and whose reads go on', async () => {
    const name = crypto.randomUUID()
    const store = open(name)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    let blocked = false
    const next = new Dexie(name)
    next.on('blocked', () => {
      blocked = true
    })
    next
      .version(3)
      .stores({ ...TABLES, extra: 'id' })
      .upgrade((transaction) => transaction.table('meta').update('database', { writer: 3 }))
    await next.open()
    expect(blocked).toBe(false)
    expect(await codeOf(scope.commit([append('op-2', ['m2'])], decide))).toBe('ERR_UPGRADE_REQUIRED')
    expect(store.status().state).toBe('read-only')
    expect((await scope.entries()).rows.map(({ id }) => id)).toEqual(['m1'])
    expect(await next.table('log').count()).toBe(1)
    next.close()
  })
})

describe('a database that is deleted', () => {
  it('while a tab has it open is not held back, and noticed by the next call', async () => {
    const name = crypto.randomUUID()
    const store = open(name)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    await new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name)
      request.onsuccess = resolve
      request.onerror = reject
      request.onblocked = reject
    })
    expect(await codeOf(scope.changesSince(0))).toBe('ERR_STORAGE_LOST')
    expect(await codeOf(scope.commit([append('op-2', ['m2'])], decide))).toBe('ERR_STORAGE_LOST')
    expect(await codeOf(open(name).open(SCOPE).head())).toBe('ERR_STORAGE_LOST')
    await store.acceptLoss()
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(1)])
  })
})

describe('a page in the back-forward cache', () => {
  it('holds no handle, and goes on where it was', async () => {
    const name = crypto.randomUUID()
    const store = open(name)
    const scope = store.open(SCOPE)
    await scope.commit([append('op-1', ['m1'])], decide)
    dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
    // With a handle open this would be told of, and wait for, the upgrade.
    const asked = new Promise((resolve) => {
      const request = indexedDB.open(name, 20)
      request.onblocked = () => resolve('blocked')
      request.onsuccess = () => {
        request.result.close()
        resolve('opened')
      }
    })
    expect(await asked).toBe('opened')
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    expect(await scope.commit([append('op-2', ['m2'])], decide)).toEqual([accepted(2)])
  })
})
