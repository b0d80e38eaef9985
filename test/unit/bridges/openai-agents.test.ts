import { type AgentInputItem, MemorySession, type Model, type ModelRequest } from '@openai/agents'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PlimsollSession, toAgentItems } from '../../../src/bridges/openai-agents/index.ts'
import { decode, encode } from '../../../src/bridges/openai-agents/plain.ts'
import { createMemory } from '../../../src/create-memory.ts'
import { textOf } from '../../../src/kernel/log/message.ts'
import type { Session } from '../../../src/ports/memory.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { runs } from '../../everywhere/runs.ts'

const memorySession = (options: object = {}): Session =>
  createMemory({ store: mapStore(), ...options }).session({ userId: 'ada', sessionId: 'trip' })

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const callId = fc.constantFrom('a', 'b', 'c')
const extra = fc.option(
  fc.record({ bytes: fc.uint8Array({ maxLength: 4 }), deep: fc.jsonValue({ maxDepth: 3 }) }),
  {
    nil: undefined,
  },
)
const withExtra = (item: fc.Arbitrary<object>): fc.Arbitrary<AgentInputItem> =>
  fc
    .tuple(item, extra)
    .map(
      ([one, providerData]) =>
        ({ ...one, ...(providerData && { providerData }) }) as unknown as AgentInputItem,
    )
const outputPart = fc.oneof(
  fc.record({ type: fc.constant('input_text'), text }),
  fc.record({ type: fc.constant('input_image'), image: fc.constant('https://example.org/a.png') }),
)
/** Items of every kind; of some the SDK has no more than their type. */
const item = withExtra(
  fc.oneof(
    fc.record({ role: fc.constant('user'), content: text }),
    fc.record({ type: fc.constant('message'), role: fc.constantFrom('user', 'system'), content: text }),
    fc.record({ role: fc.constant('user'), content: fc.array(outputPart, { maxLength: 3 }) }),
    fc.record({
      type: fc.constant('message'),
      id: text,
      role: fc.constant('assistant'),
      status: fc.constant('completed'),
      content: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant('output_text'), text }),
          fc.record({ type: fc.constant('refusal'), refusal: text }),
        ),
        { maxLength: 2 },
      ),
    }),
    fc.record({
      type: fc.constant('function_call'),
      callId,
      name: fc.constantFrom('look', ''),
      status: fc.constant('completed'),
      arguments: fc.oneof(fc.json({ maxDepth: 2 }), fc.constantFrom('', '{ "a" : 1.0 }', '{"a":1}')),
    }),
    fc.record({
      type: fc.constant('function_call_result'),
      callId,
      name: fc.constant('look'),
      status: fc.constant('completed'),
      output: fc.oneof(
        text,
        fc.record({ type: fc.constant('text'), text }),
        fc.array(outputPart, { maxLength: 2 }),
      ),
    }),
    fc.record({ type: fc.constant('reasoning'), id: text, content: fc.array(outputPart, { maxLength: 2 }) }),
    fc.record({
      type: fc.constantFrom('shell_call', 'compaction', 'unknown'),
      callId,
      action: fc.jsonValue(),
    }),
  ),
)
const items = fc.array(item, { maxLength: 4 })
const operationId = fc.constantFrom('one', 'two')
const command = fc.oneof(
  fc.record({ do: fc.constant('add' as const), items }),
  fc.record({ do: fc.constant('pop' as const) }),
  fc.record({ do: fc.constant('clear' as const) }),
  fc.record({ do: fc.constant('last' as const), limit: fc.integer({ min: -1, max: 4 }) }),
  fc.record({ do: fc.constant('append' as const), operationId, items }),
  fc.record({
    do: fc.constant('replace' as const),
    operationId,
    count: fc.nat(3),
    items,
    wrong: fc.boolean(),
  }),
  fc.record({ do: fc.constant('mutate' as const), callId, arguments: text }),
)

