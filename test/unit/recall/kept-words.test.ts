import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { askedOnce } from '../../../src/edge/objects/asked-once.ts'
import { rankWords } from '../../../src/edge/objects/rank-words.ts'
import { readShown } from '../../../src/edge/replica/read-shown.ts'
import { lexicalRecall } from '../../../src/features/recall/lexical-recall.ts'
import { type OtherSessions, Others, WordsReader } from '../../../src/features/recall/others.ts'
import { corpusOf, rank } from '../../../src/features/recall/rank.ts'
import { KeptWords, type SessionWords, type UserWords, Words } from '../../../src/features/slots.ts'
import {
  type Context,
  createMemory,
  type Feature,
  facts,
  mapStore,
  type RecallAcross,
  recall,
  type Store,
} from '../../../src/index.ts'
import { provide } from '../../../src/kernel/slot.ts'
import { kernelOf, memoryOf as kernelOfMemory } from '../../../src/operations/kernel-of.ts'
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

/** Messages of a session of Ada's, as an object of its own gives them. */
const messagesIn =
  (store: Store): UserWords['messages'] =>
  (sessionId, ids) =>
    readShown(store.open({ ...ADA, sessionId }), ids)

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

  it('rank beside messages elsewhere as if both were in one place', () => {
    fc.assert(
      fc.property(conversations, conversations, ({ said, query }, { said: others }) => {
        const [here, there] = [indexOf(said), indexOf(others)]
        const apart = [
          ...rank([here], query, { beside: corpusOf([there], query, {}) }),
          ...rank([there], query, { beside: corpusOf([here], query, {}) }).map((one) => ({
            ...one,
            index: 1,
          })),
        ].sort((one, other) => other.score - one.score)
        expect(apart).toEqual(rank([here, there], query, {}))
      }),
      runs(200),
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
    const memory = memoryOf(store, {
      name: 'words',
      provides: [provide(KeptWords, { of, messages: messagesIn(store) })],
    })
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
        { name: 'words', provides: [provide(KeptWords, { of, messages: messagesIn(store) })] },
      ],
    })
    const { find } = memory.user(ADA).recall
    expect((await find('hound', { sessions: 'all' })).map(({ id }) => id)).toEqual(['m1'])
    expect(embedder.passages).toEqual([])
  })
})

const usesOf = ({ receipt }: Context) => receipt.remembered?.find(({ name }) => name === 'recall')
const tailOf = ({ blocks }: Context): string =>
  blocks
    .flatMap(({ section, parts }) => (section === 'tail' ? parts : []))
    .map((part) => ('text' in part ? part.text : ''))
    .join()

