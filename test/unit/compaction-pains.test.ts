import { describe, expect, it } from 'vitest'
import {
  type Context,
  lintRequest,
  type MessageInput,
  mapStore,
  type Part,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import {
  content,
  filler,
  memoryOf,
  open,
  round,
  summariesIn,
  summariser,
  untilSummary,
} from './support/compacting.ts'
import { shown } from './support/messages.ts'

/**
 * Ways in which compaction hurts the users of other memories, each named after its report, or the
 * code it was found in.
 */

const lint = (context: Context): readonly unknown[] => [
  ...lintRequest(toOpenAI(context), 'openai'),
  ...lintRequest(toAnthropic(context), 'anthropic'),
]
const partsOf = ({ blocks }: Context): readonly Part[] => blocks.flatMap(({ parts }) => parts)
const calling = (index: number, count: number, before: readonly Part[] = []): MessageInput => ({
  id: `c${index}`,
  role: 'assistant',
  content: [
    ...before,
    ...Array.from({ length: count }, (_, call) => ({
      type: 'tool-call' as const,
      id: `call${call}`,
      name: 'read',
      input: { index, call },
    })),
  ],
})
const answers = (index: number, count: number, output = filler): MessageInput[] =>
  Array.from({ length: count }, (_, call) => ({
    id: `r${index}-${call}`,
    role: 'tool',
    content: [{ type: 'tool-result', callId: `call${call}`, output: `${index}.${call} ${output}` }],
  }))

describe('the source of a summary', () => {
  it('holds structured outputs as JSON (cloudflare/agents buildSummaryPrompt: String(output))', async () => {
    const model = content()
    const session = open({ model })
    const output = { trains: [{ at: '9:40' }] }
    await session.append([
      { role: 'user', content: 'Go' },
      calling(0, 1),
      { role: 'tool', content: [{ type: 'tool-result', callId: 'call0', output }] },
    ])
    await untilSummary(session)
    expect(model.requests[0]).toContain(`Result: ${JSON.stringify(output)}\n`)
    expect(model.requests[0]).not.toContain('[object Object]')
  })

  it('is not 500 characters of each output (cloudflare/agents)', async () => {
    const model = content()
    const session = open({ model }, { budget: 4_000 })
    const output = `begins ${'word '.repeat(300)} has SECRET42 inside ${'word '.repeat(300)} ends`
    await session.append([{ role: 'user', content: 'Go' }, calling(0, 1), ...answers(0, 1, output)])
    for (let index = 0; model.requests.length === 0; index++) {
      await session.append([...round(index), ...round(index + 100), ...round(index + 200)])
      await session.context()
    }
    expect(model.requests[0]).toContain(output)
  })

  it('keeps `$&` as it is (langchain-ai/langchainjs summaryPrompt.replace)', async () => {
    const model = content()
    await untilSummary(open({ model }), 0, () => "It costs $& or $` or $' or $1 or $$.")
    expect(model.requests[0]).toContain("It costs $& or $` or $' or $1 or $$.")
    expect(model.requests[0]?.split('Summarize the following').length).toBe(2)
  })

  it('is not the last 4 000 tokens (langchain-ai/langchainjs trimTokensToSummarize)', async () => {
    const model = content()
    const session = open({ model, sourceTokens: 4_000 }, { budget: 16_000 })
    await session.append(round(0, 'FIRST1'))
    await session.context()
    for (let index = 1; index < 40; index++)
      await session.append([...round(index), ...answers(index, 1, filler.repeat(40)).map(asUser)])
    await session.context()
    const [request = ''] = model.requests
    expect(request.length / 4).toBeLessThanOrEqual(4_000)
    expect(request).toContain('FIRST1')
    for (let index = 1; index < 20; index++) expect(request).toContain(`Question ${index}.`)
  })
  const asUser = (_: MessageInput, index: number): MessageInput => ({
    role: 'user',
    content: `${index} ${filler.repeat(40)}`,
  })
})

describe('a summary that failed', () => {
  it('never replaces messages (s2b-dev/smart-second-brain#435, langchain-ai/langchain#39268)', async () => {
    const store = mapStore()
    const session = open({ model: content('Error generating summary: 503') }, {}, store)
    const { context } = await untilSummary(session)
    expect(memoryOf(context)).not.toContain('Error generating')
    expect(memoryOf(context)).toContain('User: Question 8.')
    expect((await session.history({ messages: 100 })).length).toBeGreaterThan(20)
    expect((await summariesIn(store)).map(({ by }) => by)).toEqual(['extract'])
  })

  it('or was skipped deletes no history (langchain-ai/langchain#38867, #39261)', async () => {
    for (const answer of ['', ' ', '{}']) {
      const session = open({ model: content(answer) })
      const { context, next } = await untilSummary(session)
      expect(context.receipt.summary?.by).toBe('extract')
      expect((await session.history({ messages: 100 })).length).toBe(2 * next)
    }
  })
})

describe('what must not be forgotten', () => {
  it('is repeated after each compaction in its own words (anthropics/claude-code#6354, #19471, #13642)', async () => {
    const rules = ['Never push to main.', 'The plan of Monday was cancelled; do not take it up again.']
    const session = open({
      model: content('They worked on it.'),
      pins: () => rules.map((text) => ({ kind: 'constraint', text })),
    })
    let next = 0
    for (let compaction = 0; compaction < 3; compaction++) {
      const turn = await untilSummary(session, next)
      for (const rule of rules) expect(memoryOf(turn.context)).toContain(`constraint: ${rule}`)
      next = turn.next
    }
  })
})

describe('pairs of calls and results', () => {
  it('stay whole across compactions, however many stand in one step (langchain-ai/langchain#38352, openai-agents-python#4322)', async () => {
    // More than five messages each way, with ids that every step uses again.
    const session = open({ model: content() }, { budget: 2_000 })
    await session.append({ role: 'user', content: 'Go' })
    const places = new Set<number>()
    for (let index = 0; index < 50; index++) {
      await session.append([calling(index, 8), ...answers(index, 8, 'found')])
      const context = await session.context()
      expect(lint(context)).toEqual([])
      const calls = partsOf(context).flatMap((part) => (part.type === 'tool-call' ? part.id : []))
      const results = partsOf(context).flatMap((part) => (part.type === 'tool-result' ? part.callId : []))
      expect(results).toEqual(calls)
      if (context.receipt.summary) places.add(context.receipt.summary.place)
    }
    expect(places.size).toBeGreaterThan(1)
  })

  it('that wait for an approval outlive a compaction (anthropic-sdk-typescript compactionControl)', async () => {
    const session = open({ model: content() })
    for (let index = 0; index < 11; index++) await session.append(round(index))
    await session.append([{ role: 'user', content: 'Pay.' }, calling(0, 2)])
    const waiting = await session.context({ onPending: 'abandon', newEpoch: true })
    expect(waiting.receipt.summary).toBeDefined()
    expect(shown(waiting)).toContain('c0')
    await session.append(answers(0, 2, 'approved'))
    const context = await session.context()
    expect(partsOf(context).filter(({ type }) => type === 'tool-result')).toMatchObject([
      { output: '0.0 approved' },
      { output: '0.1 approved' },
    ])
    expect(lint(context)).toEqual([])
  })

  it('of the run that goes on are never summarised away (mastra-ai/mastra#24110, #16047)', async () => {
    const session = open({ model: content(), ahead: 0.8 })
    await session.append({ id: 'q', role: 'user', content: 'Find the train to Turin.' })
    for (let index = 0; index < 40; index++) {
      await session.append([calling(index, 1), ...answers(index, 1)])
      const context = await session.context()
      await session.compaction.settled()
      expect(shown(context).slice(-2)).toEqual([`c${index}`, `r${index}-0`])
      expect(shown(context)).toContain('q')
    }
  })
})

describe('the window beside a summary', () => {
  it('has no holes: what shows is the end, what is covered the beginning (mastra TokenLimiter best-fit)', async () => {
    const session = open({ model: content() })
    const ids: string[] = []
    for (let index = 0; index < 40; index++) {
      // A message that is too large to stay stands between small ones.
      const text = index % 7 === 5 ? filler.repeat(25) : `small ${index}`
      await session.append({ id: `m${index}`, role: 'user', content: text })
      ids.push(`m${index}`)
      const { receipt, ...context } = await session.context()
      const window = context.blocks.filter(({ section }) => section === 'window').flatMap(({ from }) => from)
      expect(window).toEqual(ids.slice(ids.length - window.length))
      if (!receipt.summary) continue
      const [covers, ...more] = receipt.summary.covers
      expect(more).toEqual([])
      expect(covers).toEqual({
        from: 'm0',
        to: ids.at(-1 - window.length),
        count: ids.length - window.length,
      })
    }
  })

  it('keeps reasoning with its signature, or not at all (anthropics/claude-code#63172, gajae-code#4247)', async () => {
    const session = open({ model: content() }, { budget: 2_000 })
    const reasoning = (index: number): Part => ({
      type: 'reasoning',
      text: `Think ${index}.`,
      signature: `c2ln${index}`,
    })
    await session.append({ role: 'user', content: 'Go' })
    let compacted = false
    for (let index = 0; index < 60; index++) {
      await session.append([calling(index, 1, [reasoning(index)]), ...answers(index, 1)])
      const context = await session.context()
      compacted ||= context.receipt.summary !== undefined
      expect(lint(context)).toEqual([])
      const kept = partsOf(context).filter(({ type }) => type === 'reasoning')
      expect(kept.at(-1)).toEqual(reasoning(index))
      for (const part of kept)
        expect(part).toEqual(reasoning(Number(/\d+/.exec((part as { text: string }).text)?.[0])))
    }
    expect(compacted).toBe(true)
  })
})

describe('the cost of compaction', () => {
  it('does not grow with the history (cloudflare/agents _emitStatus re-read all of it at each append)', async () => {
    const readsAt = async (rounds: number): Promise<{ readonly rows: number; readonly commits: number }> => {
      let rows = 0
      let commits = 0
      const store = changedStore(mapStore(), (inner) => ({
        commit: async (ops, decide) => {
          commits++
          return inner.commit(ops, decide)
        },
        entries: async (query) => {
          const page = await inner.entries(query)
          rows += page.rows.length
          return page
        },
        changesSince: async (seq) => {
          const changes = await inner.changesSince(seq)
          rows += changes.rows.length
          return changes
        },
      }))
      const session = open({ model: content(), ahead: 0.8 }, {}, store)
      let index = 0
      const go = async (count: number): Promise<void> => {
        for (const end = index + count; index < end; index++) {
          await session.append([
            { role: 'user', content: filler.repeat(3) },
            { role: 'assistant', content: filler.repeat(3) },
          ])
          await session.context()
          await session.compaction.settled()
        }
      }
      await go(rounds)
      rows = 0
      commits = 0
      await go(70)
      return { rows, commits }
    }
    // What the newest 64 summaries spent is read for each one.
    const few = await readsAt(700)
    const many = await readsAt(2_100)
    expect(many.commits).toBeLessThanOrEqual(few.commits + 2)
    expect(many.rows).toBeLessThanOrEqual(few.rows * 1.1)
  }, 20_000)

  it('is one model call for many contexts, with the prefix kept between (anomalyco/opencode#48828, openai/codex#23585)', async () => {
    const model = summariser((_, call) => `Part ${call}.`)
    const session = open({ model })
    const epochs = new Map<string, number>()
    for (let index = 0; index < 100; index++) {
      await session.append(round(index))
      const { epoch } = await session.context()
      epochs.set(epoch, (epochs.get(epoch) ?? 0) + 1)
    }
    expect(model.requests.length).toBe(epochs.size - 1)
    expect(epochs.size).toBeLessThanOrEqual(13)
  })
})
