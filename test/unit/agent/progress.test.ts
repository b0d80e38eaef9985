import { describe, expect, it } from 'vitest'
import { progress } from '../../../src/agent/progress.ts'
import {
  type AgentEvent,
  type Json,
  mapStore,
  type ProgressOptions,
  runAgent,
  type ScriptedReply,
  scriptedModel,
} from '../../../src/index.ts'
import { fullMemory } from '../../contract/full-memory.ts'

/** One call, and what its tool gives; a throw is an error. */
interface Step {
  readonly tool?: string
  readonly input: Json
  readonly output: Json
  readonly fails?: true
}

const step = (input: Json, output: Json, tool = 'act'): Step => ({ tool, input, output })
const failing = (input: Json, output: string, tool = 'act'): Step => ({ tool, input, output, fails: true })
const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))
const cycle = (steps: readonly Step[], count = 20): Step[] =>
  times(count, (index) => steps[index % steps.length] as Step)

const COLOURS = ['red', 'green', 'blue', 'amber', 'white', 'black', 'grey', 'pink', 'teal', 'gold']

/**
 * Walks through the steps, several calls a step where they are a list, and answers after them. A
 * model that gets no tools answers what it has.
 */
async function walk(
  steps: readonly (Step | readonly Step[])[],
  options?: ProgressOptions,
  isDeaf = false,
): Promise<{
  readonly result: Awaited<ReturnType<typeof runAgent>>
  readonly nudges: number
  readonly events: readonly AgentEvent[]
  readonly requests: readonly { readonly tools?: readonly unknown[] }[]
}> {
  const waiting: Step[] = []
  const all = steps.map((one) => (Array.isArray(one) ? (one as readonly Step[]) : [one as Step]))
  const names = [...new Set(all.flat().map(({ tool = 'act' }) => tool))]
  const model = scriptedModel(({ call, tools }): ScriptedReply => {
    if (tools.length === 0 && !isDeaf) return 'This is what I found.'
    const calls = all[call - 1]
    if (!calls) return 'Done.'
    waiting.push(...calls)
    return { calls: calls.map(({ tool = 'act', input }) => ({ name: tool, input })) }
  })
  const events: AgentEvent[] = []
  const result = await runAgent({
    input: 'Do it.',
    model,
    session: fullMemory({ store: mapStore(), budget: 32_000 }).session({ userId: 'ada' }),
    tools: names.map((name) => ({
      name,
      inputSchema: {},
      execute: () => {
        const next = waiting.shift()
        if (next?.fails) throw new Error(String(next.output))
        return next?.output ?? null
      },
    })),
    middleware: [progress(options)],
    maxSteps: 60,
    parallel: 1,
    onEvent: (event) => void events.push(event),
  })
  const nudges = events.filter(({ type }) => type === 'nudge').length
  return { result, nudges, events, requests: model.requests }
}

