/**
 * What chats send, byte for byte: the AI SDK's UI message stream, and OpenAI's Chat Completions.
 * `recorded/` holds it, and what the session holds then. A file there changes only where the wire
 * is meant to change.
 */
import { abortAllDurableObjects } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import type { SessionSettings } from '../../../src/edge/cloudflare.ts'
import { type AgentTool, PlimsollError } from '../../../src/index.ts'
import { HEADS } from '../../everywhere/pictures.ts'
import { changeSessions } from './changed-settings.ts'
import { call, gate, playing, type Step, Transcript } from './transcript.ts'
import { World } from './world.ts'

const CHAT = 'sessions/trip/chat'
const COMPLETIONS = 'sessions/trip/openai/chat/completions'

const tools = (): readonly AgentTool[] => [
  {
    name: 'add',
    inputSchema: { type: 'object', required: ['a', 'b'] },
    execute: (input) => {
      const { a, b } = input as { a: number; b: number }
      return { sum: a + b }
    },
  },
  {
    name: 'fail',
    inputSchema: { type: 'object' },
    execute: () => {
      throw new Error('it is broken')
    },
  },
]

/** A session whose model plays these replies. */
async function opened(
  replies: readonly (readonly Step[])[],
  settings: Partial<SessionSettings> = {},
): Promise<Transcript> {
  const model = playing(...replies)
  await changeSessions((given) => ({ ...given, model, tools, ...settings }))
  const world = new World()
  await world.create()
  return new Transcript(world.caller)
}

/** Notes what the session holds, and compares all of it with what was recorded. */
async function compare(transcript: Transcript, name: string): Promise<void> {
  await transcript.call('the session', 'GET', 'sessions/trip/messages')
  await expect(transcript.text).toMatchFileSnapshot(`recorded/${name}.txt`)
}

/** Errors that the edge logs are meant here. */
function quiet(): void {
  vi.spyOn(console, 'error').mockReturnValue(undefined)
}

const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const submit = (...messages: object[]) => ({ id: 'trip', trigger: 'submit-message', messages })