describe('a context that recalls across sessions', () => {
  const DAY = Date.UTC(2026, 4, 8)
  let now = DAY
  /** Of what was said, the last message shows by itself. */
  const short = (store: Store, ...use: readonly Feature[]) =>
    createMemory({
      store,
      budget: 10_000,
      window: { max: { rounds: 1 }, keep: { rounds: 1 } },
      use: [facts(), ...use],
      clock: () => ++now,
    }) as unknown as ReturnType<typeof memoryOf>
  /** Sessions of Ada, each of which said something of its own, under the same id. */
  async function told(ids: readonly string[], store = mapStore()) {
    const memory = short(store, recall())
    for (const sessionId of ids) {
      const session = memory.session({ ...ADA, sessionId })
      await session.append({ ...user('m1', `The zebra of ${sessionId} is striped.`), createdAt: ++now })
      await session.append({ ...user('m2', 'And now?'), createdAt: ++now })
    }
    return memory
  }
  const shownIn = async (memory: Awaited<ReturnType<typeof told>>, asked: RecallAcross, sessionId = 'trip') =>
    memory.session({ ...ADA, sessionId }).context({ recall: asked, preview: true })

  it('shows what others said as theirs, without a number that could not be read here', async () => {
    const context = await shownIn(await told(['old', 'trip']), { query: 'zebra', sessions: 'all' })
    expect(tailOf(context)).toContain(
      '2026-05-08\n- user [user]: The zebra of trip is striped.\n' +
        '2026-05-08, in another session\n- user [user]: The zebra of old is striped.',
    )
    expect(usesOf(context)).toMatchObject({ items: 3, others: { searched: 1, missing: 0 } })
    expect(usesOf(context)?.others?.asOf).toBeUndefined()
  })

  it('looks through those that are named, once each, and its own without being asked', async () => {
    const memory = await told(['one', 'two', 'three', 'trip'])
    const context = await shownIn(memory, { query: 'zebra', sessions: ['two', 'trip', 'two'] })
    expect(tailOf(context).match(/zebra of \w+/g)).toEqual(['zebra of trip', 'zebra of two'])
    expect(usesOf(context)?.others).toEqual({ searched: 1, missing: 0 })
    const alone = await shownIn(memory, { query: 'zebra', sessions: [] })
    expect(tailOf(alone).match(/zebra of \w+/g)).toEqual(['zebra of trip'])
  })

  it('asks for what the newest user message says where no query is given', async () => {
    const memory = await told(['old', 'trip'])
    await memory.session(TRIP).append(user('m3', 'Who knew of the zebra?'))
    expect(tailOf(await shownIn(memory, { sessions: ['old'] }))).toContain('zebra of old')
  })

  it('counts those that it does not look through, the oldest first', async () => {
    const store = mapStore()
    await told(['one', 'two', 'three', 'trip'], store)
    const few = await shownIn(short(store, recall({ sessions: 2 })), { query: 'zebra', sessions: 'all' })
    expect(
      tailOf(few)
        .match(/zebra of \w+/g)
        ?.toSorted(),
    ).toEqual(['zebra of three', 'zebra of trip', 'zebra of two'])
    expect(usesOf(few)?.others).toEqual({ searched: 2, missing: 1 })
    const many = Array.from({ length: 12 }, (_, at) => `s${at}`)
    await told(many, store)
    const read = await shownIn(short(store, recall({ messages: 10 })), { query: 'zebra', sessions: many })
    expect(usesOf(read)?.others).toEqual({ searched: 4, missing: 8 })
  })

  it('leaves out messages without words, beside those that it finds', async () => {
    const memory = await told(['trip'])
    const old = memory.session({ ...ADA, sessionId: 'old' })
    await old.append({ ...user('o1', 'Find the dugong.'), createdAt: ++now })
    const call = { type: 'tool-call', id: 'c1', name: 'find', input: {} } as const
    await old.append({ id: 'o2', role: 'assistant', content: [call], createdAt: ++now })
    const found = { type: 'tool-result', callId: 'c1', output: 'A dugong.' } as const
    await old.append({ id: 'o3', role: 'tool', content: [found], createdAt: ++now })
    const context = await shownIn(memory, { query: 'dugong', sessions: ['old'] })
    expect(tailOf(context).match(/^- .*$/gm)).toEqual([
      '- tool [tool]: A dugong.',
      '- user [user]: Find the dugong.',
    ])
    expect(usesOf(context)).toMatchObject({ items: 2, overflow: { count: 0 } })
    const items = await old.recall.find('dugong')
    expect(items.map(({ id }) => id).toSorted()).toEqual(['o1', 'o3'])
  })

  it('counts as missing those that hold nothing: of no such id, and of another user', async () => {
    const store = mapStore()
    const memory = await told(['old', 'trip'], store)
    const theirs = memory.session({ userId: 'bob', sessionId: 'bob' })
    await theirs.append(user('b1', 'The zebra of Bob is striped.'))
    const context = await shownIn(memory, { query: 'zebra', sessions: ['old', 'bob', 'nowhere'] })
    expect(tailOf(context).match(/zebra of \w+/g)).toEqual(['zebra of trip', 'zebra of old'])
    expect(usesOf(context)?.others).toEqual({ searched: 1, missing: 2 })
    const fresh = await shownIn(memory, { query: 'zebra', sessions: ['old'] }, 'new')
    expect(usesOf(fresh)?.others).toEqual({ searched: 1, missing: 0 })
  })

  it('says what was looked through where nothing was found', async () => {
    const context = await shownIn(await told(['old', 'trip']), { query: 'pelican', sessions: 'all' })
    expect(usesOf(context)).toMatchObject({ tokens: 0, items: 0, others: { searched: 1, missing: 0 } })
    expect(context.receipt.failures).toEqual([])
  })

  it.each([
    {},
    { query: 'zebra' },
    { sessions: 'some' },
    { sessions: [7] },
    { sessions: Array.from({ length: 257 }, (_, at) => `s${at}`) },
    { sessions: 'all', query: 7 },
    { sessions: 'all', query: false },
    { sessions: 'all', first: 2 },
    null,
    false,
  ])('refuses what is not one: %o', async (asked) => {
    const memory = await told(['trip'])
    await expect(shownIn(memory, asked as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  describe('where these live elsewhere', () => {
    /** Ada's sessions, whose words are kept by another memory but for those that are left out. */
    async function apart(
      ids: readonly string[],
      but: readonly string[] = [],
      bounds: Parameters<typeof recall>[0] = {},
    ) {
      const store = mapStore()
      const all = await told(ids, store)
      const kept = new Map<string, Uint8Array>()
      for (const sessionId of ids.filter((id) => !but.includes(id))) {
        const { size, encode } = await wordsOf(all.session({ ...ADA, sessionId })).read()
        kept.set(sessionId, encode(0, size))
      }
      const { kind } = wordsOf(all.session(TRIP))
      const asked: string[] = []
      const words: UserWords = {
        of: async (sessionId) => {
          const block = kept.get(sessionId)
          return (
            block && { kind, blocks: [block], asOf: 100 - kept.size + [...kept.keys()].indexOf(sessionId) }
          )
        },
        messages: messagesIn(store),
      }
      const home = kernelOfMemory(
        'test',
        short(store, recall(bounds), { name: 'words', provides: [provide(KeptWords, words)] }),
      )
      const others: OtherSessions = {
        rank: async (ask) => {
          const [reader] = home.all(WordsReader)
          if (!reader) throw new Error('recall provides it')
          return structuredClone(await rankWords(home.user(ADA), reader, structuredClone(ask)))
        },
        messages: async (sessionId, messages) => {
          asked.push(sessionId)
          return words.messages(sessionId, messages)
        },
      }
      const open = (changed: Partial<OtherSessions> = {}) =>
        short(
          {
            ...store,
            open: (scope) => {
              if (scope.sessionId !== undefined && scope.sessionId !== 'trip')
                throw new Error('it lives elsewhere')
              return store.open(scope)
            },
          },
          recall(),
          { name: 'beside', provides: [provide(Others, () => askedOnce({ ...others, ...changed }))] },
        )
      return { all, open, asked }
    }

    it('shows the same as where they are here, and reads those alone of which something was found', async () => {
      const { all, open, asked } = await apart(['one', 'two', 'trip'])
      for (const query of ['zebra', 'zebra of one', 'Which zebra is of two?']) {
        const [far, here] = await Promise.all(
          [open(), all].map((memory) => shownIn(memory, { query, sessions: 'all' })),
        )
        expect(tailOf(far as Context)).toBe(tailOf(here as Context))
      }
      asked.length = 0
      const context = await shownIn(open(), { query: 'one', sessions: 'all' })
      expect(asked).toEqual(['one'])
      expect(usesOf(context)?.others).toEqual({ searched: 2, missing: 0, asOf: 97 })
    })

    it('counts those whose words are not kept, and does not read them', async () => {
      const { open, asked } = await apart(['one', 'two', 'trip'], ['one'])
      const context = await shownIn(open(), { query: 'zebra', sessions: 'all' })
      expect(tailOf(context).match(/zebra of \w+/g)).toEqual(['zebra of trip', 'zebra of two'])
      expect(usesOf(context)?.others).toMatchObject({ searched: 1, missing: 1 })
      expect(asked).toEqual(['two'])
    })

    it('looks through as many sessions, and as many messages, as recall says', async () => {
      const ids = ['one', 'two', 'three', 'trip']
      for (const [bounds, searched] of [
        [{ sessions: 2 }, 2],
        [{ messages: 1 }, 1],
        [{ messages: 4 }, 2],
      ] as const) {
        const { open } = await apart(ids, [], bounds)
        const context = await shownIn(open(), { query: 'zebra', sessions: 'all' })
        expect(usesOf(context)?.others).toMatchObject({ searched, missing: 3 - searched })
      }
    })

    it('shows what is here where the others cannot be asked, and says so', async () => {
      const { open } = await apart(['one', 'trip'])
      const rank = async () => Promise.reject(new Error('out of order'))
      const context = await shownIn(open({ rank }), { query: 'zebra', sessions: 'all' })
      expect(tailOf(context).match(/zebra of \w+/g)).toEqual(['zebra of trip'])
      expect(context.receipt.failures).toMatchObject([{ part: 'recall', message: 'out of order' }])
      expect(usesOf(context)?.others).toBeUndefined()
    })

    it('asks once where an epoch begins, and again in the next context, and where that failed', async () => {
      const { open } = await apart(['one', 'trip'])
      let ranks = 0
      let reads = 0
      let isBroken = false
      const plain = open()
      const inner = kernelOfMemory('test', plain).all(Others)[0]?.()
      if (!inner) throw new Error('it is given')
      const memory = open({
        rank: async (ask) => {
          ranks++
          if (isBroken) throw new Error('out of order')
          return inner.rank(ask)
        },
        messages: async (...asked) => {
          reads++
          return inner.messages(...asked)
        },
      })
      const asked = { query: 'zebra', sessions: 'all' } as const
      const session = memory.session(TRIP)
      expect(tailOf(await session.context({ recall: asked }))).toContain('zebra of one')
      expect([ranks, reads]).toEqual([1, 1])
      await session.context({ recall: asked })
      expect([ranks, reads]).toEqual([2, 2])
      isBroken = true
      await session.context({ recall: asked, newEpoch: true })
      expect([ranks, reads]).toEqual([4, 2])
    })

    it('shows the rest where one of them cannot be read, and says so', async () => {
      const { open } = await apart(['one', 'two', 'trip'])
      const plain = open()
      const context = await shownIn(
        open({
          messages: async (sessionId, ids) => {
            if (sessionId === 'one') throw new Error('out of order')
            return [ids].flat().map(() => undefined)
          },
        }),
        { query: 'zebra', sessions: 'all' },
      )
      expect(tailOf(context).match(/zebra of \w+/g)).toEqual(['zebra of trip'])
      expect(context.receipt.failures).toMatchObject([{ part: 'recall', message: 'out of order' }])
      expect(tailOf(await shownIn(plain, { query: 'zebra', sessions: 'all' }))).toContain('zebra of one')
    })

    it('does not show what was rewound since its words were kept', async () => {
      const { all, open } = await apart(['one', 'trip'])
      const one = all.session({ ...ADA, sessionId: 'one' })
      await one.append(user('m0', 'Begin.'))
      await rewind(one, 'm1')
      expect(tailOf(await shownIn(open(), { query: 'And now', sessions: 'all' }))).not.toContain(
        'another session\n- user [user]: And',
      )
    })
  })
})
