import { describe, expect, it } from 'vitest'
import {
  type AgentEvent,
  type Context,
  contextFilter,
  type Message,
  type MessageInput,
  type Middleware,
  mapStore,
  type Proposal,
  runAgent,
  scriptedModel,
} from '../../../src/index.ts'
import { call, expectLints, open, tool } from './support.ts'

const act = tool('act', ({ size = 1 }: { size?: number }) => 'result '.repeat(size))

const proposing = (propose: (said: readonly Message[]) => Proposal): Middleware => ({
  name: 'proposing',
  order: 1,
  kind: 'enricher',
  start: () => ({ beforeModelCall: ({ messages = [] }) => propose(messages) }),
})

/** Rounds that went before, a question and an answer each. */
const past = (rounds: number): readonly MessageInput[] =>
  Array.from({ length: rounds }, (_, round): MessageInput[] => [
    { role: 'user', content: `Question ${round}?` },
    { role: 'assistant', content: `Answer ${round}.` },
  ]).flat()

const texts = ({ blocks }: Context): readonly string[] =>
  blocks.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : part.type)).join())

async function requestsOf(options: Partial<Parameters<typeof runAgent>[0]>, steps = 4) {
  const model = scriptedModel([
    ...Array.from({ length: steps }, (_, step) => ({ calls: [call('act', { size: 40, step })] })),
    'Done.',
  ])
  const events: AgentEvent[] = []
  const onEvent = (event: AgentEvent): void => void events.push(event)
  await runAgent({ input: 'Go', model, tools: [act], onEvent, ...options })
  for (const request of model.requests) expectLints(request)
  const failures = events.filter(({ type }) => type === 'middleware-failure')
  return { requests: model.requests, failures }
}

describe('a run without a session', () => {
  it('shows as many rounds as the filter says, and its instructions, and says what it left out', async () => {
    const input = [{ role: 'system', content: 'Be kind.' } as const, ...past(4), ...past(1)]
    const { requests, failures } = await requestsOf({
      input: [...input, { role: 'user', content: 'Go' }],
      system: 'Be brief.',
      middleware: [contextFilter({ rounds: 2, keep: 2 })],
    })
    expect(failures).toEqual([])
    for (const request of requests) {
      expect(texts(request).slice(0, 3)).toEqual(['Be brief.', 'Be kind.', 'Question 0?'])
      expect(texts(request)[4]).toBe('Go')
      expect(request.receipt.omitted).toMatchObject([{ count: 8, reason: 'window' }])
    }
    expect(requests.map(({ blocks }) => blocks.length)).toEqual([5, 7, 9, 11, 13])
  })

  it('grows to its most and is then cut back in one step, as a memory’s window does', async () => {
    const { requests } = await requestsOf(
      { limits: { window: { max: { messages: 6 }, keep: { messages: 3 } } } },
      6,
    )
    const shown = requests.map(({ blocks }) => blocks.filter(({ from }) => from.length > 0).length)
    // The question stands before a round that is cut.
    expect(shown).toEqual([1, 3, 5, 5, 7, 5, 7])
    for (const request of requests) expect(texts(request)[0]).toBe('Go')
  })

  it('begins its window again where what it began with is proposed no more', async () => {
    const { requests } = await requestsOf(
      {
        input: [...past(5), { role: 'user', content: 'Go' }],
        middleware: [
          contextFilter({ rounds: 2 }),
          proposing((said) =>
            said.length > 13 ? { messages: [{ role: 'user', content: 'In short.' }] } : {},
          ),
        ],
      },
      2,
    )
    expect(texts(requests[2] as Context)).toEqual(['In short.'])
  })

  it('cuts outputs that are longer than the filter says', async () => {
    const { requests } = await requestsOf({ middleware: [contextFilter({ toolOutput: { first: 30 } })] }, 1)
    expect(JSON.stringify(requests[1]?.blocks)).toContain('[cut from ')
    const { requests: whole } = await requestsOf({}, 1)
    expect(JSON.stringify(whole[1]?.blocks)).not.toContain('[cut from ')
  })

  it('sends the messages that a middleware proposes, and keeps what was said', async () => {
    const seen: number[] = []
    const { requests, failures } = await requestsOf({
      middleware: [
        proposing((said) => {
          seen.push(said.length)
          return { messages: [{ role: 'user', content: `In short: ${said.length}` }, ...said.slice(-2)] }
        }),
      ],
    })
    expect(failures).toEqual([])
    expect(seen).toEqual([1, 3, 5, 7, 9])
    expect(texts(requests[3] as Context)).toEqual(['In short: 7', 'tool-call', 'tool-result'])
  })

  it('gives what one middleware left to the next, and leaves out results without their calls', async () => {
    const { requests } = await requestsOf({
      middleware: [
        proposing((said) => ({ messages: said.slice(-1) })),
        {
          ...proposing((said) => ({ messages: [{ role: 'user', content: `${said.length}` }, ...said] })),
          order: 2,
        },
      ],
    })
    expect(texts(requests[2] as Context)).toEqual(['1'])
    expect(requests[2]?.receipt.omitted).toMatchObject([{ reason: 'orphan' }])
  })

  it('tells of limits and messages that cannot be, and goes on without them', async () => {
    for (const proposal of [
      { limits: { window: { rounds: -1 } } },
      { limits: { windows: 1 } },
      { messages: 'all' },
      { messages: [{ role: 'nobody', content: 'x' }] },
    ]) {
      const { requests, failures } = await requestsOf({ middleware: [proposing(() => proposal as never)] }, 1)
      expect(failures).toHaveLength(2)
      expect(requests.map(({ blocks }) => blocks.length)).toEqual([1, 3])
    }
  })
})

it('refuses messages that are proposed where a session has the log', async () => {
  const session = open(mapStore())
  const { requests, failures } = await requestsOf(
    { session, middleware: [proposing(() => ({ messages: [] }))] },
    0,
  )
  expect(failures).toMatchObject([{ error: { argument: 'messages' } }])
  expect(texts(requests[0] as Context)).toEqual(['Go'])
})
