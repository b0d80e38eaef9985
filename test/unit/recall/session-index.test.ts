import { describe, expect, it } from 'vitest'
import { lexicalRecall } from '../../../src/features/recall/lexical-recall.ts'
import { searchWords } from '../../../src/features/recall/search-words.ts'
import type { SessionIndex } from '../../../src/features/recall/session-index.ts'
import { type MessageInput, mapStore } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { Stemmer } from '../../../src/ports/stemmer.ts'
import type { DerivedRow, ScopeStore, Store } from '../../../src/ports/store.ts'
import { memoryWith } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { user } from '../support/messages.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }
const BLOCK = 256

/** A stemmer that leaves words as they are and notes them. */
function noting(id = 'noting'): Stemmer & { readonly seen: string[] } {
  const seen: string[] = []
  return {
    id,
    seen,
    stem(word) {
      seen.push(word)
      return word
    },
  }
}

const openSession = (store: Store, stemmer: Stemmer = noting()) =>
  memoryWith(['facts', 'recall'], { store, budget: 16_000, recall: { stemmer } }).session(SCOPE)

/** Each with a word of its own: `word7` is in `m7` alone. */
const numbered = (from: number, to: number): MessageInput[] =>
  Array.from({ length: to - from }, (_, index) => user(`m${from + index}`, `word${from + index} everywhere`))

/** One round, so one op: a user message and what follows it. */
const round = (from: number, to: number): MessageInput[] =>
  numbered(from, to).map((message, index) => (index === 0 ? message : { ...message, role: 'assistant' }))

const deleting = (id: string) => sealOp({ kind: 'delete', opId: `delete ${id}`, target: `entry:${id}` })
const erasing = sealOp({ kind: 'erase', opId: 'erase' })

const blocksOf = async (store: Store): Promise<readonly DerivedRow[]> => store.open(SCOPE).derived('recall/')

const found = async (session: ReturnType<typeof openSession>, query: string): Promise<string[]> =>
  (await session.recall.find(query)).map(({ id }) => id)

/** Terms made of nothing but the query. */
const queried = (stemmer: { readonly seen: readonly string[] }): string[] => [
  ...new Set(stemmer.seen.filter((word) => word.startsWith('word') || word === 'everywhere')),
]

/** An index of the scope, by itself. */
const indexOf = (scope: ScopeStore, stemmer: Stemmer = noting()): SessionIndex =>
  lexicalRecall({ stemmer }).open(scope)

/** What of the words is found, each in the message of its number. */
async function wordsFound(index: SessionIndex, numbers: readonly number[]): Promise<number[]> {
  const read = await index.read()
  return numbers.filter((number) =>
    searchWords(lexicalRecall({ stemmer: noting() }), [read], [], `word${number}`, 1).some(
      ({ id }) => id === `m${number}`,
    ),
  )
}

