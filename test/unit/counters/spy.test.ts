import { describe, expect, it } from 'vitest'
import { type Counter, charsPerToken, type MessageInput, mapStore, type Store } from '../../../src/index.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'

const system = 'You are a travel agent.'
/** What a session object needs to know once, whatever is in the log. */
const once = ['(earlier messages are not shown)', expect.stringMatching(/^<ctx-0{8} system>/), system]
/** What the floor shows of an output in the newest step. */
const marker = '[cut from 2 tokens, see #'

/** A counter that notes what it is given. */
function spy(): { readonly counter: Counter; readonly texts: string[] } {
  const texts: string[] = []
  const { count } = charsPerToken(4)
  const counter: Counter = {
    id: 'spy',
    kind: 'exact',
    count: (text) => {
      texts.push(text)
      return count(text)
    },
  }
  return { counter, texts }
}

function open(counter: Counter, store: Store): FullSession {
  return fullMemory({ store, system, budget: 8_000, counter, clock: () => 0 }).session({ userId: 'ada' })
}

/**
 * What is counted when a session of that many messages gets three more and is asked for a context,
 * by it and by a new one.
 */
async function countedAt(messages: number): Promise<{ readonly warm: string[]; readonly cold: string[] }> {
  const { counter, texts } = spy()
  const store = mapStore()
  const session = open(counter, store)
  await session.append(
    Array.from({ length: messages }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `message ${index} `.repeat(12),
    })),
  )
  await session.context()
  texts.length = 0
  await session.append([
    { role: 'user', content: 'Show me.' },
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'show', input: { all: true } }] },
    { role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 'few rows' }] },
  ])
  await session.context({ tail: 'It is 9:40.' })
  const warm = texts.splice(0)
  await open(counter, store).context()
  return { warm, cold: texts }
}

describe('the marker of a capped output names the tokens of that output alone', () => {
  const output = 'row of a table, '.repeat(1_000)
  const results = (...outputs: readonly string[]): readonly MessageInput[] => [
    { role: 'user', content: 'Show me.' },
    {
      role: 'assistant',
      content: outputs.map((_, index) => ({ type: 'tool-call', id: `c${index}`, name: 'show', input: {} })),
    },
    {
      role: 'tool',
      content: outputs.map((text, index) => ({ type: 'tool-result', callId: `c${index}`, output: text })),
    },
  ]
  const markersIn = async (counter: Counter, ...outputs: readonly string[]): Promise<string[]> => {
    const session = open(counter, mapStore())
    await session.append(results(...outputs))
    return [...JSON.stringify((await session.context()).blocks).matchAll(/cut from (\d+) tokens/g)].map(
      ([, tokens]) => tokens ?? '',
    )
  }
  const { count } = charsPerToken(4)

  it('where several results share a message', async () => {
    const { counter } = spy()
    const [one, other] = [output, output.repeat(2)]
    expect(await markersIn(counter, one, other)).toEqual([`${count(one)}`, `${count(other)}`])
  })

  it('where the counter has a way of its own to count a message', async () => {
    const { counter } = spy()
    expect(await markersIn({ ...counter, message: () => 1_000 }, output)).toEqual([`${count(output)}`])
  })
})

describe('a call tokenizes', () => {
  it('its new messages only, once each, however long the log is', async () => {
    for (const messages of [10, 1_000, 5_000])
      expect([messages, (await countedAt(messages)).warm]).toEqual([
        messages,
        [
          'Show me.',
          'show',
          '{"all":true}',
          'few rows',
          expect.stringContaining('It is 9:40.'),
          '',
          expect.stringContaining(marker),
        ],
      ])
  })

  it('no message when it is the first of a new session object: their counts are in the log', async () => {
    for (const messages of [10, 1_000])
      expect([messages, (await countedAt(messages)).cold]).toEqual([
        messages,
        [...once, '', expect.stringContaining(marker)],
      ])
  })

  it('only outputs that it shows capped when an epoch begins, no message again', async () => {
    const { counter, texts } = spy()
    const session = open(counter, mapStore())
    const output = 'row of a table, '.repeat(1_000)
    let cut = 0
    let epoch = ''
    for (let round = 0; round < 60; round++) {
      texts.length = 0
      await session.append([
        { role: 'user', content: `question ${round}` },
        {
          role: 'assistant',
          content: ['a', 'b'].map((id) => ({ type: 'tool-call', id, name: 'show', input: {} })),
        },
        { role: 'tool', content: [{ type: 'tool-result', callId: 'a', output: `${round}: ${output}` }] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', callId: 'b', output: `${round} rows, ${'all '.repeat(40)}` }],
        },
      ])
      const context = await session.context()
      const messages = texts.filter((text) => /^question|^show$|^\d+ rows/.test(text))
      expect(messages.filter((text) => !text.includes('['))).toEqual([
        `question ${round}`,
        'show',
        'show',
        expect.stringMatching(`^${round} rows`),
      ])
      // Each whole output is counted where it is written, and again, at most, where it is first
      // shown capped.
      expect(texts.filter((text) => text.endsWith(output)).length).toBeLessThanOrEqual(2)
      if (epoch !== '' && context.epoch !== epoch) cut++
      epoch = context.epoch
    }
    expect(cut).toBeGreaterThan(1)
  })
})
