import { generateText, type ModelMessage } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromModelMessages, toAISDK } from '../../src/bridges/ai-sdk/index.ts'
import { mapStore, type Part, utf8Bound } from '../../src/index.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import {
  assistant,
  block,
  blockLists,
  blocksOf,
  call,
  contextOf,
  FENCE,
  memory,
  result,
  system,
  tail,
  user,
} from '../render/samples.ts'
import { runs } from '../unit/support/runs.ts'
import { expectPaired } from './prompts.ts'
import { said, scripted } from './scripted.ts'

const sessionOf = (options: { budget?: number; system?: string } = {}): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000, ...options }).session({
    userId: 'ada',
    sessionId: 'trip',
  })

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a context as messages of the SDK', () => {
  it('keeps every rule of a prompt, whatever the blocks', () => {
    fc.assert(
      fc.property(blockLists, (blocks) => {
        const { messages } = toAISDK(contextOf(blocks))
        expectPaired(messages)
      }),
      runs(300),
    )
  })

  it('only gets messages added at the end by more blocks', () => {
    fc.assert(
      fc.property(blockLists, (blocks) => {
        const whole = toAISDK(contextOf(blocks), { cache: false }).messages
        blocks.forEach((_, length) => {
          const part = toAISDK(contextOf(blocks.slice(0, length)), { cache: false }).messages
          expect(whole.slice(0, part.length)).toEqual(part)
        })
      }),
      runs(100),
    )
  })

  it('gets at most four cache marks, and is the same without them', () => {
    fc.assert(
      fc.property(blockLists, (blocks) => {
        const context = contextOf(blocks)
        const marked = JSON.stringify(toAISDK(context))
        expect(marked.split('"cacheControl"').length - 1).toBeLessThanOrEqual(4)
        const mark = /,?"providerOptions":\{"anthropic":\{"cacheControl":\{"type":"ephemeral"\}\}\}/g
        expect(marked.replaceAll(mark, '')).toBe(JSON.stringify(toAISDK(context, { cache: false })))
      }),
      runs(100),
    )
  })

  it('marks the borders of system, memory, previous call and all that stays, and never the tail', () => {
    const blocks = [
      system('Be kind.'),
      memory('Facts.'),
      user('One'),
      assistant('Two'),
      user('Three'),
      tail('Now.'),
    ]
    const { instructions, messages } = toAISDK(contextOf(blocks))
    const isMarked = (message: ModelMessage | undefined): boolean =>
      message?.providerOptions?.anthropic !== undefined
    expect(instructions?.map(isMarked)).toEqual([true])
    expect(messages.map(isMarked)).toEqual([true, true, false, true, false])
  })

  it('shows a system message of the log in its place, as fenced text of the user', () => {
    const { messages } = toAISDK(
      contextOf([user('Hi'), block('system', 'The user is in Turin.'), user('Where am I?')]),
      {
        cache: false,
      },
    )
    expect(messages[1]).toEqual({
      role: 'user',
      content: `<${FENCE} system>\nThe user is in Turin.\n</${FENCE}>`,
    })
  })

  it('is taken by generateText when it is spread into it, with a system message in the middle of the log', async () => {
    const session = sessionOf({ system: 'Be kind.' })
    await session.append([
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'The user is in Turin.' },
    ])
    const model = scripted([[said('Hello.')]])
    const { text } = await generateText({ model, ...toAISDK(await session.context()) })
    expect(text).toBe('Hello.')
    expect(model.requests[0]?.prompt[0]).toMatchObject({ role: 'system', content: 'Be kind.' })
  })

  it('ends with the tail, as a message of its own', () => {
    const blocks = [user('Hi'), assistant([call('c1')]), result('c1', 'found'), tail('It is noon.')]
    expect(toAISDK(contextOf(blocks)).messages.at(-1)).toMatchObject({ content: [{ text: 'It is noon.' }] })
  })

  it('gives results of text and JSON, errors and refusals by their own types', () => {
    const blocks = [
      user('Hi'),
      assistant([call('c1'), call('c2'), call('c3'), call('c4')]),
      result('c1', 'text'),
      result('c2', { a: 1 }),
      result('c3', 'gone', true),
      result('c4', { code: 404 }, true),
    ]
    const outputs = toAISDK(contextOf(blocks)).messages.flatMap(({ role, content }) =>
      role === 'tool' ? content.map((part) => part.type === 'tool-result' && part.output.type) : [],
    )
    expect(outputs).toEqual(['text', 'json', 'error-text', 'error-json'])
  })
})

