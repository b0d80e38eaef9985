import { describe, expect, it } from 'vitest'
import {
  type Json,
  type MessageInput,
  type Model,
  type ModelEvent,
  mapStore,
  type RunAgentOptions,
  runAgent,
  type ScopeStore,
  type Store,
  scriptedModel,
} from '../../../src/index.ts'
import type { FullSession } from '../../contract/full-memory.ts'
import { call, eventsOf, expectLints, open, resultsIn, tool } from './support.ts'

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const finish = (content: string): ModelEvent => ({
  type: 'finish',
  message: { role: 'assistant', content },
  reason: 'stop',
})

/** Every call has one result, and none comes before its call. */
async function expectAnswered(session: FullSession): Promise<void> {
  const waiting: string[] = []
  for (const { role, content } of await session.history({ messages: 5_000 })) {
    if (role !== 'tool') expect(waiting).toEqual([])
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'tool-call') waiting.push(part.id)
      if (part.type !== 'tool-result') continue
      const place = waiting.indexOf(part.callId)
      expect(place).toBeGreaterThanOrEqual(0)
      waiting.splice(place, 1)
    }
  }
  expect(waiting).toEqual([])
  expectLints(await session.context({ tail: 'x' }))
}

/** A store that fails at its n-th commit, before or after it did what it was told to. */
function failingAt(inner: Store, at: number, when: 'before' | 'after'): Store {
  let commits = 0
  return {
    ...inner,
    open: (scope) =>
      new Proxy(inner.open(scope), {
        get: (store, name) => {
          const value = store[name as keyof ScopeStore]
          if (typeof value !== 'function') return value
          return async (...parameters: unknown[]) => {
            const fails = name === 'commit' && commits++ === at
            if (fails && when === 'before') throw new Error('disk')
            const result = await (value as (...parameters: unknown[]) => unknown).apply(store, parameters)
            if (fails) throw new Error('disk')
            return result
          }
        },
      }),
  }
}

describe('a store that fails once', () => {
  it('leaves a valid conversation, and the run goes on with it, whichever write it was', async () => {
    let failed = 0
    for (const when of ['before', 'after'] as const)
      for (const same of [true, false])
        for (let at = 0; at < 12; at++) {
          const inner = mapStore()
          const broken = open(failingAt(inner, at, when))
          const tools = [tool('act', (input) => input)]
          const options = { input: { id: 'q', role: 'user', content: 'Go' } as const, tools }
          const first = runAgent({
            ...options,
            model: scriptedModel([{ calls: [call('act', 1), call('act', 2)] }, 'Done.']),
            session: broken,
          })
          const outcome = await first.then(
            () => 'ended',
            (error: unknown) => String(error),
          )
          if (outcome !== 'ended') {
            failed++
            expect(outcome).toBe('Error: disk')
            expect((await eventsOf(first)).at(-1)).toMatchObject({ type: 'error' })
          }
          expectLints(await open(inner).context({ onPending: 'abandon', tail: 'x' }))
          // Where the run ended first, it is the next one that fails.
          if (outcome === 'ended') continue
          const session = same ? broken : open(inner)
          const model = scriptedModel(({ context }) =>
            context.blocks.some(({ role }) => role === 'tool') ? 'Done.' : { calls: [call('act', 3)] },
          )
          const again = await runAgent({ ...options, model, session, resume: { pending: 'run' } })
          expect(again).toMatchObject({ reason: 'answer', answer: 'Done.' })
          await expectAnswered(open(inner))
          expect((await open(inner).history()).filter(({ role }) => role === 'user')).toHaveLength(1)
        }
    expect(failed).toBeGreaterThan(10)
  })

  it('begins no further call once a result could not be recorded', async () => {
    const session = open()
    const append = session.append.bind(session)
    session.append = async (input, options) => {
      const [first] = input as readonly MessageInput[]
      if (first?.role !== 'tool') return append(input, options)
      session.append = append
      throw new Error('disk')
    }
    let ran = 0
    const tools = [
      tool('act', async () => {
        await wait(++ran)
      }),
    ]
    const model = scriptedModel([{ calls: Array.from({ length: 8 }, () => call('act')) }])
    await expect(runAgent({ input: 'Go', model, tools, session, parallel: 2 })).rejects.toThrow('disk')
    expect(ran).toBe(2)
  })

  it('ends the call of a model for its listeners, though its reply could not be recorded', async () => {
    const session = open()
    const append = session.append.bind(session)
    session.append = async (input, options) => {
      const [first] = input as readonly MessageInput[]
      if (first?.role === 'assistant') throw new Error('disk')
      return append(input, options)
    }
    const ends: unknown[] = []
    const watcher = {
      name: 'watcher',
      order: 1,
      kind: 'enricher' as const,
      start: () => ({ afterModelCall: (end: object) => void ends.push(end) }),
    }
    const model = scriptedModel(['Done.'])
    await expect(runAgent({ input: 'Go', model, session, middleware: [watcher] })).rejects.toThrow('disk')
    expect(ends).toMatchObject([{ step: 1, status: 'failed', error: { message: 'disk' } }])
  })
})

