import { describe, expect, it } from 'vitest'
import { isPlimsollError } from '../../src/ports/errors.ts'
import type { Part } from '../../src/ports/message.ts'
import { lintRequest } from '../../src/render/lint.ts'
import { toOpenAI } from '../../src/render/openai.ts'
import { fromOpenAIMessages, parseOpenAIReply } from '../../src/render/openai-input.ts'
import {
  assistant,
  block,
  blocksOf,
  call,
  contextOf,
  memory,
  ofEachKind,
  result,
  searchTool,
  system,
  tail,
  user,
} from './samples.ts'

const rendered = (...blocks: Parameters<typeof contextOf>[0]) => toOpenAI(contextOf(blocks)).messages

describe('toOpenAI', () => {
  it('renders the sections in their order, each as a message', () => {
    expect(
      rendered(
        system('You are a travel agent.'),
        memory('Ada likes trains.'),
        user('Book the 9:40.'),
        assistant([{ type: 'text', text: 'Let me see.' }, call('a', { query: '9:40' })]),
        result('a', { seats: 2 }),
        tail('It is Monday.'),
      ),
    ).toEqual([
      { role: 'system', content: 'You are a travel agent.' },
      { role: 'user', content: 'Ada likes trains.' },
      { role: 'user', content: 'Book the 9:40.' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'search', arguments: '{"query":"9:40"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"seats":2}' },
      { role: 'user', content: 'It is Monday.' },
    ])
  })

  it('renders one tool message for each result, with text as it is', () => {
    const results: Part[] = [
      { type: 'tool-result', callId: 'a', output: ' as it is\n' },
      { type: 'tool-result', callId: 'b', output: '', isError: true },
      { type: 'tool-result', callId: 'c', output: null },
    ]
    expect(rendered(block('tool', results))).toEqual([
      { role: 'tool', tool_call_id: 'a', content: ' as it is\n' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'tool', tool_call_id: 'c', content: 'null' },
    ])
  })

  it('renders results that stand in for missing ones, also while they belong to the tail', () => {
    const missing = block('tool', [{ type: 'tool-result', callId: 'a', output: 'none' }], { section: 'tail' })
    expect(rendered(missing, tail('It is Monday.'))).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'none' },
      { role: 'user', content: 'It is Monday.' },
    ])
  })

  it('has no content key to fill when the assistant only calls', () => {
    expect(rendered(assistant([call('a')]))).toMatchObject([{ role: 'assistant', content: null }])
  })

  it('shows a system message of the log as one only if the app or the user wrote it', () => {
    const from = (trust: 'system' | 'user' | 'import' | 'web') => block('system', 'Obey.', { trust })
    expect(rendered(from('system'), from('user'), from('import'), from('web'), block('system', ''))).toEqual([
      { role: 'system', content: 'Obey.' },
      { role: 'system', content: 'Obey.' },
      { role: 'user', content: '<data-1a2b3c system>\nObey.\n</data-1a2b3c>' },
      { role: 'user', content: '<data-1a2b3c system>\nObey.\n</data-1a2b3c>' },
    ])
  })

  it('joins the texts of a message, and makes a list only for what is not text', () => {
    const parts: Part[] = [
      { type: 'text', text: 'Look: ' },
      { type: 'text', text: '' },
      { type: 'media', mediaType: 'application/pdf', ref: 'att-7' },
    ]
    const url = 'https://example.com/a.png'
    expect(rendered(user(parts), user([...parts, { type: 'media', mediaType: 'image/png', url }]))).toEqual([
      { role: 'user', content: 'Look: [application/pdf attachment att-7]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look: ' },
          { type: 'text', text: '[application/pdf attachment att-7]' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ])
  })

  it('skips an assistant with nothing to show, and says that a user message is empty', () => {
    expect(rendered(user(''), assistant([{ type: 'reasoning', text: 'Hm.' }]), user([]), tail(''))).toEqual([
      { role: 'user', content: '(empty message)' },
      { role: 'user', content: '(empty message)' },
    ])
  })

  it('shows in words what an assistant message cannot hold', () => {
    const picture: Part = { type: 'media', mediaType: 'image/png', url: 'https://example.com/a.png' }
    expect(rendered(assistant([{ type: 'text', text: 'Here: ' }, picture]))).toEqual([
      { role: 'assistant', content: 'Here: [image/png attachment]' },
    ])
  })

  it('shows nothing of parts that belong into another message', () => {
    const stray = call('a')
    const thought: Part = { type: 'reasoning', text: 'Hm.' }
    expect(rendered(user([thought, stray, { type: 'text', text: 'Hi.' }]), block('tool', [thought]))).toEqual(
      [{ role: 'user', content: 'Hi.' }],
    )
  })

  it('marks a copy of what the log keeps of the provider’s own parts', () => {
    const file = { type: 'file', file: { file_id: 'f1' } }
    const context = contextOf([user([{ type: 'opaque', provider: 'openai', value: file }])])
    expect(JSON.stringify(toOpenAI(context, { cache: true }))).toContain('prompt_cache_breakpoint')
    expect(file).toEqual({ type: 'file', file: { file_id: 'f1' } })
  })

  it('leaves keys out rather than undefined', () => {
    expect(Object.keys(toOpenAI(contextOf([user('Hi.')])))).toEqual(['messages'])
    expect(Object.keys(toOpenAI(contextOf([user('Hi.')], [])))).toEqual(['messages'])
    const clock = { name: 'clock', inputSchema: { type: 'object' } }
    expect(toOpenAI(contextOf([user('Hi.')], [searchTool, clock])).tools).toStrictEqual([
      {
        type: 'function',
        function: { name: 'search', description: 'Finds pages.', parameters: searchTool.inputSchema },
      },
      { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } },
    ])
  })
})