describe('what only a provider understands', () => {
  /** Messages as a log gives them back, in a request. */
  async function through(
    messages: readonly ModelMessage[],
    { budget = 100_000 } = {},
  ): Promise<ModelMessage[]> {
    const session = sessionOf({ budget })
    await session.append(fromModelMessages(messages))
    return toAISDK(await session.context(), { cache: false }).messages
  }

  it("keeps Anthropic's signed thinking with its signature, for toAISDK and as reasoning of ours", async () => {
    const options = { anthropic: { signature: 'c2ln' } }
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'They greet.', providerOptions: options },
          { type: 'text', text: 'Hello.' },
        ],
      },
      { role: 'user', content: 'Bye' },
    ]
    expect(fromModelMessages(messages)[1]?.content).toContainEqual({
      type: 'reasoning',
      text: 'They greet.',
      signature: 'c2ln',
    })
    expect((await through(messages))[1]?.content).toEqual(messages[1]?.content)
  })

  it("keeps OpenAI's reasoning, its call and the ids of both together (vercel/ai#11036)", async () => {
    const step = (n: number): ModelMessage[] => [
      {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: '',
            providerOptions: { openai: { itemId: `rs_${n}`, reasoningEncryptedContent: 'x' } },
          },
          {
            type: 'tool-call',
            toolCallId: `call_${n}`,
            toolName: 'search',
            input: {},
            providerOptions: { openai: { itemId: `fc_${n}` } },
          },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: `call_${n}`,
            toolName: 'search',
            output: { type: 'text', value: 'x '.repeat(600) },
          },
        ],
      },
    ]
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hi' }]
    for (let n = 0; n < 60; n++) messages.push(...step(n))
    // Small enough that old steps leave the window and old outputs are cut.
    const shown = await through(messages, { budget: 8_000 })
    expectPaired(shown)
    const steps = shown.filter(({ role }) => role === 'assistant')
    expect(steps.length).toBeLessThan(60)
    for (const { content } of steps) {
      const [reasoning, made] = content as unknown as {
        providerOptions: { openai: { itemId: string } }
        toolCallId: string
      }[]
      const n = reasoning?.providerOptions.openai.itemId.slice('rs_'.length)
      expect(made).toMatchObject({
        toolCallId: `call_${n}`,
        providerOptions: { openai: { itemId: `fc_${n}` } },
      })
    }
  })

  it.each([
    ['OpenAI', { openai: { itemId: 'rs_1' } }],
    ['Anthropic', { anthropic: { signature: 'c2ln' } }],
  ])('leaves out reasoning of %s that nothing follows (vercel/ai#11036, #13430, #13901)', (_, options) => {
    const blocks = blocksOf([
      { role: 'user', content: 'Hi' },
      ...fromModelMessages([
        { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm', providerOptions: options }] },
      ]),
      { role: 'user', content: 'And?' },
    ])
    expect(toAISDK(contextOf(blocks)).messages.map(({ role }) => role)).toEqual(['user', 'user'])
  })

  it("gives a call that the data repeat an id of its own, without the provider's", async () => {
    const made: Part[] = [
      ...fromModelMessages([
        {
          role: 'assistant',
          content: [
            {
              type: 'tool-call',
              toolCallId: 'c',
              toolName: 'a',
              input: {},
              providerOptions: { openai: { itemId: 'fc_1' } },
            },
          ],
        },
      ]).flatMap(({ content }) => content as Part[]),
    ]
    const renamed = (id: string): Part[] =>
      made.map((part) => (part.type === 'tool-call' ? { ...part, id } : part))
    const blocks = [
      user('Hi'),
      assistant(renamed('r1')),
      result('r1', '1'),
      assistant(renamed('r2')),
      result('r2', '2'),
    ]
    const { messages } = toAISDK(contextOf(blocks), { cache: false })
    expectPaired(messages)
    expect(plain(messages[1]?.content)).toMatchObject([
      { toolCallId: 'c', providerOptions: { openai: { itemId: 'fc_1' } } },
    ])
    expect(plain(messages[3]?.content)).toEqual([
      { type: 'tool-call', toolCallId: 'r2', toolName: 'a', input: {} },
    ])
  })

  it('does not give a text what was noted of the reasoning that left the window before it', () => {
    const said = fromModelMessages([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm', providerOptions: { anthropic: { signature: 'c2ln', index: 1 } } },
          { type: 'text', text: 'Hello.' },
        ],
      },
    ]).flatMap(({ content }) => content as Part[])
    const shown = said.filter(({ type }) => type !== 'reasoning')
    expect(shown.map(({ type }) => type)).toEqual(['opaque', 'text'])
    const { messages } = toAISDK(contextOf([user('Hi'), assistant(shown), user('Bye')]), { cache: false })
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'Hello.' }])
  })

  it('puts what follows a call before it (vercel/ai#13013)', () => {
    const blocks = [
      user('Hi'),
      assistant([call('c1'), { type: 'text', text: 'Searching.' }]),
      result('c1', 'found'),
    ]
    const { messages } = toAISDK(contextOf(blocks))
    expect(plain(messages[1]?.content)).toMatchObject([{ type: 'text' }, { type: 'tool-call' }])
  })

  const ran: ModelMessage = {
    role: 'assistant',
    content: [
      {
        type: 'tool-call',
        toolCallId: 'srvtoolu_1',
        toolName: 'code_execution',
        input: { code: '1' },
        providerExecuted: true,
      },
      {
        type: 'tool-call',
        toolCallId: 'toolu_1',
        toolName: 'search',
        input: {},
        providerOptions: { anthropic: { caller: { type: 'code_execution_20250825', toolId: 'srvtoolu_1' } } },
      },
    ],
  }
  const answer = (toolCallId: string): ModelMessage => ({
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId, toolName: 'search', output: { type: 'text', value: 'found' } },
    ],
  })
  const ends: ModelMessage = {
    role: 'assistant',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'srvtoolu_1',
        toolName: 'code_execution',
        output: { type: 'json', value: { ok: 1 } },
      },
      { type: 'text', text: 'Done.' },
    ],
  }

  it('keeps a call with the code that made it, and its end in a later step (vercel/ai#12504)', async () => {
    const messages = [
      { role: 'user' as const, content: 'Hi' },
      ran,
      answer('toolu_1'),
      ends,
      { role: 'user' as const, content: 'Thanks' },
    ]
    const shown = await through(messages)
    expect(shown.slice(1, 4)).toEqual(messages.slice(1, 4))
    expectPaired(shown)
  })

  it('drops a caller that is not in the request, and an end without its beginning (vercel/ai#12504)', () => {
    const later = fromModelMessages([{ ...ran, content: (ran.content as never[]).slice(1) } as ModelMessage])
    const blocks = blocksOf([
      { role: 'user', content: 'Hi' },
      ...later,
      ...fromModelMessages([answer('toolu_1'), ends]),
      { role: 'user', content: 'Thanks' },
    ])
    const { messages } = toAISDK(contextOf(blocks), { cache: false })
    expectPaired(messages)
    expect(JSON.stringify(messages)).not.toContain('srvtoolu_1')
  })

  it("leaves out a provider's call that nothing came of: the reply was cut off", () => {
    const blocks = blocksOf([
      { role: 'user', content: 'Hi' },
      ...fromModelMessages([
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            {
              type: 'tool-call',
              toolCallId: 'srvtoolu_1',
              toolName: 'web_search',
              input: {},
              providerExecuted: true,
            },
          ],
        },
      ]),
      { role: 'user', content: 'Well?' },
    ])
    expect(JSON.stringify(toAISDK(contextOf(blocks)).messages)).not.toContain('srvtoolu_1')
  })

  it('shows an answer to a provider only with what it had asked (vercel/ai#16385)', () => {
    const asks: ModelMessage = {
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: 'mcp_1', toolName: 'mail', input: {}, providerExecuted: true },
        { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'mcp_1' },
      ],
    }
    const answers: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'a1', approved: true, providerExecuted: true }],
    }
    const shown = (messages: ModelMessage[]) =>
      toAISDK(contextOf(blocksOf([{ role: 'user', content: 'Hi' }, ...fromModelMessages(messages)]))).messages
    expect(shown([asks, answers]).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(shown([answers]).map(({ role }) => role)).toEqual(['user'])
  })

  it.each(['data:image/png;base64,', 'DATA:image/png;BASE64,'])('sends bytes as bytes: %s', (head) => {
    const content = [{ type: 'media' as const, mediaType: 'image/png', url: `${head}aGk=` }]
    const [message] = toAISDK(contextOf(blocksOf([{ role: 'user', content }]))).messages
    expect(message?.content).toMatchObject([{ type: 'file', data: { type: 'data', data: 'aGk=' } }])
  })

  it('keeps pictures and files of users and tools, and ids of uploaded files', async () => {
    const messages: ModelMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' }, filename: 'a.png' },
          {
            type: 'file',
            mediaType: 'image/png',
            data: { type: 'url', url: new URL('https://example.com/b.png') },
          },
          {
            type: 'file',
            mediaType: 'application/pdf',
            data: { type: 'reference', reference: { openai: 'file-1' } },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'shot', input: {} }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c',
            toolName: 'shot',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'Here:' },
                { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
              ],
            },
          },
        ],
      },
    ]
    const shown = await through(messages)
    expect(shown[0]).toEqual(messages[0])
    const outputs = (list: readonly ModelMessage[]) =>
      list.map(({ content }) => (content as { output?: unknown }[])[0]?.output)
    expect(outputs(shown)).toEqual(outputs(messages))
  })

  it('stays within the budget by an upper bound of what any tokenizer counts', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 30_000, counter: utf8Bound })
    const session = memory.session({ userId: 'ada' })
    for (let n = 0; n < 40; n++)
      await session.append(
        fromModelMessages([
          { role: 'user', content: `Look up ${n}` },
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: `c${n}`, toolName: 'search', input: { n } }],
          },
          {
            ...answer(`c${n}`),
            content: [
              {
                type: 'tool-result',
                toolCallId: `c${n}`,
                toolName: 'search',
                output: { type: 'text', value: 'word '.repeat(900) },
              },
            ],
          } as ModelMessage,
        ]),
      )
    const { messages } = toAISDK(await session.context())
    const texts = JSON.stringify(messages, (key, value) => (key === 'providerOptions' ? undefined : value))
    expect(texts.length).toBeLessThan(30_000 * 1.2)
  })
})
