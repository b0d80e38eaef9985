/** The official SDK, unmodified, against the door. */
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { openAICompatibleModel } from '../../../../../src/edge/models/openai-compatible.ts'
import { type Model, PlimsollError, type ScriptedReply, scriptedModel } from '../../../../../src/index.ts'
import { webHost } from '../../../../../src/platform/web.ts'
import { HEADS } from '../../../../everywhere/pictures.ts'
import { chatDoor, type Door, type DoorOptions, logOf } from '../../../support/chat-client.ts'
import { FAKE_USAGE, fakeOpenAI } from '../../../support/fake-openai.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

async function open(options: DoorOptions): Promise<{ readonly door: Door; readonly client: OpenAI }> {
  const door = await chatDoor(options)
  closing.push(door)
  return { door, client: new OpenAI({ baseURL: door.url, apiKey: 'none', maxRetries: 0 }) }
}

const model = 'plimsoll'
const user = (content: string) => ({ role: 'user' as const, content })
const search = {
  type: 'function' as const,
  function: { name: 'search', parameters: { type: 'object', properties: { query: { type: 'string' } } } },
}
const lookUp = { calls: [{ name: 'search', input: { query: 'Turin' }, id: 'call_turin' }] }
const usage = { inputTokens: 100, cachedInputTokens: 80, outputTokens: 9 }

const scripted = (...replies: ScriptedReply[]): Model => scriptedModel(replies)

