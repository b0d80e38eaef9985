import { UI_MESSAGE_STREAM_HEADERS as THEIRS, type UIMessage } from 'ai'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { AgentEvent } from '../../../../../src/agent/events.ts'
import type { AgentResult } from '../../../../../src/agent/options.ts'
import { scriptedModel } from '../../../../../src/agent/scripted-model.ts'
import { startRun } from '../../../../../src/agent/start-run.ts'
import { toUIMessages } from '../../../../../src/bridges/ai-sdk/index.ts'
import { hookedModel } from '../../../../../src/edge/turn/hooked-model.ts'
import { SSE_DONE } from '../../../../../src/edge/turn/protocol.ts'
import {
  UI_MESSAGE_STREAM_HEADERS,
  UIMessageChunks,
  uiEncoder,
} from '../../../../../src/edge/turn/ui/encoder.ts'
import { chunksOfMessage } from '../../../../../src/edge/turn/ui/part-chunks.ts'
import { webHost } from '../../../../../src/platform/web.ts'
import type { Message, Part } from '../../../../../src/ports/message.ts'
import { codePoint } from '../../../../everywhere/code-point.ts'
import { limit, runs } from '../../../support/runs.ts'
import { chunksIn, messageOf, openScene, plain, submit, TOOLS, textOf, user } from '../../support/chats.ts'

/** Half a character is refused by the log. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text) && !text.includes('\\ud')

const assistant = (content: string | readonly Part[], id = 'a1'): Message => ({
  id,
  role: 'assistant',
  content,
  createdAt: 0,
  trust: 'assistant',
})

const result = (reason: AgentResult['reason']): AgentEvent => ({
  type: 'finish',
  result: { reason } as AgentResult,
})

/** Chunks of a run in which these events come, between its beginning and its end. */
function chunksOf(events: readonly AgentEvent[], before?: UIMessage) {
  const mapping = new UIMessageChunks({ messageId: before?.id ?? 'a1', ...(before && { before }) })
  const all: AgentEvent[] = [{ type: 'run-start', model: 'm', tools: [] }, ...events, result('answer')]
  return all.flatMap((event) => mapping.next(event))
}

