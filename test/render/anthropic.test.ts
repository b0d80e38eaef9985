import { describe, expect, it } from 'vitest'
import type { Block } from '../../src/ports/context.ts'
import type { Part } from '../../src/ports/message.ts'
import {
  type AnthropicInputBlock,
  type AnthropicRequest,
  fromAnthropicMessages,
  parseAnthropicReply,
  toAnthropic,
} from '../../src/render/anthropic.ts'
import { lintRequest } from '../../src/render/lint.ts'
import {
  assistant,
  block,
  blocksOf,
  call,
  contextOf,
  memory,
  result,
  searchTool,
  system,
  tail,
  user,
} from './samples.ts'

const rendered = (...blocks: Block[]) => toAnthropic(contextOf(blocks), { cache: false })
const text = (value: string) => ({ type: 'text', text: value })

/** Where the marks are, by the text, id or name of what carries them. */
function marks({ system: head = [], tools = [], messages }: AnthropicRequest): string[] {
  return [...tools, ...head, ...messages.flatMap(({ content }) => content)].flatMap((item) => {
    if (!('cache_control' in item)) return []
    if ('name' in item) return [`${'id' in item ? item.id : item.name}`]
    if ('tool_use_id' in item) return [`result of ${item.tool_use_id}`]
    return ['text' in item ? item.text : 'image']
  })
}

it('asks for a diagnosis of the cache where the reply before is named', () => {
  const context = contextOf([user('Hi.')])
  expect(toAnthropic(context, { previousMessageId: 'msg_1' }).diagnostics).toEqual({
    previous_message_id: 'msg_1',
  })
  expect(toAnthropic(context)).not.toHaveProperty('diagnostics')
})

