import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lexicalRecall } from '../../../src/features/recall/lexical-recall.ts'
import { rank } from '../../../src/features/recall/rank.ts'
import { KeptWords, type SessionWords, Words } from '../../../src/features/slots.ts'
import { createMemory, type Feature, facts, mapStore, recall } from '../../../src/index.ts'
import { provide } from '../../../src/kernel/slot.ts'
import { kernelOf } from '../../../src/operations/kernel-of.ts'
import { rewind, undo } from '../../../src/operations/rewind.ts'
import { englishStemmer } from '../../../src/stemmer.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { notingEmbedder, vectorsBy } from '../../everywhere/embedder.ts'
import { runs } from '../../everywhere/runs.ts'
import { user } from '../support/messages.ts'
import { conversations, indexOf } from '../support/recall.ts'

const ADA = { userId: 'ada' }
const TRIP = { ...ADA, sessionId: 'trip' }

const memoryOf = (store = mapStore(), ...more: readonly Feature[]) =>
  createMemory({ store, budget: 10_000, use: [facts(), recall(), ...more] })

const wordsOf = (session: Parameters<typeof kernelOf>[1]): SessionWords =>
  kernelOf('test', session).one(Words) as SessionWords

describe('words of a session that are kept elsewhere', () => {
  it('rank as the session itself does, in blocks of any size, without what is hidden', () => {
    const { encode, decode } = lexicalRecall()
    fc.assert(
      fc.property(conversations, fc.integer({ min: 1, max: 5 }), fc.nat(), ({ said, query }, size, pick) => {
        const index = indexOf(said)
        const hidden = new Set(said.filter((_, at) => (at * 7 + pick) % 3 === 0).map(({ id }) => id))
        const blocks: Uint8Array[] = []
        for (let from = 0; from < said.length; from += size)
          blocks.push(encode({ index, hidden }, from, Math.min(from + size, said.length)))
        const kept = decode(blocks)
        if (!kept) throw new Error('it is of another kind')
        const shown = indexOf(said)
        for (const id of hidden) shown.remove(id)
        expect(rank([kept], query, {})).toEqual(rank([shown], query, {}))
      }),
      runs(100),
    )
  })

  it('are of no use to another stemmer', () => {
    const index = indexOf([{ id: 'a', text: 'walking' }])
    const block = lexicalRecall().encode({ index, hidden: new Set() }, 0, 1)
    expect(lexicalRecall({ stemmer: englishStemmer }).decode([block])).toBeUndefined()
    expect(lexicalRecall().decode([block])?.documents).toBe(1)
  })

  it('say how far the log was read, and of its rewinds', async () => {
    const session = memoryOf().session(TRIP)
    await session.append(user('m1', 'A zebra.'))
    await session.append(user('m2', 'A pelican.'))
    const words = wordsOf(session)
    const first = await words.read()
    expect([first.size, first.rewoundAt]).toEqual([2, 0])
    await rewind(session, 'm1')
    const second = await words.read()
    expect(second.rewoundAt).toBeGreaterThan(first.seq)
    expect(second.seq).toBeGreaterThanOrEqual(second.rewoundAt)
    const text = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes)
    expect(text(first.encode(0, 2))).toContain('pelican')
    expect(text(second.encode(0, 2))).not.toContain('pelican')
    await undo(session)
    const third = await words.read()
    expect(third.rewoundAt).toBeGreaterThan(second.rewoundAt)
    expect(text(third.encode(0, 2))).toContain('pelican')
  })
})

describe('recall of a user whose object keeps words of sessions', () => {
  it('reads no log of these but what it found, and the others as they are', async () => {
    const inner = mapStore()
    const writing = memoryOf(inner)
    const kept = new Map<string, Uint8Array>()
    for (const sessionId of ['old', 'other', 'trip']) {
      const session = writing.session({ ...ADA, sessionId })
      await session.append(user(`m-${sessionId}`, `A zebra in ${sessionId}.`))
      const { size, encode } = await wordsOf(session).read()
      if (sessionId !== 'other') kept.set(sessionId, encode(0, size))
    }
    const { kind } = wordsOf(writing.session(TRIP))
    const logs: string[] = []
    const store = {
      ...inner,
      open: (scope: Parameters<typeof inner.open>[0]) =>
        changedStore(inner, (own) => ({
          changesSince: async (seq) => {
            if (scope.sessionId !== undefined) logs.push(scope.sessionId)
            return own.changesSince(seq)
          },
        })).open(scope),
    }
    const of = async (sessionId: string) => {
      const block = kept.get(sessionId)
      return block && { kind: sessionId === 'old' ? 'older' : kind, blocks: [block], asOf: 7 }
    }
    const memory = memoryOf(store, { name: 'words', provides: [provide(KeptWords, { of })] })
    const items = await memory.user(ADA).recall.find('zebra', { sessions: 'all' })
    expect(items.map(({ id, asOf }) => [id, asOf]).toSorted()).toEqual([
      ['m-old', undefined],
      ['m-other', undefined],
      ['m-trip', 7],
    ])
    expect(items.find(({ id }) => id === 'm-trip')).toMatchObject({ text: 'A zebra in trip.', trust: 'user' })
    expect([...new Set(logs)].toSorted()).toEqual(['old', 'other'])
  })

  it('asks for no vectors of these', async () => {
    const store = mapStore()
    const session = memoryOf(store).session(TRIP)
    await session.append(user('m1', 'A hound is here.'))
    const { kind } = wordsOf(session)
    const { size, encode } = await wordsOf(session).read()
    const embedder = notingEmbedder()
    const of = async () => ({ kind, blocks: [encode(0, size)], asOf: 7 })
    const memory = createMemory({
      store,
      budget: 10_000,
      use: [
        facts(),
        recall({ vectors: vectorsBy(embedder) }),
        { name: 'words', provides: [provide(KeptWords, { of })] },
      ],
    })
    const { find } = memory.user(ADA).recall
    expect((await find('hound', { sessions: 'all' })).map(({ id }) => id)).toEqual(['m1'])
    expect(embedder.passages).toEqual([])
  })
})
