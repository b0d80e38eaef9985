import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { fuse } from '../../../src/features/recall/fuse.ts'
import type { Ranked } from '../../../src/features/recall/rank.ts'
import { RecallIndex } from '../../../src/features/recall/recall-index.ts'
import { SessionVectors } from '../../../src/features/recall/session-vectors.ts'
import { Varints } from '../../../src/features/recall/varints.ts'
import { cosine, type Embed, embedding } from '../../../src/features/recall/vector.ts'
import {
  type Embedder,
  type Fact,
  forget,
  mapStore,
  type RecallFeatureOptions,
  type Store,
  type VectorSearchOptions,
  vectorSearch,
} from '../../../src/index.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { rewind } from '../../../src/operations/rewind.ts'
import { webHost } from '../../../src/platform/web.ts'
import { memoryWith } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { type NotingEmbedder, notingEmbedder, vectorOf, vectorsBy } from '../../everywhere/embedder.ts'
import { runs } from '../../everywhere/runs.ts'
import { user } from '../support/messages.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }

const memoryOf = (store: Store, recall: RecallFeatureOptions, clock?: () => number) =>
  memoryWith(['facts', 'recall'], {
    store,
    budget: 16_000,
    window: { max: { messages: 2 } },
    recall,
    ...(clock && { clock }),
  })

const openSession = (
  store: Store,
  embedder: Embedder = notingEmbedder(),
  more: Pick<VectorSearchOptions, 'onFailure'> = {},
) => memoryOf(store, { vectors: vectorsBy(embedder, more) }).session(SCOPE)

type Opened = ReturnType<typeof openSession>

const found = async (session: Opened, query: string, first = 10): Promise<string[]> =>
  (await session.recall.find(query, { first })).map(({ id }) => id)

/** Says things about nothing that the embedder knows, and one that it does. */
async function filled(session: Opened, count = 6): Promise<void> {
  for (let at = 0; at < count; at++) await session.append(user(`m${at}`, `Number ${at} is said here.`))
  await session.append(user('wanted', 'My hound sleeps all day.'))
  for (let at = count; at < 2 * count; at++)
    await session.append(user(`m${at}`, `Number ${at} is said here.`))
}

/** Ids of messages whose vectors are stored. */
async function stored(store: Store): Promise<readonly string[]> {
  const rows = await store.open(SCOPE).derived('vectors/')
  return rows.flatMap(({ bytes }) => {
    const [, , messages] = new Varints(bytes).json() as [string, number, [string][]]
    return messages.map(([id]) => id)
  })
}

