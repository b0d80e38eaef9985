import { describe, expect, it } from 'vitest'
import { startRun } from '../../../src/agent/start-run.ts'
import { reportedBy } from '../../../src/agent/usage.ts'
import {
  type AgentEvent,
  type Hooks,
  type MessageInput,
  type Middleware,
  mapStore,
  type RunAgentOptions,
  runAgent,
  type Store,
  scriptedModel,
} from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'
import { call, eventsOf, open, resultsIn, tool } from './support.ts'

const middleware = (
  name: string,
  order: number,
  hooks: Hooks,
  kind: Middleware['kind'] = 'guard',
): Middleware => ({ name, order, kind, start: () => hooks })
const go = (options: Partial<RunAgentOptions>) =>
  runAgent({
    input: 'Go',
    model: scriptedModel([{ calls: [call('act'), call('act')] }, 'Done.']),
    session: open(),
    ...options,
  })
const ofType = <Type extends AgentEvent['type']>(events: readonly AgentEvent[], type: Type) =>
  events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)

describe('what has to stop', () => {
  it('stops though it was told by the very work that would hang, and hands the signal on', async () => {
    const controller = new AbortController()
    let reason: unknown
    const act = tool('act', (_, { signal }) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason
      })
      controller.abort('enough')
      return new Promise(() => {})
    })
    const result = await go({
      tools: [act],
      signal: controller.signal,
      timeouts: { tool: 60_000 },
      parallel: false,
    })
    expect(result.reason).toBe('aborted')
    expect(reason).toBe('enough')
  })

  it('asks no further middleware, and calls none of them failed', async () => {
    const controller = new AbortController()
    const asked: string[] = []
    const list = [
      middleware('first', 1, { beforeModelCall: () => void controller.abort() as undefined }),
      middleware('second', 2, { beforeModelCall: () => void asked.push('second') as undefined }),
    ]
    const run = go({ middleware: list, signal: controller.signal })
    expect((await run).reason).toBe('aborted')
    expect(asked).toEqual([])
    const hanging = new AbortController()
    const hang = middleware('hang', 1, {
      beforeModelCall: () => {
        setTimeout(() => hanging.abort(), 2)
        return new Promise(() => {})
      },
    })
    const other = go({ middleware: [hang], signal: hanging.signal })
    expect((await other).reason).toBe('aborted')
    for (const one of [run, other]) expect(ofType(await eventsOf(one), 'middleware-failure')).toEqual([])
  })

  it('leaves no timer running and nobody listening', async () => {
    let timers = 0
    let listeners = 0
    const signal = new AbortController().signal
    const counted = {
      get aborted() {
        return signal.aborted
      },
      reason: undefined,
      addEventListener: () => void listeners++,
      removeEventListener: () => void listeners--,
    }
    const host = {
      ...webHost,
      timeout: (ms: number) => {
        timers++
        const timeout = webHost.timeout(ms)
        const clear = (): void => {
          timers--
          timeout.clear()
        }
        return { ...timeout, clear }
      },
    }
    const patient = middleware('patient', 1, { beforeModelCall: async () => undefined })
    const timeouts = { run: 60_000, model: 60_000, tool: 60_000 }
    const model = scriptedModel([{ calls: [call('act')] }, 'Done.'])
    const tools = [tool('act', async () => 1)]
    await startRun({ input: 'Go', model, tools, middleware: [patient], timeouts, signal: counted }, host)
    expect([timers, listeners]).toEqual([0, 0])
  })

  it('leaves calls without a result where settling them was stopped', async () => {
    const store = mapStore()
    await open(store).append([
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool-call' as const, id, name: 'act', input: {} })),
      },
    ])
    const between = new AbortController()
    await runAgent({
      session: open(store),
      model: scriptedModel([]),
      resume: true,
      parallel: false,
      signal: between.signal,
      onEvent: ({ type }) => {
        if (type === 'tool-result') between.abort()
      },
    })
    expect((await resultsIn(open(store))).map(([id]) => id)).toEqual(['a'])
    const during = new AbortController()
    const pending = (): Promise<never> => {
      setTimeout(() => during.abort(), 2)
      return new Promise(() => {})
    }
    const run = runAgent({
      session: open(store),
      model: scriptedModel([]),
      resume: { pending },
      signal: during.signal,
    })
    expect((await run).reason).toBe('aborted')
    expect(await resultsIn(open(store))).toHaveLength(1)
  })

  it('rejects with what the store said rather than to call the run aborted', async () => {
    for (const abort of [false, true]) {
      const controller = new AbortController()
      const session = open()
      const append = session.append.bind(session)
      session.append = async (input, options) => {
        const [first] = input as readonly MessageInput[]
        if (first?.role !== 'tool') return append(input, options)
        session.append = append
        if (abort) controller.abort()
        throw new Error('disk')
      }
      const tools = [
        tool('act', ({ slow }: { slow?: boolean }) =>
          slow ? new Promise((resolve) => setTimeout(resolve, 5)) : 1,
        ),
      ] as never
      const model = scriptedModel([{ calls: [call('act', { slow: true }), call('act')] }, 'Done.'])
      await expect(
        runAgent({ input: 'Go', model, session, tools, signal: controller.signal }),
      ).rejects.toThrow('disk')
    }
  })
})