describe('blocks of words', () => {
  it('are kept once there are enough words, and spare a reopen their rows and terms', async () => {
    const store = mapStore()
    const session = openSession(store)
    for (let at = 0; at < 600; at += 50) await session.append(numbered(at, at + 50))
    await session.history()
    expect(await blocksOf(store)).toHaveLength(2)
    const read: number[] = []
    const counted = changedStore(store, (inner) => ({
      changesSince: async (seq) => {
        const changes = await inner.changesSince(seq)
        read.push(changes.rows.length)
        return changes
      },
    }))
    const stemmer = noting()
    expect(await found(openSession(counted, stemmer), 'word3')).toContain('m3')
    expect(read).toEqual([600 - 2 * BLOCK])
    const rest = Array.from({ length: 600 - 2 * BLOCK }, (_, index) => `word${2 * BLOCK + index}`)
    expect(new Set(queried(stemmer))).toEqual(new Set([...rest, 'word3', 'everywhere']))
  })

  it('end where an op ends, so that a reopen finds what came with their last message', async () => {
    const store = mapStore()
    const session = openSession(store)
    await session.append(numbered(0, 200))
    await session.append(round(200, 300))
    await session.append(numbered(300, 310))
    await session.history()
    expect(await blocksOf(store)).toHaveLength(1)
    const index = indexOf(store.open(SCOPE))
    const all = Array.from({ length: 310 }, (_, number) => number)
    expect(await wordsFound(index, all)).toEqual(all)
    const { index: read } = await index.read()
    expect(read.size).toBe(310)
    expect(all.map((number) => read.numberOf(`m${number}`))).toEqual(all)
  })

  it('of two writers at a time are the same, each kept once', async () => {
    const store = mapStore()
    const sessions = [openSession(store), openSession(store)]
    for (let at = 0; at < 1_200; at += 100)
      await Promise.all(
        sessions.map((session, one) => session.append(numbered(at + 50 * one, at + 50 * one + 50))),
      )
    const scope = store.open(SCOPE)
    for (let times = 0; times < 2; times++) await Promise.all([indexOf(scope).keep(), indexOf(scope).keep()])
    expect((await blocksOf(store)).map(({ key }) => Number(key.split('/')[1]))).toEqual([0, 256, 512, 768])
    const index = indexOf(scope)
    expect((await index.read()).index.size).toBe(1_200)
    expect(await wordsFound(index, [0, 300, 777, 1_199])).toEqual([0, 300, 777, 1_199])
  })

  it('are written with no more read than the last of them, by one that searches nothing', async () => {
    const store = mapStore()
    const first = openSession(store)
    for (let at = 0; at < 4_000; at += 100) await first.append(numbered(at, at + 100))
    await first.history()
    let blocks = 0
    let rows = 0
    const counted = changedStore(store, (inner) => ({
      derived: async (prefix, after) => {
        const page = await inner.derived(prefix, after)
        blocks += page.length
        return page
      },
      changesSince: async (seq) => {
        const changes = await inner.changesSince(seq)
        rows += changes.rows.length
        return changes
      },
    }))
    const session = openSession(counted)
    for (let at = 4_000; at < 4_300; at += 50) await session.append(numbered(at, at + 50))
    await session.history()
    expect(blocks).toBeLessThan(5)
    expect(rows).toBeLessThan(2 * BLOCK + 300)
    expect((await blocksOf(store)).map(({ key }) => Number(key.split('/')[1]))).toEqual(
      Array.from({ length: 16 }, (_, index) => index * BLOCK),
    )
    const index = indexOf(store.open(SCOPE))
    expect((await index.read()).index.size).toBe(4_300)
    const some = [0, 2_000, 3_999, 4_000, 4_299]
    expect(await wordsFound(index, some)).toEqual(some)
  })

  it('are written again from the first one where something was deleted meanwhile', async () => {
    const store = mapStore()
    const scope = store.open(SCOPE)
    const session = openSession(store)
    for (let at = 0; at < 1_500; at += 100) await session.append(numbered(at, at + 100))
    await session.history()
    let isDeleted = false
    const racing = changedStore(store, (inner) => ({
      derived: async (prefix, after) => {
        const page = await inner.derived(prefix, after)
        // The last block was found, and what follows it is read next.
        if (after !== undefined && page.length === 0 && !isDeleted) {
          isDeleted = true
          await scope.commit([deleting('m3')], decide)
        }
        return page
      },
    }))
    await session.append(numbered(1_500, 1_600))
    await indexOf(racing.open(SCOPE)).keep()
    expect(isDeleted).toBe(true)
    const index = indexOf(scope)
    const { index: read } = await index.read()
    expect(read.size).toBe(1_600)
    expect(await wordsFound(index, [2, 3, 4, 1_000, 1_599])).toEqual([2, 4, 1_000, 1_599])
    expect(read.documents).toBe(1_599)
  })

  it('of more than one page are all loaded', async () => {
    const store = mapStore()
    const scope = store.open(SCOPE)
    const session = openSession(store)
    for (let at = 0; at < 1_100; at += 100) await session.append(numbered(at, at + 100))
    await session.history()
    const pages: number[] = []
    const paged = changedStore(store, (inner) => ({
      derived: async (prefix, after) => {
        const rows = (await inner.derived(prefix, after)).slice(0, 1)
        pages.push(rows.length)
        return rows
      },
    }))
    const index = indexOf(paged.open(SCOPE))
    expect((await index.read()).index.size).toBe(1_100)
    expect(pages).toEqual([1, 1, 1, 0])
    expect(await wordsFound(index, [0, 500, 1_099])).toEqual([0, 500, 1_099])
    await scope.close()
  })

  it('are passed over from where one is missing', async () => {
    const store = mapStore()
    const session = openSession(store)
    for (let at = 0; at < 800; at += 100) await session.append(numbered(at, at + 100))
    await session.history()
    const [, ...rest] = await blocksOf(store)
    const lacking = changedStore(store, () => ({
      derived: async (_, after) => (after === undefined ? rest : []),
    }))
    const index = indexOf(lacking.open(SCOPE))
    expect((await index.read()).index.size).toBe(800)
    expect(await wordsFound(index, [0, 256, 799])).toEqual([0, 256, 799])
  })

  it('are made again after a delete by the next recall, without the deleted words', async () => {
    const store = mapStore()
    const session = openSession(store)
    for (let at = 0; at < 600; at += 100) await session.append(numbered(at, at + 100))
    expect(await found(session, 'word7')).toContain('m7')
    await store.open(SCOPE).commit([deleting('m7')], decide)
    expect(await blocksOf(store)).toEqual([])
    const again = openSession(store)
    expect(await found(again, 'word7')).toEqual([])
    await again.history()
    expect(await blocksOf(store)).toHaveLength(2)
    expect(await found(session, 'word7')).toEqual([])
    const text = (await blocksOf(store)).map(({ bytes }) => String.fromCharCode(...bytes)).join()
    expect(text).toContain('word8')
    expect(text).not.toMatch(/word7\b/)
  })

  it('take the places of those that another stemmer made', async () => {
    const store = mapStore()
    const session = openSession(store, noting('one'))
    for (let at = 0; at < 600; at += 100) await session.append(numbered(at, at + 100))
    await session.history()
    const before = await blocksOf(store)
    const first = noting('other')
    const other = openSession(store, first)
    expect(await found(other, 'word7')).toContain('m7')
    expect(first.seen).toContain('word555')
    await other.history()
    const after = await blocksOf(store)
    expect(after.map(({ key }) => key)).toEqual(before.map(({ key }) => key))
    expect(after.map(({ bytes }) => bytes)).not.toEqual(before.map(({ bytes }) => bytes))
    const second = noting('other')
    expect(await found(openSession(store, second), 'word7')).toContain('m7')
    expect(second.seen).not.toContain('word7 everywhere')
    expect(second.seen).not.toContain('word255')
  })

  it('that another stemmer made are made again by one that writes on and searches nothing', async () => {
    const store = mapStore()
    const session = openSession(store, noting('one'))
    for (let at = 0; at < 600; at += 100) await session.append(numbered(at, at + 100))
    await session.history()
    const before = await blocksOf(store)
    const other = openSession(store, noting('other'))
    for (let at = 600; at < 900; at += 100) await other.append(numbered(at, at + 100))
    await other.history()
    const after = await blocksOf(store)
    expect([before.length, after.length]).toEqual([2, 3])
    for (const [index, { bytes }] of before.entries()) expect(after[index]?.bytes).not.toEqual(bytes)
  })

  it('are made of a log that was written without recall, once it is searched', async () => {
    const store = mapStore()
    const plain = memoryWith(['facts', 'recall'], { store, budget: 16_000 }).session(SCOPE)
    for (let at = 0; at < 600; at += 100) await plain.append(numbered(at, at + 100))
    const session = openSession(store)
    expect(await found(session, 'word9')).toContain('m9')
    await session.history()
    expect(await blocksOf(store)).toHaveLength(2)
  })

  it('never bring back what was deleted while they were made', async () => {
    const store = mapStore()
    for (const session of [openSession(store)])
      for (let at = 0; at < 200; at += 100) await session.append(numbered(at, at + 100))
    await openSession(store).append(numbered(200, 300))
    let isFirst = true
    const raced = changedStore(store, (inner) => ({
      derive: async (row, seq) => {
        if (isFirst) await inner.commit([deleting('m7')], decide)
        isFirst = false
        return inner.derive(row, seq)
      },
    }))
    const index = indexOf(raced.open(SCOPE))
    await index.keep()
    expect(await blocksOf(store)).toEqual([])
    await index.keep()
    expect(await blocksOf(store)).toHaveLength(1)
    expect(await wordsFound(indexOf(store.open(SCOPE)), [6, 7, 8])).toEqual([6, 8])
  })

  it('that were kept again while they are loaded tell of what was deleted in between', async () => {
    const store = mapStore()
    const session = openSession(store)
    for (let at = 0; at < 600; at += 100) await session.append(numbered(at, at + 100))
    await session.history()
    const other = openSession(store)
    const raced = changedStore(store, (inner) => ({
      derived: async (prefix, after) => {
        const rows = (await inner.derived(prefix, after)).slice(0, 1)
        if (after === undefined) {
          await inner.commit([deleting('m7')], decide)
          await other.append(numbered(600, 900))
          await other.history()
        }
        return rows
      },
    }))
    const index = indexOf(raced.open(SCOPE))
    expect(await wordsFound(index, [6, 7, 8, 600, 899])).toEqual([6, 8, 600, 899])
  })
})