describe('the UI message stream', () => {
  it('has the headers that the SDK sends, but for the one that HTTP/2 forbids', () => {
    const { connection: _, ...theirs } = THEIRS
    const ours = Object.fromEntries(
      Object.entries(UI_MESSAGE_STREAM_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
    )
    expect(ours).toEqual(theirs)
  })

  it('is serialised as the SDK does', () => {
    const text = uiEncoder({ messageId: 'a1' }).next({ type: 'text', step: 1, text: 'a\n\nb\ud83d' })
    expect(text.split(/(?<=\n\n)/).at(-1)).toBe(
      'data: {"type":"text-delta","id":"a1/1","delta":"a\\n\\nb\\ud83d"}\n\n',
    )
    expect(SSE_DONE).toBe('data: [DONE]\n\n')
  })

  it('tells of steps, texts, reasoning, calls and results in their order', async () => {
    const { chats } = openScene([
      {
        reasoning: 'Hm.',
        text: 'A sum.',
        calls: [
          { name: 'add', input: { a: 1, b: 2 } },
          { name: 'fail', input: {} },
        ],
      },
      { text: 'It is 3.' },
    ])
    const text = await textOf((await chats.start(submit(user('u1', 'Add')))).stream)
    expect(text.endsWith(SSE_DONE)).toBe(true)
    expect(chunksIn(text).map(({ type }) => type)).toEqual([
      ...['start', 'start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end'],
      ...['text-start', 'text-delta', 'text-delta', 'text-end'],
      ...[
        'tool-input-available',
        'tool-input-available',
        'tool-output-available',
        'tool-output-error',
        'finish-step',
      ],
      ...[
        'start-step',
        'text-start',
        'text-delta',
        'text-delta',
        'text-delta',
        'text-end',
        'finish-step',
        'finish',
      ],
    ])
  })

  const pieces = fc.string({ unit: codePoint, maxLength: 12 }).filter(isWellFormed)
  const value = fc.jsonValue({ maxDepth: 3 }).filter((json) => isWellFormed(JSON.stringify(json)))
  const replies = fc
    .record(
      {
        reasoning: pieces.filter((text) => text !== ''),
        deltas: fc.array(pieces, { maxLength: 5 }),
        calls: fc.array(
          fc.oneof(
            fc.record({ name: fc.constant('add'), input: fc.record({ a: fc.integer(), b: fc.integer() }) }),
            fc.record({ name: fc.constantFrom('add', 'fail', 'nothing', 'echo'), input: value }),
          ),
          { maxLength: 4 },
        ),
      },
      { requiredKeys: [] },
      // Of a reply that says nothing a reload shows nothing.
    )
    .filter(({ calls = [], deltas = [] }) => calls.length > 0 || deltas.join('').trim() !== '')

  test('what a client puts together of any run is what a reload shows', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(replies, { maxLength: 4 }), async (script) => {
        const { session, reload } = openScene()
        const messageId = webHost.newId()
        const mapping = new UIMessageChunks({ messageId })
        const chunks = []
        const model = hookedModel(scriptedModel([...script, 'Done.'] as never), {
          messageId,
          onCall: () => {},
        })
        const echo = { name: 'echo', inputSchema: {}, execute: (input: unknown) => input }
        const run = startRun({ input: 'Go', session, model, tools: [...TOOLS, echo], maxSteps: 6 }, webHost)
        for await (const event of run) chunks.push(...mapping.next(event))
        const travelled = JSON.parse(JSON.stringify(chunks))
        const [, shown] = await reload()
        expect(await messageOf(travelled)).toEqual(shown && plain(shown))
        // What is read again from the record, too.
        expect(
          await messageOf([{ type: 'start', messageId }, ...chunksOfMessage(shown as UIMessage)]),
        ).toEqual(shown && plain(shown))
      }),
      runs(150),
    )
  })

  it('sends the rest of a reply of which only the beginning was streamed, and what was attached to reasoning', async () => {
    const whole = assistant([{ type: 'reasoning', text: 'A long thought', signature: 'signed' }])
    const chunks = chunksOf([
      { type: 'step-start', step: 1 },
      { type: 'reasoning', step: 1, text: 'A long' },
      { type: 'message', message: whole },
    ])
    expect(chunks.map(({ type }) => type)).not.toContain('reset-step')
    expect(await messageOf(chunks)).toEqual(toUIMessages([whole])[0])
  })

  it('takes a step back where the recorded reply is not what was streamed', async () => {
    const whole = assistant([
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
      { type: 'media', mediaType: 'image/png', url: 'https://example.com/a.png' },
    ])
    const chunks = chunksOf([
      { type: 'text', step: 1, text: 'One.Two' },
      { type: 'message', message: whole },
    ])
    expect(await messageOf(chunks)).toEqual(toUIMessages([whole])[0])
  })

  it('takes a step back where reasoning that has ended was recorded with more in it', async () => {
    const whole = assistant([
      { type: 'reasoning', text: 'Hm, hm' },
      { type: 'text', text: 'So.' },
    ])
    const chunks = chunksOf([
      { type: 'reasoning', step: 1, text: 'Hm' },
      { type: 'text', step: 1, text: 'So.' },
      { type: 'message', message: whole },
    ])
    const put = await messageOf(chunks)
    expect(put && plain(put)).toEqual(toUIMessages([whole])[0])
  })

  it('has no part for a piece without text', () => {
    expect(chunksOf([{ type: 'text', step: 1, text: '' }])).toHaveLength(2)
  })

  it('opens no step for a call of the model that says nothing', () => {
    const nothing: AgentEvent = { type: 'message', message: assistant('') }
    expect(chunksOf([{ type: 'step-start', step: 1 }, nothing])).toEqual([
      { type: 'start', messageId: 'a1' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('shows what was settled before the first step only in the message that the run goes on with', () => {
    const settled: AgentEvent = {
      type: 'tool-result',
      step: 0,
      call: { entry: 'a0', index: 0, callId: 'c1', name: 'add', input: {} },
      status: 'interrupted',
      output: { code: 1 },
      isError: true,
      repeated: false,
    }
    const before: UIMessage = {
      id: 'a0',
      role: 'assistant',
      parts: [{ type: 'tool-add', toolCallId: 'c1', state: 'input-available', input: {} }],
    }
    expect(chunksOf([settled])).toHaveLength(2)
    expect(chunksOf([settled], before)).toContainEqual({
      type: 'tool-output-error',
      toolCallId: 'c1',
      errorText: '{"code":1}',
    })
  })

  it('takes a reply back that was dropped for the one in the log', () => {
    const stored = {
      id: 'a1',
      role: 'assistant',
      content: 'At 9:40.',
      createdAt: 0,
      trust: 'assistant',
    } as const
    const chunks = chunksOf([
      { type: 'step-start', step: 1 },
      { type: 'text', step: 1, text: 'At ten.' },
      { type: 'reply-dropped', step: 1, message: { role: 'assistant', content: 'At ten.' }, stored },
    ])
    expect(chunks.map(({ type }) => type).slice(4)).toEqual([
      'reset-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
    expect(chunks).toContainEqual({ type: 'text-delta', id: 'a1/2', delta: 'At 9:40.' })
  })

  it('shows steps that others made, once, and not those that the message has already', () => {
    const content = [{ type: 'tool-call', id: 'c1', name: 'look', input: {} }] as const
    const message = assistant(content)
    const call = { entry: 'a1', index: 0, callId: 'c1', name: 'look', input: {} }
    const step = {
      step: 1,
      message,
      calls: [{ call, output: 'a train', isError: false }],
      usage: { predicted: { input: 0, cached: 0 } },
    }
    const past: AgentEvent = { type: 'past-step', step: step as never }
    const types = ['start', 'start-step', 'tool-input-available', 'tool-output-available']
    expect(chunksOf([past, past]).map(({ type }) => type)).toEqual([...types, 'finish-step', 'finish'])
    const going = new UIMessageChunks({ messageId: 'a1', replies: ['a1'] })
    expect(going.next(past)).toEqual([{ type: 'tool-output-available', toolCallId: 'c1', output: 'a train' }])
  })

  it('ends what is open where a run is stopped or fails, and says no more than a code', () => {
    const begin = (mapping: UIMessageChunks) => mapping.next({ type: 'text', step: 1, text: 'It' })
    const stopped = new UIMessageChunks({ messageId: 'a1' })
    begin(stopped)
    expect(stopped.next(result('aborted')).map(({ type }) => type)).toEqual(['text-end', 'abort'])
    const failed = new UIMessageChunks({ messageId: 'a1' })
    begin(failed)
    const chunks = failed.next({ type: 'error', error: new Error('secret') })
    expect(chunks.map(({ type }) => type)).toEqual(['text-end', 'error'])
    expect(JSON.stringify(chunks)).not.toContain('secret')
    expect(JSON.stringify(chunks)).toContain('ERR_INTERNAL: ')
  })

  it.each([
    ['length', 'length'],
    ['content-filter', 'content-filter'],
    ['max-steps', 'tool-calls'],
    ['stopped', 'other'],
  ] as const)('tells of the end for %s as %s', (reason, finishReason) => {
    expect(new UIMessageChunks({ messageId: 'a1' }).next(result(reason))).toEqual([
      { type: 'finish', finishReason },
    ])
  })
})

describe('a message that is read again', () => {
  const message: UIMessage = {
    id: 'a1',
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm', state: 'done', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'text', text: 'See', state: 'done' },
      { type: 'source-url', sourceId: 's1', url: 'https://example.com' },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'data-weather', id: 'w', data: { degrees: 4 } },
      { type: 'tool-a', toolCallId: '1', state: 'output-available', input: { x: 1 }, output: [2] },
      {
        type: 'dynamic-tool',
        toolName: 'b',
        toolCallId: '2',
        state: 'output-error',
        input: null,
        errorText: 'no',
      },
      { type: 'tool-c', toolCallId: '3', state: 'input-available', input: {} },
      {
        type: 'tool-d',
        toolCallId: '4',
        state: 'output-denied',
        input: {},
        approval: { id: 'ok', approved: false, reason: 'never' },
      },
      { type: 'tool-e', toolCallId: '5', state: 'approval-requested', input: {}, approval: { id: 'ask' } },
      {
        type: 'tool-f',
        toolCallId: '6',
        state: 'input-streaming',
        input: { a: 1 },
        rawInput: '{"a":1',
      } as never,
    ],
  }

  it('is put together the same', async () => {
    const chunks = [{ type: 'start' as const, messageId: 'a1' }, ...chunksOfMessage(message)]
    expect(await messageOf(JSON.parse(JSON.stringify(chunks)))).toEqual(message)
  })
})