describe('recall with an embedder', () => {
  it('finds what shares no word with the query, in messages and in facts', async () => {
    const { asked, ...embedder } = notingEmbedder()
    const session = openSession(mapStore(), embedder)
    await filled(session)
    await session.facts.remember({ id: 'likes', kind: 'preference', text: 'An automobile with a roof.' })
    expect((await found(session, 'puppy'))[0]).toBe('wanted')
    expect((await found(session, 'vehicle'))[0]).toBe('likes')
    expect((await session.recall.page('puppy')).text).toContain('My hound sleeps all day.')
    const context = await session.context({ recall: 'puppy' })
    expect(JSON.stringify(context.blocks)).toContain('My hound sleeps all day.')
    expect(asked.filter(({ use }) => use === 'query').map(({ texts }) => texts)).toEqual([
      ['puppy'],
      ['vehicle'],
      ['puppy'],
    ])
    const lexical = memoryOf(mapStore(), {}).session(SCOPE)
    await lexical.append(user('wanted', 'My hound sleeps all day.'))
    expect(await lexical.recall.find('puppy')).toEqual([])
  })

  it('finds the passage of a long message, and says which embedding it is for', async () => {
    const embedder = notingEmbedder()
    const session = openSession(mapStore(), embedder)
    const line = (word: string) => `- ${`Nothing to see in ${word} here. `.repeat(8)}`
    await session.append(
      user('long', [line('one'), line('two'), 'A hound is asleep on my bed.', line('three')].join('\n\n')),
    )
    await filled(session, 2)
    const { text } = await session.recall.page('puppy', { first: 2 })
    expect(text).toContain('A hound is asleep')
    expect(embedder.asked.filter(({ use }) => use === 'query')).toEqual([{ texts: ['puppy'], use: 'query' }])
    expect(embedder.passages.every((passage) => passage.length > 0 && passage.length <= 320)).toBe(true)
  })

  it('finds it beside many that are as near and show already', async () => {
    const embedder = notingEmbedder()
    const options = {
      store: mapStore(),
      budget: 16_000,
      window: { max: { messages: 70 } },
      recall: { vectors: vectorsBy(embedder) },
    }
    const session = memoryWith(['facts', 'recall'], options).session(SCOPE)
    await session.append(user('wanted', 'My hound sleeps all day.'))
    for (let at = 0; at < 80; at++) await session.append(user(`m${at}`, 'A puppy.'))
    const { blocks } = await session.context({ recall: 'dog' })
    expect(JSON.stringify(blocks)).toContain('My hound sleeps')
  })

  it('keeps what a ranking by words and one by vectors say, each as much as the other', () => {
    const ranked = fc
      .uniqueArray(
        fc.record({ id: fc.integer({ min: 0, max: 12 }), score: fc.integer({ min: 0, max: 9 }) }),
        {
          selector: ({ id }) => id,
          maxLength: 9,
        },
      )
      .map((list) =>
        list
          .toSorted((one, other) => other.score - one.score)
          .map(({ id, score }): Ranked => ({ index: 0, id: String(id), score, passages: [score] })),
      )
    fc.assert(
      fc.property(ranked, ranked, (one, other) => {
        const worth = new Map<string, number>()
        for (const ranking of [one, other])
          for (const [place, { id }] of ranking.filter(({ score }) => score > 0).entries())
            worth.set(id, (worth.get(id) ?? 0) + 1 / (61 + place))
        const fused = fuse([one, other])
        expect(new Map(fused.map(({ id, score }) => [id, score]))).toEqual(worth)
        expect(fused.map(({ score }) => score)).toEqual([...worth.values()].toSorted((a, b) => b - a))
      }),
      runs(100),
    )
  })

  it('asks once for each passage, whatever is opened again', async () => {
    const store = mapStore()
    const first = notingEmbedder()
    const session = openSession(store, first)
    await filled(session, 20)
    await found(session, 'puppy')
    expect(first.passages).toHaveLength(41)
    expect(first.asked.every(({ texts }) => texts.length <= 64)).toBe(true)
    await session.append(user('later', 'Take an umbrella.'))
    const again = notingEmbedder()
    const reopened = openSession(store, again)
    expect((await found(reopened, 'weather'))[0]).toBe('later')
    expect((await found(reopened, 'puppy'))[0]).toBe('wanted')
    expect(again.passages).toEqual(['Take an umbrella.'])
  })

  it('makes all vectors again where the embedder is another one', async () => {
    const store = mapStore()
    await filled(openSession(store))
    await found(openSession(store), 'puppy')
    const other = notingEmbedder('others')
    expect((await found(openSession(store, other), 'puppy'))[0]).toBe('wanted')
    expect(other.passages).toHaveLength(13)
    const again = notingEmbedder('others')
    await found(openSession(store, again), 'puppy')
    expect(again.passages).toEqual([])
  })

  it('keeps no vector of what is forgotten, and does not ask for the others again', async () => {
    const store = mapStore()
    const embedder = notingEmbedder()
    const session = openSession(store, embedder)
    await filled(session, 12)
    await found(session, 'puppy')
    expect(await stored(store)).toContain('wanted')
    await forget(session, 'wanted')
    expect(await stored(store)).toEqual([])
    expect(await found(session, 'puppy', 200)).not.toContain('wanted')
    expect(await stored(store)).toHaveLength(24)
    expect(await stored(store)).not.toContain('wanted')
    expect(embedder.passages).toHaveLength(25)
    const again = notingEmbedder()
    await found(openSession(store, again), 'puppy')
    expect(again.passages).toEqual([])
  })

  it('keeps none either where it is forgotten while the embedder is at it', async () => {
    const store = mapStore()
    let forgetting: Promise<unknown> | undefined
    const other = openSession(store, notingEmbedder())
    const session = openSession(
      store,
      notingEmbedder('meanings', async (texts) => {
        if (!texts.some((text) => text.includes('hound'))) return
        forgetting ??= forget(other, 'wanted')
        await forgetting
      }),
    )
    await filled(session)
    expect(await found(session, 'puppy', 200)).not.toContain('wanted')
    expect(await stored(store)).toEqual([])
    await found(session, 'puppy')
    expect(await stored(store)).toHaveLength(12)
    expect(await stored(store)).not.toContain('wanted')
  })

  it('finds nothing that is rewound, and keeps nothing of what is erased', async () => {
    const store = mapStore()
    const session = openSession(store)
    await filled(session)
    await session.append(user('late', 'Another puppy.'))
    expect(await found(session, 'hound')).toContain('late')
    await rewind(session, 'm11')
    expect(await found(session, 'hound', 200)).not.toContain('late')
    expect((await found(session, 'puppy')).slice(0, 4)).toContain('wanted')
    await deleteSession(memoryOf(store, {}), { userId: 'ada' }, 'trip')
    expect(await stored(store)).toEqual([])
  })

  it('waits for 256 passages, the newest, and makes the others behind the answer', async () => {
    const store = mapStore()
    const embedder = notingEmbedder('meanings', () => new Promise((resolve) => setTimeout(resolve, 1)))
    const session = openSession(store, embedder)
    await session.append(user('wanted', 'My hound sleeps all day.'))
    for (let at = 0; at < 30; at++)
      await session.append(
        Array.from({ length: 16 }, (_, place) => user(`m${at}-${place}`, `Number ${at} ${place} is said.`)),
      )
    expect(await found(session, 'puppy')).not.toContain('wanted')
    // Beside what goes on behind that answer.
    await found(session, 'hound')
    await expect.poll(async () => (await stored(store)).length).toBe(481)
    expect(embedder.asked.every(({ texts }) => texts.length <= 64)).toBe(true)
    expect((await found(session, 'puppy'))[0]).toBe('wanted')
    expect(embedder.passages).toHaveLength(481)
  })

  it('keeps what was made before an embedder failed, and stores nothing twice', async () => {
    const inner = mapStore()
    let writes = 0
    const store = changedStore(inner, (scope) => ({
      derive: (row, seq) => {
        if (row.key.startsWith('vectors/')) writes++
        return scope.derive(row, seq)
      },
    }))
    let calls = 0
    const failing = notingEmbedder('meanings', () => {
      // The first is for the query.
      if (++calls > 3) throw new Error('enough')
    })
    const session = openSession(store, failing)
    for (let at = 0; at < 12; at++)
      await session.append(
        Array.from({ length: 16 }, (_, place) => user(`m${at}-${place}`, `Number ${at} ${place} is said.`)),
      )
    await found(session, 'puppy')
    expect(await stored(inner)).toHaveLength(128)
    const again = notingEmbedder()
    const reopened = openSession(store, again)
    await found(reopened, 'puppy')
    expect(again.passages).toHaveLength(64)
    expect(writes).toBe(12)
    await found(reopened, 'hound')
    expect(writes).toBe(12)
  })

  it('makes vectors of the first 64 passages of a message, and of no empty text', async () => {
    const embedder = notingEmbedder()
    const session = openSession(mapStore(), embedder)
    const long = Array.from({ length: 100 }, (_, at) => `- ${`Number ${at} of many. `.repeat(10)}`).join('\n')
    await session.append(user('long', long))
    await session.append(user('code', `\`\`\`\n${' '.repeat(900)}\n\`\`\``))
    await session.append(user('none', '   '))
    await found(session, 'puppy')
    expect(embedder.passages.filter((text) => text.includes('of many'))).toHaveLength(64)
    expect(embedder.passages.length).toBeGreaterThan(65)
    expect(embedder.passages.filter((text) => text.trim() === '')).toEqual([])
    const before = embedder.asked.length
    await session.recall.find('  ')
    expect(embedder.asked).toHaveLength(before)
  })

  it('looks through the sessions of a user that are asked for', async () => {
    const store = mapStore()
    const memory = memoryOf(store, { vectors: vectorsBy(notingEmbedder()) })
    for (const sessionId of ['one', 'two', 'three'])
      await memory.session({ ...SCOPE, sessionId }).append(user(`m-${sessionId}`, `A hound in ${sessionId}.`))
    const { recall } = memory.user({ userId: 'ada' })
    const items = await recall.find('puppy', { sessions: ['one', 'three'] })
    expect(items.map(({ id }) => id).toSorted()).toEqual(['m-one', 'm-three'])
  })
})

