import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  type AgentEvent,
  type AgentTool,
  type Model,
  mapStore,
  runAgent,
  scriptedModel,
  toAnthropic,
  toOpenAI,
} from '../../../src/index.ts'
import { call, eventsOf, expectLints, open, resultsIn, textIn, tool } from './support.ts'

const add = tool(
  'add',
  (input) => {
    const { a, b } = input as { a: number; b: number }
    return a + b
  },
  {
    description: 'Adds.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  },
)

describe('a run without a memory', () => {
  it('sends byte for byte what a plain loop sends, to both providers', async () => {
    const model = scriptedModel([
      { text: 'Let me add.', calls: [call('add', { a: 1, b: 2 }, 'x'), call('add', { a: 3, b: 4 }, 'y')] },
      { calls: [call('add', { a: 'one' }, 'x')] },
      'Done.',
    ])
    const slow = {
      ...add,
      execute: async (input: unknown) => {
        await wait((input as { a: number }).a === 1 ? 10 : 0)
        return 7
      },
    }
    await runAgent({ input: 'Add.', system: 'You add.', tools: [slow], model })

    const schema = add.inputSchema
    const openai = [
      { role: 'system', content: 'You add.' },
      { role: 'user', content: 'Add.' },
      {
        role: 'assistant',
        content: 'Let me add.',
        tool_calls: [
          { id: 'x', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } },
          { id: 'y', type: 'function', function: { name: 'add', arguments: '{"a":3,"b":4}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'x', content: '7' },
      { role: 'tool', tool_call_id: 'y', content: '7' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'add', arguments: '{"a":"one"}' } }],
      },
    ]
    const sent = model.requests.map((context) => toOpenAI(context))
    const tools = [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: schema } }]
    expect(sent.map((request) => JSON.stringify(request))).toEqual(
      [2, 5, 7].map((length) =>
        JSON.stringify({ tools, messages: patch(openai, sent[2]?.messages).slice(0, length) }),
      ),
    )
    const use = (id: string, input: unknown): object => ({ type: 'tool_use', id, name: 'add', input })
    const result = (id: string): object => ({
      type: 'tool_result',
      tool_use_id: id,
      content: [{ type: 'text', text: '7' }],
    })
    expect(JSON.stringify(toAnthropic(model.requests[1] as never, { cache: false }))).toBe(
      JSON.stringify({
        tools: [{ name: 'add', description: 'Adds.', input_schema: schema }],
        system: [{ type: 'text', text: 'You add.' }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Add.' }] },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Let me add.' },
              use('x', { a: 1, b: 2 }),
              use('y', { a: 3, b: 4 }),
            ],
          },
          { role: 'user', content: [result('x'), result('y')] },
        ],
      }),
    )
  })

  it('begins with its instructions, whatever the messages bring', async () => {
    const model = scriptedModel(['Yes.'])
    await runAgent({
      input: [
        { role: 'system', content: 'Mine.' },
        { role: 'user', content: 'Hello' },
      ],
      system: 'Yours.',
      model,
    })
    expect(toOpenAI(model.requests[0] as never).messages).toEqual([
      { role: 'system', content: 'Yours.' },
      { role: 'system', content: 'Mine.' },
      { role: 'user', content: 'Hello' },
    ])
  })
})