describe('an index', () => {
  it('starts over where the log was erased and another one begun', async () => {
    const store = mapStore()
    const session = openSession(store)
    for (let at = 0; at < 300; at += 100) await session.append(numbered(at, at + 100))
    const index = indexOf(store.open(SCOPE))
    expect(await wordsFound(index, [7])).toEqual([7])
    await store.open(SCOPE).commit([erasing], decide)
    const again = openSession(store)
    for (let at = 400; at < 700; at += 100) await again.append(numbered(at, at + 100))
    for (const one of [index, indexOf(store.open(SCOPE))]) {
      expect(await wordsFound(one, [7, 407])).toEqual([407])
      expect((await one.read()).index.size).toBe(300)
    }
    await index.keep()
    expect(await wordsFound(indexOf(store.open(SCOPE)), [7, 407, 699])).toEqual([407, 699])
  })

  it('stays as it is where something else than a message was deleted', async () => {
    const store = mapStore()
    const session = openSession(store)
    await session.append(numbered(0, 20))
    const reads: number[] = []
    const counted = changedStore(store, (inner) => ({
      changesSince: async (seq) => {
        reads.push(seq)
        return inner.changesSince(seq)
      },
    }))
    const index = indexOf(counted.open(SCOPE))
    await index.read()
    await store.open(SCOPE).commit([deleting('fact/none')], decide)
    expect(await wordsFound(index, [7])).toEqual([7])
    expect(reads).toEqual([0, 20])
  })

  it('is whole after a read that failed half way', async () => {
    const store = mapStore()
    const session = openSession(store)
    for (let at = 0; at < 1_000; at += 250) await session.append(numbered(at, at + 250))
    await store.open(SCOPE).commit([deleting('m3')], decide)
    let fails = true
    const failing = changedStore(store, (inner) => ({
      changesSince: async (seq) => {
        if (seq > 0 && fails) throw new Error('the disk is gone')
        return inner.changesSince(seq)
      },
    }))
    const index = indexOf(failing.open(SCOPE))
    await expect(index.read()).rejects.toThrow('the disk is gone')
    fails = false
    expect((await index.read()).index.size).toBe(1_000)
    expect(await wordsFound(index, [3, 4, 999])).toEqual([4, 999])
  })

  it('keeps the place of what was deleted, so that neighbours stay neighbours', async () => {
    const store = mapStore()
    const session = openSession(store)
    await session.append(numbered(0, 10))
    await store.open(SCOPE).commit([deleting('m5')], decide)
    const { index } = await indexOf(store.open(SCOPE)).read()
    expect(index.size).toBe(10)
    expect(index.numberOf('m4')).toBe(4)
    expect(index.has('m5')).toBe(false)
    expect(index.numberOf('m6')).toBe(6)
  })
})
