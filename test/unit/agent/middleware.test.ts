import { describe, expect, it } from 'vitest'
import {
  type AgentEvent,
  type CallRecord,
  compose,
  contextFilter,
  diffContexts,
  factSheet,
  type Hooks,
  type Middleware,
  mapStore,
  type Proposal,
  type RunAgentOptions,
  runAgent,
  type Script,
  scriptedModel,
  standardMiddleware,
  toOpenAI,
} from '../../../src/index.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { call, eventsOf, expectLints, open, resultsIn, tool } from './support.ts'

const echo = tool('echo', (input) => input)
const calling = (times: number): Script => [
  ...Array.from({ length: times }, (_, index) => ({
    calls: [call('echo', { path: `/files/number_${index}` })],
  })),
  'Done.',
]
const middleware = (
  name: string,
  order: number,
  hooks: Hooks | (() => Hooks),
  kind: Middleware['kind'] = 'enricher',
): Middleware => ({
  name,
  order,
  kind,
  start: () => (typeof hooks === 'function' ? hooks() : hooks),
})
const run = (options: Partial<RunAgentOptions>) =>
  runAgent({ input: 'Go', model: scriptedModel(calling(1)), tools: [echo], session: open(), ...options })
const failuresIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'middleware-failure' ? [`${event.by} ${event.hook}`] : []))
const tails = (model: ReturnType<typeof scriptedModel>): readonly string[] =>
  model.requests.map(({ blocks }) => {
    const last = blocks.at(-1)
    const [part] = last?.parts ?? []
    return last?.section === 'tail' && part?.type === 'text' ? part.text : ''
  })

