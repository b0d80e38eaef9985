import { describe, expect, it } from 'vitest'
import {
  type AbortSignalLike,
  type AgentResult,
  type AgentTool,
  type Context,
  contextFilter,
  type Middleware,
  mapStore,
  runAgent,
  type ScopeStore,
  type Script,
  type Store,
  scriptedModel,
} from '../../../src/index.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { rewind } from '../../../src/operations/rewind.ts'
import type { FullSession } from '../../contract/full-memory.ts'
import { call, eventsOf, expectLints, open, resultsIn, tool } from './support.ts'

/** Counts what happens, and aborts at one of the counts. */
class Boundaries {
  readonly #controller = new AbortController()
  readonly signal: AbortSignalLike = this.#controller.signal
  readonly #at: number
  count = 0

  constructor(at: number) {
    this.#at = at
  }

  readonly pass = (): void => {
    if (this.count++ === this.#at) this.#controller.abort(new Error('stop'))
  }
}

/** A store that passes a boundary before and after each thing that it does. */
function counting(inner: Store, pass: () => void): Store {
  return {
    ...inner,
    open: (scope) =>
      new Proxy(inner.open(scope), {
        get: (store, name) => {
          const value = store[name as keyof ScopeStore]
          if (typeof value !== 'function') return value
          return async (...parameters: unknown[]) => {
            pass()
            const result = await (value as (...parameters: unknown[]) => unknown).apply(store, parameters)
            pass()
            return result
          }
        },
      }),
  }
}

/** Plays by what the conversation shows, so that a model that comes later plays on. */
const script: Script = ({ context }) => {
  const results = context.blocks.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-result'))
  if (results.length === 0)
    return { text: 'Both at once.', calls: [call('look', { at: 1 }), call('look', { at: 2 })] }
  if (results.length === 2) return { reasoning: 'Once more.', calls: [call('look', { at: 3 })] }
  return 'All was seen.'
}

const look = (pass: () => void): AgentTool =>
  tool('look', async (input) => {
    pass()
    await undefined
    pass()
    return `seen ${JSON.stringify(input)}`
  })

const watcher = (pass: () => void): Middleware => ({
  name: 'watcher',
  order: 1,
  kind: 'enricher',
  start: () => ({
    beforeModelCall: () => {
      pass()
      return { nudge: 'Look well.' }
    },
    afterModelCall: async () => pass(),
    beforeTool: () => {
      pass()
      return undefined
    },
    afterTool: async () => pass(),
  }),
})

describe('a run that is aborted', () => {
  it('leaves a valid conversation at every boundary, and another run goes on to the same answer', async () => {
    const reasons = new Set<string>()
    let boundaries = 0
    for (let at = 0; ; at++) {
      const inner = mapStore()
      const { pass, signal, ...rest } = new Boundaries(at)
      const counter = { pass, signal, ...rest }
      const input = { id: 'input', role: 'user', content: 'Look around.' } as const
      const result: AgentResult = await runAgent({
        input,
        system: 'You look.',
        model: scriptedModel((request) => {
          pass()
          return typeof script === 'function' ? script(request) : ''
        }),
        session: open(counting(inner, pass)),
        tools: [look(pass)],
        middleware: [watcher(pass)],
        signal: counter.signal,
        onEvent: pass,
      })
      reasons.add(result.reason)
      const fresh = open(inner)
      const before = await fresh.history({ messages: 100 })
      for (const { role, content } of before) if (role === 'assistant') expect(content).not.toBe('')
      expectLints(await fresh.context({ onPending: 'abandon', tail: 'x' }))
      // What was there stays as it was, whatever comes after.
      const session = open(inner)
      const again = await runAgent({
        input,
        system: 'You look.',
        model: scriptedModel(script),
        session,
        tools: [look(() => {})],
      })
      expect(again).toMatchObject({ reason: 'answer', answer: 'All was seen.' })
      const after = await session.history({ messages: 100 })
      expect(after.slice(0, before.length)).toEqual(before)
      expect((await resultsIn(session)).length).toBe(3)
      expectLints(await session.context())
      boundaries = at
      if (!signal.aborted) break
    }
    expect(reasons).toEqual(new Set(['aborted', 'answer']))
    expect(boundaries).toBeGreaterThan(60)
  })

  it('records the results of calls that have ended, and no others', async () => {
    const controller = new AbortController()
    const session = open()
    const tools = [
      tool('quick', () => 'done'),
      tool('slow', () => new Promise(() => setTimeout(() => controller.abort(), 5))),
      tool(
        'heeds',
        (_, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone')))),
      ),
    ]
    const model = scriptedModel([{ calls: [call('slow'), call('quick'), call('heeds')] }])
    const run = runAgent({ input: 'Go', model, tools, session, signal: controller.signal })
    expect(await run).toMatchObject({ reason: 'aborted', steps: 1 })
    expect((await eventsOf(run)).at(-1)).toMatchObject({ type: 'finish', result: { reason: 'aborted' } })
    expect(await resultsIn(session)).toEqual([['call_2', 'done']])
    await expect(session.context()).rejects.toMatchObject({ code: 'ERR_TOOL_PENDING' })
  })

  it('gives what had come of a reply, and records nothing of it', async () => {
    const controller = new AbortController()
    const session = open()
    const run = runAgent({
      input: 'Go',
      model: scriptedModel(['One two three']),
      session,
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === 'text' && event.text === ' two') controller.abort()
      },
    })
    expect(await run).toMatchObject({ reason: 'aborted', answer: 'One two', steps: 0 })
    expect(await session.history()).toHaveLength(1)
  })

  it('writes nothing where it was aborted before it began', async () => {
    const session = open()
    const model = scriptedModel(['x'])
    expect(await runAgent({ input: 'Go', model, session, signal: AbortSignal.abort() })).toMatchObject({
      reason: 'aborted',
    })
    expect(await session.history()).toEqual([])
    expect(model.requests).toEqual([])
  })
})

