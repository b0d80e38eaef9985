import { InMemoryStore } from '@langchain/langgraph-checkpoint'
import { describe, expect, it, vi } from 'vitest'
import { PlimsollStore } from '../../../src/bridges/langgraph/index.ts'
import { textsAt } from '../../../src/bridges/langgraph/texts-at.ts'
import type { Scope } from '../../../src/ports/op.ts'
import type { Store } from '../../../src/ports/store.ts'
import { englishStemmer } from '../../../src/stemmer.ts'
import { mapStore } from '../../../src/stores/map.ts'

function storeOver(store: Store = mapStore(), options: object = {}): PlimsollStore {
  return new PlimsollStore({ store, userId: 'ada', ...options })
}

const keysOf = (items: readonly { readonly key: string }[]) => items.map(({ key }) => key)

describe('a store of items', () => {
  it('gives an item as it was put, and when', async () => {
    let now = 1_000
    const store = storeOver(mapStore(), { clock: () => now })
    await store.put(['docs', 'a/b%2F'], 'k//%25', { value: 1, list: [null, { deep: 'x' }] })
    now = 2_000
    await store.put(['docs', 'a/b%2F'], 'k//%25', { value: 2 })
    expect(await store.get(['docs', 'a/b%2F'], 'k//%25')).toEqual({
      namespace: ['docs', 'a/b%2F'],
      key: 'k//%25',
      value: { value: 2 },
      createdAt: new Date(1_000),
      updatedAt: new Date(2_000),
    })
    expect(await store.get(['docs'], 'k//%25')).toBeNull()
    await store.delete(['docs', 'a/b%2F'], 'k//%25')
    expect(await store.get(['docs', 'a/b%2F'], 'k//%25')).toBeNull()
    expect(await store.listNamespaces()).toEqual([])
    const untouched = mapStore()
    await storeOver(untouched).delete(['docs'], 'never was')
    expect(await untouched.scopes()).toEqual([])
  })

  it('searches a namespace and those below it, at the border of a label', async () => {
    const store = storeOver()
    for (const namespace of [['a'], ['a', 'b'], ['ab'], ['c']])
      await store.put(namespace, namespace.join('.'), { size: namespace.length })
    expect(keysOf(await store.search(['a']))).toEqual(['a', 'a.b'])
    expect(keysOf(await store.search([]))).toEqual(['a', 'a.b', 'ab', 'c'])
    expect(keysOf(await store.search([], { limit: 2, offset: 1 }))).toEqual(['a.b', 'ab'])
    expect(keysOf(await store.search([], { filter: { size: 2 } }))).toEqual(['a.b'])
  })

  it('filters as LangGraph’s own store does, and refuses an operator that there is none of', async () => {
    const stores = [new InMemoryStore(), storeOver()]
    for (const store of stores)
      for (const [key, value] of [
        ['a', 1],
        ['b', 2],
        ['c', '3'],
        ['d', null],
      ] as const)
        await store.put(['n'], key, { value })
    for (const value of [
      2,
      { $eq: 1 },
      { $ne: 1 },
      { $gt: 1 },
      { $gte: 2 },
      { $lt: 2 },
      { $lte: 1 },
      { $gt: 0, $lt: 2 },
      { $in: [1, '3'] },
      { $nin: [1] },
    ]) {
      const [expected, actual] = await Promise.all(
        stores.map((store) => store.search(['n'], { filter: { value } })),
      )
      expect(keysOf(actual ?? []), JSON.stringify(value)).toEqual(keysOf(expected ?? []))
    }
    await expect(
      storeOver()
        .put(['n'], 'a', {})
        .then(() => stores[1]?.search([], { filter: { value: { $like: 'x' } } })),
    ).rejects.toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'filter' }))
  })

  it('lists namespaces by beginning, end, wildcards and depth', async () => {
    const stores = [new InMemoryStore(), storeOver()]
    for (const store of stores)
      for (const namespace of [['a', 'b', 'c'], ['a', 'b', 'd'], ['a', 'c', 'e'], ['x', 'y', 'z'], ['x']])
        await store.put(namespace, 'k', {})
    for (const options of [
      {},
      { prefix: ['a'] },
      { suffix: ['c'] },
      { prefix: ['a', '*', 'c'] },
      { suffix: ['*', 'z'] },
      { maxDepth: 2 },
      { prefix: ['a'], suffix: ['d'], maxDepth: 2 },
      { limit: 2, offset: 1 },
      { prefix: ['x', 'y', 'z', '*'] },
    ]) {
      const [expected, actual] = await Promise.all(stores.map((store) => store.listNamespaces(options)))
      expect(actual, JSON.stringify(options)).toEqual(expected)
    }
  })

  it('finds by words where a query is given, the best first, and only what was to be indexed', async () => {
    const store = storeOver(mapStore(), { stemmer: englishStemmer, fields: ['title', 'parts[*].text'] })
    await store.put(['docs'], 'whales', { title: 'Whales sing', parts: [{ text: 'songs of the whale' }] })
    await store.put(['docs'], 'ships', { title: 'Ships and whales', note: 'submarine' })
    await store.put(['docs'], 'hidden', { title: 'whale whale whale' }, false)
    await store.put(['docs'], 'other', { title: 'none', note: 'whale' }, ['note'])
    const found = await store.search(['docs'], { query: 'whale songs' })
    expect(keysOf(found)[0]).toBe('whales')
    expect(new Set(keysOf(found))).toEqual(new Set(['whales', 'ships', 'other']))
    expect(found.every(({ score }) => typeof score === 'number')).toBe(true)
    expect(keysOf(await store.search(['docs'], { query: 'whale songs', limit: 1, offset: 1 }))).toEqual(
      keysOf(found).slice(1, 2),
    )
    expect(await store.search(['docs'], { query: 'submarine' })).toEqual([])
    expect((await store.search(['docs']))[0]).not.toHaveProperty('score')
  })

  it('writes a batch at once, after its reads, and the last put of an item wins', async () => {
    const shared = mapStore()
    const store = storeOver(shared)
    await store.put(['n'], 'a', { value: 0 })
    const results = await store.batch([
      { namespace: ['n'], key: 'a', value: { value: 1 } },
      { namespace: ['n'], key: 'a' },
      { namespace: ['n'], key: 'a', value: { value: 2 } },
      { namespacePrefix: ['n'] },
    ])
    expect(results[1]).toMatchObject({ value: { value: 0 } })
    expect(results[3]).toMatchObject([{ value: { value: 0 } }])
    expect(await store.get(['n'], 'a')).toMatchObject({ value: { value: 2 } })
    await Promise.all(Array.from({ length: 40 }, (_, number) => store.put(['n'], 'b', { number })))
    expect(await store.get(['n'], 'b')).toMatchObject({ value: { number: 39 } })
  })

  it('writes what many processes put of one item at once, and the puts after one that failed', async () => {
    const shared = mapStore()
    const all = Array.from({ length: 24 }, (_, number) => storeOver(shared).put(['n'], 'b', { number }))
    await Promise.all(all)
    expect(await storeOver(shared).get(['n'], 'b')).not.toBeNull()
    let isBroken = true
    const clock = () => {
      if (isBroken) throw new Error('no clock')
      return 0
    }
    const store = storeOver(shared, { clock })
    const failed = store.put(['n'], 'c', {})
    await expect(failed).rejects.toThrow('no clock')
    isBroken = false
    await store.put(['n'], 'c', {})
    expect(await store.get(['n'], 'c')).not.toBeNull()
  })

  it('ends a put that its store never ends, which holds up none after it and writes over none', async () => {
    vi.useFakeTimers()
    const { setTimeout: begin, clearTimeout: end } = globalThis
    // By hand: a spy of what is fake here would be put back in later tests of the process.
    const limits = new Set<unknown>()
    Object.assign(globalThis, {
      setTimeout(run: () => void, ms?: number) {
        const timer = begin(run, ms)
        if (ms === 30_000) limits.add(timer)
        return timer
      },
      clearTimeout(timer: Parameters<typeof end>[0]) {
        limits.delete(timer)
        end(timer)
      },
    })
    try {
      const shared = mapStore()
      let goOn = (): void => {}
      const hung = new Promise<void>((resolve) => (goOn = resolve))
      let commits = 0
      const slow = Object.assign(mapStore(), {
        open(scope: Scope) {
          const opened = shared.open(scope)
          const commit = opened.commit.bind(opened)
          opened.commit = async (...given) => {
            if (commits++ === 0) await hung
            return commit(...given)
          }
          return opened
        },
      })
      const store = storeOver(slow)
      const first = store.put(['n'], 'a', { number: 1 })
      const second = store.put(['n'], 'a', { number: 2 })
      const refused = expect(first).rejects.toMatchObject({
        code: 'ERR_TIMEOUT',
        limit: 30_000,
        message: 'batch: item/n//a may be written or not: the store did not end within 30000 ms',
      })
      await vi.advanceTimersByTimeAsync(29_999)
      expect(commits).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
      await refused
      await second
      goOn()
      await vi.advanceTimersByTimeAsync(10_000)
      expect(commits).toBe(2)
      expect(await store.get(['n'], 'a')).toMatchObject({ value: { number: 2 } })
      // Each time limit is over: other tests of the process may have timers too.
      expect(limits.size).toBe(0)
    } finally {
      Object.assign(globalThis, { setTimeout: begin, clearTimeout: end })
      vi.useRealTimers()
    }
  })

  it('loses no put of two writers that write the same item', async () => {
    const shared = mapStore()
    await Promise.all(
      ['one', 'two'].map((key) =>
        storeOver(shared).batch([
          { namespace: ['n'], key: 'shared', value: { key } },
          { namespace: ['n'], key, value: { key } },
        ]),
      ),
    )
    expect(keysOf(await storeOver(shared).search(['n']))).toEqual(['one', 'shared', 'two'])
  })

  it('pages through more items than one read gives, and keeps users apart', async () => {
    const shared = mapStore()
    const store = storeOver(shared)
    await store.batch(
      Array.from({ length: 600 }, (_, number) => ({
        namespace: ['n', String(number)],
        key: 'k',
        value: { number },
      })),
    )
    expect(await store.search(['n'], { limit: 1_000 })).toHaveLength(600)
    expect(await new PlimsollStore({ store: shared, userId: 'bob' }).search([])).toEqual([])
  })

  it('refuses what it cannot keep', async () => {
    const invalid = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })
    expect(() => storeOver(mapStore(), { index: {} })).toThrow(invalid('index'))
    expect(() => storeOver(mapStore(), { fields: 'title' })).toThrow(invalid('fields'))
    expect(() => storeOver(undefined as never, { store: {} })).toThrow(invalid('store'))
    const store = storeOver()
    await expect(store.batch([{ namespace: ['a', ''], key: 'k', value: {} }])).rejects.toThrow(
      invalid('namespace'),
    )
    await expect(store.batch([{ namespace: ['a'], key: '\ud800', value: {} }])).rejects.toThrow(
      invalid('key'),
    )
    await expect(store.put([], 'k', {})).rejects.toThrow('Namespace cannot be empty')
    expect(() => storeOver(mapStore(), { fields: [5] })).toThrow(invalid('fields'))
    expect(() => storeOver(mapStore(), { stemmer: {} })).toThrow(invalid('stemmer'))
    expect(() => storeOver(mapStore(), { clock: 5 })).toThrow(invalid('clock'))
    const put = { namespace: ['a'], key: 'k', value: {} }
    for (const [argument, operation] of [
      ['namespace', { namespace: 'a', key: 'k' }],
      ['namespacePrefix', { namespacePrefix: 'a' }],
      ['namespacePrefix', { namespacePrefix: [5] }],
      ['limit', { namespacePrefix: [], limit: -1 }],
      ['limit', { namespacePrefix: [], limit: '2' }],
      ['offset', { namespacePrefix: [], offset: 0.5 }],
      ['query', { namespacePrefix: [], query: 5 }],
      ['limit', { limit: Number.NaN }],
      ['offset', { offset: -1 }],
      ['maxDepth', { maxDepth: 0 }],
      ['path', { matchConditions: [{ matchType: 'prefix', path: 'a' }] }],
    ] as const)
      await expect(store.batch([put, operation as never])).rejects.toThrow(invalid(argument))
    // Nothing of such a batch is written.
    expect(await store.search([])).toEqual([])
    await store.put(['a'], 'k', { value: 1 })
    for (const filter of [{ value: { $in: 1 } }, { value: { $nin: 'x' } }])
      await expect(store.search([], { filter })).rejects.toThrow(invalid('filter'))
  })
})

it('texts are found by names, places and wildcards', () => {
  const value = { title: 'T', parts: [{ text: 'a' }, { text: 'b', more: [1, true, null] }] }
  const at = (path: string) => textsAt(value, path)
  expect(at('$')).toEqual(['T', 'a', 'b', '1', 'true'])
  expect(at('title')).toEqual(['T'])
  expect(at('parts[*].text')).toEqual(['a', 'b'])
  expect(at('parts[-1].text')).toEqual(['b'])
  expect(at('parts[0]')).toEqual(['a'])
  expect(at('parts[5].text')).toEqual([])
  expect(at('title.text')).toEqual([])
  expect(at('toString')).toEqual([])
})