/** The last error's wording is the validator's. */
function patch<Item>(expected: readonly Item[], sent: readonly unknown[] = []): readonly Item[] {
  const last = sent[6] as Item & { content: string }
  expect(last.content).toMatch(/^Error: the arguments of add are invalid, it was not run\. .*\/a: .*number/)
  return [...expected.slice(0, 6), last]
}
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a run with a session', () => {
  it('records input, replies and results, and answers', async () => {
    const session = open()
    const model = scriptedModel([{ calls: [call('add', { a: 2, b: 3 })] }, 'It is 5.'])
    const result = await runAgent({ input: 'Add 2 and 3.', model, tools: [add], session })
    expect(result).toMatchObject({ answer: 'It is 5.', steps: 2, summaries: 0, reason: 'answer' })
    expect((await session.history()).map(({ role, trust }) => [role, trust])).toEqual([
      ['user', 'user'],
      ['assistant', 'assistant'],
      ['tool', 'tool'],
      ['assistant', 'assistant'],
    ])
    expect(await resultsIn(session)).toEqual([['call_1', 5]])
  })

  it('pins its instructions in every request, after those of the memory, and not in the log', async () => {
    for (const own of ['', 'I am set.']) {
      const session = open(mapStore(), { budget: 700, ...(own && { system: own }) })
      const model = scriptedModel([
        ...Array.from({ length: 8 }, () => ({ calls: [call('add', { a: 1, b: 2 })] })),
        'Done.',
      ])
      const heard: string[] = []
      const run = runAgent({
        input: `Add. ${'Carefully. '.repeat(20)}`,
        system: 'Be kind.',
        tools: [add],
        model,
        session,
        onEvent: (event) => void (event.type === 'message' && heard.push(event.message.role)),
      })
      await run
      for (const request of model.requests)
        expect(textIn(request, 'system')).toBe(own ? 'I am set.\n\nBe kind.' : 'Be kind.')
      expect(heard).not.toContain('system')
      expect((await session.history()).map(({ role }) => role)).not.toContain('system')
      await runAgent({ input: 'And?', system: 'Be curt.', model: scriptedModel(['No.']), session })
      const { blocks } = await session.context({ system: 'Be curt.' })
      expect(JSON.stringify(blocks[0])).toContain('Be curt.')
      expect(JSON.stringify(blocks)).not.toContain('Be kind.')
    }
  })

  it('says once what the memory and the run are both given as instructions', async () => {
    const session = open(mapStore(), { system: 'Be kind.' })
    const model = scriptedModel(['Hi.'])
    await runAgent({ input: 'Hello', system: 'Be kind.', model, session })
    expect(textIn(model.requests[0], 'system')).toBe('Be kind.')
  })

  it('keeps what was reported beside what was predicted, and nothing where nothing was', async () => {
    const session = open()
    const model = scriptedModel([
      {
        calls: [call('add', { a: 1, b: 1 })],
        usage: { inputTokens: 100, cachedInputTokens: 30, outputTokens: 9 },
      },
      { calls: [call('add', { a: 1, b: 2 })], usage: { inputTokens: 150, outputTokens: 3 } },
      'Done.',
    ])
    const run = runAgent({ input: 'Add.', model, tools: [add], session })
    const { usage } = await run
    const events = (await eventsOf(run)).filter((event) => event.type === 'usage')
    const used = model.requests.map(({ receipt }) => receipt.used)
    const replies = (await session.history()).filter(({ role }) => role === 'assistant')
    expect(replies[0]?.metadata).toEqual({
      usage: {
        predicted: { input: used[0], cached: 0 },
        reported: { cached: 30, uncached: 70, output: 9 },
        model: model.id,
      },
    })
    expect(replies[2]?.metadata).toBeUndefined()
    const tailless = (context = model.requests[0]): number =>
      (context?.receipt.sections ?? []).reduce(
        (sum, { name, tokens }) => (name === 'tail' ? sum : sum + tokens),
        0,
      )
    expect(events.map(({ predicted }) => predicted)).toEqual([
      { input: used[0], cached: 0 },
      { input: used[1], cached: tailless(model.requests[0]) },
      { input: used[2], cached: tailless(model.requests[1]) },
    ])
    expect(events[0]).toMatchObject({ difference: { input: 100 - (used[0] ?? 0), cached: 30 } })
    expect(events[2]).not.toHaveProperty('reported')
    expect(events[2]).not.toHaveProperty('difference')
    expect(usage.reported).toEqual({ cached: 30, uncached: 220, output: 12 })
    expect(usage.predicted.input).toBe(used.reduce((sum, one) => sum + one))
  })

  it('does not count as cached what a changed head comes before', async () => {
    let step = 0
    const model = scriptedModel([{ calls: [call('add', { a: 1, b: 1 })] }, 'Done.'])
    const session = open()
    const context = session.context.bind(session)
    session.context = async (options) => {
      const built = await context(options)
      return { ...built, head: `head/${++step}` }
    }
    const run = runAgent({ input: 'Add.', model, tools: [add], session })
    const cached = (await eventsOf(run)).flatMap((event) =>
      event.type === 'usage' ? event.predicted.cached : [],
    )
    expect(cached).toEqual([0, 0])
  })

  it('leaves usage out where a reply has no room for it in its metadata', async () => {
    const session = open()
    const model: Model = {
      id: 'wordy',
      async *complete() {
        yield {
          type: 'finish',
          message: { role: 'assistant', content: 'Hi', metadata: { note: 'n'.repeat(4_050) } },
          usage: { inputTokens: 1, outputTokens: 1 },
          reason: 'stop',
        }
      },
    }
    await runAgent({ input: 'Hello', model, session })
    expect(Object.keys((await session.history()).at(-1)?.metadata ?? {})).toEqual(['note'])
  })

  it('ends at its most steps, with all calls answered', async () => {
    const session = open()
    const model = scriptedModel(() => ({ calls: [call('add', { a: 1, b: 1 })] }))
    const result = await runAgent({ input: 'Go', model, tools: [add], session, maxSteps: 3 })
    expect(result).toMatchObject({ reason: 'max-steps', steps: 3 })
    expect(model.requests).toHaveLength(3)
    expectLints(await session.context())
    expect(await resultsIn(session)).toHaveLength(3)
  })

  it('says that a reply was cut short', async () => {
    const model = scriptedModel([{ text: 'Half a', reason: 'length' }])
    const session = open()
    expect(await runAgent({ input: 'Go', model, session })).toMatchObject({
      reason: 'length',
      answer: 'Half a',
    })
    expect((await session.history()).at(-1)?.metadata).toEqual({ finishReason: 'length' })
  })

  it('says so of none whose metadata has no room for it', async () => {
    const full = { pad: 'x'.repeat(4_080) }
    const message = { role: 'assistant', content: 'Half a', metadata: full } as const
    const model: Model = {
      id: 'own',
      async *complete() {
        yield { type: 'finish', message, reason: 'length' }
      },
    }
    const session = open()
    await runAgent({ input: 'Go', model, session })
    expect((await session.history()).at(-1)?.metadata).toEqual(full)
  })

  it('goes on with a run whose input it is given again', async () => {
    const store = mapStore()
    const input = { id: 'mine', role: 'user', content: 'Add.' } as const
    const first = { input, system: 'Be brief.', tools: [add] }
    await runAgent({ ...first, model: scriptedModel(['It is 5.']), session: open(store) })
    const model = scriptedModel([])
    const again = await runAgent({ ...first, model, session: open(store) })
    expect(again).toMatchObject({ answer: 'It is 5.', steps: 0 })
    expect(await open(store).history()).toHaveLength(2)
  })

  it('answers an input that was appended before', async () => {
    const session = open(mapStore())
    const input = { id: 'mine', role: 'user', content: 'Add.' } as const
    await session.append([input])
    const { answer } = await runAgent({ input, model: scriptedModel(['It is 5.']), session })
    expect(answer).toBe('It is 5.')
    expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('keeps its replies in its own round when somebody else says something meanwhile', async () => {
    const store = mapStore()
    const session = open(store)
    const interrupting = tool('interrupt', async () => {
      await open(store).append({ id: 'other', role: 'user', content: 'And me?' })
      return 'done'
    })
    const model = scriptedModel([{ calls: [call('interrupt')] }, { calls: [call('interrupt')] }, 'Done.'])
    await runAgent({ input: 'Go', model, tools: [interrupting], session, maxSteps: 1 })
    expect((await open(store).history()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ])
  })

  it('learns of compactions while it runs, and no longer', async () => {
    const session = open(mapStore(), { compaction: {} })
    let tell: ((event: never) => void) | undefined
    let ended = 0
    vi.spyOn(session.compaction, 'subscribe').mockImplementation((listener) => {
      tell = listener as never
      return () => {
        ended++
      }
    })
    const compact = { type: 'compact', status: 'summarised', reasons: [] } as never
    const model = scriptedModel(() => {
      tell?.(compact)
      tell?.({ ...(compact as object), status: 'refused' } as never)
      return 'Done.'
    })
    const run = runAgent({ input: 'Go', model, session })
    expect((await run).summaries).toBe(1)
    expect((await eventsOf(run)).filter(({ type }) => type === 'compact')).toHaveLength(2)
    expect(ended).toBe(1)
  })
})

