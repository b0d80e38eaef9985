import { describe, expect, it } from 'vitest'
import type { MessageInput } from '../../src/index.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { rewind, undo } from '../../src/operations/rewind.ts'
import type { Store } from '../../src/ports/store.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { hashText } from '../../src/text/hash.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { changedStore } from './changed-store.ts'
import { notingEmbedder, vectorsBy } from './embedder.ts'
import { people, type Random, randomFrom, sentenceFrom, things } from './recall-texts.ts'
import { isWhole } from './runs.ts'

/**
 * SHA-256 of what all queries find: at first, after a delete, after a rewind. They change with what
 * recall finds, so only on purpose.
 */
const GOLDEN = [
  '9e37845f3ebddf2492671195ab6f3ecd74fe4df7129ec65af732d137856dfa3d',
  '89246871749d39e80aed1a47eac7311390c2164297714ab5dacf315e6c8a35f5',
  '1a79288cc5eb9098d2f126476840198736193a9e2ca3e16bd508a9f639f4c398',
]

const MESSAGES = 1_200
/** Messages of a block, and of an op that reaches over its end, with what else is written then. */
const [BLOCK, MOST_TOGETHER] = [256, 40]
const QUERIES = 40
/** Asked of a store that was opened again. What all of them find before, the hashes hold. */
const AGAIN = isWhole ? QUERIES : 10
const RESULTS = 20
const SCOPE = { userId: 'ada', sessionId: 'recalled' }
const START = 1_700_000_000_000
const HOUR = 3_600_000
const REWOUND = 'm1000'

/**
 * That a session over a store finds the same as everywhere else, also after it was opened again,
 * which indexes only what is in no block.
 *
 * @param again opens the same data, without anything that was in memory
 */
export function describeSessionRecall(
  storeName: string,
  open: () => Store,
  again: (store: Store) => Promise<Store>,
): void {
  describe(`recall over the ${storeName} store`, () => {
    it('finds in 1 200 messages what it finds everywhere, and a reopen reads no message that is in a block', async () => {
      let store = open()
      let session = openSession(store)
      for (const messages of conversation()) await session.append(messages)
      const asked = queries()
      const found = await rankings(session, asked)
      expect(found.filter((ids) => ids !== '').length).toBeGreaterThan(QUERIES * 0.9)
      await session.close()

      const reopened = async (expected: readonly string[]): Promise<void> => {
        // What fills blocks is written by then.
        await session.close()
        store = await again(store)
        let read = 0
        const counted = changedStore(store, (inner) => ({
          changesSince: async (seq) => {
            const changes = await inner.changesSince(seq)
            read += changes.rows.length
            return changes
          },
        }))
        session = openSession(counted)
        const some = asked.slice(0, AGAIN)
        expect(await rankings(session, some)).toEqual(expected.slice(0, AGAIN))
        expect(read).toBeLessThan(BLOCK + MOST_TOGETHER)
      }
      await reopened(found)

      const [best = ''] = found.join(' ').split(' ')
      await store
        .open(SCOPE)
        .commit([sealOp({ kind: 'delete', opId: 'delete', target: `entry:${best}` })], decide)
      const left = await rankings(session, asked)
      expect(left.join(' ').split(' ')).not.toContain(best)
      await reopened(left)

      await rewind(session, REWOUND)
      const hidden = await rankings(session, asked)
      expect(hidden.join(' ')).not.toMatch(/\bm1[01]\d\d\b/)
      await reopened(hidden)

      await undo(session)
      expect(await rankings(session, asked)).toEqual(left)
      expect([found, left, hidden].map((all) => hashText(all.join('\n')))).toEqual(GOLDEN)
      await session.close()
    }, 120_000)

    it('finds by vectors what shares no word, and a reopen makes none again', async () => {
      let store = open()
      const said = Array.from({ length: 40 }, (_, at) =>
        at === 7 ? 'A hound sleeps.' : `Number ${at} is said.`,
      )
      const find = async (made: number): Promise<void> => {
        const embedder = notingEmbedder()
        const scope = { ...SCOPE, sessionId: 'by-vectors' }
        const session = fullMemory({
          store,
          budget: 16_000,
          recall: { vectors: vectorsBy(embedder) },
        }).session(scope)
        if (made > 0)
          await session.append(said.map((content, at) => ({ id: `v${at}`, role: 'user', content })))
        expect((await session.recall.find('puppy')).map(({ id }) => id)[0]).toBe('v7')
        expect(embedder.passages).toHaveLength(made)
        await session.close()
      }
      await find(said.length)
      store = await again(store)
      await find(0)
    })
  })
}

function openSession(store: Store): FullSession {
  return fullMemory({ store, budget: 16_000, recall: { stemmer: englishStemmer } }).session(SCOPE)
}

/**
 * Appends of one to many messages: rounds with and without tools, some so long that they reach over
 * the end of a block.
 */
function conversation(): MessageInput[][] {
  const random = randomFrom(11)
  const appends: MessageInput[][] = []
  let number = 0
  const text = (): string => Array.from({ length: 1 + random(3) }, () => sentenceFrom(random)).join(' ')
  const next = (message: Omit<MessageInput, 'id' | 'createdAt'>): MessageInput => ({
    ...message,
    id: `m${number}`,
    createdAt: START + number++ * HOUR,
  })
  while (number < MESSAGES) {
    const asked = next({ role: 'user', content: text(), name: people[random(3)] as string })
    const steps = random(4) === 0 ? 1 + random(12) : 0
    const step = (): MessageInput[] => {
      const id = `call${number}`
      const input = { about: sentenceFrom(random) }
      return [
        next({ role: 'assistant', content: [{ type: 'tool-call', id, name: 'look_up', input }] }),
        next({ role: 'tool', content: [{ type: 'tool-result', callId: id, output: text() }] }),
      ]
    }
    const worked = Array.from({ length: steps }, step).flat()
    const replied = next({ role: 'assistant', content: text() })
    if (random(2) === 0) appends.push([asked, ...worked, replied])
    else appends.push([asked], [...worked, replied])
  }
  return appends
}

function queries(): string[] {
  const random: Random = randomFrom(5)
  const pick = (list: readonly string[]): string => list[random(list.length)] as string
  return Array.from({ length: QUERIES }, (_, number) =>
    number % 2 === 0 ? sentenceFrom(random) : `${pick(things)} ${pick(people)}`,
  )
}

/** For each query, the ids of what is found, best first. */
async function rankings(session: FullSession, asked: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const query of asked)
    found.push((await session.recall.find(query, { first: RESULTS })).map(({ id }) => id).join(' '))
  return found
}