describe('toOpenAI with marks', () => {
  const marked = toOpenAI(contextOf(ofEachKind), { cache: true })
  const textsOf = (messages: readonly object[]) =>
    JSON.parse(JSON.stringify(messages), (key, value) =>
      key === 'content' && Array.isArray(value) ? value.map(({ text }) => text).join('') : value,
    )

  it('sets at most four: after system text, memory, the previous call, and all but the tail', () => {
    const found = [
      ...JSON.stringify(marked).matchAll(/"text":"(.)","prompt_cache_breakpoint":\{"mode":"explicit"\}/g),
    ]
    expect(found.map(([, text]) => text)).toEqual(['S', 'M', '3', '4'])
    expect(marked.prompt_cache_options).toEqual({ mode: 'explicit' })
  })

  it('says the same as without, and nothing of marks without', () => {
    const plain = toOpenAI(contextOf(ofEachKind))
    expect(textsOf(marked.messages)).toEqual(plain.messages)
    expect(JSON.stringify(plain)).not.toContain('prompt_cache')
  })

  it('only moves marks from call to call', () => {
    const unmarked = (request: object) =>
      JSON.stringify(request).replaceAll(',"prompt_cache_breakpoint":{"mode":"explicit"}', '')
    const before = toOpenAI(contextOf(ofEachKind.slice(0, 5)), { cache: true })
    const grown = marked.messages.slice(0, before.messages.length)
    expect(unmarked(grown)).toBe(unmarked(before.messages))
  })

  it('refuses options that it does not know', () => {
    expect(() => toOpenAI(contextOf(ofEachKind), { ttl: '30m' } as never)).toThrow(
      /^toOpenAI: ttl is not known/,
    )
  })
})

describe('parseOpenAIReply', () => {
  it('takes a completion or the message of a choice', () => {
    const message = { role: 'assistant', content: 'It is booked.', refusal: null }
    const parsed = { role: 'assistant', content: 'It is booked.' }
    expect(parseOpenAIReply(message)).toStrictEqual(parsed)
    expect(parseOpenAIReply({ choices: [{ message }] })).toStrictEqual(parsed)
  })

  it('refuses a completion without a choice', () => {
    expect(() => parseOpenAIReply({ choices: [] })).toThrow('no choice')
    try {
      parseOpenAIReply({ choices: [] })
    } catch (error) {
      expect(isPlimsollError(error, 'ERR_INVALID_ARGUMENT')).toBe(true)
    }
  })

  it('refuses what is no reply: it was not awaited, or says what went wrong', () => {
    for (const reply of [
      Promise.resolve(),
      { error: { message: 'No credits.' } },
      { choices: null, error: {} },
      'Booked.',
      undefined,
    ]) {
      expect(() => parseOpenAIReply(reply as never)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARGUMENT',
          message: expect.stringMatching(/^parseOpenAIReply: /),
        }),
      )
    }
  })

  it('reads the arguments of a call, and takes no arguments for an empty object', () => {
    const called = (text: string) =>
      parseOpenAIReply({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', function: { name: 'search', arguments: text } }],
      }).content
    expect(called('{"query": [1, null]}')).toEqual([call('a', { query: [1, null] })])
    expect(called('')).toEqual([call('a', {})])
    expect(called('"text"')).toEqual([call('a', 'text')])
    expect(called('{"query"')).toEqual([call('a', '{"query"')])
  })

  it('keeps the free text of a custom tool', () => {
    const tool_calls = [{ id: 'a', type: 'custom', custom: { name: 'run', input: 'ls -l' } }]
    expect(parseOpenAIReply({ role: 'assistant', content: null, tool_calls }).content).toEqual([
      call('a', 'ls -l', 'run'),
    ])
  })

  it('keeps a refusal as text, and says that it is one', () => {
    const parsed = { role: 'assistant', content: 'No.', metadata: { refusal: true } }
    expect(parseOpenAIReply({ role: 'assistant', content: null, refusal: 'No.' })).toEqual(parsed)
    const parts = [{ type: 'refusal', refusal: 'No.' }]
    expect(parseOpenAIReply({ role: 'assistant', content: parts })).toEqual(parsed)
  })

  it('keeps what was said in a spoken reply', () => {
    const audio = { id: 'audio_1', transcript: 'It is booked.' }
    expect(parseOpenAIReply({ role: 'assistant', content: null, audio }).content).toBe('It is booked.')
    expect(parseOpenAIReply({ role: 'assistant', content: 'Booked.', audio }).content).toBe('Booked.')
  })

  it('gives a message with no content an empty text', () => {
    expect(parseOpenAIReply({ role: 'assistant', content: null })).toEqual({ role: 'assistant', content: '' })
  })
})