describe('tools', () => {
  const outputsOf = async (
    tools: readonly AgentTool[],
    calls: readonly { name: string; input: never; id?: string }[],
    more: Partial<Parameters<typeof runAgent>[0]> = {},
  ): Promise<readonly { output: unknown; status: string }[]> => {
    const session = open()
    const run = runAgent({
      input: 'Go',
      model: scriptedModel([{ calls }, 'Done.']),
      tools,
      session,
      ...more,
    })
    const events = await eventsOf(run)
    expect(await run).toMatchObject({ reason: 'answer', answer: 'Done.' })
    expectLints(await session.context({ tail: 'x' }))
    return events
      .filter((event) => event.type === 'tool-result')
      .toSorted((one, other) => one.call.index - other.call.index)
      .map(({ output, status }) => ({ output, status }))
  }

  it('tells the model where and why its arguments are wrong, and does not run the tool', async () => {
    let ran = 0
    const nested = tool('book', () => ran++, {
      inputSchema: {
        type: 'object',
        properties: { seats: { type: 'array', items: { type: 'integer' } } },
        additionalProperties: false,
      },
    })
    const [seats, more, text] = await outputsOf(
      [nested],
      [call('book', { seats: [1, 'two'] }), call('book', { row: 1 }), call('book', '{"seats":')],
    )
    expect(ran).toBe(0)
    expect(seats).toMatchObject({ status: 'invalid', output: expect.stringMatching(/\/seats\/1.*integer/) })
    expect(more).toMatchObject({ status: 'invalid', output: expect.stringMatching(/row/) })
    expect(text).toMatchObject({ status: 'invalid', output: expect.stringMatching(/string/) })
  })

  it('does not run a tool whose schema turns out to be broken, and leaves the schema as it was', async () => {
    const inputSchema = { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } }
    const before = JSON.stringify(Object.getOwnPropertyDescriptors(inputSchema))
    let ran = 0
    const [result] = await outputsOf([tool('odd', () => ran++, { inputSchema })], [call('odd', { a: 1 })])
    expect(result?.status).toBe('failed')
    expect(ran).toBe(0)
    expect(JSON.stringify(Object.getOwnPropertyDescriptors(inputSchema))).toBe(before)
  })

  it('answers a call of a tool that is not there', async () => {
    const [result] = await outputsOf([add], [call('subtract')])
    expect(result).toEqual({ status: 'unknown', output: 'Error: there is no tool "subtract". Tools: add.' })
  })

  it('turns whatever a tool throws into an error result', async () => {
    const thrown = [
      new RangeError('too far'),
      'a word',
      null,
      {
        get message() {
          throw new Error('no')
        },
      },
      new Error('half \ud83d'),
    ]
    const tools = thrown.map((error, index) =>
      tool(`t${index}`, () => {
        throw error
      }),
    )
    const results = await outputsOf(
      tools,
      tools.map(({ name }) => call(name)),
    )
    expect(results.map(({ output }) => output)).toEqual([
      'RangeError: too far',
      'Error: a word',
      'Error: null',
      'Error: it cannot be described',
      'Error: half \ufffd',
    ])
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['failed']))
  })

  it('takes nothing as null, and refuses what is not JSON or too large', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
    const outputs = [undefined, 10n, cycle, () => 1, deep(40), 'x'.repeat(9 * 2 ** 20), new Date(0)]
    const tools = outputs.map((output, index) => tool(`t${index}`, () => output))
    const results = await outputsOf(
      tools,
      tools.map(({ name }) => call(name)),
    )
    expect(results.map(({ status }) => status)).toEqual([
      'ok',
      'failed',
      'failed',
      'failed',
      'failed',
      'failed',
      'ok',
    ])
    expect(results[0]?.output).toBe(null)
    expect(results[5]?.output).toMatch(/more than/)
    expect(results[6]?.output).toBe('1970-01-01T00:00:00.000Z')
  })

  it('takes a schema of zod, tells the model of it, and hands on what zod made of the arguments', async () => {
    const inputSchema = z.object({
      when: z.string().transform((text) => new Date(text)),
      seats: z.number().default(1),
    })
    const seen: unknown[] = []
    const session = open()
    const model = scriptedModel([
      { calls: [call('book', { when: '2026-01-02' }), call('book', { when: 5 })] },
      'Done.',
    ])
    const book: AgentTool<z.output<typeof inputSchema>> = {
      name: 'book',
      inputSchema,
      execute: ({ when, seats }) => {
        seen.push([when.getTime(), seats])
      },
    }
    await runAgent({ input: 'Book', model, tools: [book], session })
    expect(seen).toEqual([[Date.UTC(2026, 0, 2), 1]])
    expect(model.requests[0]?.tools?.[0]?.inputSchema).toMatchObject({
      type: 'object',
      properties: { when: { type: 'string' }, seats: { type: 'number' } },
      required: ['when'],
    })
    expect((await resultsIn(session)).toSorted().map(([, output]) => output)).toEqual([
      null,
      expect.stringMatching(/^Error: the arguments of book are invalid.*at \/when: /),
    ])
  })

  it('needs a JSON Schema of a standard schema that cannot tell its own', async () => {
    const inputSchema = {
      '~standard': { version: 1, vendor: 'mine', validate: (value: unknown) => ({ value }) },
    } as const
    const mute = tool('mute', () => 1, { inputSchema })
    const model = scriptedModel(['Done.'])
    const session = open()
    await expect(runAgent({ input: 'Go', model, tools: [mute], session })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'tools[0].inputSchema',
    })
    expect(await session.history()).toEqual([])
    await runAgent({ input: 'Go', model, tools: [{ ...mute, jsonSchema: { type: 'object' } }], session })
    expect(model.requests[0]?.tools?.[0]?.inputSchema).toEqual({ type: 'object' })
  })

  it('runs the calls of a reply at once, or as many as it may', async () => {
    for (const [parallel, expected] of [
      [true, 4],
      [2, 2],
      [false, 1],
    ] as const) {
      let now = 0
      let most = 0
      const busy = tool('busy', async () => {
        most = Math.max(most, ++now)
        await wait(2)
        now--
      })
      await outputsOf([busy], [call('busy'), call('busy'), call('busy'), call('busy')], { parallel })
      expect(most).toBe(expected)
    }
  })

  it('records each result as it comes, and matches calls of one id by their order', async () => {
    const session = open()
    const delays = tool('wait', async (input) => {
      const { ms } = input as { ms: number }
      await wait(ms)
      return ms
    })
    const model = scriptedModel([
      { calls: [call('wait', { ms: 20 }, 'a'), call('wait', { ms: 1 }, 'a'), call('wait', { ms: 5 }, 'b')] },
      'Done.',
    ])
    await runAgent({ input: 'Go', model, tools: [delays], session })
    expect(await resultsIn(session)).toEqual([
      ['b', 5],
      ['a', 20],
      ['a', 1],
    ])
  })

  it('labels results as their tool says', async () => {
    const session = open()
    const model = scriptedModel([{ calls: [call('search')] }, 'Done.'])
    await runAgent({ input: 'Go', model, tools: [tool('search', () => 'page', { trust: 'web' })], session })
    expect((await session.history()).find(({ role }) => role === 'tool')?.trust).toBe('web')
  })

  it('gives a tool that takes too long an end, and the model an error', async () => {
    let aborted: unknown
    const slow = tool(
      'slow',
      (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (aborted = signal.reason))),
      { timeoutMs: 5 },
    )
    const [own] = await outputsOf([slow], [call('slow')], { timeouts: { tool: 60_000 } })
    expect(own).toMatchObject({
      status: 'timeout',
      output: expect.stringMatching(/slow did not end within 5 ms/),
    })
    expect(aborted).toMatchObject({ code: 'ERR_TIMEOUT', limit: 5 })
    const [shared] = await outputsOf([tool('slow', () => new Promise(() => {}))], [call('slow')], {
      timeouts: { tool: 5 },
    })
    expect(shared?.status).toBe('timeout')
  })
})