describe('what is found waiting', () => {
  const waiting = async (calls: readonly string[], results: readonly string[] = []): Promise<Store> => {
    const store = mapStore()
    await open(store).append([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: calls.map((id) => ({ type: 'tool-call', id, name: 'act', input: {} })) },
      ...results.map(
        (callId): MessageInput => ({ role: 'tool', content: [{ type: 'tool-result', callId, output: 1 }] }),
      ),
    ])
    return store
  }

  it('is no answer, though the newest message is the model’s', async () => {
    const session = open(await waiting(['a']))
    expect(await runAgent({ session, model: scriptedModel(['Done.']) })).toMatchObject({
      answer: 'Done.',
      steps: 1,
    })
  })

  it('is known by its order, where calls have one id', async () => {
    const session = open(await waiting(['a', 'a'], ['a']))
    expect(await runAgent({ session, model: scriptedModel(['Done.']) })).toMatchObject({ answer: 'Done.' })
    expect(await resultsIn(session)).toHaveLength(2)
  })

  it('is gone on with in its own round, whatever is said meanwhile', async () => {
    const store = await waiting(['a'])
    const model = scriptedModel(async ({ call: step }) => {
      if (step > 1) return 'Done.'
      await open(store).append({ role: 'user', content: 'And me?' })
      return { calls: [call('act')] }
    })
    await runAgent({ session: open(store), model })
    const shown = (await open(store).history()).map(({ role }) => role)
    expect(shown).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'user'])
  })

  it('is not run where a guard did not start', async () => {
    const broken = { ...middleware('broken', 1, {}), start: () => JSON.parse('no') }
    let ran = 0
    const run = runAgent({
      session: open(await waiting(['a'])),
      model: scriptedModel([]),
      tools: [tool('act', () => ran++)],
      middleware: [broken],
      resume: { pending: 'run' },
    })
    expect(await run).toMatchObject({ reason: 'stopped', stoppedBy: 'broken' })
    expect(ran).toBe(0)
  })

  it('is settled too where what is said brings it along', async () => {
    const model = scriptedModel(['Done.'])
    const input: MessageInput[] = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'act', input: {} }] },
    ]
    for (const session of [undefined, open()]) {
      const run = runAgent({ input, model: scriptedModel(['Done.']), ...(session && { session }) })
      expect((await run).answer).toBe('Done.')
      expect(ofType(await eventsOf(run), 'tool-result')).toHaveLength(1)
    }
    const run = runAgent({ input: 'Hello', model, session: open() })
    await run
    expect(ofType(await eventsOf(run), 'resume')).toEqual([])
  })
})

