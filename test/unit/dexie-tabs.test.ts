import { Dexie } from 'dexie'
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { Decide } from '../../src/ports/store.ts'
import { type ChannelLike, dexieStore, estimate, guardTransactions, persist } from '../../src/stores/dexie.ts'
import { append, readLog, SCOPE } from '../contract/samples.ts'

/** Channels of one browser: what one posts, all others with its name are given, later. */
class Browser {
  readonly channels = new Set<ChannelLike>()
  failing = false

  readonly open = (): ChannelLike => {
    const channel: ChannelLike = {
      onmessage: null,
      postMessage: (data) => {
        if (this.failing) throw new DOMException('closed', 'InvalidStateError')
        for (const other of this.channels)
          if (other !== channel) queueMicrotask(() => other.onmessage?.({ data }))
      },
      close: () => void this.channels.delete(channel),
    }
    this.channels.add(channel)
    return channel
  }
}

describe('watch across tabs', () => {
  it('tells of commits to the scope by other tabs, and of no others', async () => {
    const [indexedDB, browser] = [new IDBFactory(), new Browser()]
    const tab = () =>
      dexieStore({ name: 'tabs', mirror: null, channel: browser.open, indexedDB, IDBKeyRange })
    const [one, two] = [tab(), tab()]
    let hints = 0
    const watcher = one.open(SCOPE)
    watcher.watch?.(() => hints++)
    await two.open({ userId: 'other' }).commit([append('op-0', ['m0'])], decide)
    expect(hints).toBe(0)
    await two.open(SCOPE).commit([append('op-1', ['m1'])], decide)
    await expect.poll(() => hints).toBe(1)
    expect((await watcher.changesSince(0)).rows.map(({ id }) => id)).toEqual(['m1'])
    await watcher.close()
    await two.open(SCOPE).commit([append('op-2', ['m2'])], decide)
    await one.close()
    await two.close()
    expect([hints, browser.channels.size]).toEqual([1, 0])
  })

  it('is a hint: a channel that fails loses it and nothing else', async () => {
    const [indexedDB, browser] = [new IDBFactory(), new Browser()]
    browser.failing = true
    const store = dexieStore({ name: 'tabs', mirror: null, channel: browser.open, indexedDB, IDBKeyRange })
    expect(await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)).toMatchObject([{ seq: 1 }])
  })

  it('tells of commits by the same tab where the user forbids channels, as Firefox does with cookies', async () => {
    vi.stubGlobal('BroadcastChannel', function BroadcastChannel() {
      throw new DOMException('The operation is insecure.', 'SecurityError')
    })
    try {
      const store = dexieStore({ name: 'tabs', mirror: null, indexedDB: new IDBFactory(), IDBKeyRange })
      let hints = 0
      store.open(SCOPE).watch?.(() => hints++)
      await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
      expect(hints).toBe(1)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('two tabs', () => {
  it('that append 500 messages each at once give 1,000 rows in one order without gaps', async () => {
    const indexedDB = new IDBFactory()
    const tabs = ['a', 'b'].map((name) => ({
      name,
      store: dexieStore({ name: 'tabs', mirror: null, channel: null, indexedDB, IDBKeyRange }),
    }))
    await Promise.all(
      tabs.map(async ({ name, store }) => {
        const scope = store.open(SCOPE)
        for (let turn = 0; turn < 500; turn++) {
          await scope.commit([append(`${name}${turn}`, [`${name}${turn}`])], decide)
          // Each sees its own commit at once, whatever it kept in memory.
          if (turn % 50 === 0) expect((await scope.changesSince(0)).rows.at(-1)?.seq).toBeGreaterThan(turn)
        }
      }),
    )
    const [one, two] = await Promise.all(tabs.map(({ store }) => readLog(store.open(SCOPE))))
    expect(one?.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1))
    expect(two).toEqual(one)
    for (const { name } of tabs)
      expect(one?.flatMap(({ id }) => (id.startsWith(name) ? id : []))).toEqual(
        Array.from({ length: 500 }, (_, turn) => `${name}${turn}`),
      )
  })
})

describe('the guard of transactions', () => {
  let undo = (): void => {}
  afterEach(() => undo())

  const ways: Record<string, () => unknown> = {
    setTimeout: () => setTimeout(() => {}),
    setInterval: () => clearInterval(setInterval(() => {}, 1e6)),
    fetch: () => fetch('data:,'),
    digest: () => crypto.subtle.digest('SHA-256', new Uint8Array()),
    encrypt: () => crypto.subtle.encrypt('AES-GCM', {} as never, new Uint8Array()),
  }
  for (const [name, call] of Object.entries(ways))
    it(`throws where ${name} is called inside a transaction, and nowhere else`, async () => {
      const indexedDB = new IDBFactory()
      const store = dexieStore({ name: 'guard', mirror: null, channel: null, indexedDB, IDBKeyRange })
      const scope = store.open(SCOPE)
      const calling: Decide = (ops, rows) => {
        call()
        return decide(ops, rows)
      }
      undo = guardTransactions()
      const refused = { code: 'ERR_INVALID_ARGUMENT', argument: name }
      await expect(scope.commit([append('op-1', ['m1'])], calling)).rejects.toMatchObject(refused)
      expect((await scope.head()).seq).toBe(0)
      const database = await new Dexie('guard', { indexedDB, IDBKeyRange }).open()
      await expect(
        database.transaction('rw', 'head', async () => {
          await database.table('head').count()
          await call()
        }),
      ).rejects.toMatchObject(refused)
      database.close()
      const outside = (async () => call())()
      await outside.catch((error: unknown) => expect(error).not.toMatchObject(refused))
      undo()
      undo = () => {}
      await scope.commit([append('op-1', ['m1'])], decide)
    })
})

describe('the browser’s promises', () => {
  it('are said to be absent where they are', async () => {
    expect(await persist(undefined)).toBe('unsupported')
    expect(await persist({})).toBe('unsupported')
    expect(await persist({ persist: async () => true })).toBe('granted')
    expect(await persist({ persist: async () => false })).toBe('denied')
    expect(await estimate({})).toBeUndefined()
    expect(await estimate({ estimate: async () => ({}) })).toBeUndefined()
    expect(await estimate({ estimate: async () => ({ usage: 1, quota: 2 }) })).toEqual({ usage: 1, quota: 2 })
  })
})