describe('what can go wrong', () => {
  it('rejects with what the model threw, after an error event, and leaves a valid conversation', async () => {
    const session = open()
    const error = new Error('overloaded')
    const model = scriptedModel([{ calls: [call('add', { a: 1, b: 1 })] }, { text: 'Half', error }])
    const run = runAgent({ input: 'Go', model, tools: [add], session })
    await expect(run).rejects.toBe(error)
    expect((await eventsOf(run)).at(-1)).toEqual({ type: 'error', error })
    expect((await session.history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expectLints(await session.context())
  })

  it('rejects when a model call or the run takes too long', async () => {
    const hanging = scriptedModel(() => new Promise<string>(() => {}))
    for (const timeouts of [{ model: 5 }, { run: 5 }])
      await expect(runAgent({ input: 'Go', model: hanging, timeouts })).rejects.toMatchObject({
        code: 'ERR_TIMEOUT',
        limit: 5,
      })
  })

  it('rejects a model that ends without a reply', async () => {
    const model: Model = { id: 'mute', async *complete() {} }
    await expect(runAgent({ input: 'Go', model })).rejects.toMatchObject({ argument: 'model' })
  })

  it('rejects with what the memory says of its budget', async () => {
    const session = open(mapStore(), { budget: 60 })
    const input = 'word '.repeat(500)
    await expect(runAgent({ input, model: scriptedModel(['x']), session })).rejects.toMatchObject({
      code: 'ERR_BUDGET_TOO_SMALL',
    })
  })

  it('rejects arguments that cannot be, before anything is written', async () => {
    const session = open()
    const model = scriptedModel([])
    const refused: readonly (readonly [string, object])[] = [
      ['model', { model: {} }],
      ['input', { input: undefined, session: undefined }],
      ['input', { input: undefined }],
      ['resume', { resume: true, session: undefined }],
      ['resume.messages', { resume: { messages: 0 } }],
      ['maxSteps', { maxSteps: 0 }],
      ['parallel', { parallel: 0 }],
      ['timeouts.hook', { timeouts: { hook: 0 } }],
      ['system', { system: 5 }],
      ['tools[0]', { tools: [null] }],
      ['tools[0].execute', { tools: [{ ...add, execute: 1 }] }],
      ['tools[0].trust', { tools: [{ ...add, trust: 'user' }] }],
      ['tools[0].inputSchema', { tools: [{ ...add, inputSchema: 'x' }] }],
      ['tools[1].name', { tools: [add, add] }],
      ['middleware[0].name', { middleware: [{ name: 'a b', order: 1, kind: 'guard', start: () => ({}) }] }],
    ]
    for (const [argument, options] of refused)
      await expect(runAgent({ input: 'Go', model, session, ...options })).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument,
      })
    expect(await session.history()).toEqual([])
  })
})

