import { describe, expect, it } from 'vitest'
import {
  type Budget,
  type CompactEvent,
  type Context,
  charsPerToken,
  compaction,
  createMemory,
  type MessageInput,
  mapStore,
  scriptedModel,
  toOpenAI,
} from '../../src/index.ts'

const system = 'You are a careful calculator. Use the `add` tool for every step.'
const goal =
  'Add the following pairs in sequence and report all results: (1,2), (10,20), (100,200), (1000,2000).'
const summary =
  'User asked for four running sums via the `add` tool. Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.'
const pairs = [1, 10, 100, 1_000].map((one) => ({ a: one, b: 2 * one }))

const step = ({ a, b }: { readonly a: number; readonly b: number }): readonly MessageInput[] => [
  { role: 'assistant', content: [{ type: 'tool-call', id: `c${a}`, name: 'add', input: { a, b } }] },
  { role: 'tool', content: [{ type: 'tool-result', callId: `c${a}`, output: String(a + b) }] },
]

/** Four additions under a line, with a context before each and after the last. */
async function calculate(budget: number | Budget) {
  const model = scriptedModel([], { summaries: [summary] })
  const counter = charsPerToken(4)
  const window = { keep: { messages: 3 } }
  const memory = createMemory({
    store: mapStore(),
    system,
    counter,
    budget,
    window,
    use: [compaction({ model })],
  })
  const session = memory.session({ userId: 'ada' })
  const events: CompactEvent[] = []
  session.compaction.subscribe((event) => events.push(event))
  await session.append({ role: 'user', content: goal })
  const contexts = [await session.context()]
  for (const pair of pairs) {
    await session.append(step(pair))
    contexts.push(await session.context())
  }
  return { contexts, events, model }
}

const textOf = (context: Context | undefined): string =>
  context ? JSON.stringify(toOpenAI(context).messages) : ''

describe('a budget of 100 tokens that keeps three messages', () => {
  it('is summarised once, and keeps the last results beside it', async () => {
    const { contexts, events, model } = await calculate({ contextWindow: 100, maxOutputTokens: 0, margin: 0 })
    expect(contexts.map(({ receipt }) => receipt.used)).toEqual([48, 63, 78, 93, 100])
    expect(events).toMatchObject([
      { status: 'summarised', by: 'scripted', tokensBefore: 108, tokensAfter: 100 },
    ])
    expect(model.requests).toHaveLength(1)
    const last = contexts.at(-1)
    expect(last?.receipt.omitted).toEqual([])
    expect(last?.receipt.summary?.covers).toMatchObject([{ count: 5 }])
    expect(textOf(last)).toContain('[summary #1 of 5 earlier messages]\\nUser asked for four running sums')
    for (const result of ['1+2=3', '10+20=30', '"content":"300"', '"content":"3000"'])
      expect(textOf(last)).toContain(result)
  })

  it('has the same in its context where a margin is held back', async () => {
    const { contexts, events } = await calculate(100)
    for (const { receipt } of contexts) expect(receipt.used + 12).toBeLessThanOrEqual(100)
    expect(events.filter(({ status }) => status === 'summarised')).toHaveLength(1)
    for (const result of ['User asked', '1+2=3', '10+20=30', '100+200=300', '"content":"3000"'])
      expect(textOf(contexts.at(-1))).toContain(result)
  })

  it('needs no summary at 400', async () => {
    const { contexts, events } = await calculate(400)
    expect(contexts.map(({ receipt }) => receipt.used)).toEqual([48, 63, 78, 93, 108])
    expect(events).toEqual([])
  })
})

describe('the first compaction of a lane', () => {
  it('tells the size that all of it had', async () => {
    const memory = createMemory({
      store: mapStore(),
      system: 'You travel.',
      budget: 1_000,
      counter: charsPerToken(4),
      use: [compaction()],
    })
    const session = memory.session({ userId: 'ada' })
    const events: CompactEvent[] = []
    session.compaction.subscribe((event) => events.push(event))
    await session.append(
      Array.from(
        { length: 20 },
        (_, index): MessageInput => ({
          role: index % 2 === 0 ? 'user' : 'assistant',
          content: `${index}`.padEnd(184, ' and on'),
        }),
      ),
    )
    await session.context()
    expect(events).toMatchObject([{ status: 'summarised', cause: 'start', tokensBefore: 1_006 }])
    expect(events[0]?.tokensAfter).toBeLessThan(880)
  })
})