describe('the official OpenAI SDK', () => {
  it('is answered, with usage, and the exchange is stored', async () => {
    const { door, client } = await open({ model: scripted({ text: 'It leaves at 9:40.', usage }) })
    const completion = await client.chat.completions.create({
      model,
      messages: [user('When does it leave?')],
    })
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ message: { role: 'assistant', content: 'It leaves at 9:40.' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 9,
        total_tokens: 109,
        prompt_tokens_details: { cached_tokens: 80 },
      },
    })
    expect(completion.created).toBeCloseTo(Date.now() / 1000, -2)
    const [, reply] = await door.session().history()
    expect(completion.id).toBe(`chatcmpl-${reply?.id}`)
    expect(await logOf(door.session())).toEqual([
      'user: When does it leave?',
      'assistant: It leaves at 9:40.',
    ])
  })

  it('streams: the role first, then what is said, the reason, and the usage where it was asked for', async () => {
    const { client } = await open({ model: scripted({ text: 'It leaves at 9:40.', usage }, 'Yes.') })
    const chunks = []
    for await (const chunk of await client.chat.completions.create({
      model,
      messages: [user('When?')],
      stream: true,
      stream_options: { include_usage: true },
    }))
      chunks.push(chunk)
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
    expect(chunks.filter(({ choices }) => choices[0]?.delta.role)).toHaveLength(1)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('It leaves at 9:40.')
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 109 } })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    const plain = []
    const messages = [
      user('When?'),
      { role: 'assistant' as const, content: 'It leaves at 9:40.' },
      user('Sure?'),
    ]
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
      plain.push(chunk)
    expect(plain.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    expect(plain.every((chunk) => !('usage' in chunk))).toBe(true)
  })

  it('runs its own tools in its own loop, streamed, and each result finds its call', async () => {
    const { door, client } = await open({
      model: scripted(
        {
          text: 'Let me look.',
          calls: [
            { name: 'search', input: { query: 'Turin' } },
            { name: 'search', input: { query: 'Rome' } },
          ],
        },
        'Both leave at 9:40.',
      ),
    })
    const asked: string[] = []
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: 'system', content: 'Be kind.' }, user('When do they leave?')],
      tools: [
        {
          type: 'function',
          function: {
            ...search.function,
            description: 'Searches.',
            parse: JSON.parse,
            function: ({ query }: { query: string }) => {
              asked.push(query)
              return `${query}: 9:40`
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('Both leave at 9:40.')
    expect(asked).toEqual(['Turin', 'Rome'])
    expect(await logOf(door.session('Be kind.'))).toEqual([
      'user: When do they leave?',
      'assistant: Let me look. | call_1 search({"query":"Turin"}) | call_2 search({"query":"Rome"})',
      'tool: call_1 = "Turin: 9:40"',
      'tool: call_2 = "Rome: 9:40"',
      'assistant: Both leave at 9:40.',
    ])
  })

  it('gets calls, and may send back the results alone', async () => {
    const { door, client } = await open({ model: scripted({ ...lookUp, usage }, 'At 9:40.') })
    const tools = [search]
    const first = await client.chat.completions.create({ model, messages: [user('When?')], tools })
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ id: 'call_turin', function: { name: 'search', arguments: '{"query":"Turin"}' } }],
      },
    })
    const results = [{ role: 'tool' as const, tool_call_id: 'call_turin', content: '9:40' }]
    const second = await client.chat.completions.create({ model, messages: results, tools })
    expect(second.choices[0]?.message.content).toBe('At 9:40.')
    expect(await logOf(door.session())).toHaveLength(4)
  })

  it('may send only its newest message each time, or all of them', async () => {
    const { door, client } = await open({ model: scripted('A1', 'A2', 'A3', 'A4') })
    const ask = async (...messages: OpenAI.Chat.ChatCompletionMessageParam[]) =>
      (await client.chat.completions.create({ model, messages })).choices[0]
        ?.message as OpenAI.Chat.ChatCompletionMessage
    const one = await ask(user('yes'))
    const two = await ask(user('yes'))
    const history = [user('yes'), one, user('yes'), two]
    const three = await ask(...history, user('yes'))
    await ask(three, user('yes'))
    expect(await logOf(door.session())).toEqual(
      ['A1', 'A2', 'A3', 'A4'].flatMap((reply) => ['user: yes', `assistant: ${reply}`]),
    )
  })

  it('shows the model the whole conversation where the client sends only its newest message', async () => {
    const upstream = await fakeOpenAI()
    closing.push(upstream)
    const { client } = await open({
      model: openAICompatibleModel({ baseUrl: upstream.url, modelId: 'gpt-fake', host: webHost }),
    })
    const messages = (text: string) => [{ role: 'developer' as const, content: 'Be kind.' }, user(text)]
    await client.chat.completions.create({ model, messages: messages('I am Ada.') })
    const { usage } = await client.chat.completions.create({
      model: 'gpt-fake',
      messages: messages('Who am I?'),
    })
    expect(upstream.requests[1]?.messages).toMatchObject([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Reply 1.' },
      { role: 'user', content: 'Who am I?' },
    ])
    expect(upstream.refusals).toEqual([])
    expect(usage).toMatchObject(FAKE_USAGE)
  })

  it('edits an earlier message by sending another history', async () => {
    const { door, client } = await open({ model: scripted('A1', 'A2', 'A3', 'A4', 'B2') })
    const history: OpenAI.Chat.ChatCompletionMessageParam[] = []
    for (const text of ['One?', 'Two?', 'Three?', 'Four?']) {
      history.push(user(text))
      const { choices } = await client.chat.completions.create({ model, messages: history })
      history.push(choices[0]?.message as OpenAI.Chat.ChatCompletionMessage)
    }
    await client.chat.completions.create({ model, messages: [...history.slice(0, 2), user('Two, really?')] })
    expect(await logOf(door.session())).toEqual([
      'user: One?',
      'assistant: A1',
      'user: Two, really?',
      'assistant: B2',
    ])
  })

  it('makes a reply again where its history ends before it', async () => {
    const { door, client } = await open({ model: scripted('A1', 'A2', 'B2') })
    const { choices } = await client.chat.completions.create({ model, messages: [user('One?')] })
    const messages = [user('One?'), choices[0]?.message as OpenAI.Chat.ChatCompletionMessage, user('Two?')]
    await client.chat.completions.create({ model, messages })
    const again = await client.chat.completions.create({ model, messages })
    expect(again.choices[0]?.message.content).toBe('B2')
    expect(await logOf(door.session())).toEqual([
      'user: One?',
      'assistant: A1',
      'user: Two?',
      'assistant: B2',
    ])
  })

  it('brings a conversation along that was had elsewhere, tools and pictures included', async () => {
    const seen = scriptedModel(['A dot.', 'The same dot.'])
    const { door, client } = await open({ model: seen })
    const url = `data:image/png;base64,${btoa(`${HEADS['image/png']}not really a picture`)}`
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
      user('When?'),
      {
        role: 'assistant',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'search', arguments: '{ "query" : "x" }' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '9:40' }] },
      { role: 'assistant', content: 'At 9:40.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And this?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ]
    const { choices } = await client.chat.completions.create({ model, messages })
    const whole = [...messages, choices[0]?.message as OpenAI.Chat.ChatCompletionMessage, user('Sure?')]
    await client.chat.completions.create({ model, messages: whole })
    const log = await door.session().history()
    expect(await logOf(door.session())).toEqual([
      'user: When?',
      'assistant: a search({"query":"x"})',
      'tool: a = "9:40"',
      'assistant: At 9:40.',
      'user: And this? | [media]',
      'assistant: A dot.',
      'user: Sure?',
      'assistant: The same dot.',
    ])
    expect(log.map(({ trust }) => trust).slice(0, 4)).toEqual(['user', 'import', 'tool', 'import'])
    const [picture] = log.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter((part) => part.type === 'media'),
    )
    expect(picture).not.toHaveProperty('url')
    const shown = seen.requests[1]?.blocks.flatMap(({ parts }) => parts).find(({ type }) => type === 'media')
    expect(shown).toMatchObject({ url })
  })

  it('asks again by itself after a failure, and nothing is written twice', async () => {
    const failure = new PlimsollError('ERR_OVERLOADED', 'busy', { retryAfter: 1 })
    const { door } = await open({ model: scripted({ error: failure }, 'A1') })
    const client = new OpenAI({ baseURL: door.url, apiKey: 'none', maxRetries: 2 })
    const { choices } = await client.chat.completions.create({ model, messages: [user('One?')] })
    expect(choices[0]?.message.content).toBe('A1')
    expect(await logOf(door.session())).toEqual(['user: One?', 'assistant: A1'])
  })

  it('is given the stored reply where it did not get the answer, streamed or not', async () => {
    const { door, client } = await open({ model: scripted({ ...lookUp, usage }, 'A2') })
    const lost = await client.chat.completions.create({ model, messages: [user('When?')], tools: [search] })
    let broken = 0
    const retrying = new OpenAI({
      baseURL: door.url,
      apiKey: 'none',
      maxRetries: 1,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        if (broken++ > 0) return response
        await response.text()
        throw new TypeError('fetch failed')
      },
    })
    const results = [{ role: 'tool' as const, tool_call_id: 'call_turin', content: '9:40' }]
    const { choices } = await retrying.chat.completions.create({ model, messages: results, tools: [search] })
    expect(choices[0]?.message.content).toBe('A2')
    expect(await logOf(door.session())).toHaveLength(4)
    const headers = { 'Idempotency-Key': 'k1' }
    const body = { model, messages: [user('Once?')] }
    const { door: other, client: keyed } = await open({ model: scripted({ ...lookUp, usage }, 'never') })
    const first = await keyed.chat.completions.create(body, { headers })
    expect(await keyed.chat.completions.create(body, { headers })).toEqual(first)
    const stream = keyed.chat.completions.stream(
      { ...body, stream_options: { include_usage: true } },
      { headers },
    )
    expect(await stream.finalMessage()).toMatchObject({ tool_calls: lost.choices[0]?.message.tool_calls })
    expect((await stream.finalChatCompletion()).usage).toEqual(first.usage)
    expect(await logOf(other.session())).toHaveLength(2)
  })

  it('learns of a reply that broke off, of which nothing is stored, and may ask again', async () => {
    const { door, client } = await open({
      model: scripted({ text: 'One two', error: new Error('secret') }, 'A1'),
    })
    const stream = await client.chat.completions.create({ model, messages: [user('One?')], stream: true })
    const read = async (): Promise<void> => {
      for await (const _ of stream);
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ code: 'ERR_MODEL', message: expect.not.stringContaining('secret') })
    expect(await logOf(door.session())).toEqual(['user: One?'])
    await client.chat.completions.create({ model, messages: [user('One?')] })
    expect(await logOf(door.session())).toEqual(['user: One?', 'assistant: A1'])
  })

  it('gets the status of a refusal that comes before anything else, also of a stream', async () => {
    const error = new PlimsollError('ERR_RATE_LIMIT', 'too often', { retryAfter: 7 })
    const { client } = await open({ model: scripted({ error }) })
    const asked = client.chat.completions.create({ model, messages: [user('One?')], stream: true })
    const thrown = (await asked.catch((one: unknown) => one)) as InstanceType<typeof OpenAI.RateLimitError>
    expect(thrown).toBeInstanceOf(OpenAI.RateLimitError)
    expect(thrown.headers.get('retry-after')).toBe('7')
    expect(thrown).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded', param: null })
  })

  it('stores the reply before its end is sent, and goes on where the client goes away', async () => {
    const upstream = await fakeOpenAI({ pauseMs: 30, reply: () => ({ text: 'One two three four five.' }) })
    closing.push(upstream)
    upstream.modes.push('slow', 'slow')
    const { door, client } = await open({
      model: openAICompatibleModel({ baseUrl: upstream.url, modelId: 'gpt-fake', host: webHost }),
    })
    let stored: readonly string[] = []
    for await (const chunk of await client.chat.completions.create({
      model,
      messages: [user('Count.')],
      stream: true,
    }))
      if (chunk.choices[0]?.finish_reason) stored = await logOf(door.session())
    expect(stored).toEqual(['user: Count.', 'assistant: One two three four five.'])
    const left = await client.chat.completions.create({ model, messages: [user('Again.')], stream: true })
    for await (const chunk of left) if (chunk.choices[0]?.delta.content) break
    await door.idle()
    expect((await logOf(door.session())).slice(2)).toEqual([
      'user: Again.',
      'assistant: One two three four five.',
    ])
    expect(upstream.left()).toBe(0)
  })

  it('gets the reason why a reply is short, also when it is given again', async () => {
    const { client } = await open({ model: scripted({ text: 'It lea', reason: 'length' }) })
    const body = { model, messages: [user('When?')] }
    const headers = { 'Idempotency-Key': 'k1' }
    for (let time = 0; time < 2; time++)
      expect((await client.chat.completions.create(body, { headers })).choices[0]?.finish_reason).toBe(
        'length',
      )
  })

  it('is streamed a reply that came in one piece, also when it is given again', async () => {
    const whole: Model = {
      id: 'whole',
      async *complete() {
        yield { type: 'finish', message: { role: 'assistant', content: 'At 9:40.' }, reason: 'stop' }
      },
    }
    const { client } = await open({ model: whole })
    const headers = { 'Idempotency-Key': 'k1' }
    for (let time = 0; time < 2; time++) {
      const stream = client.chat.completions.stream({ model, messages: [user('When?')] }, { headers })
      expect(await stream.finalContent()).toBe('At 9:40.')
    }
  })

  it('is refused a model that is not here, and more output than there is room for', async () => {
    const { door, client } = await open({ model: scripted('A1'), settings: { maxOutputTokens: 100 } })
    const messages = [user('When?')]
    await expect(client.chat.completions.create({ model: 'gpt-9', messages })).rejects.toMatchObject({
      status: 400,
      code: 'model_not_found',
      param: 'model',
    })
    await expect(client.chat.completions.create({ model, messages, max_tokens: 101 })).rejects.toMatchObject({
      param: 'max_completion_tokens',
    })
    expect(await logOf(door.session())).toEqual([])
    await client.chat.completions.create({ model, messages, max_tokens: 100 })
  })

  it('gets an error where the model ends without a reply', async () => {
    const strange: Model = {
      id: 'strange',
      async *complete() {
        yield { type: 'finish', message: { role: 'user', content: 'Hi.' }, reason: 'stop' }
      },
    }
    for (const one of [strange, { id: 'silent', async *complete() {} } satisfies Model]) {
      const { door, client } = await open({ model: one })
      const asked = client.chat.completions.create({ model, messages: [user('When?')] })
      await expect(asked).rejects.toMatchObject({ status: 502, code: 'ERR_MODEL' })
      expect(await logOf(door.session())).toEqual(['user: When?'])
    }
  })

  it('gets what was said long ago where the memory recalls', async () => {
    const seen = scriptedModel(
      Array.from({ length: 40 }, () => 'Noted, and there is more to say of it. '.repeat(8)),
    )
    const { client } = await open({ model: seen, policy: { budget: 1_500 }, recall: {} })
    const ask = (text: string) => client.chat.completions.create({ model, messages: [user(text)] })
    await ask('The locker code is zebra-4711.')
    for (let round = 0; round < 20; round++) await ask(`Something else, number ${round}.`)
    await ask('What was the locker code?')
    const tail = seen.requests.at(-1)?.blocks.filter(({ section }) => section === 'tail')
    expect(JSON.stringify(tail)).toContain('zebra-4711')
  })

  it('has its reply beside its question, no matter who spoke in between', async () => {
    const speaking: Model = {
      id: 'speaking',
      async *complete() {
        await door.session('Another door.').append(user('From elsewhere.'))
        await door.session().context()
        yield { type: 'finish', message: { role: 'assistant', content: 'At 9:40.' }, reason: 'stop' }
      },
    }
    const { door, client } = await open({ model: speaking })
    await client.chat.completions.create({ model, messages: [user('When?')] })
    expect(await logOf(door.session())).toEqual([
      'user: When?',
      'assistant: At 9:40.',
      'user: From elsewhere.',
    ])
  })
})