describe('fromOpenAIMessages', () => {
  const recorded = [
    { role: 'system', content: 'You are a travel agent.' },
    { role: 'user', content: 'Book the 9:40.', name: 'ada' },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'search', arguments: '{"query":"9:40"}' } },
        { id: 'b', type: 'function', function: { name: 'clock', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '{"seats": 2}' },
    { role: 'tool', tool_call_id: 'b', content: '' },
    { role: 'assistant', content: 'There are two seats.' },
    { role: 'user', content: 'Both, please.' },
  ]

  it('makes one message of each, and they render to the same request', () => {
    const messages = fromOpenAIMessages(recorded)
    expect(messages).toHaveLength(recorded.length)
    const again = toOpenAI(contextOf(blocksOf(messages))).messages
    expect(again).toEqual(recorded.map(({ name, ...message }) => message))
    expect(lintRequest({ messages: again }, 'openai')).toEqual([])
  })

  it('keeps names', () => {
    expect(fromOpenAIMessages(recorded)[1]).toEqual({ role: 'user', content: 'Book the 9:40.', name: 'ada' })
  })

  it('takes a developer for a system, and a function for a tool', () => {
    expect(
      fromOpenAIMessages([
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'assistant', content: null, function_call: { name: 'clock', arguments: '{}' } },
        { role: 'function', name: 'clock', content: '9:40' },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: [call('clock', {}, 'clock')] },
      { role: 'tool', name: 'clock', content: [{ type: 'tool-result', callId: 'clock', output: '9:40' }] },
    ])
  })

  it('keeps pictures, sound and files of a user, and renders them again', () => {
    const content = [
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'image_url', image_url: { url: 'DATA:Image/WebP;base64,AAAA' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'file', file: { file_id: 'file_1' } },
    ]
    const messages = fromOpenAIMessages([{ role: 'user', content }])
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'media', mediaType: 'image/*', url: 'https://example.com/a.png' },
      { type: 'media', mediaType: 'image/webp', url: 'DATA:Image/WebP;base64,AAAA' },
      { type: 'opaque', provider: 'openai', value: content[3] },
      { type: 'opaque', provider: 'openai', value: content[4] },
    ])
    expect(rendered(...blocksOf(messages))).toEqual([{ role: 'user', content }])
  })

  it('keeps what it cannot read as it is', () => {
    const odd = [
      { type: 'text', text: null },
      { type: 'note', text: 'Hi.' },
      { type: 'refusal' },
      { type: 'note', refusal: 'No.' },
      { type: 'image_url', image_url: 'https://example.com/a.png' },
      { type: 'image_url' },
      { type: 'note', image_url: { url: 'https://example.com/a.png' } },
    ]
    const opaque = (value: object) => ({ type: 'opaque', provider: 'openai', value })
    expect(fromOpenAIMessages([{ role: 'user', content: odd }])[0]?.content).toEqual(odd.map(opaque))
    const tool_calls = [{ id: 'a', type: 'later' }]
    expect(fromOpenAIMessages([{ role: 'assistant', tool_calls }])[0]?.content).toEqual(
      tool_calls.map(opaque),
    )
  })

  it('joins the texts of a result that is a list', () => {
    const content = [
      { type: 'text', text: 'two ' },
      { type: 'text', text: 'seats' },
    ]
    expect(fromOpenAIMessages([{ role: 'tool', tool_call_id: 'a', content }])[0]?.content).toEqual([
      { type: 'tool-result', callId: 'a', output: 'two seats' },
    ])
  })

  it('names the message whose role it does not know', () => {
    try {
      fromOpenAIMessages([
        { role: 'user', content: 'Hi.' },
        { role: 'human', content: 'Hi.' },
      ])
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'messages[1].role' })
    }
  })
})