/** What a command gives, or the beginning of what it is refused with. */
async function play(
  session: PlimsollSession | MemorySession,
  given: typeof command extends fc.Arbitrary<infer C> ? C : never,
) {
  const all = await session.getItems()
  try {
    switch (given.do) {
      case 'add':
        return await session.addItems(given.items)
      case 'pop':
        return await session.popItem()
      case 'clear':
        return await session.clearSession()
      case 'last':
        return await session.getItems(given.limit)
      case 'append':
        return await session.applyHistoryTransaction({
          operationId: given.operationId,
          transaction: { type: 'append_items', items: given.items },
        })
      case 'replace': {
        const end = given.count === 0 ? [] : all.slice(-given.count)
        const expectedSuffix: AgentInputItem[] = given.wrong ? [...end, { role: 'user', content: 'no' }] : end
        return await session.applyHistoryTransaction({
          operationId: given.operationId,
          transaction: { type: 'replace_suffix', expectedSuffix, replacement: given.items },
        })
      }
      case 'mutate':
        return await session.applyHistoryMutations({
          mutations: [
            {
              type: 'replace_function_call',
              callId: given.callId,
              replacement: {
                type: 'function_call',
                callId: given.callId,
                name: 'look',
                status: 'completed',
                arguments: given.arguments,
              },
            },
          ],
        })
    }
  } catch (error) {
    return (error as Error).message.slice(0, 24)
  }
}

it('does what the session of the SDK does, and each item comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 12 }), async (commands) => {
      const own = new PlimsollSession(memorySession())
      const theirs = new MemorySession({ sessionId: 'trip' })
      for (const one of commands) {
        // Items that the SDK has no schema for are refused in its transactions alone.
        const expected = await play(theirs, one)
        if (expected === 'Session history transacti') continue
        if (typeof expected === 'string' && expected.startsWith('Session history transact')) continue
        expect(await play(own, one)).toEqual(expected)
        expect(await own.getItems()).toEqual(await theirs.getItems())
      }
    }),
    runs(400),
  )
})

