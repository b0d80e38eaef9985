import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadO200k } from '../../../src/counters/o200k.ts'
import {
  charsPerToken,
  countMessage,
  type MessageInput,
  mapStore,
  toOpenAI,
  utf8Bound,
} from '../../../src/index.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { texts } from '../support/histories.ts'
import { runs } from '../support/runs.ts'

const classic = charsPerToken(4)
const cumulative = (messages: readonly Pick<MessageInput, 'content'>[]): number[] => {
  let sum = 0
  return messages.map((message) => {
    sum += countMessage(classic, message)
    return sum
  })
}

const call = (id: string, a: number, b: number): Pick<MessageInput, 'content'> => ({
  content: [{ type: 'tool-call', id, name: 'add', input: { a, b } }],
})
const result = (callId: string, output: string): Pick<MessageInput, 'content'> => ({
  content: [{ type: 'tool-result', callId, output }],
})

describe('the classic estimate', () => {
  it('counts 0 for the empty text, else at least 1, and code points rather than UTF-16 units', () => {
    expect(
      ['', 'a', 'abcd', 'abcdefg', 'abcdefgh', '🚆🚆🚆🚆', '漢字漢字'].map((text) => classic.count(text)),
    ).toEqual([0, 1, 1, 1, 2, 1, 1])
  })

  it('counts the short conversation as 11, 18, 26, 37', () => {
    const conversation = [
      'You are a careful calculator.',
      'What is 1+2?',
      'The answer is 3.',
      'And what is 10 plus 20 plus 30?',
    ]
    expect(cumulative(conversation.map((content) => ({ content })))).toEqual([11, 18, 26, 37])
  })

  it('counts the calculator conversation as 108 before its answer and 126 after it', () => {
    const conversation = [
      { content: 'You are a careful calculator. Use the `add` tool for every step.' },
      {
        content:
          'Add the following pairs in sequence and report all results: (1,2), (10,20), (100,200), (1000,2000).',
      },
      ...[1, 10, 100, 1000].flatMap((a, index) => [
        call(`c${index + 1}`, a, 2 * a),
        result(`c${index + 1}`, String(3 * a)),
      ]),
      { content: 'Running total so far: 3, 30, 300, 3000. Final sum = 3333.' },
    ]
    expect(cumulative(conversation).slice(-2)).toEqual([108, 126])
  })

  it('gives the same figures in a receipt', async () => {
    const memory = fullMemory({
      store: mapStore(),
      system: 'You are a careful calculator.',
      budget: 16_000,
      counter: classic,
    })
    const session = memory.session({ userId: 'ada' })
    const counted = async (): Promise<number> => {
      const { receipt } = await session.context()
      return receipt.used - (receipt.sections.find(({ name }) => name === 'tail')?.tokens ?? 0)
    }
    const figures = [await counted()]
    for (const [index, content] of [
      'What is 1+2?',
      'The answer is 3.',
      'And what is 10 plus 20 plus 30?',
    ].entries()) {
      await session.append({ role: index === 1 ? 'assistant' : 'user', content })
      figures.push(await counted())
    }
    expect(figures).toEqual([11, 18, 26, 37])
  })
})

describe('the byte bound', () => {
  it('is the number of UTF-8 bytes', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(utf8Bound.count(text)).toBe(new TextEncoder().encode(text).length)
      }),
      runs(300),
    )
  })

  it('is never below the exact count', async () => {
    const o200k = await loadO200k()
    fc.assert(
      fc.property(texts, (text) => {
        expect(utf8Bound.count(text)).toBeGreaterThanOrEqual(o200k.count(text))
      }),
      runs(300),
    )
  })

  it.each([
    ['type', { mediaType: 'x'.repeat(9_000) }],
    ['ref', { mediaType: 'text/plain', ref: 'r'.repeat(9_000) }],
    ['name', { mediaType: 'text/plain', name: '\u0001'.repeat(256), tokens: 0 }],
  ])('counts what shows in the place of a file, however long its %s is', async (_, file) => {
    const content = [{ type: 'media', ...file }] as const
    const session = fullMemory({ store: mapStore() }).session({ userId: 'ada' })
    await session.append({ role: 'user', content })
    const shown = toOpenAI(await session.context()).messages.at(-1)?.content as string
    expect(countMessage(utf8Bound, { content })).toBeGreaterThanOrEqual(utf8Bound.count(shown))
  })
})
