import { describe, expect, test } from 'vitest'
import { charsPerToken } from '../../../src/counters/simple.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { SCOPE } from '../../../src/replay/plimsoll.ts'
import { Summariser } from '../../../src/replay/summaries.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { jsonl, plimsoll } from '../support/command.ts'
import { calculator, checkout, TRIP_CALLS, trip } from '../support/recordings.ts'

const COMPACT = ['--budget', '3000', '--compact', '--ask', 'apart']
const replay = (...options: readonly string[]) => plimsoll(['replay', 'trip.jsonl', ...options], trip)
const figuresOf = async (...options: readonly string[]) =>
  JSON.parse((await replay('--json', ...options)).out).figures

/** A hundred rounds of some 150 tokens. */
const longTalk = () => ({
  messages: Array.from({ length: 200 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index % 2 === 0 ? 'Question' : 'Answer'} ${index}. ${'Where does this train go? '.repeat(12)}`,
  })),
})

describe('replay --compact', () => {
  test('stands a summary for everything that left the window, under the line', async () => {
    const { plimsoll: without } = await figuresOf('--budget', '3000')
    const { plimsoll: compact } = await figuresOf(...COMPACT)
    expect(without.omitted).toBeGreaterThan(0)
    expect([without.covered, without.summaries]).toEqual([0, undefined])
    expect(compact).toMatchObject({ omitted: 0, refused: 0, overCap: 0, lintErrors: 0 })
    expect(compact.covered).toBeGreaterThan(without.omitted)
    expect(compact.retainedShare).toBeGreaterThanOrEqual(without.retainedShare)
  })

  test('counts what the summaries took beside what the calls cost', async () => {
    const { plimsoll: compact, full } = await figuresOf(...COMPACT)
    const { summaries, costPerCall, epochs } = compact
    expect(summaries).toMatchObject({ calls: 2, refused: 0, byModel: 2, byExtract: 0, without: 0 })
    expect(summaries.byModel).toBe(epochs.window)
    expect(summaries.outputTokens).toBeGreaterThan(0)
    // What was cut is most of what two windows hold.
    expect(summaries.inputTokens).toBeGreaterThan(2 * 1_500)
    const apart = (1.25 * summaries.inputTokens + 5 * summaries.outputTokens) / TRIP_CALLS
    expect(summaries.cachedTokens).toBe(0)
    expect(Math.abs(summaries.costPerCall - costPerCall - apart)).toBeLessThanOrEqual(1)
    expect(full.summaries).toBeUndefined()
  })

  test('counts of one more turn what the agent’s request before it had in the cache', async () => {
    const more = ['--budget', '8000', '--compact', '--ask']
    const file = { 'a.jsonl': jsonl(longTalk()) }
    const of = async (ask: string) =>
      JSON.parse((await plimsoll(['replay', 'a.jsonl', ...more, ask, '--json'], file)).out).figures.plimsoll
    const [continued, apart, without] = [
      await of('continuation'),
      await of('apart'),
      await of('continuation'),
    ]
    expect(continued).toEqual(without)
    const { calls, inputTokens, cachedTokens, outputTokens, costPerCall } = continued.summaries
    expect(calls).toBeGreaterThan(0)
    // All but the question.
    expect(inputTokens - cachedTokens).toBeLessThan(calls * 200)
    const cost = 0.1 * cachedTokens + 1.25 * (inputTokens - cachedTokens) + 5 * outputTokens
    expect(Math.abs(costPerCall - continued.costPerCall - cost / continued.calls)).toBeLessThanOrEqual(1)
    expect(costPerCall).toBeLessThan(apart.summaries.costPerCall)
    expect(continued).toMatchObject({ overCap: 0, lintErrors: 0, refused: 0 })
  })

  test('refuses a way to ask where nothing is summarised', async () => {
    const { status, err } = await plimsoll(['replay', 'a.jsonl', '--ask', 'apart'], {})
    expect([status, err]).toEqual([2, expect.stringContaining('--ask needs --compact')])
  })

  test('prints rows and notes of summaries, which are not there without them', async () => {
    const { out } = await replay(...COMPACT)
    expect(out).toMatch(/^plimsoll, line at 3,000 tokens, counted by \S+, compact, ask apart$/m)
    expect(out).toMatch(/^with summaries( +[\d,]+){5}$/m)
    expect(out).toMatch(/^covered a call( +[\d.]+){5}$/m)
    const [, notes = ''] = checkout('docs/cli.md').split(
      'who wrote the summaries and what that took:\n\n```\n',
    )
    expect(out).toContain(notes.slice(0, notes.indexOf('```')))
    expect((await replay('--budget', '3000')).out).not.toMatch(/summaries|covered|compact/)
  })

  test('gives the same bytes at every run', async () => {
    const twice = await Promise.all([1, 2].map(() => replay(...COMPACT, '--requests', 'r')))
    expect(twice[0]?.written.r).toHaveLength(TRIP_CALLS)
    expect(twice[0]?.written.r?.join('')).toContain('[summary #2 of 48 earlier messages]')
    expect(twice[0]).toEqual(twice[1])
  })

  test('changes nothing where nothing leaves the window', async () => {
    const file = { 'a.jsonl': jsonl(calculator) }
    const { out } = await plimsoll(['replay', 'a.jsonl', '--compact', '--json'], file)
    const summaries = { calls: 0, inputTokens: 0, byModel: 0, byExtract: 0, without: 0 }
    const { plimsoll: figures } = JSON.parse(out).figures
    expect(figures).toMatchObject({ omitted: 0, covered: 0, summaries })
    expect(figures.summaries.costPerCall).toBe(figures.costPerCall)
  })

  test('tells refused attempts of a model, and the extract in its place, from accepted texts', async () => {
    const answers = ['', 'They spoke of trains.', '', '']
    const counter = charsPerToken(4)
    const store = mapStore()
    const summariser = new Summariser(counter, store.open(SCOPE), 'apart', {
      id: 'moody',
      async *complete() {
        const content = answers.shift() ?? ''
        yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
      },
    })
    const { compaction } = summariser
    const session = fullMemory({ store, counter, budget: 1_000, compaction }).session(SCOPE)
    const seen = []
    for (let round = 0; answers.length > 0; round++) {
      await addExchange(session, `Round ${round}: ${'where to? '.repeat(10)}`, 'By train. '.repeat(10))
      await session.context()
      await summariser.settle()
      seen.push(summariser.figures)
    }
    const { outputTokens } = summariser.figures
    expect(outputTokens).toBe(counter.count('They spoke of trains.'))
    expect(seen.find(({ calls }) => calls > 0)).toMatchObject({
      calls: 2,
      refused: 1,
      byModel: 1,
      byExtract: 0,
    })
    expect(seen.at(-1)).toMatchObject({ calls: 4, refused: 3, byModel: 1, byExtract: 1 })
  })
})