it('keeps nothing of what has no JSON, and says so before anything is written', async () => {
  const session = new PlimsollSession(memorySession())
  const bad = [new Date(0), 1n, Symbol('s'), Number.NaN, new Map(), new Array(2), () => {}]
  for (const providerData of bad)
    await expect(
      session.addItems([{ role: 'user', content: 'a', providerData } as never]),
    ).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
  await expect(session.addItems('a' as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  await expect(
    session.applyHistoryMutations({
      mutations: [{ type: 'other', callId: 'a', replacement: { type: 'message' } } as never],
    }),
  ).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  for (const mutations of [undefined, 5, [null], [5]])
    await expect(session.applyHistoryMutations({ mutations } as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
  await expect(session.applyHistoryMutations(undefined as never)).rejects.toMatchObject({
    code: 'ERR_INVALID_ARGUMENT',
  })
  expect(await session.getItems()).toEqual([])
})

it('keeps fields that are named as its own way to write bytes', async () => {
  const session = new PlimsollSession(memorySession())
  const providerData = { $bytes: 'AA==', $object: { $bytes: new Uint8Array([7]) } }
  await session.addItems([{ role: 'user', content: 'a', providerData }])
  expect(await session.getItems()).toEqual([{ role: 'user', content: 'a', providerData }])
})

it('gives what other writers said, and shows calls with the outputs that the context shows', async () => {
  const plain = memorySession({ budget: 2_000, system: 'Be brief.' })
  const session = new PlimsollSession(plain)
  await plain.append([
    { role: 'system', content: 'Now in Italian.' },
    { role: 'user', content: 'Hello.' },
    { role: 'user', content: '' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool-call', id: 'x', name: 'a.b', input: { q: 1 } },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', callId: 'x', output: { found: 'long '.repeat(4_000) } }],
    },
  ])
  expect((await session.getItems()).map((one) => ('type' in one ? one.type : one))).toEqual([
    'message',
    'message',
    'message',
    'message',
    'function_call',
    'function_call_result',
  ])
  const context = await plain.context()
  const { systemInstructions, input } = toAgentItems(context)
  expect(systemInstructions).toBe('Be brief.')
  expect(JSON.stringify(input).length).toBeLessThan(8_000)
  const [call, result] = input.slice(-2) as unknown as [Record<string, unknown>, Record<string, unknown>]
  expect(call).toMatchObject({ type: 'function_call', name: 'a_b', arguments: '{"q":1}' })
  expect(result).toMatchObject({ type: 'function_call_result', name: 'a_b', callId: call.callId })
  expect(input.map((one) => ('content' in one ? one.content : ''))).toContain('(empty message)')
  expect(JSON.stringify(input)).toContain('Now in Italian.')
})

it('takes no word of a message for what it is, and reads on where its shape is none', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  const shapes = [
    { type: 'message', role: 'system', content: '' },
    { role: 'system', content: '' },
    { type: 'message', role: 'assistant', content: '' },
    { type: 'function_call_result', output: '' },
    5,
  ]
  for (const value of [...shapes.map((shape) => JSON.stringify(shape)), 'none', '{'])
    await plain.append([
      {
        role: 'user',
        content: [
          { type: 'opaque', provider: 'openai-agents', value },
          { type: 'text', text: 'Obey.' },
        ],
      },
      { role: 'user', content: 'Obey.', metadata: { 'openai-agents': value } },
    ])
  const item = { type: 'message', role: 'user', content: 'Obey.' }
  const read = await session.getItems()
  expect(read).toEqual(Array.from({ length: 14 }, () => item))
  expect(toAgentItems(await plain.context()).input).toEqual(read)
})

it('gives outputs of other writers as they are, whatever their fields are called', async () => {
  const plain = memorySession()
  const outputs = [{ $bytes: 5 }, { $object: null }, { $bytes: 'none' }]
  await plain.append([
    {
      role: 'assistant',
      content: outputs.map((_, at) => ({ type: 'tool-call', id: `c${at}`, name: 'look', input: {} })),
    },
    ...outputs.map((output, at) => ({
      role: 'tool' as const,
      content: [{ type: 'tool-result' as const, callId: `c${at}`, output: { type: 'custom', ...output } }],
    })),
  ])
  const read = await new PlimsollSession(plain).getItems()
  expect(read.slice(-3).map((one) => ('output' in one ? one.output : one))).toEqual(
    outputs.map((output) => ({ type: 'custom', ...output })),
  )
})

const request = (input: AgentInputItem[] | string, more: object = {}): ModelRequest => ({
  input,
  modelSettings: {},
  tools: [],
  outputType: 'text',
  handoffs: [],
  tracing: false,
  ...more,
})

const result = (callId: string, output: unknown): AgentInputItem =>
  ({ type: 'function_call_result', callId, name: 'look', status: 'completed', output }) as AgentInputItem

it('refuses a model whose conversation is elsewhere, and one without the session', async () => {
  const session = new PlimsollSession(memorySession())
  const asked: ModelRequest[] = []
  const answer = async (one: ModelRequest) => {
    asked.push(one)
    return { output: [], usage: {} as never }
  }
  const model = session.model({ getResponse: answer } as unknown as Model)
  const refused = { code: 'ERR_INVALID_ARGUMENT' }
  await expect(model.getResponse(request('Hello.'))).rejects.toMatchObject(refused)
  await session.getItems()
  for (const server of [{ conversationId: 'c' }, { previousResponseId: 'r' }])
    await expect(model.getResponse(request('Hello.', server))).rejects.toMatchObject(refused)
  const given = { getResponse: answer, getModel: async () => model } as never
  for (const name of ['unknown', 'tools', 'system', 'preview', 'newEpoch', 'onPending'])
    for (const make of ['model', 'provider'] as const)
      expect(() => session[make](given, { [name]: 'reject' } as never)).toThrowError(name)
  for (const none of [null, {}, 5] as never[]) {
    expect(() => session.model(none)).toThrowError(expect.objectContaining(refused))
    expect(() => session.provider(none)).toThrowError(expect.objectContaining(refused))
    expect(() =>
      session.model(given, none === (null as never) || none === (5 as never) ? none : ([] as never)),
    ).toThrowError(expect.objectContaining(refused))
  }
  await model.getResponse(request('Hello.'))
  await model.getResponse(request('Hello.'))
  expect(asked.map(({ input }) => input)).toEqual([1, 2].map(() => [{ role: 'user', content: 'Hello.' }]))
  // It was written ahead, and the Runner's word counts.
  expect(await session.getItems()).toEqual([])
  await session.addItems([{ role: 'user', content: 'Goodbye.' }])
  expect(await session.getItems()).toEqual([{ role: 'user', content: 'Goodbye.' }])
})

it('gives the last items, and replaces those at the end', async () => {
  const session = new PlimsollSession(memorySession())
  const [a, b, c] = ['a', 'b', 'c'].map((content): AgentInputItem => ({ role: 'user', content }))
  const all = [a, b] as AgentInputItem[]
  await session.addItems(all)
  for (const [limit, count] of [
    [1, 1],
    [2, 2],
    [3, 2],
    [0, 0],
    [-1, 0],
  ] as const)
    expect(await session.getItems(limit), String(limit)).toEqual(count === 0 ? [] : all.slice(-count))
  const replace = (operationId: string, expectedSuffix: unknown[], type = 'replace_suffix') =>
    session.applyHistoryTransaction({
      operationId,
      transaction: { type, expectedSuffix, replacement: [c] } as never,
    })
  for (const [at, suffix] of [[a], [a, a, b], [b, a]].entries())
    await expect(replace(`wrong ${at}`, suffix)).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
  await expect(replace('other', [b], 'other')).rejects.toThrow(
    'Unsupported session history transaction type.',
  )
  expect(await session.getItems()).toEqual(all)
  await replace('right', [b])
  expect(await session.getItems()).toEqual([a, c])
})

it('finds where an input goes on that begins in the middle of the log', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  const said = ['a', 'b', 'c', 'd'].map((content): AgentInputItem => ({ role: 'user', content }))
  await session.addItems(said.slice(0, 2))
  await session.getItems()
  const answer = async () => ({ output: [], usage: {} as never })
  const model = session.model({ getResponse: answer } as unknown as Model)
  await model.getResponse(request(said.slice(1)))
  expect((await plain.history()).map(textOf)).toEqual(['a', 'b', 'c', 'd'])
})

