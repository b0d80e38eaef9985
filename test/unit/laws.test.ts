import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Block,
  type Context,
  charsPerToken,
  defaultCounter,
  explain,
  lintRequest,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../src/index.ts'
import { fold } from '../../src/kernel/log/fold.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { idIn } from '../../src/ports/op.ts'
import type { FullMemoryOptions } from '../contract/full-memory.ts'
import { expectTexts } from '../render/texts.ts'
import { adversaries } from './support/adversaries.ts'
import { expectAllAccounted } from './support/coverage.ts'
import { histories } from './support/histories.ts'
import { runs } from './support/runs.ts'
import { Scene } from './support/scene.ts'

type Options = Omit<FullMemoryOptions, 'store'>

/**
 * Summaries of all sizes by the extract, and by models that obey, ignore or attack what they are
 * asked.
 */
const compactions: fc.Arbitrary<NonNullable<Options['compaction']>> = fc.record(
  {
    ahead: fc.constant(false as const),
    model: fc.constantFrom(...Object.values(adversaries)),
    summaryTokens: fc.integer({ min: 1, max: 120 }),
    carryTokens: fc.integer({ min: 0, max: 80 }),
    tokensPerHour: fc.constantFrom(0, 5_000, 1_000_000),
    timeout: fc.constant(5),
    pins: fc.constantFrom(
      () => [],
      () => [{ kind: 'constraint', text: 'Never fly.' }],
      () => {
        throw new Error('no pins')
      },
    ),
  },
  { requiredKeys: ['ahead', 'timeout'] },
)

const policies: fc.Arbitrary<Options> = fc.record(
  {
    budget: fc.oneof(
      fc.integer({ min: 150, max: 3_000 }),
      fc.record({
        contextWindow: fc.integer({ min: 400, max: 3_000 }),
        maxOutputTokens: fc.integer({ min: 0, max: 200 }),
      }),
    ),
    counter: fc.constantFrom(charsPerToken(4), utf8Bound, charsPerToken(2), defaultCounter),
    system: fc.constantFrom('', 'You are a travel agent.'),
    window: fc.constantFrom(
      {},
      { max: { rounds: 3 } },
      { max: { rounds: 4 }, keep: { rounds: 4 } },
      { max: { messages: 9 }, keep: { messages: 4 } },
      { keep: { tokens: 100 } },
      { rounds: 2 },
      { messages: 7 },
    ),
    toolOutput: fc.constantFrom({}, { first: 60, old: 30 }),
    compaction: compactions,
  },
  // Without a budget a window with a size has no line.
  { requiredKeys: [] },
)

/** Plays random histories under random policies. */
function forAll(
  check: (scene: Scene) => (context: Context, action: Parameters<Scene['context']>[0]) => Promise<void>,
  size = 150,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(policies, histories, async (options, actions) => {
      const scene = new Scene(options)
      await scene.play(actions, check(scene))
    }),
    runs(size),
  )
}

const body = ({ blocks }: Context): readonly Block[] => blocks.filter(({ section }) => section !== 'tail')

