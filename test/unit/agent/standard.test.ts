import { describe, expect, it } from 'vitest'
import { budget } from '../../../src/agent/budget.ts'
import { contextFilter } from '../../../src/agent/context-filter.ts'
import type { AgentCall, AgentEvent } from '../../../src/agent/events.ts'
import { factSheet } from '../../../src/agent/fact-sheet.ts'
import { memoryToolSpecs, memoryTools } from '../../../src/agent/memory-tools.ts'
import type { Hooks, Middleware, Proposal } from '../../../src/agent/middleware.ts'
import { type CallRecord, observability } from '../../../src/agent/observability.ts'
import { type Context, mapStore, runAgent, scriptedModel } from '../../../src/index.ts'
import type { FullSession } from '../../contract/full-memory.ts'
import { call, open, tool } from './support.ts'

const signal = new AbortController().signal
const usage = { predicted: { input: 0, cached: 0 }, reported: { cached: 0, uncached: 0, output: 0 } }
const start = ({ start }: Middleware, now = (): number => 0): Hooks => start({ now, newId: () => 'run-1' })
const ask = async (
  { beforeModelCall }: Hooks,
  step = 1,
  session?: FullSession,
): Promise<Proposal | undefined> => beforeModelCall?.({ step, usage, signal, ...(session && { session }) })
const invalid = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })

describe('budget', () => {
  it('refuses a limit that is none', () => {
    for (const limit of [0, -1, Number.NaN])
      expect(() => budget({ limit, getTokensUsed: () => 0 })).toThrow(invalid('limit'))
  })

  it('takes nothing used for a number, but less than that for a failure', async () => {
    for (const used of [-1, Number.NaN, undefined, 'many']) {
      const hooks = start(budget({ limit: 100, getTokensUsed: () => used as number }))
      await expect(ask(hooks)).rejects.toEqual(invalid('getTokensUsed'))
    }
  })

  it('counts the run’s own calls where it is not told how: what was reported, or else predicted', async () => {
    const hooks = start(budget({ limit: 100 }))
    const askWith = (input: number, cached: number, uncached: number, output: number) =>
      hooks.beforeModelCall?.({
        step: 1,
        usage: { predicted: { input, cached: 0 }, reported: { cached, uncached, output } },
        signal,
      })
    expect(await askWith(99, 0, 0, 0)).toMatchObject({ nudge: expect.stringContaining('(99 of 100)') })
    expect(await askWith(50, 40, 30, 29)).toBeUndefined()
    expect(await askWith(50, 40, 30, 30)).toEqual({ stop: { reason: 'budget' } })
    expect(await askWith(100, 0, 0, 0)).toEqual({ stop: { reason: 'budget' } })
  })

  it('never says that more is used than is', async () => {
    const hooks = start(budget({ limit: 1_000, getTokensUsed: () => 899 }))
    expect((await ask(hooks))?.nudge).toMatch(/^89 % of the token budget is used \(899 of 1000\)/)
  })
})

