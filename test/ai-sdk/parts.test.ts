/** What becomes of single parts on their way between the SDK and a log. */
import { expect, it } from 'vitest'
import { fromUIMessages, toAISDK, toToolSpecs, toUIMessages } from '../../src/bridges/ai-sdk/index.ts'
import { keep } from '../../src/bridges/ai-sdk/opaque.ts'
import { promptOf } from '../../src/bridges/ai-sdk/prompt.ts'
import { messageOf, ReplyBuilder } from '../../src/bridges/ai-sdk/reply.ts'
import { specsOf } from '../../src/bridges/ai-sdk/tools.ts'
import { modelPartsOf } from '../../src/bridges/ai-sdk/ui-parts.ts'
import type { MessageInput } from '../../src/index.ts'

it('moves the mark of results to the last of them, where others join their message', () => {
  const result = (toolCallId: string) => ({ type: 'tool-result', toolCallId })
  const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } }
  const first = { role: 'tool', content: [result('a'), result('b')], providerOptions: mark }
  const prompt = promptOf({ messages: [first, { role: 'tool', content: [result('c')] }] } as never)
  const content = [result('a'), { ...result('b'), providerOptions: mark }, result('c')]
  expect(prompt).toEqual([{ role: 'tool', content }])
})

it('leaves out results that are preliminary, and keeps what a provider says within a text', () => {
  const early = { type: 'tool-result', toolCallId: 'c', toolName: 'look', result: 1, preliminary: true }
  expect(messageOf([early as never]).content).toEqual('')
  const reply = new ReplyBuilder()
  const providerMetadata = { openai: { itemId: 'i' } }
  for (const part of [
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'Yes.', providerMetadata },
    { type: 'text-end', id: '0' },
  ])
    reply.add(part as never)
  expect(JSON.stringify(reply.message())).toContain('"itemId":"i"')
})

it('gives a model the calls that a provider ran, with approvals and results, once they are whole', () => {
  const call = { type: 'tool-search', toolCallId: 'c', providerExecuted: true, input: {} }
  const types = (part: object) => modelPartsOf({ ...call, ...part } as never).map(({ type }) => type)
  expect(types({ state: 'input-streaming' })).toEqual([])
  expect(types({ state: 'input-available' })).toEqual(['tool-call'])
  expect(types({ state: 'output-available', output: 'x' })).toEqual(['tool-call', 'tool-result'])
  expect(types({ state: 'output-error', errorText: 'x' })).toEqual(['tool-call', 'tool-result'])
  const asked = ['tool-call', 'tool-approval-request']
  expect(types({ state: 'approval-requested', approval: { id: 'a' } })).toEqual(asked)
  const answered = { state: 'approval-responded', approval: { id: 'a', approved: true } }
  expect(types(answered)).toEqual([...asked, 'tool-approval-response'])
  const file = (url: string) => modelPartsOf({ type: 'reasoning-file', mediaType: 'image/png', url })
  expect([file('no address'), file('https://example.org/a')].map(({ length }) => length)).toEqual([0, 1])
  const parts = [keep({ type: 'ui', part: { type: 'custom', kind: 'x.y' } }), { type: 'text', text: 'So.' }]
  const blocks = [{ section: 'window', role: 'assistant', parts }]
  const { messages } = toAISDK({ blocks, fence: 'f' } as never, { cache: false })
  expect(messages[0]?.content).toMatchObject([{ type: 'custom', kind: 'x.y' }, { type: 'text' }])
})

it('shows people what others wrote after a call, and what a model said that has no word here', () => {
  const pending: MessageInput = {
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'c', name: 'look', input: {} }],
  }
  const shown = (result: object): unknown =>
    toUIMessages([
      { ...pending, id: 'a' },
      { id: 'r', role: 'tool', content: [{ type: 'tool-result', callId: 'c', ...result }] },
    ] as never)[0]?.parts.at(-1)
  expect(shown({ output: 1 })).toMatchObject({ state: 'output-available', output: 1 })
  expect(shown({ output: 'no', isError: true })).toMatchObject({ state: 'output-error', errorText: 'no' })
  expect(shown({ output: 1, callId: 'other' })).toMatchObject({ state: 'input-available' })
  const asked = { type: 'tool-look', toolCallId: 'c', state: 'approval-requested', approval: { id: 'p' } }
  const waiting = fromUIMessages([{ id: 'a', role: 'assistant', parts: [{ ...asked, input: {} }] }] as never)
  const answer = { id: 'r', role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 1 }] }
  expect(toUIMessages([...waiting, answer] as never)[0]?.parts.at(-1)).toMatchObject({
    state: 'output-available',
    approval: { id: 'p', approved: true },
  })
  const own = [
    { type: 'reasoning', text: 'So.', providerOptions: { openai: { itemId: 'i' } } },
    { type: 'custom', kind: 'x.y' },
  ]
  const content = own.map((part) => keep({ type: 'model', part }))
  const [message] = toUIMessages([{ id: 'a', role: 'assistant', content }] as never)
  expect(message?.parts.slice(1)).toMatchObject([
    { type: 'reasoning', text: 'So.', providerMetadata: { openai: { itemId: 'i' } } },
    { type: 'custom', kind: 'x.y' },
  ])
})

it('counts a tool that the provider runs by its id and arguments', async () => {
  const web = { type: 'provider', id: 'openai.web_search', args: { size: 'low' } }
  const inputSchema = { type: 'object', default: { size: 'low' } }
  const specs = [{ name: 'web', description: 'openai.web_search', inputSchema }]
  expect(await toToolSpecs({ web } as never)).toEqual(specs)
  expect(specsOf([{ ...web, name: 'web' }] as never)).toEqual(specs)
})