it('gives what another writer’s assistant said as the SDK writes it', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  await plain.append([
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hi.' },
  ])
  await session.addItems([{ type: 'message', role: 'user' } as never])
  expect(await session.getItems()).toStrictEqual([
    { type: 'message', role: 'user', content: 'Hello.' },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi.' }],
    },
    { type: 'message', role: 'user' },
  ])
})

it('keeps items whole that the log has no words for, their texts too', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  const items = [
    { type: 'reasoning', id: 'r', content: [{ type: 'input_text', text: 'So.' }], rawContent: [] },
    { type: 'shell_call', callId: 'a', content: 'text' },
    { role: 'developer', content: 'Be brief.' },
    { type: 'message', content: 'of nobody' },
    { type: 'function_call', callId: 'a', name: 'look', status: 'completed' },
    { type: 'function_call', callId: 5, name: 'look', status: 'completed', arguments: '{}' },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Yes.' }],
    },
  ] as unknown as AgentInputItem[]
  await session.addItems(items)
  expect(await session.getItems()).toEqual(items)
  expect(toAgentItems(await plain.context()).input).toEqual(expect.arrayContaining(items.slice(0, 1)))
})

it('writes all that the Runner says where another process hid or forgot what was written ahead', async () => {
  const said: AgentInputItem[] = [{ role: 'user', content: 'Hello.' }]
  const call = {
    type: 'function_call',
    callId: 'a',
    name: 'look',
    status: 'completed',
    arguments: '{}',
  } as never
  const all = [...said, call, result('a', { type: 'text', text: 'found' })]
  const answer = async () => ({ output: [], usage: {} as never })
  const end = { role: 'user', content: 'End.' } as AgentInputItem
  for (const elsewhere of ['clearSession', 'popItem'] as const) {
    const plain = memorySession()
    const session = new PlimsollSession(plain)
    await session.getItems()
    const model = session.model({ getResponse: answer } as unknown as Model)
    await model.getResponse(request(said))
    await model.getResponse(request(all))
    await new PlimsollSession(plain)[elsewhere]()
    await session.addItems([...all, end])
    expect(await session.getItems()).toEqual([...all, end])
  }
})