describe('fact sheet', () => {
  const sheetOf = async (
    facts: readonly { title: string; text: string }[],
    maxCharacters?: number,
  ): Promise<string | undefined> => {
    const labelled = facts.map((fact) => ({ ...fact, trust: 'web' as const }))
    const options = { facts: () => labelled, ...(maxCharacters !== undefined && { maxCharacters }) }
    return (await ask(start(factSheet(options))))?.tail?.[0]?.text
  }

  it('shows as many characters as it may, counted as code points, and not one more', async () => {
    const line = `- [web] T: ${'🚂'.repeat(9)}`
    const fact = { title: 'T', text: '🚂'.repeat(9) }
    expect(await sheetOf([fact], 20)).toBe(line)
    expect(await sheetOf([fact], 19)).toBe('(1 more did not fit)')
    // The next one would fit again, but would tell of less weighty things.
    const short = { title: 'T', text: '' }
    expect(await sheetOf([short, fact, { title: 'T', text: '.' }], 30)).toBe(
      '- [web] T: \n(2 more did not fit)',
    )
    const long = (length: number) => ({ title: 'T', text: 'x'.repeat(length) })
    expect(await sheetOf([long(4_000 - 11)])).toHaveLength(4_000)
    expect(await sheetOf([long(4_001 - 11)])).toBe('(1 more did not fit)')
  })

  it('says nothing where there are no facts, or none was asked for', async () => {
    expect(await sheetOf([])).toBeUndefined()
    expect(await ask(start(factSheet()))).toBeUndefined()
  })

  it('keeps a title on its line, and fails for what is no text', async () => {
    expect(await sheetOf([{ title: ' \n One\r\nline\t', text: 'a' }])).toBe('- [web] One line: a')
    for (const fact of [
      { title: 5, text: 'a' },
      { title: 'a', text: undefined },
      { title: 'half \ud83d', text: 'a' },
    ])
      await expect(sheetOf([fact as never])).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  it('asks for what is known in this session', async () => {
    const session = open()
    const asked: unknown[] = []
    const hooks = start(factSheet({ facts: (about) => asked.splice(asked.length, 0, about) as never[] }))
    await ask(hooks, 1, session)
    await ask(hooks, 2)
    expect(asked).toEqual([{ session }, {}])
  })

  it('refuses a length that is none', () => {
    for (const maxCharacters of [0, -1, Number.NaN])
      expect(() => factSheet({ facts: () => [], maxCharacters })).toThrow(invalid('maxCharacters'))
  })
})

describe('context filter', () => {
  it('asks for the limits of the step, and proposes what it is given, nothing where that is nothing', async () => {
    const toolOutput = { most: 9 } as never
    const hooks = start(
      contextFilter((step) =>
        step === 1 ? undefined : step === 2 ? { rounds: 0 } : { rounds: step, toolOutput },
      ),
    )
    expect(await ask(hooks, 1)).toBeUndefined()
    // It is the core that refuses it.
    expect(await ask(hooks, 2)).toEqual({ limits: { window: { max: { rounds: 0 } } } })
    expect(await ask(hooks, 3)).toEqual({ limits: { window: { max: { rounds: 3 } }, toolOutput } })
    expect(await ask(start(contextFilter()))).toBeUndefined()
    expect(await ask(start(contextFilter({ rounds: 4, keep: 4 })))).toEqual({
      limits: { window: { max: { rounds: 4 }, keep: { rounds: 4 } } },
    })
    expect(() => contextFilter({ keep: 4 })).toThrow(invalid('keep'))
  })
})

describe('observability', () => {
  const call = (entry: string, index: number): AgentCall => ({
    entry,
    index,
    callId: 'a',
    name: 'act',
    input: {},
  })

  it('times calls that run at once each for itself, whatever their ids', async () => {
    let now = 100
    const records: CallRecord[] = []
    const hooks = start(observability({ sink: (record) => void records.push(record) }), () => now)
    const calls = [call('one', 0), call('one', 1), call('two', 0)]
    for (const one of calls) {
      await hooks.beforeTool?.({ step: 1, call: one, signal })
      now += 10
    }
    for (const one of calls)
      await hooks.afterTool?.({ step: 1, call: one, status: 'ok', output: 1, isError: false, signal })
    expect(records.map(({ start, end }) => [start, end])).toEqual([
      [100, 130],
      [110, 130],
      [120, 130],
    ])
    expect(new Set(records.map(({ spanId }) => spanId)).size).toBe(3)
  })

  it('takes no time for a call that nobody saw begin, or not again', async () => {
    let now = 100
    const records: CallRecord[] = []
    const hooks = start(observability({ sink: (record) => void records.push(record) }), () => now)
    await hooks.beforeTool?.({ step: 1, call: call('one', 0), signal })
    now += 10
    for (const _ of 'ab')
      await hooks.afterTool?.({
        step: 1,
        call: call('one', 0),
        status: 'ok',
        output: 1,
        isError: false,
        signal,
      })
    expect(records.map(({ start, end }) => end - start)).toEqual([10, 0])
  })

  it('tells what a call took, and is awaited', async () => {
    const spent = { predicted: { input: 5, cached: 1 } }
    const records: CallRecord[] = []
    let ended = false
    const sink = async (record: CallRecord): Promise<void> => {
      records.push(record)
      await new Promise((resolve) => setTimeout(resolve, 1))
      ended = true
    }
    const hooks = start(observability({ sink }))
    await hooks.afterModelCall?.({ step: 1, usage, signal, status: 'ok', call: spent } as never)
    expect(ended).toBe(true)
    await hooks.afterModelCall?.({ step: 2, usage, signal, status: 'failed', error: 1 })
    expect(records).toMatchObject([
      { type: 'model', step: 1, count: 1, status: 'ok', usage: spent },
      { type: 'model', step: 2, count: 2, status: 'failed' },
    ])
  })

  it('gives spans of one trace: a tool call is a child of the model call that asked for it', async () => {
    const recordsOf = async (id: string): Promise<readonly CallRecord[]> => {
      const records: CallRecord[] = []
      const { start } = observability({ sink: (record) => void records.push(record) })
      const hooks = start({ now: () => 5, newId: () => id })
      for (const step of [1, 2]) {
        const end = { step, usage, signal, status: 'failed', error: 1 } as const
        await hooks.afterModelCall?.(end)
        const ended = {
          step,
          call: call(`${step}`, 0),
          status: 'ok',
          output: 1,
          isError: false,
          signal,
        } as const
        await hooks.afterTool?.(ended)
      }
      return records
    }
    const records = await recordsOf('one')
    const [first, tool, second] = records
    expect(records.every(({ traceId }) => traceId === first?.traceId)).toBe(true)
    expect(first).toMatchObject({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      parentId: second?.parentId,
      start: 5,
      end: 5,
    })
    expect(tool?.parentId).toBe(first?.spanId)
    expect(new Set(records.map(({ spanId }) => spanId)).size).toBe(4)
    expect((await recordsOf('two'))[0]?.traceId).not.toBe(first?.traceId)
  })

  it('watches nothing where nobody listens', () => {
    expect(start(observability())).toEqual({})
  })
})

describe('memoryTools', () => {
  const session = open()
  const [read] = memoryTools(session, ['read_source'])
  const page = (input: object): unknown => read?.execute(input, { callId: 'a', idempotencyKey: 'a', signal })

  it('says which page it gives, and where to go on, if there is more', async () => {
    const text = Array.from({ length: 1_500 }, (_, line) => `line ${line}`).join('\n')
    await session.append({ role: 'user', content: text })
    const first = String(await page({ reference: '#1' }))
    const [, end = ''] =
      /^\[from memory: #1, characters 0 to (\d+) of \d+; go on with offset \1\]\n/.exec(first) ?? []
    const whole = `User: ${text}`
    expect(first.endsWith(whole.slice(0, Number(end)))).toBe(true)
    const rest = String(await page({ reference: '#1', offset: whole.length - 40 }))
    const range = `characters ${whole.length - 40} to ${whole.length} of ${whole.length}`
    expect(rest).toBe(`[from memory: #1, ${range}]\n${whole.slice(-40)}`)
  })

  it('takes a reference and an offset, and nothing else', () => {
    const [spec] = memoryToolSpecs(session, ['read_source'])
    expect(spec?.inputSchema).toMatchObject({
      required: ['reference'],
      additionalProperties: false,
      properties: { reference: { type: 'string' }, offset: { type: 'integer' } },
    })
  })
})

describe('a fact sheet of a session’s own facts', () => {
  it.each([
    ['Lift', 1],
    ['Nobody repairs', -1],
  ])(
    'shows each fact once in every request: what the memory shows is not said again, %s aside',
    async (aside, later) => {
      const session = open(mapStore(), { facts: { tokens: 45 } })
      const told = [
        { kind: 'constraint', text: 'Never fly.' },
        { kind: 'preference', text: 'Window seats,\nalways.' },
        { kind: 'finding', text: 'The lift is broken.', title: 'Lift' },
        { kind: 'finding', text: 'Nobody repairs anything in this house before the end of the summer.' },
      ] as const
      // The newest stand first.
      const now = Date.now()
      for (const [place, fact] of told.entries())
        await session.facts.remember({ ...fact, createdAt: now + later * place })
      const late = tool('late', () => session.facts.remember({ kind: 'finding', text: 'It rains.' }))
      const model = scriptedModel([{ calls: [call('late')] }, { calls: [call('late')] }, 'Done.'])
      const heard: AgentEvent[] = []
      const twice = async () => [...(await session.facts.list()), ...(await session.facts.list())]
      await runAgent({
        input: 'Go',
        model,
        tools: [late],
        session,
        middleware: [factSheet({ facts: twice })],
        onEvent: (event) => void heard.push(event),
      })
      expect(heard.filter(({ type }) => type === 'middleware-failure')).toEqual([])
      expect(model.requests).toHaveLength(3)
      for (const [step, { blocks }] of model.requests.entries()) {
        const own = blocks.filter(({ section }) => section !== 'window')
        const text = JSON.stringify(own).replaceAll('\\n', ' ')
        const counts = told.map((fact) => text.split(fact.text.replace(/\s/g, ' ')).length - 1)
        expect(counts).toEqual([1, 1, 1, 1])
        expect(text.split('It rains.').length - 1).toBe(step > 0 ? 1 : 0)
      }
      // One had no room among those of the memory.
      expect(JSON.stringify(model.requests[0]?.blocks.at(-1))).toContain(` facts>\\n- [user] ${aside}`)
    },
  )
})

it('a hook may look at the context as it would be, with the limits that were proposed before it', async () => {
  const session = open(mapStore(), { system: 'Be brief.' })
  for (let round = 0; round < 6; round++)
    await session.append([
      { role: 'user', content: `Question ${round}?` },
      { role: 'assistant', content: `Answer ${round}.` },
    ])
  const seen: Context[] = []
  const looking: Middleware = {
    name: 'looking',
    order: 30,
    kind: 'guard',
    start: () => ({
      beforeModelCall: async ({ preview }) => {
        if (preview) seen.push(await preview())
        return { tail: [{ name: 'more', text: 'It is Monday.' }] }
      },
    }),
  }
  const model = scriptedModel(['Yes.'])
  const middleware = [contextFilter({ rounds: 2, keep: 2 }), looking]
  await runAgent({ input: 'And now?', system: 'Be kind.', model, session, middleware })
  const [sent] = model.requests
  expect(seen).toHaveLength(1)
  expect(seen[0]?.receipt.epoch).toBe('preview')
  expect(seen[0]?.lane).toBe(sent?.lane)
  expect(seen[0]?.blocks.map(({ parts }) => parts)).toEqual(
    sent?.blocks.slice(0, -1).map(({ parts }) => parts),
  )
})

it('a fact sheet leaves out what the memory shows behind a title', async () => {
  const session = open(mapStore())
  await session.facts.remember({ kind: 'finding', text: 'The lift is broken.', title: 'Lift' })
  const model = scriptedModel(['Yes.'])
  const middleware = [factSheet({ facts: () => session.facts.list() })]
  await runAgent({ input: 'Go', model, session, middleware })
  expect(JSON.stringify(model.requests[0]?.blocks).split('The lift is broken.')).toHaveLength(2)
})