describe('a UI message stream', () => {
  it('of an answer, that is sent again, resumed, asked for again and edited', async () => {
    const thought: Step = { type: 'reasoning', text: 'At nine?' }
    const wire = await opened([
      [thought, 'It leaves', ' at ', '9:40 ☃.'],
      ['At nine', ' forty.'],
      ['Yes.'],
      ['No.'],
    ])
    const asked = submit(user('u1', 'When does it leave?'))
    const first = await wire.begin('POST', CHAT, asked)
    const run = first.response.headers.get('Plimsoll-Run')
    await wire.note('an answer', first)
    await wire.call('the same again', 'POST', CHAT, asked)
    await wire.call('the run', 'GET', `${CHAT}/${run}`)
    await wire.call('the run that goes on', 'GET', `${CHAT}/current`)
    await wire.call('the run that goes on, as the SDK asks', 'GET', `${CHAT}/trip/stream`)
    await wire.call('a run that is not there', 'GET', `${CHAT}/none`)
    await wire.call('a stop after the end', 'DELETE', `${CHAT}/${run}`)
    await wire.call('another answer', 'POST', CHAT, { ...asked, trigger: 'regenerate-message' })
    await wire.call('a text', 'POST', CHAT, { message: 'Sure?' }, { 'Idempotency-Key': 'k1' })
    await wire.call('a text, again', 'POST', CHAT, { message: 'Sure?' }, { 'Idempotency-Key': 'k1' })
    const edit = { ...submit(user('u1', 'Does it leave?')), messageId: 'u1' }
    await wire.call('an edit', 'POST', CHAT, edit)
    await compare(wire, 'ui-answer')
  })

  it('of tools, of calls that a page answers, and of steps that reach their most', async () => {
    const wire = await opened(
      [
        ['See.', call('c1', 'add', { a: 2, b: 3 }), call('c2', 'fail', {}), call('c3', 'add', 'two')],
        [call('c4', 'unknown', {})],
        ['It is 5.'],
        [call('c5', 'add', { a: 1, b: 1 })],
        [call('c6', 'add', { a: 1, b: 2 })],
        [call('c7', 'add', { a: 1, b: 3 })],
        ['You are in Turin.'],
      ],
      { maxSteps: 3 },
    )
    await wire.call('tools', 'POST', CHAT, submit(user('u1', 'Add.')))
    await wire.call('steps that reach their most', 'POST', CHAT, submit(user('u2', 'Go on.')))
    const located = { type: 'tool-call', id: 'c8', name: 'locate', input: {} }
    await wire.call('a call for the page', 'POST', 'sessions/trip/messages', {
      messages: [
        { id: 'u3', role: 'user', content: 'Where am I?', created_at: 0 },
        { id: 'a3', role: 'assistant', content: [{ type: 'text', text: 'See.' }, located], created_at: 0 },
      ],
    })
    const found = {
      type: 'tool-locate',
      toolCallId: 'c8',
      state: 'output-available',
      input: {},
      output: 'Turin',
    }
    const page = {
      id: 'a3',
      role: 'assistant',
      parts: [{ type: 'step-start' }, { type: 'text', text: 'See.' }, found],
    }
    const answered = await wire.begin('POST', CHAT, {
      ...submit(user('u3', 'Where am I?'), page),
      messageId: 'a3',
    })
    const run = answered.response.headers.get('Plimsoll-Run')
    await wire.note('what is new to the page', answered)
    await wire.call('all of it', 'GET', `${CHAT}/${run}`)
    await compare(wire, 'ui-tools')
  })

  it('of a reply that fails, breaks off, or is cut short', async () => {
    quiet()
    const timeout = new PlimsollError('ERR_TIMEOUT', 'secret', { limit: 1 })
    const whole = { role: 'assistant' as const, content: 'One two three' }
    const wire = await opened([
      [new Error('secret')],
      ['It leaves', new Error('secret')],
      ['It is.', call('c1', 'add', { a: 1, b: 1 })],
      [timeout],
      ['One', ' two', { type: 'finish', message: whole, reason: 'length' }],
      [{ type: 'finish', message: { role: 'assistant', content: '' }, reason: 'content-filter' }],
      [{ type: 'finish', message: { role: 'user', content: 'no reply' }, reason: 'stop' }],
    ])
    for (const [index, name] of [
      'a failure before a word',
      'a reply that breaks off',
      'a failure in the second step',
      'a reply that is cut short',
      'a reply that is held back',
      'what is no reply',
    ].entries())
      await wire.call(name, 'POST', CHAT, submit(user(`u${index}`, 'When?')))
    await compare(wire, 'ui-errors')
  })

  it('of a run that is read by two, and stopped', async () => {
    const never = gate()
    const wire = await opened([['It leaves', ' at', never.opened]])
    const first = await wire.begin('POST', CHAT, submit(user('u1', 'When?')))
    const run = first.response.headers.get('Plimsoll-Run')
    await first.until('"delta":" at"')
    const second = await wire.begin('GET', `${CHAT}/current`)
    await second.until('"delta":" at"')
    const third = await wire.begin('POST', CHAT, submit(user('u1', 'When?')))
    await wire.call('another message meanwhile', 'POST', CHAT, submit(user('u2', 'Hello?')))
    await wire.call('a stop', 'DELETE', `${CHAT}/current`)
    await wire.note('who asked', first)
    await wire.note('who came later', second)
    await wire.note('who asked again', third)
    await wire.call('the run after its end', 'GET', `${CHAT}/${run}`)
    await compare(wire, 'ui-stopped')
    never.open()
  })

  it('of a run whose first reader leaves', async () => {
    const last = gate()
    const wire = await opened([['It leaves', last.opened, ' at 9:40.']])
    const first = await wire.begin('POST', CHAT, submit(user('u1', 'When?')))
    await first.until('It leaves')
    await first.leave()
    const second = await wire.begin('GET', `${CHAT}/current`)
    await second.until('It leaves')
    last.open()
    await wire.note('who came later', second)
    await compare(wire, 'ui-left')
  })

  it('of a run that its object did not survive, and of the same request after it', async () => {
    const never = gate()
    const wire = await opened([['It', ' leaves', never.opened], ['It leaves at 9:40.']])
    const first = await wire.begin('POST', CHAT, submit(user('u1', 'When?')))
    const run = first.response.headers.get('Plimsoll-Run')
    await first.until(' leaves')
    await first.leave()
    // What is gathered for a row goes with it.
    await abortAllDurableObjects()
    await wire.call('the run', 'GET', `${CHAT}/${run}`)
    await wire.call('the run that was interrupted', 'GET', `${CHAT}/current`)
    await wire.call('the same request', 'POST', CHAT, submit(user('u1', 'When?')))
    await compare(wire, 'ui-interrupted')
  })

  it('of what is refused', async () => {
    quiet()
    const wire = await opened([['Hi.'], ['Hi.'], ['Hi.']])
    const key = { 'Idempotency-Key': 'k1' }
    await wire.call('a text', 'POST', CHAT, { message: 'Hello' }, key)
    await wire.call('another under its key', 'POST', CHAT, { message: 'Goodbye' }, key)
    const bodies: Readonly<Record<string, unknown>> = {
      'no message': {},
      'an empty list': { messages: [] },
      'an empty text': { message: '' },
      'both of them': { message: 'Hi', messages: [] },
      'another trigger': { trigger: 'resume', message: 'Hi' },
      'a system message': { messages: [{ id: 'x', role: 'system', parts: [] }] },
      'a message without an id': { messages: [{ role: 'user', parts: [] }] },
      'a message without parts': { message: { role: 'user' } },
      'a part that is none': { messages: [{ id: 'x', role: 'user', parts: ['Hi'] }] },
      'a part without its text': { messages: [{ id: 'x', role: 'user', parts: [{ type: 'text' }] }] },
      'what is no text': '{"message":{"id":"x","role":"user","parts":[{"type":"text","text":"\\ud800"}]}}',
      'a reply that is not there': { trigger: 'regenerate-message', messageId: 'none' },
      'a list': [],
      'no JSON': '{',
    }
    for (const [name, body] of Object.entries(bodies)) await wire.call(name, 'POST', CHAT, body)
    const again = { trigger: 'regenerate-message', messages: [user('u1', 'Hi')] }
    await wire.call('another reply in a session that is not there', 'POST', 'sessions/none/chat', again)
    await wire.call('a run in no session', 'GET', 'sessions/none/chat/current')
    await wire.call('a stop in no session', 'DELETE', 'sessions/none/chat/current')
    await compare(wire, 'ui-refused')
  })

  it('of a session without a model, and of one whose budget is used up', async () => {
    quiet()
    await changeSessions(({ model: _, ...settings }) => settings)
    const without = new World()
    await without.create()
    const wire = new Transcript(without.caller)
    await wire.call('a chat', 'POST', CHAT, { message: 'Hello' })
    await wire.call('a completion', 'POST', COMPLETIONS, {
      model: 'plimsoll',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    await compare(wire, 'without-a-model')
  })

  it('of budgets that are used up', async () => {
    quiet()
    const wire = await opened([['Hi.']], { budgets: { modelTokensPerHour: 1 } })
    await wire.call('a chat', 'POST', CHAT, submit(user('u1', 'Hello')))
    await wire.call('a completion', 'POST', COMPLETIONS, {
      model: 'plimsoll',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    await compare(wire, 'without-tokens')
    const other = await opened([['Hi.']], { budgets: { appendsPerMinute: 1 } })
    await other.call('a chat', 'POST', CHAT, submit(user('u1', 'Hello')))
    await other.call('another', 'POST', CHAT, submit(user('u2', 'Hello')))
    await other.call('a completion', 'POST', COMPLETIONS, {
      model: 'plimsoll',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    await compare(other, 'without-appends')
  })
})

const said = (content: unknown) => ({ role: 'user', content })
const complete = (messages: readonly object[], more: object = {}) => ({
  model: 'plimsoll',
  messages,
  ...more,
})
const STREAM = { stream: true }
const USAGE = { stream: true, stream_options: { include_usage: true } }
const TOOLS = {
  tools: [
    {
      type: 'function',
      function: {
        name: 'search',
        description: 'Searches.',
        parameters: { type: 'object', properties: { query: { type: 'string' } } },
      },
    },
  ],
}

describe('a chat completion', () => {
  it('is an answer, streamed or not, with usage or without', async () => {
    const thought: Step = { type: 'reasoning', text: 'At nine?' }
    const whole = { role: 'assistant' as const, content: 'At 9:40.' }
    const wire = await opened([
      [thought, 'It leaves', ' at 9:40 ☃.'],
      [thought, 'It leaves', ' at 9:40 ☃.'],
      ['It leaves', ' at 9:40.'],
      [{ type: 'finish', message: whole, reason: 'stop' }],
      [{ type: 'finish', message: whole, reason: 'other', usage: { outputTokens: 3 } }],
      ['One', { type: 'finish', message: { ...whole, content: 'One' }, reason: 'length' }],
      [{ type: 'finish', message: { ...whole, content: '' }, reason: 'content-filter' }],
      ['Here', ' I am.'],
    ])
    await wire.call('whole', 'POST', COMPLETIONS, complete([said('One?')]))
    await wire.call('streamed', 'POST', COMPLETIONS, complete([said('Two?')], STREAM))
    await wire.call('with usage', 'POST', COMPLETIONS, complete([said('Three?')], USAGE))
    await wire.call('that comes at once', 'POST', COMPLETIONS, complete([said('Four?')], USAGE))
    await wire.call('of which little is reported', 'POST', COMPLETIONS, complete([said('Five?')]))
    await wire.call('that is cut short', 'POST', COMPLETIONS, complete([said('Six?')], STREAM))
    await wire.call('that is held back', 'POST', COMPLETIONS, complete([said('Seven?')]))
    const system = { role: 'system', content: 'Be kind.' }
    await wire.call(
      'in a session of its own',
      'POST',
      'openai/chat/completions',
      complete([system, said('Hello')], STREAM),
    )
    await compare(wire, 'completion-answer')
  })

  it('hands calls on, and takes their results', async () => {
    const wire = await opened([
      ['See.', call('c1', 'search', { query: 'Turin' }), call('c2', 'search', { query: 'Rome' })],
      ['Both at 9:40.'],
      [call('c3', 'search', { query: 'Nice' })],
      ['At ten.'],
      [call('c4', 'search', 'no object'), 'And text after it.'],
    ])
    const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
    const both = [result('c1', '9:40'), result('c2', '9:40')]
    await wire.call('streamed', 'POST', COMPLETIONS, complete([said('When?')], { ...USAGE, ...TOOLS }))
    await wire.call('one result of two', 'POST', COMPLETIONS, complete(both.slice(0, 1), TOOLS))
    await wire.call('a result of nothing', 'POST', COMPLETIONS, complete([result('c9', 'no')], TOOLS))
    await wire.call('their results', 'POST', COMPLETIONS, complete(both, { ...STREAM, ...TOOLS }))
    await wire.call('whole', 'POST', COMPLETIONS, complete([said('And Nice?')], TOOLS))
    await wire.call('its result', 'POST', COMPLETIONS, complete([result('c3', 'ten')], TOOLS))
    await wire.call(
      'text after a call',
      'POST',
      COMPLETIONS,
      complete([said('So?')], { ...STREAM, ...TOOLS }),
    )
    await wire.call('a question in place of a result', 'POST', COMPLETIONS, complete([said('No?')], TOOLS))
    await compare(wire, 'completion-tools')
  })

  it('is given again to who repeats the request, and an edit hides what followed', async () => {
    const usage = { inputTokens: 100, cachedInputTokens: 80, outputTokens: 9 }
    const short = { role: 'assistant' as const, content: 'One' }
    const wire = await opened([
      ['A1', ' more'],
      ['A2', { type: 'finish', message: short, reason: 'length', usage }],
      ['A3'],
      ['A4'],
    ])
    const key = { 'Idempotency-Key': 'k1' }
    const other = { 'Idempotency-Key': 'k2' }
    const retry = { 'X-Stainless-Retry-Count': '1' }
    await wire.call('first', 'POST', COMPLETIONS, complete([said('One?')]), key)
    await wire.call('under its key', 'POST', COMPLETIONS, complete([said('One?')]), key)
    await wire.call('streamed', 'POST', COMPLETIONS, complete([said('One?')], USAGE), key)
    await wire.call('second', 'POST', COMPLETIONS, complete([said('Two?')], STREAM), other)
    await wire.call('under its key', 'POST', COMPLETIONS, complete([said('Two?')], STREAM), other)
    await wire.call('a retry', 'POST', COMPLETIONS, complete([said('Two?')], USAGE), retry)
    await wire.call('no retry', 'POST', COMPLETIONS, complete([said('Two?')]))
    const history = [said('One?'), { role: 'assistant', content: 'A1 more' }]
    await wire.call('an edit', 'POST', COMPLETIONS, complete([...history, said('Three?')]))
    await wire.call('a key of what is hidden', 'POST', COMPLETIONS, complete([said('Two?')]), other)
    await compare(wire, 'completion-repeats')
  })

  it('fails with a status before a word came, and in the stream after it', async () => {
    quiet()
    const busy = new PlimsollError('ERR_OVERLOADED', 'busy', { retryAfter: 7 })
    const large = new PlimsollError('ERR_CONTEXT_TOO_LARGE', 'too large')
    const late = new PlimsollError('ERR_TIMEOUT', 'too late')
    const wire = await opened([
      [new Error('secret')],
      [new Error('secret')],
      [busy],
      [large],
      ['It leaves', new Error('secret')],
      ['It leaves', new Error('secret')],
      ['It leaves', late],
      [{ type: 'reasoning', text: 'Hm' }, late],
      [{ type: 'finish', message: { role: 'user', content: 'no reply' }, reason: 'stop' }],
    ])
    for (const [index, [name, more]] of (
      [
        ['before a word', {}],
        ['before a word of a stream', STREAM],
        ['of a model that is busy', STREAM],
        ['of a model with less room', {}],
        ['after a word', {}],
        ['after a word of a stream', STREAM],
        ['after a word of a stream, with usage', USAGE],
        ['after reasoning', STREAM],
        ['by what is no reply', STREAM],
      ] as const
    ).entries())
      await wire.call(name, 'POST', COMPLETIONS, complete([said(`Question ${index}?`)], more))
    await compare(wire, 'completion-errors')
  })

  it('is stored though its client leaves', async () => {
    const last = gate()
    const wire = await opened([['It leaves', last.opened, ' at 9:40.'], ['Yes.']])
    const first = await wire.begin('POST', COMPLETIONS, complete([said('When?')], STREAM))
    await first.until('It leaves')
    await first.leave()
    const next = wire.begin('POST', COMPLETIONS, complete([said('Sure?')], STREAM))
    await wire.call('no run to resume', 'GET', `${CHAT}/current`)
    await wire.call('no run to stop', 'DELETE', `${CHAT}/current`)
    last.open()
    await wire.note('who waited', await next)
    await compare(wire, 'completion-left')
  })

  it('comes to who reads late, beside a chat', async () => {
    const [first, second] = [gate(), gate()]
    const wire = await opened([
      ['One', first.opened, ' two.'],
      ['Three', second.opened, ' four.'],
    ])
    const chat = await wire.begin('POST', CHAT, submit(user('u1', 'Count.')))
    await chat.until('One')
    const completion = await wire.begin('POST', COMPLETIONS, complete([said('Go on.')], STREAM))
    await completion.until('Three')
    second.open()
    await scheduler.wait(50)
    await wire.note('the completion', completion)
    first.open()
    await wire.note('the chat', chat)
    await compare(wire, 'both')
  })

  it('brings a conversation along, with a picture', async () => {
    const wire = await opened([['A dot.'], ['Yes.']])
    const url = `data:image/png;base64,${btoa(`${HEADS['image/png']}not really a picture`)}`
    const shown = {
      role: 'user',
      content: [
        { type: 'text', text: 'And this?' },
        { type: 'image_url', image_url: { url } },
      ],
    }
    const messages = [said('Hello'), { role: 'assistant', content: 'Hi.', name: null }, shown]
    await wire.call('a picture', 'POST', COMPLETIONS, complete(messages, STREAM))
    const dot = { role: 'assistant', content: 'A dot.' }
    await wire.call('the same', 'POST', COMPLETIONS, complete([...messages, dot, said('Sure?')]))
    await compare(wire, 'completion-picture')
  })

  it('is refused', async () => {
    quiet()
    const wire = await opened([], { memory: { budget: { contextWindow: 300, maxOutputTokens: 100 } } })
    const one = [said('Hi')]
    const bodies: Readonly<Record<string, unknown>> = {
      'no messages': complete([]),
      'no model': { messages: one },
      'another model': complete(one, { model: 'gpt-9' }),
      'a list': [],
      'a null': 'null',
      'no JSON': '{',
      'an unknown field': complete(one, { audio: {} }),
      'two choices': complete(one, { n: 2 }),
      'a schema of the answer': complete(one, { response_format: { type: 'json_object' } }),
      'instructions alone': complete([{ role: 'system', content: 'Be kind.' }]),
      'a reply at the end': complete([...one, { role: 'assistant', content: 'Hi' }]),
      'an unknown role': complete([{ role: 'function', content: 'Hi' }]),
      'a picture that is none': complete([
        said([{ type: 'image_url', image_url: { url: 'ftp://example.com/a.png' } }]),
      ]),
      'a picture that is not base64': complete([
        said([{ type: 'image_url', image_url: { url: 'data:image/png;base64,?' } }]),
      ]),
      'what is no text': '{"model":"plimsoll","messages":[{"role":"user","content":"\\ud800"}]}',
      'two tools of a name': complete(one, { tools: [...TOOLS.tools, ...TOOLS.tools] }),
      'a tool that must be called, and none': complete(one, { tool_choice: 'required' }),
      'a choice of no tool': complete(one, {
        ...TOOLS,
        tool_choice: { type: 'function', function: { name: 'none' } },
      }),
      'calls one by one': complete(one, { ...TOOLS, parallel_tool_calls: false }),
      'two limits': complete(one, { max_tokens: 1, max_completion_tokens: 2 }),
      'too much output': complete(one, { max_completion_tokens: 101 }),
      'too much for the budget': complete([said('word '.repeat(300))]),
    }
    for (const [name, body] of Object.entries(bodies)) await wire.call(name, 'POST', COMPLETIONS, body)
    const key = { 'Idempotency-Key': 'k'.repeat(300) }
    await wire.call('a key that is too long', 'POST', COMPLETIONS, complete(one), key)
    await wire.call('too much', 'POST', COMPLETIONS, complete([said('x'.repeat(1024 * 1024))]))
    await wire.call(
      'a session that is not there',
      'POST',
      'sessions/none/openai/chat/completions',
      complete(one),
    )
    await compare(wire, 'completion-refused')
  })
})
