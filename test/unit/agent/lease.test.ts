import { describe, expect, test } from 'vitest'
import { leaseIn } from '../../../src/agent/round.ts'
import { startRun } from '../../../src/agent/start-run.ts'
import {
  type AgentEvent,
  checkPushed,
  createMemory,
  exportFrom,
  lease,
  leaseOf,
  mapStore,
  observability,
  rewind,
  runAgent,
  type Store,
  scriptedModel,
  standard,
} from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { LeaseMark } from '../../../src/ports/lease.ts'
import type { LogRow } from '../../../src/ports/store.ts'
import { homeStore, httpTransport, refusalsOf, syncServer } from '../../../src/sync/index.ts'
import { VirtualTime } from '../../crash/virtual-time.ts'
import { device, TestHome, TRIP } from '../support/synced.ts'
import { call, eventsOf, open, tool } from './support.ts'

const QUESTION = { id: 'm1', role: 'user', content: 'When is the next train?' } as const

function rowOf(mark: Partial<LeaseMark>, index = 0): LogRow {
  const id = mark.id ?? `lease/${index}`
  const body = JSON.stringify({ of: 'm1', holder: 'edge', term: id, at: 0, until: 0, ...mark, id })
  return { seq: index + 1, place: 0, kind: 'lease', id, opId: `entry:${id}`, ordinal: 1, body }
}

const held = (...marks: readonly Partial<LeaseMark>[]) => leaseIn(marks.map(rowOf), 'm1')?.id

async function writeMark(store: Store, mark: Partial<LeaseMark>): Promise<void> {
  const { id, body } = rowOf(mark)
  const envelope = { opId: `entry:${id}`, kind: 'mark', ids: [id], mark: 'lease', base: null } as const
  await store.open(TRIP).commit([{ envelope, bodies: [body as string] }], decide)
}

describe('of the marks of a lease', () => {
  test('the first one counts, and one that was written after its end', () => {
    expect(held({ at: 100, until: 200 }, { at: 150, until: 300 })).toBe('lease/0')
    expect(held({ at: 100, until: 200 }, { at: 199, until: 300 }, { at: 200, until: 300 })).toBe('lease/2')
  })

  test('one that renews it counts at any time, unless another one came before', () => {
    const term = 'lease/0'
    expect(held({ at: 0, until: 10 }, { term, at: 50, until: 60 })).toBe('lease/1')
    expect(held({ at: 0, until: 10 }, { at: 10, until: 90 }, { term, at: 50, until: 60 })).toBe('lease/1')
  })

  test('one that was given back holds nobody up', () => {
    expect(held({ at: 0, until: 900 }, { term: 'lease/0', at: 5, until: 0 }, { at: 4, until: 99 })).toBe(
      'lease/2',
    )
  })

  test('those of other messages, and what is no lease, count for nothing', () => {
    expect(held({ of: 'm0', at: 0, until: 900 }, { at: 'soon' as never }, { at: 1, until: 2 })).toBe(
      'lease/2',
    )
    expect(leaseIn([{ ...rowOf({}), body: null }], 'm1')).toBeUndefined()
  })
})