describe('the laws hold for every history, policy and tool set', () => {
  it('1: a context never loads past the line, and its receipt adds up', async () => {
    await forAll(() => async ({ blocks, receipt }) => {
      expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
      expect(receipt.floor).toBeLessThanOrEqual(receipt.cap ?? Infinity)
      const sections = receipt.sections.reduce((sum, { tokens }) => sum + tokens, 0)
      const tools = receipt.sections.find(({ name }) => name === 'tools')?.tokens ?? 0
      expect(sections - tools).toBe(blocks.reduce((sum, { tokens }) => sum + tokens, 0))
      expect(receipt.used - sections).toBeGreaterThanOrEqual(0)
    })
  })

  it('1: by the bytes of the rendered request too, where the counter is an upper bound', async () => {
    const bytes = (value: unknown): number => {
      if (typeof value === 'string') return new TextEncoder().encode(value).length
      if (typeof value !== 'object' || value === null) return 0
      return Object.entries(value)
        .filter(([key]) => !['role', 'type', 'cache_control'].includes(key))
        .reduce(
          (sum, [key, child]) => sum + (key === 'input' ? bytes(JSON.stringify(child)) : bytes(child)),
          0,
        )
    }
    await forAll(() => async (context) => {
      const { cap, margin } = context.receipt
      // An estimate, or nothing that would say so.
      if (!context.lane || margin > 0 || cap === null) return
      const openai = toOpenAI(context)
      const anthropic = toAnthropic(context)
      expect(bytes(openai.messages)).toBeLessThanOrEqual(context.receipt.used)
      expect(bytes([anthropic.system ?? '', anthropic.messages])).toBeLessThanOrEqual(context.receipt.used)
    })
  })

  it('every character and every token of a request has one source', async () => {
    await forAll(() => async (context) => {
      for (const [provider, request] of [
        ['openai', toOpenAI(context)],
        ['anthropic', toAnthropic(context)],
      ] as const) {
        const { text, spans, unrendered } = explain(context, provider)
        expect(spans.map(({ from, to }) => text.slice(from, to)).join('')).toBe(JSON.stringify(request))
        expect(spans.every(({ from, to }, at) => from === (spans[at - 1]?.to ?? 0) && to > from)).toBe(true)
        const tokens = [...spans, ...unrendered].reduce((sum, source) => sum + source.tokens, 0)
        expect(tokens).toBe(context.receipt.used)
      }
    })
  })

  it('2: no rendered request breaks a rule of its provider', async () => {
    await forAll(() => async (context) => {
      expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
      expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
    })
  })

  it('3: the log is never rewritten', async () => {
    await forAll((scene) => {
      let before: string[] = []
      return async () => {
        const rows = (await scene.rows()).map((row) => JSON.stringify(row))
        expect(rows.slice(0, before.length)).toEqual(before)
        before = rows
      }
    })
  })

  it('4: every message is shown, or covered by one summary, or listed as omitted', async () => {
    await forAll((scene) => async (context) => {
      const ids = (await scene.rows({ kinds: ['message'] })).map(({ id }) => id)
      expectAllAccounted(context, ids)
    })
  })

  it('4: what a summary covers and would show else, it was written from', async () => {
    await forAll((scene) => async (context) => {
      const { summary } = context.receipt
      if (!summary) return
      const rows = await scene.rows()
      const messages = rows.filter(({ kind }) => kind === 'message').map(({ id }) => id)
      const shows = new Set(
        fold(rows).units.flatMap(({ row, results }) => [row.id, ...results.map((result) => result.row.id)]),
      )
      const written = new Set([summary.id])
      for (const id of written)
        for (const source of rows.find((row) => row.id === id)?.sources ?? [])
          written.add(idIn('entry', source) ?? source)
      const covered = summary.covers.flatMap(({ from, to }) =>
        messages.slice(messages.indexOf(from), messages.indexOf(to) + 1),
      )
      expect(covered.filter((id) => shows.has(id) && !written.has(id))).toEqual([])
    })
  })

  it('5: within an epoch a request only grows at its end', async () => {
    await forAll(() => {
      let last: Context | undefined
      return async (context) => {
        if (last?.epoch === context.epoch)
          expect(body(context).slice(0, body(last).length)).toEqual(body(last))
        last = context
      }
    })
  })

  it('6: a session with nothing in memory builds the same bytes', async () => {
    await forAll((scene) => async (context, action) => {
      const cold = await scene.context(action, scene.open(), true)
      expect(cold?.hash).toBe(context.hash)
      expect(cold?.blocks).toEqual(context.blocks)
      expect(cold?.receipt.omitted).toEqual(context.receipt.omitted)
    })
  })

  it('6: two calls with nothing between them give the same bytes, and write nothing more', async () => {
    await forAll((scene) => async (context, action) => {
      const { seq } = await scene.log.head()
      const again = await scene.context(action)
      expect(again?.hash).toBe(context.hash)
      expect(again?.blocks).toEqual(context.blocks)
      expect((await scene.log.head()).seq).toBe(seq)
    })
  })

  it('6: the text of a request is that of the request, whatever was written, rewound or forgotten', async () => {
    let forgotten = 0
    await forAll(
      (scene) => async (context, action) => {
        expectTexts(context)
        const shown = context.blocks.flatMap(({ section, from }) => (section === 'window' ? from : []))
        if (shown.length % 4 < 3) return
        forgotten++
        await forget(scene.session, shown[shown.length >> 1] as string)
        const after = await scene.context(action)
        if (after) expectTexts(after)
      },
      200,
    )
    expect(forgotten).toBeGreaterThan(5)
  })

  it('6: contextAt attests what was sent, long after it was, and nothing else', async () => {
    let attested = 0
    await forAll((scene) => {
      const sent = new Map<string, { readonly context: Context; readonly session: object }[]>()
      return async (context, { resume }) => {
        // Another lane's.
        if (resume) return
        const rows = await scene.rows()
        const newest = rows.findLast(({ kind }) => kind === 'message')
        if (newest) sent.set(newest.id, [...(sent.get(newest.id) ?? []), { context, session: scene.session }])
        const ids = [...sent.keys()]
        const id = ids[Math.floor(ids.length / 2)]
        if (id === undefined) return
        const given = sent.get(id) ?? []
        const { context: rebuilt, verified, reason } = await contextAt(scene.session, id)
        const after = rows.slice(rows.findIndex((row) => row.id === id) + 1)
        const next = after.findIndex(({ kind }) => kind === 'message')
        if (next < 0) expect([verified, reason]).toEqual([false, 'unrecorded'])
        if (verified) {
          attested++
          expect(given.map(({ context }) => body(context))).toContainEqual(body(rebuilt))
          return
        }
        expect(['unrecorded', 'different']).toContain(reason)
        // What another session object handed out, or what was rewound since, nobody recorded.
        const isRewound = after.slice(0, next).some(({ kind }) => kind === 'rewind')
        const isElsewhere = given.at(-1)?.session !== scene.session
        expect(next < 0 || isRewound || isElsewhere).toBe(true)
      }
    }, 80)
    expect(attested).toBeGreaterThan(runs(80).numRuns / 2)
  })
})
