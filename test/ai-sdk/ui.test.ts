import { convertToModelMessages, type UIMessage } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appendUIMessages, fromUIMessages, toAISDK, toUIMessages } from '../../src/bridges/ai-sdk/index.ts'
import { lintRequest, type MessageInput, mapStore, toAnthropic, toOpenAI } from '../../src/index.ts'
import { partsOf } from '../../src/kernel/log/message.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { runs } from '../unit/support/runs.ts'
import { expectPaired } from './prompts.ts'
import { uiMessages } from './ui-messages.ts'

const sessionOf = (): FullSession =>
  fullMemory({ store: mapStore(), budget: 1_000_000 }).session({ userId: 'ada', sessionId: 'trip' })

/** What a log gives back of messages. */
async function stored(messages: readonly UIMessage[]): Promise<readonly MessageInput[]> {
  const session = sessionOf()
  const inputs = fromUIMessages(messages)
  if (inputs.length > 0) await session.append(inputs)
  // The order of a log may not be that of the list where call ids are used again, so the list
  // itself is opened.
  return inputs
}

/** What no chat sends, but a client may. */
const cycle: { self?: object } = {}
cycle.self = cycle
const ofUser = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }
const noMessages: readonly unknown[] = [
  ...[null, 'text', [null], [5]],
  ...[null, 'text', [null], [{}], undefined].map((parts) => [ofUser, { ...ofUser, id: 'v', parts }]),
  ...[undefined, 5].map((id) => [{ ...ofUser, id }]),
  ...[1n, cycle].map((metadata) => [{ ...ofUser, metadata }]),
]

describe('UI messages', () => {
  it('are in the log what a model reads of them', () => {
    const tool = { type: 'tool-search', toolCallId: 'c', input: { q: 1 } }
    const kinds = (part: object): unknown => {
      const messages = fromUIMessages([{ id: 'a', role: 'assistant', parts: [part] } as never])
      return messages.map((message) => [message.role, ...partsOf(message as never).map(({ type }) => type)])
    }
    const steering = { type: 'steering-message', id: 's', parts: [{ type: 'text', text: 'Hurry.' }] }
    const signed = { providerMetadata: { anthropic: { signature: 's' } } }
    const elsewhere = { providerMetadata: { openai: { itemId: 'i' } } }
    for (const [part, expected] of [
      [steering, [['assistant'], ['user', 'text']]],
      [{ type: 'reasoning', text: 'So.' }, [['assistant', 'reasoning']]],
      [{ type: 'reasoning', text: 'So.', ...signed }, [['assistant', 'reasoning']]],
      [{ type: 'reasoning', text: 'So.', ...elsewhere }, [['assistant', 'opaque']]],
      [{ type: 'file', mediaType: 'image/png', url: 'https://example.org/a' }, [['assistant', 'media']]],
      [{ type: 'custom', kind: 'x.y' }, [['assistant', 'opaque']]],
      [{ type: 'data-weather', data: 1 }, [['assistant']]],
      [{ ...tool, state: 'input-available' }, [['assistant', 'tool-call']]],
      [{ ...tool, state: 'input-streaming' }, [['assistant']]],
      [{ ...tool, state: 'output-available', output: 1, providerExecuted: true }, [['assistant', 'opaque']]],
      [
        { ...tool, state: 'output-error', errorText: 'no' },
        [
          ['assistant', 'tool-call'],
          ['tool', 'tool-result'],
        ],
      ],
    ] as const)
      expect(kinds(part), JSON.stringify(part)).toEqual(expected)
  })

  it('have the name of a file that something else has logged', () => {
    const [shown] = toUIMessages([
      {
        ...{ id: 'a', role: 'user', createdAt: 0, trust: 'user' },
        content: [{ type: 'media', mediaType: 'text/plain', name: 'notes.txt', url: 'https://x.test/a' }],
      },
    ])
    expect(shown?.parts).toEqual([
      { type: 'file', mediaType: 'text/plain', url: 'https://x.test/a', filename: 'notes.txt' },
    ])
  })

  it('are refused as a whole where one of them is none, before anything is written', async () => {
    const refused = { code: 'ERR_INVALID_ARGUMENT' }
    for (const none of noMessages as (readonly UIMessage[])[])
      for (const isFirst of [true, false]) {
        const session = sessionOf()
        if (!isFirst) await session.append({ role: 'user', content: 'Before.' })
        await expect(appendUIMessages(session, none)).rejects.toMatchObject(refused)
        expect(await session.history()).toHaveLength(isFirst ? 0 : 1)
        expect(() => fromUIMessages(none)).toThrowError(expect.objectContaining(refused))
      }
  })

  it('come back deep-equal from the messages that a log takes, whatever their parts and states', async () => {
    await fc.assert(
      fc.asyncProperty(uiMessages, async (messages) => {
        expect(toUIMessages(await stored(messages))).toEqual(messages)
      }),
      runs(300),
    )
  })

  it('convert to the same model messages before and after', async () => {
    await fc.assert(
      fc.asyncProperty(uiMessages, async (messages) => {
        const after = toUIMessages(fromUIMessages(messages))
        expect(await convertToModelMessages(after)).toEqual(await convertToModelMessages(messages))
      }),
      runs(200),
    )
  })

  it('give requests whose calls and results are paired, for every provider', async () => {
    await fc.assert(
      fc.asyncProperty(uiMessages, async (messages) => {
        const session = sessionOf()
        const inputs = fromUIMessages(messages)
        if (inputs.length > 0) await session.append(inputs)
        const context = await session.context({ onPending: 'abandon' })
        expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
        expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
        expectPaired(toAISDK(context).messages)
      }),
      runs(200),
    )
  })

  it.each([
    { state: 'approval-requested', approval: { id: 'a1' } },
    { state: 'approval-responded', approval: { id: 'a1', approved: true } },
    { state: 'output-available', output: 'half of it', preliminary: true },
    { state: 'input-available' },
  ])('wait with a call in state $state, and show the result that comes later', async (part) => {
    const session = sessionOf()
    const call = { type: 'tool-search', toolCallId: 'c1', input: {}, ...part }
    await session.append(
      fromUIMessages([
        { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
        { id: 'a', role: 'assistant', parts: [call as never] },
      ]),
    )
    await expect(session.context()).rejects.toMatchObject({
      code: 'ERR_TOOL_PENDING',
      pending: [{ callId: 'c1' }],
    })
    await session.append({ role: 'tool', content: [{ type: 'tool-result', callId: 'c1', output: 'found' }] })
    expectPaired(toAISDK(await session.context()).messages)
    const [, reply] = toUIMessages(await session.history())
    expect(reply?.parts).toMatchObject([{ state: 'output-available', output: 'found', toolCallId: 'c1' }])
  })
})