const HARMLESS: Readonly<Record<string, readonly (Step | readonly Step[])[]>> = {
  'ten additions of different numbers': times(10, (n) => step({ a: n, b: n + 1 }, 2 * n + 1, 'add')),
  'additions whose sums are equal': times(10, (n) => step({ a: n, b: 10 - n }, 10, 'add')),
  'twelve chapters that are read': times(12, (n) => step({ path: `chapter-${n}.md` }, `It was day ${n}.`)),
  'the steps of a wizard': times(12, (n) => step({ step: n }, 'next')),
  'twelve edits of one file': times(12, (n) => step({ path: 'a.ts', line: n, text: `x${n}` }, 'ok', 'edit')),
  'questions in words that are answered alike': COLOURS.map((colour) =>
    step({ ask: `Is it ${colour}?` }, 'No.'),
  ),
  'a build that is watched as it gets on': times(12, (n) => step({}, `${8 * n} % done`, 'status')),
  'pages of a list': times(12, (n) => step({ page: n }, { items: [n] })),
  'a cursor that is followed': times(12, (n) => step({ after: `c${n}` }, { next: `c${n + 1}` })),
  'edits between runs of tests that go on failing': times(8, (n) => [
    step({ fix: n }, 'ok', 'edit'),
    failing({}, '1 test failed', 'test'),
  ]).flat(),
  'an error that is got over at the third try': [
    failing({ n: 1 }, 'busy'),
    failing({ n: 1 }, 'busy'),
    step({ n: 1 }, 'fine'),
  ],
  'a file that is read again after each edit': times(6, (n) => [
    step({ edit: n }, 'ok', 'edit'),
    step({ path: 'a.ts' }, `version ${n}`, 'read'),
  ]).flat(),
  'the same call made twice, and something else': times(10, (n) => [
    step({ n }, `row ${n}`),
    step({ n }, `row ${n}`),
  ]).flat(),
  'a clock that is asked': times(12, (n) => step({}, `12:0${n}`, 'now')),
  'ten rows written': times(12, (n) => step({ row: n }, { ok: true }, 'insert')),
  'a search of many words, four of them in vain': [
    ...times(4, (n) => step({ query: `word ${n}` }, [])),
    ...times(8, (n) => step({ query: `other ${n}` }, [`hit ${n}`])),
  ],
  'one reply that makes ten different calls': [times(10, (n) => step({ n }, 'ok'))],
  'guesses that come closer': times(10, (n) => step({ guess: n }, n < 9 ? `warmer by ${n}` : 'found')),
  'a mail to each of twelve people': times(12, (n) => step({ to: `p${n}@example.org` }, 'sent', 'mail')),
  'a build whose errors change': times(8, (n) => failing({}, `${9 - n} errors`, 'build')),
}

const STUCK: Readonly<Record<string, readonly (Step | readonly Step[])[]>> = {
  'the same call': cycle([step({ a: 1 }, 'no')]),
  'the same call, its fields in another order': times(20, (n) =>
    step(n % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 }, 'no'),
  ),
  'the same call of a tool without input': cycle([step({}, 'still running', 'status')]),
  'the same error': cycle([failing({ path: 'a' }, 'no such file')]),
  'the same error for ever other paths': times(20, (n) => failing({ path: `file${n}` }, 'no such file')),
  'two calls in turn': cycle([step({ a: 1 }, 'one'), step({ a: 2 }, 'two')]),
  'three calls in turn': cycle([step({ a: 1 }, 'one'), step({ a: 2 }, 'two'), step({ a: 3 }, 'three')]),
  'four calls in turn': cycle(times(4, (n) => step({ a: n }, `it is ${n}`))),
  'five calls in turn': cycle(times(5, (n) => step({ a: n }, `it is ${n}`))),
  'two tools in turn': cycle([step({}, 'one', 'left'), step({}, 'two', 'right')]),
  'an edit and its undoing': cycle([step({ to: 'b' }, 'ok', 'edit'), step({ to: 'a' }, 'ok', 'edit')]),
  'two calls in each reply, always the same': times(20, () => [step({ a: 1 }, 'one'), step({ a: 2 }, 'two')]),
  'two calls in each reply, in changing order': times(20, (n) => {
    const both = [step({ a: 1 }, 'one'), step({ a: 2 }, 'two')]
    return n % 2 ? both : both.toReversed()
  }),
  'searches that find nothing, in ever other words': times(20, (n) => step({ query: `word ${n}` }, [])),
  'searches that give an empty text': times(20, (n) => step({ query: `word ${n}` }, ' \n')),
  'searches that give null': times(20, (n) => step({ query: `word ${n}` }, null)),
  'calls that were all made before, in no order': times(24, (n) => {
    const at = [0, 1, 2, 3, 4, 5, 2, 0, 5, 1, 3, 3, 0, 4, 2, 1, 5, 0, 2, 4, 1, 3, 5, 2][n] as number
    return step({ at }, `place ${at}`)
  }),
  'good steps first, then the same call': [
    ...times(8, (n) => step({ n }, `row ${n}`)),
    ...cycle([step({ n: 0 }, 'row 0')]),
  ],
  'a tool that says yes to all': times(40, (n) => step({ n }, 'ok')),
  'refusals of arguments, always of other ones': times(20, (n) => failing({ n }, 'arguments are invalid')),
}