describe('the options of vectors', () => {
  const embed = async () => []
  it.each([
    ['id', { embed }],
    ['embed', { id: 'm', embed: 'ada' }],
    ['embed', { id: 'm' }],
    ['onFailure', { id: 'm', embed, onFailure: true }],
    ['model', { id: 'm', embed, model: 'm' }],
  ])('are refused by their name where they cannot be: %s of %j', (argument, options) => {
    expect(() => vectorSearch(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }),
    )
  })
})

describe('an embedder that fails', () => {
  const failing = (): NotingEmbedder =>
    notingEmbedder('meanings', () => {
      throw new Error('no vectors today')
    })

  it('is told, and recall goes on by words', async () => {
    const told: unknown[] = []
    const session = openSession(mapStore(), failing(), { onFailure: (error) => told.push(error) })
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
    expect(told).toMatchObject([{ message: 'no vectors today' }])
    const { text } = await session.recall.page('hound')
    expect(text).toMatch(/^\[from memory: \d results, by words alone, newest first/)
    const { receipt, blocks } = await session.context({ recall: 'hound' })
    expect(receipt.failures).toEqual([{ part: 'recall', code: 'ERR_HOOK', message: 'no vectors today' }])
    expect(JSON.stringify(blocks)).toContain('My hound sleeps')
    expect((await session.context({ recall: 'zebra' })).receipt.failures).toHaveLength(1)
    expect((await session.context()).receipt.failures).toEqual([])
    // A context that begins an epoch looks twice.
    expect(told).toHaveLength(5)
  })

  it('for passages alone is told too, and what has vectors is found by them', async () => {
    const store = mapStore()
    await filled(openSession(store))
    await found(openSession(store), 'puppy')
    const told: unknown[] = []
    const session = openSession(
      store,
      notingEmbedder('meanings', (texts) => {
        if (texts.some((text) => text.includes('umbrella'))) throw new Error('no vectors today')
      }),
      { onFailure: (error) => told.push(error) },
    )
    await session.append(user('late', 'Take an umbrella.'))
    expect((await found(session, 'puppy'))[0]).toBe('wanted')
    expect((await found(session, 'umbrella'))[0]).toBe('late')
    expect(told).toHaveLength(2)
  })

  it.each([
    ['too few', async () => []],
    ['a number that is none', async (texts: readonly string[]) => texts.map(() => [1, Number.NaN])],
    ['none', async (texts: readonly string[]) => texts.map(() => [])],
    ['too long ones', async (texts: readonly string[]) => texts.map(() => new Float32Array(4_097))],
    ['no list', async () => 7 as never],
    [
      'other lengths',
      async (texts: readonly string[], use: string) => texts.map(() => (use === 'query' ? [1, 2] : [1])),
    ],
  ])('since it gives %s is told', async (_, embed) => {
    const told: unknown[] = []
    const session = openSession(mapStore(), { id: 'bad', embed }, { onFailure: (error) => told.push(error) })
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
    expect(told).toHaveLength(1)
  })

  it('since its vectors of one call have several lengths is told, and none of them is kept', async () => {
    const store = mapStore()
    const told: unknown[] = []
    const mixed = openSession(
      store,
      {
        id: 'm',
        embed: async (texts) => texts.map((text, at) => (at % 2 ? [...vectorOf(text), 1] : vectorOf(text))),
      },
      { onFailure: (error) => told.push(error) },
    )
    await filled(mixed)
    expect((await found(mixed, 'hound'))[0]).toBe('wanted')
    expect(told).toHaveLength(1)
    expect(await stored(store)).toEqual([])
    // It gives what it should by now.
    expect((await found(openSession(store, { ...notingEmbedder(), id: 'm' }), 'puppy'))[0]).toBe('wanted')
  })

  it('for one message with another length costs the vectors of that message alone', async () => {
    const store = mapStore()
    const odd = notingEmbedder()
    const told: unknown[] = []
    const open = (embed = odd.embed) =>
      openSession(store, { id: 'm', embed }, { onFailure: (error) => told.push(error) })
    await filled(open())
    await found(open(), 'puppy')
    const session = open(async (texts, use) =>
      use === 'query' ? odd.embed(texts, use) : texts.map(() => [1]),
    )
    await session.append(user('odd', 'Take an umbrella.'))
    expect((await found(session, 'puppy'))[0]).toBe('wanted')
    expect((await found(open(), 'puppy'))[0]).toBe('wanted')
    expect(await found(open(), 'umbrella')).toContain('odd')
    expect(told.length).toBeGreaterThanOrEqual(3)
    expect(String(told[0])).toContain('another model needs another id')
  })

  it('that takes texts off its list gives no message the vectors of another', async () => {
    const store = mapStore()
    const told: unknown[] = []
    const session = openSession(
      store,
      {
        id: 'm',
        embed: async (texts) => {
          const all = texts as string[]
          if (all.length > 1) all.splice(0, all.length - 1)
          return all.map(vectorOf)
        },
      },
      { onFailure: (error) => told.push(error) },
    )
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
    expect(told).toHaveLength(1)
    expect(await stored(store)).toEqual([])
  })

  it('that says it gives more numbers than memory holds is told before they are read', async () => {
    const told: unknown[] = []
    const endless = new Proxy({ length: 2 ** 31 } as ArrayLike<number>, {
      get: (target, key) => {
        if (key !== 'length') throw new Error('it is read')
        return target.length
      },
    })
    const session = openSession(
      mapStore(),
      { id: 'm', embed: async (texts) => texts.map(() => endless) },
      { onFailure: (error) => told.push(error) },
    )
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
    expect(String(told[0])).toContain('4096')
  })

  it.each([
    [
      'throws at once',
      () => {
        throw new TypeError('it is no function')
      },
    ],
    ['is aborted', async () => Promise.reject(new DOMException('aborted', 'AbortError'))],
    ['rejects with nothing', async () => Promise.reject(undefined)],
    ['gives nothing', () => undefined],
    [
      'gives infinite numbers',
      async (texts: readonly string[]) => texts.map(() => [Number.POSITIVE_INFINITY]),
    ],
    ['gives one vector more', async (texts: readonly string[]) => [...texts, ''].map(vectorOf)],
    ['gives holes', async (texts: readonly string[]) => new Array(texts.length)],
    ['gives texts', async (texts: readonly string[]) => texts.map(() => ['1', '2'])],
  ])('that %s is told, and keeps nothing', async (_, embed) => {
    const store = mapStore()
    let told = 0
    const session = openSession(store, { id: 'm', embed: embed as never }, { onFailure: () => told++ })
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
    expect(told).toBe(1)
    expect((await session.context({ recall: 'hound', preview: true })).receipt.failures).toMatchObject([
      { part: 'recall', code: 'ERR_HOOK' },
    ])
    expect(await stored(store)).toEqual([])
  })

  it('whose report fails as well loses nothing', async () => {
    const session = openSession(
      mapStore(),
      { id: 'm', embed: async () => Promise.reject(new Error('no vectors today')) },
      {
        onFailure: () => {
          throw new Error('nobody listens')
        },
      },
    )
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
  })

  it('that knows nothing of a text gives zeros, and finds by words', async () => {
    const store = mapStore()
    const told: unknown[] = []
    const session = openSession(
      store,
      { id: 'm', embed: async (texts) => texts.map(() => [0, 0, 0]) },
      { onFailure: (error) => told.push(error) },
    )
    await filled(session)
    expect((await found(session, 'hound'))[0]).toBe('wanted')
    expect(await found(session, 'puppy')).toEqual([])
    expect(told).toEqual([])
    expect(
      await found(
        openSession(store, { id: 'm', embed: async (texts) => texts.map(() => [0, 0, 0]) }),
        'puppy',
      ),
    ).toEqual([])
  })

  it('whose session is erased meanwhile keeps nothing of it', async () => {
    const store = mapStore()
    let erasing: Promise<unknown> | undefined
    const session = openSession(
      store,
      notingEmbedder('meanings', async (texts) => {
        if (!texts.some((text) => text.includes('hound'))) return
        erasing ??= deleteSession(memoryOf(store, {}), { userId: 'ada' }, 'trip')
        await erasing
      }),
    )
    await filled(session)
    await found(session, 'puppy').catch(() => {})
    expect(erasing).toBeDefined()
    expect(await stored(store)).toEqual([])
  })

  it('that answers after its time gives nothing that is kept', async () => {
    const expiries: (() => void)[] = []
    const host = {
      timeout: () => {
        const controller = new AbortController()
        expiries.push(() => controller.abort(new Error('too late')))
        return { signal: controller.signal, clear: () => {} }
      },
    }
    const answers: (() => void)[] = []
    const embed = vi.fn(
      (texts: readonly string[]) =>
        new Promise<readonly (readonly number[])[]>((resolve) =>
          answers.push(() => resolve(texts.map(vectorOf))),
        ),
    )
    const store = mapStore()
    await openSession(store).append(user('one', 'A hound.'))
    const search = vectorSearch({ id: 'm', embed })(host)
    const index = new RecallIndex()
    index.add('one', { day: 0, speaker: 'user', passages: [{ terms: ['hound'], asks: false }] })
    const read = { index, seq: 1, dropped: 0, hidden: new Set<string>(), rewoundAt: 0 }
    const vectors = search.open(store.open(SCOPE))
    const ranked = [{ index: 0, id: 'one', score: 1, passages: [1] }]
    const near = search.near('puppy', [{ ...read, vectors }], [], ranked, 0)
    await vi.waitFor(() => expect(embed).toHaveBeenCalledTimes(2))
    for (const expire of expiries) expire()
    const { ranked: all, failure } = await near
    expect(all.map(({ id }) => id)).toEqual(['one'])
    expect(String(failure?.error)).toContain('too late')
    for (const answer of answers) answer()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(vectors.of('one')).toEqual([])
    expect(await stored(store)).toEqual([])
  })

  it('has ten seconds', async () => {
    let expire = (): void => {}
    const host = {
      timeout: (ms: number) => {
        const controller = new AbortController()
        expect(ms).toBe(10_000)
        expire = () => controller.abort(new Error('too late'))
        return { signal: controller.signal, clear: () => {} }
      },
    }
    const embed = embedding({ id: 'slow', embed: () => new Promise(() => {}) }, host)
    const asked = embed(['a'], 'query')
    expire()
    await expect(asked).rejects.toThrow('too late')
  })

  it('that hangs is waited for once, however many sessions are searched, and those with vectors are found', async () => {
    const store = mapStore()
    const filling = memoryOf(store, { vectors: vectorsBy(notingEmbedder()) })
    for (let at = 0; at < 40; at++)
      await filling
        .session({ ...SCOPE, sessionId: `s${at}` })
        .append(user(`m${at}`, at === 39 ? 'My hound.' : `Number ${at}.`))
    await filling.user({ userId: 'ada' }).recall.find('puppy', { sessions: ['s39'] })
    const told: unknown[] = []
    let asked = 0
    const hanging: Embedder = {
      id: 'meanings',
      embed: async (texts, use) => {
        if (use === 'query') return texts.map(vectorOf)
        asked++
        return new Promise<never>(() => {})
      },
    }
    const host = {
      timeout: () => {
        const controller = new AbortController()
        const timer = setTimeout(() => controller.abort(new Error('too late')), 30)
        return { signal: controller.signal, clear: () => clearTimeout(timer) }
      },
    }
    const memory = memoryOf(store, {
      vectors: () => vectorsBy(hanging, { onFailure: (e) => told.push(e) })(host),
    })
    const items = await memory.user({ userId: 'ada' }).recall.find('puppy', { sessions: 'all' })
    expect(items[0]?.id).toBe('m39')
    expect(asked).toBeLessThanOrEqual(8)
    expect(told).toHaveLength(1)
  })

  it('whose store refuses vectors finds by them all the same, and tries again', async () => {
    const inner = mapStore()
    let refuses = true
    const store = changedStore(inner, (scope) => ({
      derive: async (row, seq) => !refuses && scope.derive(row, seq),
    }))
    const session = openSession(store)
    await filled(session)
    expect((await found(session, 'puppy'))[0]).toBe('wanted')
    refuses = false
    await found(session, 'puppy')
    expect(await stored(inner)).toHaveLength(13)
  })
})

describe('a search by vectors', () => {
  const fact = (id: string, text: string): Fact => ({
    id,
    text,
    kind: 'finding',
    title: text,
    pinned: false,
    priority: 3,
    confidence: 1,
    trust: 'user',
    sources: [],
    createdAt: 0,
    reviewAt: 0,
  })

  it('gives as many as are asked for, the nearest first, and nothing that points away', async () => {
    const embed = async (texts: readonly string[]) =>
      texts.map((text) => [Number(text), 10 - Math.abs(Number(text))])
    const search = vectorSearch({ id: 'numbers', embed })(webHost)
    const facts = [3, -10, 9, 8, 4, 7].map((number) => fact(`f${number}`, String(number)))
    const near = async (most: number) =>
      (await search.near('10', [], facts, [], most - 64)).ranked.map(({ id }) => id)
    expect(await near(64)).toEqual(['f9', 'f8', 'f7', 'f4', 'f3'])
    expect(await near(3)).toEqual(['f9', 'f8', 'f7'])
  })

  it('has vectors of 256 facts, made once, and of none that is gone', async () => {
    const embedder = notingEmbedder()
    const search = vectorsBy(embedder)(webHost)
    const facts = Array.from({ length: 300 }, (_, at) => fact(`f${at}`, at === 9 ? ' ' : `Number ${at}.`))
    await search.near('puppy', [], facts, [], 0)
    expect(embedder.passages).toHaveLength(255)
    await search.near('puppy', [], facts, [], 0)
    expect(embedder.passages).toHaveLength(255)
    await search.near('puppy', [], facts.slice(100), [], 0)
    await search.near('puppy', [], facts, [], 0)
    // Those from 256 on came for the first time, those below 100 again.
    expect(embedder.passages).toHaveLength(255 + 44 + 99)
  })

  it('holds no vector of a message that is forgotten', async () => {
    const store = mapStore()
    await openSession(store).append(user('one', 'word'))
    const index = new RecallIndex()
    index.add('one', { day: 0, speaker: 'user', passages: [{ terms: ['word'], asks: false }] })
    const embed: Embed = async (texts) => texts.map(() => Int8Array.of(1))
    const vectors = new SessionVectors({ store: store.open(SCOPE), embed, id: 'm' })
    await vectors.refresh({ index, seq: 1, dropped: 0 }, { left: 9 })
    expect(vectors.of('one')).toHaveLength(1)
    await vectors.refresh({ index: new RecallIndex(), seq: 2, dropped: 1 }, { left: 9 })
    expect(vectors.of('one')).toEqual([])
  })
})

describe('a vector', () => {
  it('keeps what it points at in a byte a number', async () => {
    const texts = ['a car', 'an automobile', 'a dog and a train', 'a roof']
    const vectors = await embedding({ id: 'm', embed: async (all) => all.map(vectorOf) }, webHost)(
      texts,
      'passage',
    )
    for (const [at, one] of vectors.entries())
      for (const [place, other] of vectors.entries()) {
        const [exact, rounded] = [exactCosine(at, place), cosine(one, other)]
        expect(Math.abs(exact - rounded)).toBeLessThan(0.02)
      }
    expect(cosine(Int8Array.of(0, 0), Int8Array.of(1, 2))).toBe(0)

    function exactCosine(at: number, place: number): number {
      const [one, other] = [vectorOf(texts[at] ?? ''), vectorOf(texts[place] ?? '')]
      const dot = (a: readonly number[], b: readonly number[]) =>
        a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
      return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))
    }
  })
})