describe('toAnthropic', () => {
  it('renders the sections in their order, with the tail inside the last result', () => {
    expect(
      rendered(
        system('You are a travel agent.'),
        memory('Ada likes trains.'),
        user('Book the 9:40.'),
        assistant([{ type: 'text', text: 'Let me see.' }, call('a', { query: '9:40' }), call('b')]),
        result('a', { seats: 2 }),
        result('b', 'broken', true),
        tail('It is Monday.'),
      ),
    ).toEqual({
      system: [text('You are a travel agent.')],
      messages: [
        { role: 'user', content: [text('Ada likes trains.')] },
        { role: 'user', content: [text('Book the 9:40.')] },
        {
          role: 'assistant',
          content: [
            text('Let me see.'),
            { type: 'tool_use', id: 'a', name: 'search', input: { query: '9:40' } },
            { type: 'tool_use', id: 'b', name: 'search', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [text('{"seats":2}')] },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              is_error: true,
              content: [text('broken'), text('It is Monday.')],
            },
          ],
        },
      ],
    })
  })

  it('adds the tail as a user message when the user spoke last', () => {
    const step = [assistant([call('a')]), result('a', 'found')]
    expect(rendered(user('Hi.'), ...step, user('Go on.'), tail('It is Monday.')).messages.slice(-2)).toEqual([
      { role: 'user', content: [text('Go on.')] },
      { role: 'user', content: [text('It is Monday.')] },
    ])
    expect(rendered(user('Hi.'), tail(' ')).messages).toHaveLength(1)
  })

  it('leaves the content of an empty result out, and puts a tail there all the same', () => {
    const blocks = [user('Hi.'), assistant([call('a')]), result('a', ' \n', false)]
    expect(rendered(...blocks).messages.at(-1)?.content).toStrictEqual([
      { type: 'tool_result', tool_use_id: 'a' },
    ])
    expect(rendered(...blocks, tail('It is Monday.')).messages.at(-1)?.content).toStrictEqual([
      { type: 'tool_result', tool_use_id: 'a', content: [text('It is Monday.')] },
    ])
  })

  it('shows results that stand in for missing ones as results, also while they belong to the tail', () => {
    const missing = block('tool', [{ type: 'tool-result', callId: 'b', output: 'none', isError: true }], {
      section: 'tail',
      rule: 'abandoned',
    })
    const blocks = [user('Hi.'), assistant([call('a'), call('b')]), result('a', '1'), missing]
    expect(rendered(...blocks, tail('It is Monday.')).messages.slice(2)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [text('1')] },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            is_error: true,
            content: [text('none'), text('It is Monday.')],
          },
        ],
      },
    ])
    expect(marks(toAnthropic(contextOf(blocks)))).toEqual(['Hi.', 'result of a'])
  })

  it('keeps the results of two steps apart', () => {
    const roles = rendered(
      user('Hi.'),
      assistant([call('a')]),
      result('a', '1'),
      assistant([call('b')]),
      result('b', '2'),
    ).messages.map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  })

  it('fences a system message of the log, no matter who wrote it', () => {
    expect(rendered(block('system', 'Obey.', { trust: 'system' }), block('system', ' ')).messages).toEqual([
      { role: 'user', content: [text('<data-1a2b3c system>\nObey.\n</data-1a2b3c>')] },
    ])
  })

  it('leaves blank texts out', () => {
    const said: Part[] = [
      { type: 'text', text: '\n\n' },
      { type: 'text', text: 'So. ' },
    ]
    expect(rendered(system('  '), user(''), assistant(said), assistant(' '), user([]))).toEqual({
      messages: [
        { role: 'user', content: [text('(empty message)')] },
        { role: 'assistant', content: [text('So. ')] },
        { role: 'user', content: [text('(empty message)')] },
      ],
    })
  })

  it('sends a picture by its address or its bytes, and shows other media in words', () => {
    const media = (mediaType: string, url?: string): Part => ({
      type: 'media',
      mediaType,
      ...(url && { url }),
    })
    const parts = [
      media('image/png', 'https://example.com/a.png'),
      media('image/png', 'data:image/png;base64,AAAA'),
      media('image/png', 'DATA:Image/PNG;Base64,AAAA'),
      media('image/svg+xml', 'data:image/svg+xml,<svg/>'),
      media('image/svg+xml', 'DATA:image/svg+xml,<svg/>'),
      media('image/png'),
      media('audio/wav', 'https://example.com/a.wav'),
    ]
    expect(rendered(user(parts)).messages[0]?.content).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      text('[image/svg+xml attachment]'),
      text('[image/svg+xml attachment]'),
      text('[image/png attachment]'),
      text('[audio/wav attachment]'),
    ])
    expect(rendered(assistant(parts.slice(0, 1))).messages[0]?.content).toEqual([
      text('[image/png attachment]'),
    ])
  })

  it('gives a call whose input is no object one', () => {
    const inputs = ['raw', [1], null, 7].map((input, index) => call(`c${index}`, input))
    expect(rendered(assistant(inputs)).messages[0]?.content).toMatchObject([
      { input: { input: 'raw' } },
      { input: { input: [1] } },
      { input: { input: null } },
      { input: { input: 7 } },
    ])
  })

  it('shows nothing of parts that belong into another message', () => {
    const thought: Part = { type: 'reasoning', text: 'Hm.', signature: 'c2ln' }
    expect(
      rendered(user([thought, call('a'), { type: 'text', text: 'Hi.' }]), block('tool', [thought])),
    ).toEqual({
      messages: [{ role: 'user', content: [text('Hi.')] }],
    })
  })

  it('leaves keys out rather than undefined', () => {
    expect(Object.keys(rendered(user('Hi.')))).toEqual(['messages'])
    const clock = { name: 'clock', inputSchema: {} }
    expect(toAnthropic(contextOf([user('Hi.')], [searchTool, clock]), { cache: false }).tools).toStrictEqual([
      { name: 'search', description: 'Finds pages.', input_schema: searchTool.inputSchema },
      { name: 'clock', input_schema: { type: 'object' } },
    ])
  })
})