describe('events', () => {
  it('are the same for a listener, an early and a late iterator', async () => {
    const heard: AgentEvent[] = []
    const model = scriptedModel([
      { text: 'Let me see.', reasoning: 'Hm', calls: [call('add', { a: 1, b: 2 })] },
      'It is 3.',
    ])
    const run = runAgent({
      input: 'Add',
      model,
      tools: [add],
      session: open(),
      onEvent: (event) => void heard.push(event),
    })
    const at = await eventsOf(run)
    await run
    expect(await eventsOf(run)).toEqual(at)
    expect(heard).toEqual(at)
    expect(at.map(({ type }) => type)).toEqual([
      'run-start',
      'message',
      'step-start',
      'context',
      'reasoning',
      'text',
      'text',
      'text',
      'message',
      'usage',
      'tool-call',
      'tool-start',
      'message',
      'tool-result',
      'step-start',
      'context',
      'text',
      'text',
      'text',
      'message',
      'usage',
      'finish',
    ])
  })

  it('go on when nobody stays to hear them, and a failed run that is only iterated is no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', note)
    for await (const event of runAgent({ input: 'Go', model: scriptedModel([]) }))
      if (event.type === 'run-start') break
    await eventsOf(runAgent({ input: 'Go', model: scriptedModel([]) }))
    runAgent({ input: 'Go', model: scriptedModel([]) })
    await wait(5)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('stop nothing when the listener fails, which is reported once', async () => {
    for (const onEvent of [
      () => {
        throw new Error('no')
      },
      () => Promise.reject(new Error('no')),
    ]) {
      const run = runAgent({ input: 'Go', model: scriptedModel(['Done.']), onEvent })
      expect((await run).answer).toBe('Done.')
      const failures = (await eventsOf(run)).filter(({ type }) => type === 'middleware-failure')
      expect(failures).toHaveLength(1)
      expect(failures[0]).toMatchObject({ by: 'onEvent' })
    }
  })
})