describe('a run under a lease', () => {
  test('answers as one without, and its marks change no request', async () => {
    const requests = await Promise.all(
      [{}, { lease: lease({ holder: 'edge' }) }].map(async (options) => {
        const model = scriptedModel([{ calls: [call('look', {}, 'c1')] }, 'At 9:40.'])
        const session = open()
        await runAgent({
          input: QUESTION,
          model,
          tools: [tool('look', () => 'a train')],
          session,
          ...options,
        })
        await session.append({ id: 'm2', role: 'user', content: 'Thanks.' })
        const { blocks } = await session.context()
        const shown = blocks.map(({ role, parts }) => [role, parts])
        return JSON.stringify(shown).replace(/call_\w+/gu, 'call')
      }),
    )
    expect(requests[1]).toBe(requests[0])
  })

  test('names its replies after the message and the step', async () => {
    const session = open()
    const model = scriptedModel([{ calls: [call('look')] }, 'At 9:40.'])
    const run = { model, tools: [tool('look', () => 1)], session, lease: lease({ holder: 'edge' }) }
    await runAgent({ input: QUESTION, ...run })
    const ids = (await session.history()).map(({ id }) => id)
    expect(ids[1]).toMatch(/^reply\/[0-9a-f]{64}\/1$/)
    expect(ids[3]).toBe(ids[1]?.replace(/1$/, '2'))
  })

  test('gives the answer that is there, and asks no model', async () => {
    const store = mapStore()
    await runAgent({ input: QUESTION, model: scriptedModel(['At 9:40.']), session: open(store) })
    const model = scriptedModel([])
    const later = await runAgent({
      input: QUESTION,
      model,
      session: open(store),
      lease: lease({ holder: 'b' }),
    })
    expect([later.answer, later.reason, model.requests]).toEqual(['At 9:40.', 'answer', []])
  })

  test('waits while another one answers, and gives that answer', async () => {
    const store = mapStore()
    await open(store).append(QUESTION)
    let answerNow = (): void => {}
    const slow = new Promise<string>((resolve) => {
      answerNow = () => resolve('a train')
    })
    const first = runAgent({
      model: scriptedModel([{ calls: [call('look')] }, 'At 9:40.']),
      tools: [tool('look', () => slow)],
      session: open(store),
      lease: lease({ holder: 'browser' }),
      onEvent: ({ type }) => {
        if (type === 'tool-start') void second.then(undefined)
      },
    })
    const events: AgentEvent[] = []
    await new Promise((resolve) => setTimeout(resolve, 5))
    const second = runAgent({
      model: scriptedModel([]),
      session: open(store),
      lease: lease({ holder: 'edge' }),
      onEvent: (event) => {
        events.push(event)
        if (event.type === 'lease') answerNow()
      },
    })
    expect((await second).answer).toBe('At 9:40.')
    expect((await first).answer).toBe('At 9:40.')
    expect(events).toContainEqual({ type: 'lease', status: 'waiting', message: 'm1', holder: 'browser' })
  })

  test('goes on with what another one left, under the same idempotency key', async () => {
    const store = mapStore()
    const keys: string[] = []
    const look = tool('look', (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      if (keys.length === 1) return new Promise(() => {})
      return 'a train'
    })
    const model = scriptedModel([{ calls: [call('look')] }])
    // Its process ends there: nothing of it goes on.
    void runAgent({
      input: QUESTION,
      model,
      tools: [look],
      session: open(dying(store, () => keys.length > 0)),
      lease: lease({ holder: 'browser', ms: 60 }),
    })
    await expect.poll(() => keys.length).toBe(1)
    const events = await eventsOf(
      runAgent({
        model: scriptedModel(['At 9:40.']),
        tools: [look],
        session: open(store),
        lease: lease({ holder: 'edge' }),
      }),
    )
    expect(events).toContainEqual(expect.objectContaining({ type: 'resume', settled: 'run' }))
    expect(events.at(-1)).toMatchObject({ result: { answer: 'At 9:40.', steps: 2 } })
    expect(keys).toEqual([keys[0], keys[0]])
  })

  test('goes on from the reply in the log, and tells what it drops', async () => {
    const session = open()
    const done = scriptedModel(['At 9:40.'])
    await runAgent({ input: QUESTION, model: done, session, lease: lease({ holder: 'a' }) })
    const id = (await session.history()).at(-1)?.id ?? ''
    const store = mapStore()
    const late = open(store)
    await late.append(QUESTION)
    const events = await eventsOf(
      runAgent({
        model: {
          id: 'late',
          async *complete() {
            // One that had the lease before writes after all.
            await open(store).append({ id, role: 'assistant', content: 'At 9:40.' }, { round: 'm1' })
            yield { type: 'finish', message: { role: 'assistant', content: 'At noon.' }, reason: 'stop' }
          },
        },
        session: late,
        lease: lease({ holder: 'b' }),
      }),
    )
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'reply-dropped',
        step: 1,
        message: expect.objectContaining({ content: 'At noon.' }),
        stored: expect.objectContaining({ content: 'At 9:40.' }),
      }),
    )
    expect(events.at(-1)).toMatchObject({ result: { answer: 'At 9:40.' } })
    expect(await late.history()).toHaveLength(2)
  })

  test('answers again after its reply was hidden', async () => {
    const session = open()
    // The run that answered it before is not waited for.
    const run = { session, lease: lease({ holder: 'edge', ms: 60_000 }) }
    await runAgent({ input: QUESTION, model: scriptedModel(['At 9:40.']), ...run })
    const [, first] = await session.history()
    await rewind(session, first?.id ?? '')
    const { answer } = await runAgent({ model: scriptedModel(['At noon.']), ...run })
    expect(answer).toBe('At noon.')
    expect((await session.history()).at(-1)?.id).toBe(`${first?.id}/1`)
  })

  test('keeps the others away while a step takes long, with few marks', async () => {
    const store = mapStore()
    const holding = lease({ holder: 'a', ms: 300 })
    const session = open(store)
    const slow = tool('look', () => new Promise((resolve) => setTimeout(resolve, 1_000)))
    const run = runAgent({
      input: QUESTION,
      model: scriptedModel([{ calls: [call('look')] }, 'At 9:40.']),
      tools: [slow],
      session,
      lease: holding,
    })
    const other = scriptedModel([])
    await expect.poll(() => leaseOf(session, 'm1')).toBeDefined()
    await runAgent({ model: other, session: open(store), lease: lease({ holder: 'b', ms: 300 }) })
    expect((await run).answer).toBe('At 9:40.')
    expect((await leaseOf(session, 'm1'))?.holder).toBe('a')
    const { rows } = await store.open(TRIP).changesSince(0)
    expect(rows.filter(({ kind }) => kind === 'lease').length).toBeLessThan(25)
  })

  test('that is stopped is over for those who wait', async () => {
    const store = mapStore()
    const controller = new AbortController()
    const first = runAgent({
      input: QUESTION,
      model: { id: 'hangs', complete: () => hanging() },
      session: open(store),
      lease: lease({ holder: 'a' }),
      signal: controller.signal,
    })
    await expect.poll(() => leaseOf(open(store), 'm1')).toBeDefined()
    const model = scriptedModel(['At noon.', 'At noon.'])
    const waiting = runAgent({
      model,
      session: open(store),
      lease: lease({ holder: 'b' }),
      onEvent: ({ type }) => {
        if (type === 'lease') controller.abort()
      },
    })
    expect((await first).reason).toBe('aborted')
    expect(await waiting).toMatchObject({ reason: 'stopped', stoppedBy: 'lease' })
    // A run that asks for it again gets an answer.
    const again = await runAgent({ model, session: open(store), lease: lease({ holder: 'b' }) })
    expect(again.answer).toBe('At noon.')
  })

  test('that fails gives the lease back at once', async () => {
    const store = mapStore()
    const failing = {
      id: 'fails',
      complete: () => {
        throw new Error('no model')
      },
    }
    const first = runAgent({
      input: QUESTION,
      model: failing,
      session: open(store),
      lease: lease({ holder: 'a', ms: 60_000 }),
    })
    await expect(Promise.resolve(first)).rejects.toThrow('no model')
    const model = scriptedModel(['At noon.'])
    const next = await runAgent({ model, session: open(store), lease: lease({ holder: 'b' }) })
    expect(next.answer).toBe('At noon.')
  })

  test('can be aborted while it waits', async () => {
    const store = mapStore()
    await open(store).append(QUESTION)
    await writeMark(store, { at: Date.now(), until: Date.now() + 60_000 })
    const controller = new AbortController()
    const run = runAgent({
      model: scriptedModel([]),
      session: open(store),
      lease: lease({ holder: 'b' }),
      signal: controller.signal,
      onEvent: ({ type }) => {
        if (type === 'lease') controller.abort()
      },
    })
    expect(await run).toMatchObject({ reason: 'aborted', steps: 0, answer: '' })
  })

  test('waits until the home has confirmed it, or does not where it is told so', async () => {
    const home = new TestHome()
    const { store } = device(home)
    store.pause()
    const session = open(store)
    await session.append(QUESTION)
    const model = scriptedModel(['At noon.'])
    const offline = await runAgent({ model, session, lease: lease({ holder: 'b', offline: 'answer' }) })
    expect(offline.answer).toBe('At noon.')
    await session.append({ ...QUESTION, id: 'm2' })
    const waiting = scriptedModel(['At 9:40.'])
    const run = runAgent({ model: waiting, session, lease: lease({ holder: 'b' }) })
    run.then(() => {})
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect(waiting.requests).toEqual([])
    store.resume()
    expect((await run).answer).toBe('At 9:40.')
    await store.close()
  })

  test.each(['taken', 'refused'])('over a home that checks what it is pushed is %s', async (what) => {
    const base = mapStore()
    const memory = createMemory({ store: homeStore(base), use: standard() })
    const answer = syncServer({
      store: base,
      authenticate: async () => ({ userId: 'ada' }),
      check: async (scope, ops) => {
        const refuse = await checkPushed(memory, scope, ops)
        return (op) => (what === 'refused' && op.envelope.mark ? 'forbidden' : refuse(op))
      },
    })
    const fetch = (url: string, init: RequestInit) => answer(new Request(url, init))
    const transport = httpTransport({ url: 'https://home.example', token: 'ada', fetch })
    const { store } = device(new TestHome(), { transport })
    const session = open(store)
    const run = runAgent({
      input: QUESTION,
      model: scriptedModel(['At 9:40.']),
      session,
      lease: lease({ holder: 'b' }),
    })
    if (what === 'refused') await expect(Promise.resolve(run)).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
    else {
      expect((await run).answer).toBe('At 9:40.')
      await store.settled()
      expect(await leaseOf(open(base), 'm1')).toMatchObject({ holder: 'b' })
    }
    await store.close()
  })

  test('acts on nothing that the home has not confirmed', async () => {
    const home = new TestHome()
    const { store } = device(home)
    const session = open(store)
    const model = scriptedModel([{ calls: [call('look')] }, 'At 9:40.'])
    const ran: string[] = []
    const look = tool('look', () => {
      ran.push('look')
      store.pause()
      return 1
    })
    const run = runAgent({
      input: QUESTION,
      model: {
        id: 'pausing',
        async *complete(request) {
          if (model.requests.length === 0) store.pause()
          yield* model.complete(request)
        },
      },
      tools: [look],
      session,
      lease: lease({ holder: 'b' }),
    })
    const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 80))
    await expect.poll(() => model.requests.length).toBe(1)
    await settled()
    expect(ran).toEqual([])
    store.resume()
    await expect.poll(() => ran).toEqual(['look'])
    await settled()
    expect(model.requests).toHaveLength(1)
    store.resume()
    expect((await run).answer).toBe('At 9:40.')
    await store.close()
  })

  test.each([3_600_000, -3_600_000])(
    'holds by the time of the home on a device whose clock is wrong by %i ms',
    async (offset) => {
      const home = new TestHome()
      const host = { ...webHost, now: () => Date.now() + offset }
      const { store, link } = device(home, { host })
      const { push, pull } = link
      link.push = async (...asked) => Object.assign([...(await push(...asked))], { time: Date.now() })
      link.pull = async (...asked) => Object.assign([...(await pull(...asked))], { time: Date.now() })
      const session = open(store)
      const at = Date.now()
      const model = scriptedModel(['At 9:40.'])
      await startRun({ input: QUESTION, model, session, lease: lease({ holder: 'b', ms: 5_000 }) }, host)
      const mark = await leaseOf(session, 'm1')
      expect(mark?.at).toBeGreaterThan(at - 1_000)
      expect(mark?.until).toBeGreaterThan(at + 4_000)
      expect(mark?.until).toBeLessThan(Date.now() + 6_000)
      await store.close()
    },
  )

  test('on a device that was away ends with what the home has', async () => {
    const home = new TestHome()
    const { store, base } = device(home)
    const session = open(store)
    await session.append(QUESTION)
    await store.settled()
    store.pause()
    const offline = lease({ holder: 'browser', offline: 'answer' })
    await runAgent({ model: scriptedModel(['At noon.']), session, lease: offline })
    const edge = open({ ...home.store, open: (scope) => home.open(scope) })
    await runAgent({ model: scriptedModel(['At 9:40.']), session: edge, lease: lease({ holder: 'edge' }) })
    store.resume()
    await store.settled()
    for (const one of [home.store, base]) {
      const said = (await open(one).history()).map(({ content }) => JSON.stringify(content))
      expect(said).toEqual([expect.stringContaining('next train'), expect.stringContaining('9:40')])
    }
    expect(await refusalsOf(store).of(TRIP)).toHaveLength(1)
    await store.close()
  })

  test.each(['model', 'tool'])(
    'ends where another one has the lease, which it learns after its %s',
    async (part) => {
      const store = mapStore()
      const taken = Date.now() + 120_000
      const take = async (at: string) => {
        if (at === part) await writeMark(store, { id: 'lease/other', at: taken, until: taken + 60_000 })
      }
      const ran: string[] = []
      const model = scriptedModel([{ calls: [call('look')] }, 'At 9:40.'])
      const controller = new AbortController()
      const statuses: string[] = []
      const { reason } = await runAgent({
        input: QUESTION,
        model: {
          id: 'slow',
          async *complete(request) {
            ran.push('model')
            await take('model')
            yield* model.complete(request)
          },
        },
        tools: [
          tool('look', async () => {
            ran.push('tool')
            await take('tool')
            return 1
          }),
        ],
        session: open(store),
        lease: lease({ holder: 'a', ms: 60_000 }),
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type !== 'lease') return
          statuses.push(event.status)
          if (event.status === 'waiting') controller.abort()
        },
      })
      expect([reason, statuses]).toEqual(['aborted', ['held', 'lost', 'waiting']])
      expect(ran).toEqual(part === 'model' ? ['model'] : ['model', 'tool'])
    },
  )

  test('renews more and more seldom while a step goes on', async () => {
    const time = new VirtualTime()
    const store = mapStore()
    const host = time.host('a')
    const session = open(store, { host })
    const minutes = tool('look', () => time.wait(30 * 60_000).then(() => 1))
    const model = scriptedModel([{ calls: [call('look')] }, 'At 9:40.'])
    const run = startRun(
      { input: QUESTION, model, tools: [minutes], session, lease: lease({ holder: 'a' }) },
      host,
    )
    expect((await time.run(Promise.resolve(run))).answer).toBe('At 9:40.')
    const { rows } = await store.open(TRIP).changesSince(0)
    expect(rows.filter(({ kind }) => kind === 'lease').length).toBeLessThan(150)
  })

  test('tells of each message that it writes', async () => {
    const model = scriptedModel([{ calls: [call('look')] }, 'At 9:40.'])
    const run = { model, tools: [tool('look', () => 1)], session: open(), lease: lease({ holder: 'edge' }) }
    const events = await eventsOf(runAgent({ input: QUESTION, ...run }))
    const roles = events.flatMap((event) => (event.type === 'message' ? event.message.role : []))
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  test('traces one run, no matter who goes on with it', async () => {
    const store = mapStore()
    const traces = new Set<string>()
    const counts: number[] = []
    const sink = observability({
      sink: (record) => {
        traces.add(record.traceId)
        if (record.type === 'model' && record.status === 'ok') counts.push(record.count)
      },
    })
    const common = { middleware: [sink], tools: [tool('look', () => 1)] }
    const first = runAgent({
      input: QUESTION,
      model: scriptedModel([{ calls: [call('look')] }]),
      session: open(store),
      lease: lease({ holder: 'a' }),
      ...common,
    })
    await expect(Promise.resolve(first)).rejects.toThrow()
    const session = open(store)
    await runAgent({ model: scriptedModel(['At 9:40.']), session, lease: lease({ holder: 'b' }), ...common })
    expect([traces.size, counts]).toEqual([1, [1, 2]])
  })

  test('needs a session, a message of the user, and no other way to resume', async () => {
    const model = scriptedModel([])
    const holding = lease({ holder: 'a' })
    const reject = (options: object) =>
      expect(Promise.resolve(runAgent({ model, lease: holding, ...options } as never))).rejects.toMatchObject(
        {
          code: 'ERR_INVALID_ARGUMENT',
        },
      )
    await reject({ input: QUESTION })
    await reject({ session: open() })
    await reject({ session: open(), input: { role: 'assistant', content: 'Hi.' } })
    await reject({ session: open(), input: QUESTION, resume: true })
    for (const options of [{}, { holder: 'a', ms: 0 }, { holder: 'a', settle: 1 }])
      expect(() => lease(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
  })

  test('leaves marks that exports keep', async () => {
    const memory = createMemory({ store: mapStore() })
    const model = scriptedModel(['At 9:40.'])
    await runAgent({
      input: QUESTION,
      model,
      session: memory.session(TRIP),
      lease: lease({ holder: 'edge' }),
    })
    let text = ''
    for await (const line of exportFrom(memory, TRIP)) text += line
    expect(text).toMatch(/"type":"mark","kind":"lease"/)
  })
})

test('each call of a run has an idempotency key of its own', async () => {
  const keys: string[] = []
  const look = tool('look', (_, { idempotencyKey }) => {
    keys.push(idempotencyKey)
    return 1
  })
  const model = scriptedModel([{ calls: [call('look', {}, 'a'), call('look', {}, 'a')] }, 'Done.'])
  await runAgent({ input: QUESTION, model, tools: [look], session: open() })
  expect(new Set(keys).size).toBe(2)
})

/** A store of a process that ends as soon as it says so: nothing is read or written any more. */
function dying(store: Store, isOver: () => boolean): Store {
  return {
    ...store,
    open: (scope) => {
      const opened = store.open(scope)
      return new Proxy(opened, {
        get: (target, key) => {
          const value = Reflect.get(target, key)
          if (typeof value !== 'function') return value
          return (...given: unknown[]) =>
            isOver() && key !== 'close' ? new Promise(() => {}) : value.apply(target, given)
        },
      })
    },
  }
}

async function* hanging(): AsyncGenerator<never> {
  await new Promise(() => {})
}