describe('guards', () => {
  it('of which two fail are told by the first that did', async () => {
    const fail = async () => {
      throw new Error('broken')
    }
    const list = [
      middleware('one', 1, { afterModelCall: fail }),
      middleware('two', 2, { afterModelCall: fail }),
    ]
    expect(await go({ middleware: list })).toMatchObject({ stoppedBy: 'two' })
  })

  it('that answer with something else have failed', async () => {
    for (const hooks of [
      { beforeTool: () => ({ deny: 5 }) },
      { beforeModelCall: () => ({ stop: { reason: 5 } }) },
    ])
      expect(await go({ middleware: [middleware('odd', 1, hooks as never)] })).toMatchObject({
        stoppedBy: 'odd',
        detail: expect.stringMatching(/^odd failed in before/),
      })
  })

  it('keep the calls from running that had not begun when one failed', async () => {
    let ran = 0
    const tools = [tool('act', () => ran++)]
    const fail = async () => {
      throw new Error('broken')
    }
    const session = open()
    await go({ session, tools, parallel: false, middleware: [middleware('guard', 1, { afterTool: fail })] })
    expect(ran).toBe(1)
    expect((await resultsIn(session)).map(([, output]) => output)).toEqual([
      0,
      'Error: this call was not run, since the run was stopped: guard failed in afterTool',
    ])
  })

  it('that stop a run at its last step are what ended it', async () => {
    const fail = async () => {
      throw new Error('broken')
    }
    for (const hooks of [{ afterTool: fail }, { afterModelCall: fail }])
      expect(
        await go({ maxSteps: 1, tools: [tool('act', () => 1)], middleware: [middleware('guard', 1, hooks)] }),
      ).toMatchObject({
        reason: 'stopped',
      })
    const model = scriptedModel(['Done.'])
    expect(await go({ model, middleware: [middleware('guard', 1, { afterModelCall: fail })] })).toMatchObject(
      {
        reason: 'stopped',
        answer: 'Done.',
      },
    )
  })
})

describe('what a model or a provider may get wrong', () => {
  it('is reported as it can be: more from the cache than went in, or nothing at all', () => {
    expect(reportedBy({ inputTokens: 5, cachedInputTokens: 9 })).toEqual({
      cached: 9,
      uncached: 0,
      output: 0,
    })
    expect(reportedBy({ outputTokens: 5 })).toEqual({ cached: 0, uncached: 0, output: 5 })
    expect(reportedBy({ cacheWriteTokens: 5 })).toBeUndefined()
  })

  it('is no reply where it is not the assistant’s', async () => {
    const model = {
      id: 'odd',
      async *complete() {
        yield {
          type: 'finish' as const,
          message: { role: 'user' as const, content: 'Hi' },
          reason: 'stop' as const,
        }
      },
    }
    await expect(go({ model })).rejects.toMatchObject({ argument: 'model' })
  })

  it('is not heard after the run has ended', async () => {
    const controller = new AbortController()
    let stopped = false
    const model = {
      id: 'deaf',
      async *complete() {
        try {
          for (;;) {
            await new Promise((resolve) => setTimeout(resolve, 2))
            yield { type: 'text' as const, text: 'more' }
          }
        } finally {
          stopped = true
        }
      },
    }
    const run = go({ model, signal: controller.signal })
    setTimeout(() => controller.abort(), 5)
    const { answer } = await run
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(stopped).toBe(true)
    expect(
      ofType(await eventsOf(run), 'text')
        .map(({ text }) => text)
        .join(''),
    ).toBe(answer)
  })
})

describe('errors and listeners', () => {
  it('says what is no JSON, and cuts an error that has no end', async () => {
    const session = open()
    const tools = [
      tool('act', () => () => 1),
      tool('fail', () => {
        throw new Error('x'.repeat(10_000))
      }),
    ]
    const model = scriptedModel([{ calls: [call('act'), call('fail')] }, 'Done.'])
    await go({ session, tools, model, parallel: false })
    const [act, fail] = (await resultsIn(session)).map(([, output]) => String(output))
    expect(act).toBe('TypeError: a function is no JSON')
    expect(fail?.length).toBeLessThan(2_100)
  })

  it('lets no listener speak after the end', async () => {
    const onEvent = async ({ type }: AgentEvent) => {
      if (type !== 'finish') return
      await new Promise((resolve) => setTimeout(resolve, 2))
      throw new Error('late')
    }
    const run = go({ onEvent, model: scriptedModel(['Done.']) })
    await run
    await new Promise((resolve) => setTimeout(resolve, 6))
    expect((await eventsOf(run)).at(-1)?.type).toBe('finish')
  })
})