describe('a model that does not keep its contract', () => {
  const said = async (events: () => AsyncGenerator<ModelEvent>, more: Partial<RunAgentOptions> = {}) => {
    const session = open()
    const model: Model = { id: 'odd', complete: events }
    const run = runAgent({ input: 'Go', model, session, ...more })
    const outcome = await run.then(
      ({ answer, steps }) => ({ answer, steps }),
      (error: unknown) => String(error),
    )
    const replies = (await session.history()).filter(({ role }) => role === 'assistant')
    return { outcome, replies: replies.map(({ content }) => content), events: await eventsOf(run) }
  }

  it('is not heard after its reply is whole: not twice, not for ever, not with a failure', async () => {
    for (const after of [
      async function* () {
        yield finish('Another.')
      },
      async function* () {
        yield { type: 'text', text: 'more' } as const
      },
      async function* () {
        await new Promise(() => {})
      },
      async function* () {
        yield* []
        throw new Error('closed')
      },
    ]) {
      let released = 0
      const { outcome, replies, events } = await said(
        async function* () {
          try {
            yield finish('One.')
            yield* after() as AsyncGenerator<ModelEvent>
          } finally {
            released++
          }
        },
        { timeouts: { run: 1_000 } },
      )
      expect(outcome).toEqual({ answer: 'One.', steps: 1 })
      expect(replies).toEqual(['One.'])
      expect(released).toBe(1)
      expect(events.filter(({ type }) => type === 'text')).toEqual([])
    }
  })

  it('fails the run where its reply is no message, and nothing of it is recorded', async () => {
    for (const content of [5, [{ type: 'text' }], [{ type: 'tool-call', id: 'a', name: 'b', input: 1n }]]) {
      const { outcome, replies } = await said(async function* () {
        yield finish(content as never)
      })
      expect(outcome).toMatch(/PlimsollError/)
      expect(replies).toEqual([])
    }
  })

  it('fails the run where it is no stream, or throws before it is one', async () => {
    const thrown = () => {
      throw new Error('no key')
    }
    expect((await said(thrown)).outcome).toBe('Error: no key')
    expect((await said((() => 5) as never)).outcome).toMatch(/TypeError/)
  })

  it('that says nothing has answered, and the conversation goes on', async () => {
    const session = open()
    expect(await runAgent({ input: 'Go', model: scriptedModel(['']), session })).toMatchObject({
      reason: 'answer',
      answer: '',
      steps: 1,
    })
    await runAgent({ input: 'And now?', model: scriptedModel(['Done.']), session })
    expectLints(await session.context({ tail: 'x' }))
  })
})

describe('what is given to tools and middleware', () => {
  const mutate = (input: unknown): void => {
    const { list } = input as { list: unknown[] }
    list.sort()
    list.push('mine')
  }

  it('is theirs: what a tool makes of its arguments changes neither the conversation nor what others see', async () => {
    for (const session of [undefined, open()]) {
      const seen: Json[] = []
      const model = scriptedModel([{ calls: [call('act', { list: [3, 1] }, 'a')] }, 'Done.'])
      const run = runAgent({
        input: 'Go',
        model,
        tools: [tool('act', mutate)],
        ...(session && { session }),
        middleware: [
          {
            name: 'watcher',
            order: 1,
            kind: 'enricher',
            start: () => ({ afterTool: ({ call: { input } }) => void seen.push(input) }),
          },
        ],
      })
      await run
      expect(seen).toEqual([{ list: [3, 1] }])
      const told = (await eventsOf(run)).flatMap((event) => (event.type === 'tool-call' ? event.call : []))
      expect(told).toMatchObject([{ input: { list: [3, 1] } }])
      const shown = model.requests[1]?.blocks.flatMap(({ parts }) => parts) ?? []
      expect(shown.find(({ type }) => type === 'tool-call')).toMatchObject({ input: { list: [3, 1] } })
    }
  })

  it('is a copy without a session too: who changes a message that an event told of changes no request', async () => {
    const model = scriptedModel([{ calls: [call('act', { list: [3, 1] }, 'a')] }, 'Done.'])
    await runAgent({
      input: 'Go',
      model,
      tools: [tool('act', () => ({ list: [2] }))],
      onEvent: (event) => {
        if (event.type === 'tool-call') mutate(event.call.input)
        if (event.type === 'tool-result') mutate(event.output)
      },
    })
    const shown = model.requests[1]?.blocks.flatMap(({ parts }) => parts)
    expect(shown?.slice(1)).toMatchObject([{ input: { list: [3, 1] } }, { output: { list: [2] } }])
  })
})

