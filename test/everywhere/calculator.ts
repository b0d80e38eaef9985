import { describe, expect, it } from 'vitest'
import {
  calculate,
  classicCount,
  naiveCut,
  type Run,
  summaryIn,
  tokensOf,
} from '../../examples/calculator-run.ts'
import {
  type Context,
  lintRequest,
  type Store,
  stringifyContext,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import { hashText } from '../../src/text/hash.ts'
import { ONE_SECRET } from '../contract/full-memory.ts'
import { golden } from './calculator.golden.ts'

/** Tokens of the schema of `add`. */
const SCHEMA = 48
const BOUNDED = 100 + SCHEMA
const UNBOUNDED = 1_000_000

const lint = (context: Context) => [
  ...lintRequest(toOpenAI(context), 'openai'),
  ...lintRequest(toAnthropic(context), 'anthropic'),
]
const textOf = (context: Context): string => JSON.stringify(toOpenAI(context), null, 2)

/**
 * The example "the calculator run": its figures, and that every platform and store gives the same
 * bytes.
 */
export function describeCalculator(name: string, open: () => Store): void {
  const run = (contextWindow: number): Promise<Run> => {
    let ids = 0
    return calculate({
      contextWindow,
      store: open(),
      clock: () => 1_700_000_000_000,
      newId: () => `id-${ids++}`,
      newSecret: () => ONE_SECRET,
    })
  }
  const bounded = () => run(BOUNDED)

  describe(`the calculator run over ${name}`, () => {
    it('gives every context byte for byte as everywhere else', async () => {
      const runs = [await bounded(), await run(UNBOUNDED)]
      const requests = runs.flatMap(({ requests }) => requests)
      expect(requests).toHaveLength(11)
      expect(textOf(lastOf(runs[0]))).toBe(JSON.stringify(golden.request, null, 2))
      expect(hashText(requests.map(stringifyContext).join('\n'))).toBe(golden.sha256)
    })

    it('compacts once, from 108 tokens to 91 and a fence, when the fifth call would pass the line', async () => {
      const { result, calls, compactions } = await bounded()
      expect(result).toMatchObject({ reason: 'answer', steps: 5, summaries: 1 })
      expect(calls.map(classicCount)).toEqual([48, 63, 78, 93, 91])
      expect(compactions).toMatchObject([
        { status: 'summarised', by: 'scripted', tokensBefore: 108, reasons: [] },
      ])
      expect(classicCount(calls[4] as Context) + tokensOf(result.answer)).toBe(109)
    })

    it('keeps whole steps, and folds the goal with what it cuts', async () => {
      const last = lastOf(await bounded())
      const [, memory] = last.blocks
      expect(last.blocks.map(({ section, role }) => `${section} ${role}`)).toEqual([
        'system system',
        'memory user',
        'window assistant',
        'window tool',
        'window assistant',
        'window tool',
      ])
      expect(memory && summaryIn(memory)).toBe(
        '[summary #1 of 5 earlier messages]\n' +
          'User asked for four running sums via the `add` tool. ' +
          'Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.',
      )
    })

    it('is never above the line, its fence of at most 9 tokens counted', async () => {
      const { calls } = await bounded()
      for (const { receipt } of calls) {
        expect(receipt.sections.find(({ name }) => name === 'tools')?.tokens).toBe(SCHEMA)
        expect(receipt.used - SCHEMA).toBeLessThanOrEqual(100)
      }
      const last = calls[4] as Context
      expect(last.receipt.used - SCHEMA - classicCount(last)).toBeLessThanOrEqual(9)
    })

    it('gives no provider a request that it would refuse, where a cut to the last 3 messages does', async () => {
      const { requests, calls } = await bounded()
      expect(requests.flatMap(lint)).toEqual([])
      const naive = naiveCut(calls[4] as Context)
      expect(classicCount(naive)).toBe(82)
      expect(lint(naive).map(({ rule }) => rule)).toEqual(['pairing', 'pairing'])
    })

    it('shows all of itself where there is room', async () => {
      const { result, calls, compactions } = await run(UNBOUNDED)
      const last = calls[4] as Context
      expect(result).toMatchObject({ reason: 'answer', steps: 5, summaries: 0 })
      expect(compactions).toEqual([])
      expect(last.blocks.length + 1).toBe(11)
      expect(classicCount(last) + tokensOf(result.answer)).toBe(126)
      expect(calls.flatMap(lint)).toEqual([])
    })
  })
}

function lastOf(run: Run | undefined): Context {
  const last = run?.calls.at(-1)
  if (!last) throw new Error('the run called no model')
  return last
}