describe('a run that gets on', () => {
  for (const [name, steps] of Object.entries(HARMLESS))
    it(`is left alone: ${name}`, async () => {
      const { result, nudges } = await walk(steps)
      expect({ nudges, ...result }).toMatchObject({ nudges: 0, reason: 'answer', answer: 'Done.' })
      expect(result).not.toHaveProperty('stoppedBy')
    })
})

describe('a run that is stuck', () => {
  for (const [name, steps] of Object.entries(STUCK))
    it(`gets a nudge, then one step without tools to answer in: ${name}`, async () => {
      const { result, nudges, events, requests } = await walk(steps)
      expect(nudges).toBe(2)
      expect(result).toMatchObject({
        reason: 'answer',
        answer: 'This is what I found.',
        stoppedBy: 'progress',
        detail: expect.stringMatching(/^stuck: /),
      })
      expect(requests.map(({ tools }) => tools?.length ?? 0).indexOf(0)).toBe(requests.length - 1)
      expect(events.filter(({ type }) => type === 'stop')).toEqual([
        { type: 'stop', by: 'progress', reason: result.detail },
      ])
    })

  it('is stopped where the model calls a tool though it has none, and its call is answered', async () => {
    const { result, events } = await walk(cycle([step({ a: 1 }, 'no')]), {}, true)
    expect(result).toMatchObject({ reason: 'stopped', stoppedBy: 'progress' })
    const last = events.findLast(({ type }) => type === 'tool-result')
    expect(last).toMatchObject({ isError: true })
  })

  it('is told what it is stuck in', async () => {
    const stuckIn = async (steps: readonly Step[]) => (await walk(steps)).result.detail
    expect(await stuckIn(cycle([step({}, 'no', 'look')]))).toBe(
      'stuck: the same call with the same result 3 times: look',
    )
    expect(await stuckIn(cycle([step({}, 'a', 'look'), step({}, 'b', 'wait')]))).toBe(
      'stuck: the same 2 calls 3 times: wait, look',
    )
    expect(await stuckIn(times(20, (n) => step({ n }, [])))).toBe(
      'stuck: no step brought anything new for a while',
    )
  })

  it('gets another nudge where it got on in between', async () => {
    const same = times(4, () => step({ a: 1 }, 'no'))
    const { result, nudges } = await walk([...same.slice(0, 3), step({ b: 1 }, 'new'), ...same.slice(0, 3)])
    expect(nudges).toBe(2)
    expect(result).toMatchObject({ reason: 'answer', answer: 'Done.' })
  })

  it('is not made to call a tool in its last step', async () => {
    const choices: unknown[] = []
    const model = scriptedModel(({ tools, settings }) => {
      choices.push(settings)
      return tools.length === 0 ? 'Enough.' : { calls: [{ name: 'look', input: {} }] }
    })
    const look = { name: 'look', inputSchema: {}, execute: () => 'no' }
    const settings = { toolChoice: 'required', temperature: 0 } as const
    const { answer } = await runAgent({
      input: 'Do it.',
      model,
      tools: [look],
      settings,
      middleware: [progress()],
    })
    expect(answer).toBe('Enough.')
    expect(choices).toEqual([...times(4, () => settings), { temperature: 0 }])
  })

  it('has limits that can be set', async () => {
    const same = cycle([step({ a: 1 }, 'no')])
    expect((await walk(same, { repeats: 2, nudges: 0 })).result.steps).toBe(3)
    expect((await walk(same, { repeats: 4, nudges: 3 })).result.steps).toBe(8)
    expect(
      (
        await walk(
          times(20, (n) => step({ n }, [])),
          { stale: 2, nudges: 0 },
        )
      ).result.steps,
    ).toBe(4)
  })
})

it('refuses limits that are none', () => {
  for (const [name, value] of Object.entries({ repeats: 1, stale: 0, nudges: -1 }))
    expect(() => progress({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: name }),
    )
})