describe('middleware', () => {
  it('runs by order, equal ones by their place, and the after-hooks in reverse', async () => {
    const log: string[] = []
    const logging = (name: string, order: number): Middleware =>
      middleware(name, order, {
        beforeModelCall: () => void log.push(`${name} beforeModelCall`) as undefined,
        afterModelCall: () => void log.push(`${name} afterModelCall`),
        beforeTool: () => void log.push(`${name} beforeTool`) as undefined,
        afterTool: async () => void log.push(`${name} afterTool`),
      })
    const list = [logging('c', 7), logging('a', 1), logging('b', 7)]
    await run({ middleware: list })
    const hook = (name: string, order: string): string[] => [...order].map((one) => `${one} ${name}`)
    expect(log).toEqual([
      ...hook('beforeModelCall', 'acb'),
      ...hook('afterModelCall', 'bca'),
      ...hook('beforeTool', 'acb'),
      ...hook('afterTool', 'bca'),
      ...hook('beforeModelCall', 'acb'),
      ...hook('afterModelCall', 'bca'),
    ])
  })

  it('starts over in each run', async () => {
    let most = 0
    const counting = middleware('counting', 1, () => {
      let calls = 0
      return {
        afterModelCall: () => {
          most = Math.max(most, ++calls)
        },
      }
    })
    await Promise.all([run({ middleware: [counting] }), run({ middleware: [counting] })])
    expect(most).toBe(2)
  })

  const ways: readonly (readonly [string, () => never | Promise<never>])[] = [
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['hangs', () => new Promise<never>(() => {})],
  ]
  for (const hook of ['beforeModelCall', 'afterModelCall', 'beforeTool', 'afterTool'] as const)
    for (const [way, fail] of ways) {
      it(`is passed over where an enricher's ${hook} ${way}`, async () => {
        const session = open()
        const seen: string[] = []
        const broken = middleware('broken', 1, { [hook]: fail })
        const next = middleware('next', 2, { [hook]: () => void seen.push(hook) })
        const running = run({ session, middleware: [broken, next], timeouts: { hook: 5 } })
        expect(await running).toMatchObject({ reason: 'answer', answer: 'Done.' })
        const times = hook.endsWith('ModelCall') ? 2 : 1
        expect(failuresIn(await eventsOf(running))).toEqual(Array(times).fill(`broken ${hook}`))
        expect(seen).toHaveLength(times)
      })

      it(`stops the run where a guard's ${hook} ${way}, and leaves no call unanswered`, async () => {
        const session = open()
        let ran = 0
        const guard = middleware('guard', 1, { [hook]: fail }, 'guard')
        const tools = [tool('echo', () => ran++)]
        const running = run({ session, tools, middleware: [guard], timeouts: { hook: 5 } })
        expect(await running).toMatchObject({
          reason: 'stopped',
          stoppedBy: 'guard',
          detail: `guard failed in ${hook}`,
        })
        expect((await eventsOf(running)).at(-2)).toMatchObject({
          type: 'stop',
          by: 'guard',
          error: expect.anything(),
        })
        expect(ran).toBe(hook === 'afterTool' ? 1 : 0)
        expectLints(await session.context({ tail: 'x' }))
      })
    }

  it('that does not start is passed over, or stops the run before its first call', async () => {
    const fail = (): never => {
      throw new Error('broken')
    }
    const enricher: Middleware = { name: 'one', order: 1, kind: 'enricher', start: fail }
    expect(await run({ middleware: [enricher] })).toMatchObject({ reason: 'answer' })
    const model = scriptedModel(['x'])
    expect(await run({ middleware: [{ ...enricher, kind: 'guard' }], model })).toMatchObject({
      reason: 'stopped',
      detail: 'one failed in start',
    })
    expect(model.requests).toEqual([])
  })

  it('may deny a call, which the model reads, and later hooks are not asked', async () => {
    const session = open()
    const asked: string[] = []
    const list = [
      middleware('policy', 1, {
        beforeTool: ({ call }) => (call.name === 'echo' ? { deny: 'not on Sundays' } : undefined),
      }),
      middleware('later', 2, { beforeTool: () => void asked.push('later') as undefined }),
    ]
    await run({ session, middleware: list })
    expect(await resultsIn(session)).toEqual([['call_1', 'Error: this call was denied: not on Sundays']])
    expect(asked).toEqual([])
  })

  it('of which one says stop ends the run, and later hooks are not asked', async () => {
    const model = scriptedModel(calling(3))
    const asked: string[] = []
    const list = [
      middleware('stopper', 1, {
        beforeModelCall: ({ step }) => (step === 2 ? { stop: { reason: 'enough' } } : undefined),
      }),
      middleware('later', 2, { beforeModelCall: () => void asked.push('later') as undefined }),
    ]
    expect(await run({ middleware: list, model })).toMatchObject({
      reason: 'stopped',
      detail: 'enough',
      stoppedBy: 'stopper',
      steps: 1,
    })
    expect(asked).toHaveLength(1)
  })

  it('whose proposal the core would refuse has failed, and the call goes on without it', async () => {
    for (const proposal of [
      { tail: [{ name: 'two words', text: 'x' }] },
      { tail: [{ name: 'x', text: '\ud83d' }] },
      { nudge: 5 },
      { limits: 5 },
      5,
    ]) {
      const running = run({
        middleware: [middleware('odd', 1, { beforeModelCall: () => proposal as never })],
      })
      expect(await running).toMatchObject({ reason: 'answer' })
      expect(failuresIn(await eventsOf(running))).toEqual(['odd beforeModelCall', 'odd beforeModelCall'])
    }
    const limits = { window: { max: { rounds: 0 } } }
    const running = run({ middleware: [middleware('odd', 1, { beforeModelCall: () => ({ limits }) })] })
    expect(await running).toMatchObject({ reason: 'answer' })
    expect(failuresIn(await eventsOf(running))).toEqual(['limits beforeModelCall', 'limits beforeModelCall'])
  })

  it('whose tail does not fit is left out, rather than the call', async () => {
    const session = open(mapStore(), { budget: 300 })
    const model = scriptedModel(['Done.'])
    const wordy = middleware('wordy', 1, { beforeModelCall: () => ({ nudge: 'word '.repeat(600) }) })
    const running = run({ session, model, tools: [], middleware: [wordy] })
    expect(await running).toMatchObject({ reason: 'answer' })
    expect(failuresIn(await eventsOf(running))).toEqual(['tail beforeModelCall'])
    expect(tails(model)).toEqual([''])
  })

  it('does not make up for limits of the caller that are invalid', async () => {
    const limits = { window: { max: { rounds: 0 } } }
    await expect(run({ limits })).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  it('that hangs does not speak into a request that it was too late for', async () => {
    const model = scriptedModel(calling(1))
    const answers: (() => void)[] = []
    const late = middleware('late', 1, {
      beforeModelCall: () => new Promise((resolve) => answers.push(() => resolve({ nudge: 'late' }))),
    })
    // Between the first request and the second.
    const tools = [tool('echo', () => answers.shift()?.())]
    await run({ model, tools, middleware: [late], timeouts: { hook: 2 } })
    expect(tails(model)).toEqual(['', ''])
  })

  it('is refused where it cannot be one', () => {
    const good = middleware('good', 1, {})
    for (const [argument, list] of [
      ['middleware', 5],
      ['middleware[0].start', [{ ...good, start: 1 }]],
      ['middleware[0].order', [{ ...good, order: Number.NaN }]],
      ['middleware[0].kind', [{ ...good, kind: 'other' }]],
      ['middleware[0].name', [{ ...good, name: '' }]],
    ] as const)
      expect(() => compose(list as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }),
      )
  })
})

describe('standardMiddleware', () => {
  it('is five, in their order', () => {
    expect(standardMiddleware().map(({ name, order, kind }) => [name, order, kind])).toEqual([
      ['observability', 5, 'enricher'],
      ['budget', 10, 'guard'],
      ['context-filter', 15, 'enricher'],
      ['fact-sheet', 20, 'enricher'],
      ['progress', 50, 'enricher'],
    ])
  })

  it('without options says nothing to the model', async () => {
    const model = scriptedModel(calling(2))
    const running = run({ model, middleware: standardMiddleware() })
    await running
    expect(tails(model)).toEqual(['', '', ''])
    expect(failuresIn(await eventsOf(running))).toEqual([])
  })

  it('nudges in the tail only: the prefix grows at its end, whatever is said', async () => {
    const model = scriptedModel(calling(8))
    let used = 0
    const running = run({
      model,
      middleware: standardMiddleware({
        budget: { getTokensUsed: () => (used += 11), limit: 100 },
        factSheet: { facts: () => [{ title: 'Now', text: `${used}`, trust: 'tool' }] },
        progress: { stale: 1 },
      }),
    })
    await running
    const prefixes = model.requests.map(({ blocks }) =>
      JSON.stringify(blocks.filter(({ section }) => section !== 'tail')).slice(0, -1),
    )
    prefixes.forEach((prefix, index) => {
      if (index > 0) expect(prefix.startsWith(prefixes[index - 1] ?? '')).toBe(true)
    })
    for (const [index, context] of model.requests.entries()) {
      const before = model.requests[index - 1]
      if (before) expect(['none', 'tail']).toContain(diffContexts(before, context).cause)
      expectLints(context)
    }
    expect((await eventsOf(running)).filter(({ type }) => type === 'nudge')).toHaveLength(2)
  })
})

describe('a proposal', () => {
  it('that is unknown is the failure of its middleware, and nothing of it holds', async () => {
    const model = scriptedModel(['Done.'])
    const propose = (proposal: object): Middleware => ({
      name: 'own',
      order: 1,
      kind: 'enricher',
      start: () => ({ beforeModelCall: () => proposal as Proposal }),
    })
    const running = run({ model, middleware: [propose({ nudge: 'Go on.', messages: [] })] })
    await running
    expect(tails(model)).toEqual([''])
    expect(failuresIn(await eventsOf(running))).toEqual(['own beforeModelCall'])
  })
})

describe('observability', () => {
  it('times and counts each call, a failed one too', async () => {
    const records: CallRecord[] = []
    let now = 0
    const session = open()
    const model = scriptedModel([...(calling(2) as never[]).slice(0, 2), { error: new Error('down') }])
    await expect(
      run({
        session,
        model,
        tools: [tool('echo', () => (now += 5))],
        clock: () => now,
        middleware: standardMiddleware({ observability: { sink: (record) => void records.push(record) } }),
      }),
    ).rejects.toThrow('down')
    expect(records.map(({ type, count, start, end, status }) => [type, count, end - start, status])).toEqual([
      ['model', 1, 0, 'ok'],
      ['tool', 1, 5, 'ok'],
      ['model', 2, 0, 'ok'],
      ['tool', 2, 5, 'ok'],
      ['model', 3, 0, 'failed'],
    ])
  })

  it('fails open', async () => {
    const sink = (): never => {
      throw new Error('full')
    }
    expect(await run({ middleware: standardMiddleware({ observability: { sink } }) })).toMatchObject({
      reason: 'answer',
    })
  })
})

describe('budget', () => {
  const budgeted = (getTokensUsed: () => number | Promise<number>): readonly Middleware[] =>
    standardMiddleware({ budget: { getTokensUsed, limit: 100 }, progress: { stale: 100 } })

  it('tells at 75 % and 90 %, once for each time that a share is crossed, and stops at 100 %', async () => {
    const used = [0, 75, 80, 95, 99, 10, 76, 100]
    const model = scriptedModel(calling(20))
    const result = await run({ model, middleware: budgeted(() => used.shift() ?? 0) })
    expect(result).toMatchObject({ reason: 'stopped', detail: 'budget', stoppedBy: 'budget', steps: 7 })
    expect(tails(model).map((tail) => /(\d+) % of/.exec(tail)?.[1])).toEqual([
      undefined,
      '75',
      undefined,
      '95',
      undefined,
      undefined,
      '76',
    ])
  })

  it('stops the run where nobody can say what was used', async () => {
    for (const broken of [() => Promise.reject(new Error('down')), () => Number.NaN])
      expect(await run({ middleware: budgeted(broken) })).toMatchObject({
        reason: 'stopped',
        stoppedBy: 'budget',
      })
  })
})

describe('context filter', () => {
  it('narrows the window', async () => {
    const session = open()
    for (let round = 0; round < 6; round++) await addExchange(session, `Question ${round}`, 'Answer.')
    const model = scriptedModel(['Done.'])
    await run({ session, model, tools: [], middleware: [contextFilter({ rounds: 2 })] })
    const users = toOpenAI(model.requests[0] as never).messages.filter(({ role }) => role === 'user')
    expect(users.length).toBeLessThanOrEqual(2)
    expect(users.at(-1)?.content).toBe('Go')
  })

  it('falls back to the core’s own window', async () => {
    const session = open(mapStore(), { window: { max: { rounds: 3 } } })
    for (let round = 0; round < 6; round++) await addExchange(session, `Question ${round}`, 'Answer.')
    const model = scriptedModel(['Done.'])
    const running = run({
      session,
      model,
      tools: [],
      middleware: [contextFilter(() => Promise.reject(new Error('no')))],
    })
    await running
    expect(failuresIn(await eventsOf(running))).toEqual(['context-filter beforeModelCall'])
    const users = toOpenAI(model.requests[0] as never).messages.filter(({ role }) => role === 'user')
    expect(users.length).toBeLessThanOrEqual(3)
  })
})

describe('fact sheet', () => {
  it('shows facts in their order, as many as fit, and says how many did not', async () => {
    const model = scriptedModel(['Done.'])
    const fact = (title: string, text: string) => ({ title, text, trust: 'web' as const })
    const facts = () => [fact('One\nline', 'a'), fact('Two', 'x'.repeat(50)), fact('Three', 'c')]
    await run({ model, middleware: [factSheet({ facts, maxCharacters: 40 })] })
    expect(tails(model)[0]).toMatch(
      /^<(ctx-\w+) facts>\n- \[web\] One line: a\n\(2 more did not fit\)\n<\/\1>$/,
    )
  })

  it('fails open', async () => {
    expect(
      await run({ middleware: [factSheet({ facts: () => Promise.reject(new Error('no')) })] }),
    ).toMatchObject({ reason: 'answer' })
  })
})