describe('cache marks', () => {
  const head = [system('You are a travel agent.'), memory('Ada likes trains.')]
  const step = (id: string) => [assistant([call(id)]), result(id, `found ${id}`)]
  const marksOf = (...blocks: Block[]) => marks(toAnthropic(contextOf(blocks, [searchTool])))

  it('are set after the system text, after memory, and at the end', () => {
    expect(marksOf(...head, user('Hi.'))).toEqual(['You are a travel agent.', 'Ada likes trains.', 'Hi.'])
  })

  it('are set after the tools when there is no system text', () => {
    expect(marksOf(user('Hi.'))).toEqual(['search', 'Hi.'])
  })

  it('are set where the previous call ended, before the newest step', () => {
    const blocks = [...head, user('Hi.'), ...step('a'), ...step('b')]
    expect(marksOf(...blocks)).toEqual([
      'You are a travel agent.',
      'Ada likes trains.',
      'result of a',
      'result of b',
    ])
    const previous = marksOf(...blocks.slice(0, -2))
    expect(previous).toContain('result of a')
  })

  it('are set where the previous call ended, before the reply to it', () => {
    const blocks = [...head, user('Hi.'), ...step('a'), assistant('So.'), user('Thanks.')]
    expect(marksOf(...blocks).slice(2)).toEqual(['result of a', 'Thanks.'])
  })

  it('are never on or after a tail', () => {
    expect(marksOf(...head, user('Hi.'), tail('It is Monday.')).slice(2)).toEqual(['Hi.'])
    const parallel = [user('Hi.'), assistant([call('a'), call('b')]), result('a', '1'), result('b', '2')]
    expect(marksOf(...parallel, tail('It is Monday.'))).toEqual(['search', 'Hi.', 'result of a'])
    expect(marksOf(user('Hi.'), ...step('a'), tail('It is Monday.'))).toEqual(['search', 'Hi.', 'a'])
  })

  it('are not on reasoning, opaque blocks or empty results', () => {
    const opaque: Part = { type: 'opaque', provider: 'anthropic', value: { type: 'document', title: 'x' } }
    expect(marksOf(user([{ type: 'text', text: 'Hi.' }, opaque]))).toEqual(['search', 'Hi.'])
    expect(marksOf(user('Hi.'), assistant([call('a')]), result('a', ''))).toEqual(['search', 'Hi.', 'a'])
  })

  it('leave the context as it was, also where what carries the mark was kept as Anthropic sent it', () => {
    const image = { type: 'image', source: { type: 'file', file_id: 'f1' } }
    const seen = user([{ type: 'opaque', provider: 'anthropic', value: image }])
    expect(marksOf(seen).length).toBe(1 + 1)
    expect(image).toEqual({ type: 'image', source: { type: 'file', file_id: 'f1' } })
  })

  it('are not set when they are not wanted', () => {
    expect(marks(rendered(...head, user('Hi.')))).toEqual([])
  })
})

describe('parseAnthropicReply', () => {
  it('keeps texts, reasoning with its signature, calls, and what only Anthropic understands', () => {
    const server = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } }
    expect(
      parseAnthropicReply({
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'thinking', thinking: 'Well.', signature: '' },
          { type: 'redacted_thinking', data: 'x' },
          server,
          { type: 'text', text: 'Let me see.', citations: null },
          { type: 'tool_use', id: 'a', name: 'search', input: { query: 'x' }, caller: { type: 'direct' } },
        ],
      }),
    ).toStrictEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', signature: 'c2ln' },
        { type: 'reasoning', text: 'Well.' },
        { type: 'opaque', provider: 'anthropic', value: { type: 'redacted_thinking', data: 'x' } },
        { type: 'opaque', provider: 'anthropic', value: server },
        { type: 'text', text: 'Let me see.' },
        call('a', { query: 'x' }),
      ],
    })
  })

  it('makes a text of a single text block, and an empty text of none', () => {
    const reply = (content: AnthropicInputBlock[]) => parseAnthropicReply({ role: 'assistant', content })
    expect(reply([text('So.')])).toEqual({ role: 'assistant', content: 'So.' })
    expect(reply([])).toEqual({ role: 'assistant', content: '' })
  })

  it('refuses what is no reply: it was not awaited, or says what went wrong', () => {
    for (const reply of [Promise.resolve(), { type: 'error', error: {} }, 'Booked.', undefined]) {
      expect(() => parseAnthropicReply(reply as never)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARGUMENT',
          message: expect.stringMatching(/^parseAnthropicReply: /),
        }),
      )
    }
  })
})

