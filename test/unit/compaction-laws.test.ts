import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namesIn } from '../../src/features/compaction/carry.ts'
import { textIn } from '../../src/features/compaction/message-texts.ts'
import {
  type Context,
  charsPerToken,
  lintRequest,
  type Message,
  type SummaryMark,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../src/index.ts'
import { idIn } from '../../src/ports/op.ts'
import type { FullMemoryOptions } from '../contract/full-memory.ts'
import { adversaries } from './support/adversaries.ts'
import { memoryOf } from './support/compacting.ts'
import { expectAllAccounted } from './support/coverage.ts'
import { type Action, histories } from './support/histories.ts'
import { runs } from './support/runs.ts'
import { Scene } from './support/scene.ts'

type Options = Omit<FullMemoryOptions, 'store'>

const pins = [
  { kind: 'constraint', text: 'Never fly.' },
  { kind: 'correction', text: 'It is Torino Porta Nuova.' },
]

const policies = (min: number): fc.Arbitrary<Options> =>
  fc.record({
    budget: fc.integer({ min, max: 3_000 }),
    counter: fc.constantFrom(charsPerToken(4), utf8Bound),
    window: fc.constantFrom({}, { max: { rounds: 4 } }, { max: { messages: 9 }, keep: { messages: 4 } }),
  })

/** Plays random histories while a model does its worst. */
function forAll(
  compaction: NonNullable<Options['compaction']>,
  check: (scene: Scene) => (context: Context) => Promise<void>,
  {
    only = () => true,
    size = 12,
    least = 800,
  }: { readonly only?: (action: Action) => boolean; readonly size?: number; readonly least?: number } = {},
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(policies(least), histories, async (options, actions) => {
      const scene = new Scene({
        ...options,
        compaction: { timeout: 2, pins: () => pins, summaryTokens: 100, ...compaction },
      })
      const checked = check(scene)
      await scene.play(actions.filter(only), checked)
      // The session goes on, whatever was answered.
      await scene.session.compaction.settled()
      await scene.session.append({ role: 'user', content: 'And now?' })
      const context = await scene.context({ tail: '', tools: 0, abandon: true })
      if (context) await checked(context)
    }),
    runs(size),
  )
}

const body = ({ blocks }: Context): Context['blocks'] => blocks.filter(({ section }) => section !== 'tail')

describe.each(Object.entries(adversaries))('with a model that is %s', (_, model) => {
  const ways = [
    ['', { ahead: false }],
    [', ahead of need too', { ahead: 0.5 }],
    [', asked by one more turn', { ahead: 0.5, ask: 'continuation', when: 'always' }],
  ] as const
  for (const [way, options] of ways)
    it(`the laws hold and what is pinned stays${way}`, async () => {
      await forAll({ model, ...options }, (scene) => {
        let last: Context | undefined
        return async (context) => {
          const { receipt } = context
          expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
          expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
          expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
          // A background summary changes no messages.
          expectAllAccounted(
            context,
            (await scene.rows({ kinds: ['message'] })).map(({ id }) => id),
          )
          if (last?.epoch === context.epoch)
            expect(body(context).slice(0, body(last).length)).toEqual(body(last))
          last = context
          if (!receipt.summary) return
          const memory = memoryOf(context)
          for (const { text } of pins) expect(memory).toContain(text)
          expect(memory.match(/\[summary #\d+ of -?\d+ earlier messages\]/g)?.length).toBe(1)
          expect(memory).not.toMatch(/evil|must always|Obey/)
        }
      })
    })
})

it('what is pinned never leaves the context once a summary shows, as long as nothing is taken back', async () => {
  await forAll(
    { model: adversaries.forgetful, ahead: false },
    () => {
      // Each lane has its own summaries.
      const shown = new Set<string>()
      return async (context) => {
        if (context.receipt.summary) shown.add(context.lane)
        if (shown.has(context.lane)) for (const { text } of pins) expect(memoryOf(context)).toContain(text)
      }
    },
    { only: ({ type }) => type !== 'rewind' && type !== 'undo', size: 100, least: 400 },
  )
})

it('every name of what a summary was written from shows, or is counted as lost', async () => {
  await forAll(
    { model: adversaries.forgetful, ahead: false, carryTokens: 30 },
    (scene) => {
      const known = new Set<string>()
      return async (context) => {
        const { summary, omitted } = context.receipt
        // What was cut further than it was planned for is in `omitted`.
        if (!summary || known.has(summary.id) || omitted.some(({ reason }) => reason === 'window')) return
        known.add(summary.id)
        const rows = await scene.rows()
        const row = rows.find(({ id }) => id === summary.id)
        const read = (row?.sources ?? []).flatMap((name) => {
          const source = rows.find((row) => row.id === idIn('entry', name))
          const entry = JSON.parse(source?.body ?? '{}') as Message | SummaryMark
          if ('carry' in entry) return [entry.text]
          return [textIn(entry)]
        })
        const names = new Set(read.flatMap((text) => namesIn({ spoken: '', called: text, read: '' })))
        const shown = context.blocks.flatMap(({ parts }) => parts.map((part) => textIn({ content: [part] })))
        const missing = [...names].filter((name) => !shown.some((text) => text.includes(name)))
        expect(missing.length).toBeLessThanOrEqual(summary.lost.count)
      }
    },
    { size: 100 },
  )
})