describe('limits of time', () => {
  const most = 2 ** 31 - 1

  it('are refused where no timer can keep them, instead of ending at once', async () => {
    const model = scriptedModel(['Done.'])
    for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, most + 1]) {
      for (const name of ['model', 'tool', 'hook', 'run'])
        await expect(runAgent({ input: 'Go', model, timeouts: { [name]: ms } })).rejects.toMatchObject({
          code: 'ERR_INVALID_ARGUMENT',
          argument: `timeouts.${name}`,
        })
      const tools = [tool('act', () => 1, { timeoutMs: ms })]
      await expect(runAgent({ input: 'Go', model, tools })).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument: 'tools[0].timeoutMs',
      })
    }
    expect(model.requests).toEqual([])
  })

  it('hold as far as a timer goes', async () => {
    const timeouts = { model: most, tool: most, hook: most, run: most }
    const model = scriptedModel(async () => {
      await wait(5)
      return 'Done.'
    })
    expect(await runAgent({ input: 'Go', model, timeouts })).toMatchObject({ reason: 'answer' })
  })
})

describe('two runs on one session at once', () => {
  it('leave a valid conversation; of the two at least one answers, the other may learn that calls wait', async () => {
    for (const same of [true, false])
      for (const id of [undefined, 'q'])
        for (const apart of [0, 2, 6]) {
          const store = mapStore()
          const first = open(store)
          const run = (session: FullSession) =>
            runAgent({
              input: { ...(id !== undefined && { id }), role: 'user', content: 'Go' },
              model: scriptedModel([
                { calls: [call('act')] },
                { calls: [call('act'), call('act')] },
                'Done.',
              ]),
              tools: [tool('act', () => wait(3))],
              session,
            })
          const one = run(first)
          await wait(apart)
          const outcomes = await Promise.allSettled([one, run(same ? first : open(store))])
          for (const outcome of outcomes)
            if (outcome.status === 'fulfilled') expect(outcome.value).toMatchObject({ reason: 'answer' })
            else expect(outcome.reason).toMatchObject({ code: 'ERR_TOOL_PENDING' })
          expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
          await expectAnswered(open(store))
        }
  })
})

describe('input that is given again', () => {
  const ask = (id: string): MessageInput => ({ id, role: 'user', content: id })

  it('has its own answer, whatever was said since', async () => {
    const session = open()
    await runAgent({ input: ask('one'), model: scriptedModel(['First.']), session })
    await runAgent({ input: ask('two'), model: scriptedModel(['Second.']), session })
    for (const waiting of [false, true]) {
      if (waiting) await session.append(ask('three'))
      const model = scriptedModel([])
      expect(await runAgent({ input: ask('one'), model, session })).toMatchObject({
        answer: 'First.',
        steps: 0,
      })
    }
  })
})

describe('a reply with very many calls', () => {
  it('has each of them answered once, and nobody is warned of listeners', async () => {
    const warnings: unknown[] = []
    const note = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', note)
    for (const [count, session] of [
      [1_000, undefined],
      [200, open(mapStore(), { budget: 200_000 })],
    ] as const) {
      const numbers = Array.from({ length: count }, (_, at) => at)
      const model = scriptedModel([{ calls: numbers.map((at) => call('act', at)) }, 'Done.'])
      const run = await runAgent({
        input: 'Go',
        model,
        tools: [tool('act', async (at) => at, { inputSchema: {} })],
        ...(session && { session }),
        timeouts: { tool: 60_000 },
        signal: new AbortController().signal,
      })
      await wait(0)
      expect(run.reason).toBe('answer')
      const shown = model.requests[1]?.blocks.flatMap(({ parts }) => parts) ?? []
      expect(shown.flatMap((part) => (part.type === 'tool-result' ? part.output : []))).toEqual(numbers)
    }
    process.off('warning', note)
    expect(warnings).toEqual([])
  })
})

describe('a budget that is too small in the middle of a run', () => {
  it('rejects the run, leaves a valid conversation, and a larger one goes on with it', async () => {
    const store = mapStore()
    const tools = [tool('act', () => ({ list: Array.from({ length: 400 }, (_, at) => `name_${at}`) }))]
    const calls = Array.from({ length: 30 }, () => call('act'))
    const session = open(store, { budget: 400 })
    const run = runAgent({ input: 'Go', model: scriptedModel([{ calls }]), tools, session })
    await expect(run).rejects.toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL' })
    expect((await eventsOf(run)).at(-1)).toMatchObject({ type: 'error' })
    const larger = open(store, { budget: 100_000 })
    expect(await runAgent({ model: scriptedModel(['Done.']), tools, session: larger })).toMatchObject({
      answer: 'Done.',
      steps: 1,
    })
    await expectAnswered(larger)
  })
})

describe('how to resume', () => {
  it('is refused where it is nothing that there is, and no call is settled by it', async () => {
    const session = open()
    await session.append([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'act', input: {} }] },
    ])
    await expect(
      runAgent({ session, model: scriptedModel(['x']), resume: { pending: 'retry' as never } }),
    ).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'resume.pending' })
    expect(await resultsIn(session)).toEqual([])
  })
})