describe('resume', () => {
  const interrupted = async (): Promise<Store> => {
    const store = mapStore()
    await open(store).append([
      { id: 'q', role: 'user', content: 'Look.' },
      {
        id: 'step',
        role: 'assistant',
        content: [
          { type: 'tool-call', id: 'a', name: 'look', input: { at: 1 } },
          { type: 'tool-call', id: 'b', name: 'look', input: { at: 2 } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'a', output: 'seen' }] },
    ])
    return store
  }
  const resume = (store: Store, more: Partial<Parameters<typeof runAgent>[0]> = {}) => {
    const session: FullSession = open(store)
    const run = runAgent({
      session,
      model: scriptedModel(['Done.']),
      tools: [tool('look', () => 'looked')],
      resume: true,
      ...more,
    })
    return { session, run }
  }

  it('answers what waits with an error, runs it, or takes what it is given', async () => {
    for (const [pending, output, settled] of [
      [undefined, 'Error: interrupted; it is not known whether it ran.', 'fail'],
      ['run', 'looked', 'run'],
      [({ entry, index }: { entry: string; index: number }) => `${entry}/${index}`, 'step/1', 'given'],
      [() => Promise.reject(new Error('unknown')), 'Error: unknown', 'given'],
    ] as const) {
      const { session, run } = resume(await interrupted(), { resume: pending ? { pending } : true })
      expect(await run).toMatchObject({ answer: 'Done.', steps: 1 })
      expect(await resultsIn(session)).toEqual([
        ['a', 'seen'],
        ['b', output],
      ])
      expect((await eventsOf(run)).find(({ type }) => type === 'resume')).toMatchObject({
        messages: 3,
        settled,
        answered: false,
        pending: [{ entry: 'step', index: 1, callId: 'b', name: 'look', input: { at: 2 } }],
      })
    }
  })

  it('settles what waits before something new is said', async () => {
    const { session, run } = resume(await interrupted(), { input: 'Never mind.', resume: false })
    expect((await run).reason).toBe('answer')
    expect((await session.history()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
      'assistant',
    ])
    expectLints(await session.context({ tail: 'x' }))
  })

  it('gives the answer that is there without calling the model', async () => {
    const store = mapStore()
    await addExchange(open(store), 'Hello', 'Hi.')
    const model = scriptedModel([])
    const { session, run } = resume(store, { model })
    expect(await run).toMatchObject({ answer: 'Hi.', steps: 0, reason: 'answer' })
    expect((await eventsOf(run)).find(({ type }) => type === 'resume')).toMatchObject({
      answered: true,
      settled: 'none',
    })
    expect(await session.history()).toHaveLength(2)
  })

  it('asks the model where a question waits for its answer', async () => {
    const store = mapStore()
    await open(store).append({ role: 'user', content: 'Hello' })
    expect(await resume(store).run).toMatchObject({ answer: 'Done.', steps: 1 })
  })

  it('records a result once, though two resume at once: the first wins', async () => {
    const store = await interrupted()
    let ran = 0
    const tools = [tool('look', () => `run ${++ran}`)]
    const both = [0, 1].map(() => resume(store, { tools, resume: { pending: 'run' }, maxSteps: 1 }))
    const events = await Promise.all(both.map(({ run }) => eventsOf(run)))
    const results = events.map((list) => list.find((event) => event.type === 'tool-result'))
    expect(results.map((event) => event?.output)).toEqual(['run 1', 'run 1'])
    expect(results.map((event) => event?.repeated)).toEqual([false, true])
    expect(await resultsIn(open(store))).toEqual([
      ['a', 'seen'],
      ['b', 'run 1'],
    ])
  })

  it('records a result again where the one before was rewound', async () => {
    const store = await interrupted()
    const { run, session } = resume(store)
    await run
    const result = (await session.history()).findLast(({ role }) => role === 'tool')
    await rewind(session, result?.id ?? '')
    const again = resume(store, { resume: { pending: 'run' } })
    expect(await again.run).toMatchObject({ answer: 'Done.' })
    expect(await resultsIn(again.session)).toEqual([
      ['a', 'seen'],
      ['b', 'looked'],
    ])
  })
})