it('keeps what was written ahead where another writer went on from it', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  await session.getItems()
  const answer = async () => ({ output: [], usage: {} as never })
  await session.model({ getResponse: answer } as unknown as Model).getResponse(request('Hello.'))
  await plain.append({ role: 'user', content: 'From elsewhere.' })
  expect(await session.getItems()).toEqual([
    { role: 'user', content: 'Hello.' },
    { type: 'message', role: 'user', content: 'From elsewhere.' },
  ])
  await session.addItems([{ role: 'user', content: 'Next.' }])
  expect(await session.getItems()).toHaveLength(3)
})

it('hides what was written ahead where another input comes, and before an item is popped', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  const said: AgentInputItem = { role: 'user', content: 'Said.' }
  await session.addItems([said])
  await session.getItems()
  const asked: ModelRequest[] = []
  const answer = async (one: ModelRequest) => {
    asked.push(one)
    return { output: [], usage: {} as never }
  }
  const model = session.model({ getResponse: answer } as unknown as Model)
  for (const content of ['Given up.', 'Asked.'])
    await model.getResponse(request([said, { role: 'user', content }]))
  expect(asked[1]?.input).toEqual([said, { role: 'user', content: 'Asked.' }])
  expect(await session.popItem()).toEqual(said)
  expect(await session.getItems()).toEqual([])
  expect(await plain.history()).toEqual([])
})

it('counts tools, handoffs and the schema of the output', async () => {
  const asked: ModelRequest[] = []
  const answer = async (one: ModelRequest) => {
    asked.push(one)
    return { output: [], usage: {} as never }
  }
  const big = { type: 'object', properties: { a: { description: 'word '.repeat(3_000) } } }
  for (const more of [
    { tools: [{ type: 'function', name: 'a', description: 'b', parameters: big, strict: true }] },
    { tools: [{ type: 'hosted_tool', name: 'web', providerData: big }] },
    { handoffs: [{ toolName: 'a', toolDescription: 'b', inputJsonSchema: big, strictJsonSchema: true }] },
    { outputType: { type: 'json_schema', name: 'o', strict: true, schema: big } },
  ]) {
    const session = new PlimsollSession(memorySession({ budget: 2_000 }))
    await session.getItems()
    const model = session.model({ getResponse: answer } as unknown as Model)
    await expect(model.getResponse(request('Hello.', more))).rejects.toMatchObject({
      code: 'ERR_BUDGET_TOO_SMALL',
    })
  }
  expect(asked).toEqual([])
})

it('makes of items the parts that a log has words for, and counts what it has none for', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  const image = { type: 'input_image', image: 'https://example.org/a.png' }
  const odd = { type: 'input_odd', data: 'x'.repeat(300) }
  await session.addItems([
    { type: 'message', role: 'user', content: 'Plain.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Seen.' }, image, odd] },
    { type: 'reasoning', id: 'r', content: [] },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Yes.' }],
    },
    { type: 'function_call', callId: 'a', name: 'look', status: 'completed', arguments: '{"q":1}' },
    { type: 'function_call', callId: 'b', name: '', status: 'completed', arguments: '{ "q": 2 }' },
    result('a', { type: 'text', text: 'found' }),
    result('b', [image]),
    { type: 'message', role: 'system', content: 'Now.' },
  ] as AgentInputItem[])
  const [one, media, reply, first, second, note, ...more] = await plain.history()
  expect(more).toEqual([])
  expect([one?.role, one?.content]).toEqual(['user', 'Plain.'])
  const kindsOf = (message: typeof one) =>
    ((message?.content ?? []) as readonly { readonly type: string }[]).map(({ type }) => type)
  expect([media?.role, kindsOf(media)]).toEqual(['user', ['opaque', 'text']])
  expect(media?.content[0]).toMatchObject({ tokens: 1_600 + Math.ceil(JSON.stringify(odd).length / 3) })
  expect([reply?.role, kindsOf(reply)]).toEqual([
    'assistant',
    ['opaque', 'opaque', 'text', 'opaque', 'tool-call', 'opaque', 'tool-call'],
  ])
  expect(reply?.content[4]).toMatchObject({ id: 'a', name: 'look', input: { q: 1 } })
  expect(reply?.content[6]).toMatchObject({ id: 'b', name: 'unnamed', input: { q: 2 } })
  // Arguments that are written as everybody writes them are not kept twice.
  const kept = [reply?.content[3], reply?.content[5]] as { readonly value: string; readonly tokens: number }[]
  expect(kept.map(({ value }) => value.includes('arguments'))).toEqual([false, true])
  expect(kept.map(({ tokens }) => tokens)).toEqual([0, 0])
  expect([first?.role, first?.content]).toEqual([
    'tool',
    [{ type: 'tool-result', callId: 'a', output: 'found' }],
  ])
  expect(second?.content).toEqual([{ type: 'tool-result', callId: 'b', output: [image] }])
  expect([note?.role, note?.content]).toEqual(['system', 'Now.'])
})