describe('explain, diff and lint with --compact', () => {
  test('explain names the summary as the source of the memory section, in the request that replay writes', async () => {
    const { written } = await replay(...COMPACT, '--requests', 'r')
    const argv = ['explain', 'trip.jsonl', ...COMPACT, '--call', '25']
    const { out } = await plimsoll([...argv, '--json'], trip)
    const { text, spans, receipt } = JSON.parse(out)
    expect(text).toBe(JSON.stringify(JSON.parse(written.r?.[25] ?? '').request))
    const memory = spans.filter(({ section }: { section: string }) => section === 'memory')
    expect(memory).toEqual([expect.objectContaining({ records: [receipt.summary.id], trust: 'tool' })])
    const shown = (await plimsoll(argv, trip)).out
    const name = receipt.summary.id.slice(0, 'summary/'.length + 8)
    expect(shown).toMatch(new RegExp(`^ +\\d+-\\d+ +[\\d,]+ +memory +memory +${name} `, 'm'))
    expect(shown).toMatch(
      new RegExp(
        `^summary 2 \\(${name}\\) by extractive: stands for 48 messages, \\d+ names, such as \\S+, lost$`,
        'm',
      ),
    )
  })

  test('diff finds the summary where the window was cut back', async () => {
    const { out } = await plimsoll(['diff', 'trip.jsonl', ...COMPACT, '--call', '14,16'], trip)
    expect(out).toMatch(/#16 {2}memory {2}memory /)
  })

  test('lint --twice finds no problem', async () => {
    for (const more of [[], ['--tail', '80'], ['--rounds', '4', '--keep', '2'], ['--provider', 'anthropic']])
      expect(await plimsoll(['lint', '--twice', 'trip.jsonl', ...COMPACT, ...more], trip)).toMatchObject({
        status: 0,
        out: '35 contexts built twice, 0 calls refused twice, 0 problems\n',
      })
  })
})