describe('what a resumed run shows of the past', () => {
  const act = tool('act', (input) => `did ${JSON.stringify(input)}`)

  /** A session of forty messages in rounds of four. */
  async function worked(store: Store, options: object = {}): Promise<void> {
    const session = open(store, options)
    for (let round = 0; round < 10; round++) {
      const model = scriptedModel([{ calls: [call('act', { round })] }, `Round ${round} is done.`])
      await runAgent({ input: `Do ${round}.`, model, tools: [act], session })
    }
  }

  const texts = (context: Context | undefined): readonly string[] =>
    (context?.blocks ?? [])
      .filter(({ section }) => section === 'window')
      .map(({ parts }) => JSON.stringify(parts))

  const going = (steps: number, from = 0) =>
    scriptedModel([
      ...Array.from({ length: steps }, (_, step) => ({ calls: [call('act', { step: from + step })] })),
      'Done.',
    ])

  it('is the last messages, to a border of a step, and from then on all that it says', async () => {
    for (const messages of [3, 6, 16]) {
      const store = mapStore()
      await worked(store)
      const model = going(12)
      const session = open(store)
      await runAgent({ input: 'And now?', model, tools: [act], session, resume: { messages } })
      const shown = model.requests.map(texts)
      const past = shown[0]?.slice(0, -1) ?? []
      // Of a round that is cut its question stands before them.
      expect(past.length).toBeGreaterThanOrEqual(messages)
      expect(past.length).toBeLessThanOrEqual(messages + 2)
      expect(past.at(-1)).toContain('Round 9 is done.')
      expect(shown[0]?.at(-1)).toContain('And now?')
      shown.forEach((request, step) => {
        expect(request).toHaveLength(past.length + 1 + 2 * step)
        expect(request.slice(0, shown[0]?.length)).toEqual(shown[0])
      })
      expect(new Set(model.requests.map(({ epoch }) => epoch)).size).toBe(1)
      for (const request of model.requests) expectLints(request)
      const again = going(1)
      await runAgent({ input: 'And then?', model: again, tools: [act], session, resume: { messages } })
      expect(texts(again.requests[0]).length).toBeLessThanOrEqual(messages + 3)
      expect(texts(again.requests[0]).at(-1)).toContain('And then?')
    }
  })

  it('is all that the epoch shows where nothing else is asked for', async () => {
    const store = mapStore()
    await worked(store)
    for (const resume of [true, { pending: 'fail' }] as const) {
      const model = going(1)
      await runAgent({ input: 'And now?', model, tools: [act], session: open(store), resume })
      expect(texts(model.requests[0])[0]).toContain('Do 0.')
    }
  })

  it('is no more than half of what fits', async () => {
    const store = mapStore()
    await worked(store, { budget: 2_000 })
    const session = open(store, { budget: 2_000 })
    await session.append({ role: 'user', content: 'Long. '.repeat(700) })
    await session.append({ role: 'assistant', content: 'Read.' })
    const model = going(1)
    await runAgent({ input: 'And now?', model, tools: [act], session, resume: { messages: 40 } })
    expect(model.requests[0]?.receipt.used).toBeLessThan(1_100)
    expect(texts(model.requests[0]).at(-1)).toContain('And now?')
  })

  it('holds what waited, settled, and the steps of the run where its head changes on the way', async () => {
    const store = mapStore()
    await worked(store)
    const session = open(store)
    await session.append([
      { role: 'user', content: 'Go on.' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'w', name: 'act', input: { waits: true } }],
      },
    ])
    await session.facts.remember({ kind: 'blocker', text: 'The card is expired.', id: 'card' })
    const pay = tool('pay', async (_, { session: own }) => {
      await own?.facts?.resolve('card')
      return 'paid'
    })
    const model = scriptedModel([
      ...Array.from({ length: 6 }, (_, step) => ({ calls: [call('act', { step })] })),
      { calls: [call('pay')] },
      { calls: [call('act', { after: true })] },
      'Done.',
    ])
    await runAgent({ input: 'Pay.', model, tools: [act, pay], session, resume: { messages: 3 } })
    const shown = model.requests.map(texts)
    const [first = []] = shown
    expect(first.join()).toContain('not known whether it ran')
    expect(first.length).toBeLessThanOrEqual(6)
    shown.forEach((request, step) => {
      expect(request).toHaveLength(first.length + 2 * step)
    })
    expect(new Set(model.requests.map(({ epoch }) => epoch)).size).toBe(2)
  })

  it('gives way to a window that a middleware proposes', async () => {
    const store = mapStore()
    await worked(store)
    const model = going(2)
    const middleware = [contextFilter({ rounds: 3, keep: 3 })]
    await runAgent({
      input: 'And now?',
      model,
      tools: [act],
      session: open(store),
      resume: { messages: 2 },
      middleware,
    })
    expect(texts(model.requests[0])[0]).toContain('Do 8.')
    expect(new Set(model.requests.map(({ epoch }) => epoch)).size).toBe(1)
  })

  it('goes with a summary of what is before, where the memory writes some', async () => {
    const store = mapStore()
    const options = { budget: 1_500, compaction: { ahead: false } } as const
    await worked(store, options)
    const model = going(2)
    const session = open(store, options)
    await runAgent({ input: 'And now?', model, tools: [act], session, resume: { messages: 4 } })
    expect(texts(model.requests[0]).length).toBeLessThanOrEqual(7)
    for (const request of model.requests) expectLints(request)
  })
})