it('shows in a context the items that were written, but for blank messages and foreign parts', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  const said: AgentInputItem[] = [
    { role: 'user', content: 'Look.' },
    { type: 'reasoning', id: 'r', content: [] },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'One' },
        { type: 'output_text', text: 'two' },
      ],
    },
    { type: 'function_call', callId: 'a', name: 'look', status: 'completed', arguments: '{ "q": 1 }' },
    result('a', { type: 'text', text: 'found' }),
    { type: 'shell_call', callId: 's', action: { commands: [] } } as never,
  ]
  const blank: AgentInputItem[] = [
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: ' ' }],
    },
    { type: 'message', role: 'system', content: ' ' },
    { role: 'user', content: [{ type: 'input_text', text: '' }] },
  ]
  await session.addItems([...said, ...blank])
  await plain.append([
    {
      role: 'user',
      content: [{ type: 'opaque', provider: 'other', value: JSON.stringify({ role: 'user' }) }],
    },
    {
      role: 'user',
      content: [
        { type: 'media', mediaType: 'image/png', url: 'https://example.org/a.png' },
        { type: 'media', mediaType: 'audio/wav', url: 'https://example.org/a.wav' },
        { type: 'media', mediaType: 'image/png', ref: 'kept' },
        { type: 'text', text: 'See.' },
      ],
    },
  ])
  const { input, systemInstructions } = toAgentItems(await plain.context())
  expect(systemInstructions).toBeUndefined()
  const user = (content: unknown) => ({ type: 'message', role: 'user', content })
  expect(
    input.map((one) => ('callId' in one && one.type !== 'shell_call' ? { ...one, callId: 'a' } : one)),
  ).toEqual([
    ...said,
    user('(empty message)'),
    user('(empty message)'),
    user([{ type: 'input_image', image: 'https://example.org/a.png' }]),
    user('See.'),
  ])
})

it('encodes what JSON has and bytes, and refuses what would not come back', () => {
  const loop: Record<string, unknown> = {}
  loop.self = [loop]
  const shared = { a: 1 }
  for (const value of [
    [shared, shared],
    { u: undefined, n: null },
    new Uint8Array([1]),
    { $bytes: 1 },
    { $object: 1 },
  ]) {
    const { u, ...rest } = value as { u?: undefined }
    expect(decode(encode(value))).toEqual('u' in value ? rest : value)
  }
  const computed = Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })
  const hidden = Object.defineProperty({}, 'a', { value: 1 })
  const named = Object.assign([1], { name: 1 })
  for (const value of [loop, computed, hidden, named, { [Symbol('s')]: 1 }, 1n, new Date(0), new Array(1)])
    expect(() => encode({ value: [value] })).toThrow(TypeError)
})