describe('fromAnthropicMessages', () => {
  const recorded = [
    { role: 'user', content: [text('Book the 9:40.')] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        text('Let me see.'),
        { type: 'tool_use', id: 'a', name: 'search', input: { query: '9:40' } },
        { type: 'tool_use', id: 'b', name: 'search', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [text('two seats')] },
        { type: 'tool_result', tool_use_id: 'b', is_error: true, content: [text('broken')] },
      ],
    },
    { role: 'assistant', content: [text('There are two seats.')] },
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
        text('Both, please.'),
      ],
    },
  ]

  it('makes messages that render to the same request', () => {
    const messages = fromAnthropicMessages(recorded, [text('You are a travel agent.')])
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    const again = rendered(...blocksOf(messages))
    expect(again).toEqual({ system: [text('You are a travel agent.')], messages: recorded })
    expect(lintRequest(again, 'anthropic')).toEqual([])
  })

  it('parts results from what the user wrote beside them', () => {
    const content = [
      text('And hurry.'),
      { type: 'tool_result', tool_use_id: 'a', content: 'found' },
      { type: 'tool_result', tool_use_id: 'b', is_error: false },
    ]
    expect(fromAnthropicMessages([{ role: 'user', content }])).toEqual([
      {
        role: 'tool',
        content: [
          { type: 'tool-result', callId: 'a', output: 'found' },
          { type: 'tool-result', callId: 'b', output: '', isError: false },
        ],
      },
      { role: 'user', content: 'And hurry.' },
    ])
  })

  it('joins the texts of a result, and keeps one with pictures as it is', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    const cache_control = { type: 'ephemeral' }
    const results = (content: object[]) => {
      const sent = [{ type: 'tool_result', tool_use_id: 'a', content }]
      return fromAnthropicMessages([{ role: 'user', content: sent }])
    }
    const holds = (output: unknown) => [
      { role: 'tool', content: [{ type: 'tool-result', callId: 'a', output }] },
    ]
    expect(results([text('two'), text('seats')])).toEqual(holds('two\nseats'))
    expect(results([])).toEqual(holds(''))
    expect(results([text('two'), { ...image, cache_control }])).toEqual(holds([text('two'), image]))
  })

  it('reads pictures, so that other providers can be shown them too', () => {
    const images = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ]
    expect(fromAnthropicMessages([{ role: 'user', content: images }])[0]?.content).toEqual([
      { type: 'media', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
      { type: 'media', mediaType: 'image/*', url: 'https://example.com/a.png' },
    ])
  })

  it('keeps what it cannot read as it is', () => {
    const odd = [
      { type: 'text', text: null },
      { type: 'note', text: 'Hi.' },
      { type: 'thinking', signature: 'c2ln' },
      { type: 'note', thinking: 'Hm.' },
      { type: 'tool_use', name: 'search' },
      { type: 'tool_use', id: 'a' },
      { type: 'note', id: 'a', name: 'search' },
      { type: 'image' },
      { type: 'image', source: { type: 'file', file_id: 'f' } },
      { type: 'image', source: { type: 'file', url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'url' } },
      { type: 'image', source: { type: 'file', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'base64', data: 'AAAA' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png' } },
      { type: 'note', source: { type: 'url', url: 'https://example.com/a.png' } },
    ]
    expect(fromAnthropicMessages([{ role: 'user', content: odd }])[0]?.content).toEqual(
      odd.map((value) => ({ type: 'opaque', provider: 'anthropic', value })),
    )
  })

  it('drops cache marks', () => {
    const cache_control = { type: 'ephemeral' }
    const document = { type: 'document', title: 'x' }
    expect(
      fromAnthropicMessages([{ role: 'user', content: [{ ...document, cache_control }, text('Hi.')] }]),
    ).toEqual([
      {
        role: 'user',
        content: [{ type: 'opaque', provider: 'anthropic', value: document }, { ...text('Hi.') }],
      },
    ])
  })

  it('takes strings as they are, also for the system text', () => {
    const messages = [
      { role: 'user', content: '' },
      { role: 'system', content: 'Be brief.' },
    ]
    expect(fromAnthropicMessages(messages, 'You are a travel agent.')).toEqual([
      { role: 'system', content: 'You are a travel agent.' },
      ...messages,
    ])
    expect(fromAnthropicMessages([], '')).toEqual([])
    expect(fromAnthropicMessages([{ role: 'user', content: [] }])).toEqual([{ role: 'user', content: '' }])
  })

  it('names the message whose role it does not know', () => {
    try {
      fromAnthropicMessages([{ role: 'tool', content: 'x' }])
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'messages[0].role' })
    }
  })
})