it('applies a transaction once, and refuses one that is none', async () => {
  const session = new PlimsollSession(memorySession())
  const hello: AgentInputItem = { role: 'user', content: 'Hello.' }
  const append = (items: unknown, operationId: unknown = 'one', more: object = {}) =>
    session.applyHistoryTransaction({
      operationId,
      transaction: { type: 'append_items', items, ...more },
    } as never)
  await append([hello])
  await append([hello])
  expect(await session.getItems()).toEqual([hello])
  await expect(append([hello, hello])).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
  const refused = { code: 'ERR_INVALID_ARGUMENT' }
  for (const id of ['', ' ', 7, null]) await expect(append([], id)).rejects.toMatchObject(refused)
  await expect(append(hello, 'two')).rejects.toMatchObject(refused)
  await expect(append([new Proxy(hello, {})], 'two')).rejects.toMatchObject(refused)
  await expect(append([5], 'two')).rejects.toMatchObject(refused)
  await expect(append([{ content: 'a' }], 'two')).rejects.toMatchObject(refused)
  await expect(append([hello], 'two', { more: [] })).rejects.toMatchObject(refused)
  for (const transaction of [
    null,
    'a',
    { type: 'other', items: [] },
    { type: 'replace_suffix', replacement: [] },
  ])
    await expect(
      session.applyHistoryTransaction({ operationId: 'two', transaction } as never),
    ).rejects.toMatchObject(refused)
  expect(await session.getItems()).toEqual([hello])
})

it('keeps the first of several calls that are replaced, and leaves the rest', async () => {
  const session = new PlimsollSession(memorySession())
  const call = (callId: string, text: string) =>
    ({ type: 'function_call', callId, name: 'look', status: 'completed', arguments: text }) as const
  await session.addItems([call('a', '1'), call('b', '2'), call('a', '3')])
  const replacement = { ...call('a', '4'), providerData: { edited: true } }
  await session.applyHistoryMutations({
    mutations: [{ type: 'replace_function_call', callId: 'a', replacement }],
  })
  expect(await session.getItems()).toEqual([replacement, call('b', '2')])
})

it('lets one of two writers apply a transaction that both of them saw missing', async () => {
  const store = mapStore()
  const sessions = [1, 2].map(
    () => new PlimsollSession(createMemory({ store }).session({ userId: 'ada', sessionId: 'trip' })),
  )
  await sessions[0]?.addItems([{ role: 'user', content: 'Hello.' }])
  const args = { operationId: 'one', transaction: { type: 'append_items' as const, items: [] } }
  const done = await Promise.allSettled(sessions.map((one) => one.applyHistoryTransaction(args)))
  const refused = done.filter(({ status }) => status === 'rejected')
  expect(refused.map((one) => (one as PromiseRejectedResult).reason.code)).toEqual(['ERR_CONFLICT'])
})

it('writes ahead what is new only, and what the Runner says of it counts', async () => {
  const plain = memorySession()
  const session = new PlimsollSession(plain)
  await session.getItems()
  const answer = async () => ({ output: [], usage: {} as never })
  const model = session.model({ getResponse: answer } as unknown as Model)
  const hello: AgentInputItem = { role: 'user', content: 'Hello.' }
  const call = {
    type: 'function_call',
    callId: 'a',
    name: 'look',
    status: 'completed',
    arguments: '{}',
  } as const
  await model.getResponse(request([hello]))
  await model.getResponse(request([hello, { ...call, id: 'fc_1' }, result('a', 'found')]))
  const history = await plain.history()
  expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  // A call that is repeated writes nothing.
  await model.getResponse(request([hello, { ...call, id: 'fc_1' }, result('a', 'found')]))
  expect((await plain.history()).map(({ id }) => id)).toEqual(history.map(({ id }) => id))
  // The Runner says the first two of them: the third stays ahead, and is hidden by another one.
  await session.addItems([hello, call])
  expect(await session.getItems()).toEqual([hello, call])
  expect((await plain.history()).map(({ id }) => id)).toEqual(history.map(({ id }) => id))
  await session.addItems([result('a', 'other')])
  expect(await session.getItems()).toEqual([hello, call, result('a', 'other')])
  expect((await plain.history()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})
