import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultCounter } from '../../../src/counters/default.ts'
import { READ, WRITE } from '../../../src/features/compaction/price.ts'
import { type Billed, type Bills, billsOf } from '../../../src/replay/bills.ts'
import { readConversation } from '../../../src/replay/transcript.ts'
import { size } from '../../everywhere/runs.ts'
import { trip } from '../support/recordings.ts'

const settings = { budget: 3_000, counter: defaultCounter, pause: async () => {} }
const recorded: Bills = JSON.parse(readFileSync('web/race/recorded.json', 'utf8'))
const session = readConversation(readFileSync('examples/coding-session.jsonl', 'utf8'), 1)

describe('the bills of a recording', () => {
  it('stay under the line with Plimsoll, and reach over it with everything', async () => {
    const { calls } = await billsOf(readConversation(trip['trip.jsonl'], 1), settings)
    const { plimsoll, full, optimum } = calls
    expect([plimsoll.length, full.length, optimum.length]).toEqual([35, 35, 35])
    for (const under of [plimsoll, optimum])
      expect(Math.max(...under.map(({ tokens }) => tokens))).toBeLessThanOrEqual(3_000)
    expect(full.at(-1)?.tokens).toBeGreaterThan(12_000)
    // It repeats all of the request before, and pays for what is new.
    for (const [place, { tokens, cost }] of full.entries()) {
      const before = full[place - 1] ?? { tokens: 0, cost: 0 }
      expect(cost - before.cost).toBeCloseTo(READ * before.tokens + WRITE * (tokens - before.tokens), 6)
    }
    const bill = (name: Billed): number => calls[name].at(-1)?.cost ?? 0
    expect(bill('optimum')).toBeLessThanOrEqual(bill('plimsoll'))
    expect(bill('plimsoll')).toBeLessThan(bill('full'))
  })

  it('count a call that no memory can make as nothing', async () => {
    const { calls } = await billsOf(
      {
        id: 'long',
        format: 'openai',
        messages: [
          { role: 'user', content: 'a '.repeat(5_000) },
          { role: 'assistant', content: 'Yes.' },
        ],
      },
      settings,
    )
    expect(calls.plimsoll).toEqual([{ tokens: 0, cost: 0 }])
    // What Plimsoll does not show, the optimum need not show.
    expect(calls.optimum).toEqual([{ tokens: 0, cost: 0 }])
    expect(calls.full[0]?.tokens).toBeGreaterThan(3_000)
  })

  it('are on the first screen what they are for the recording in examples/', async () => {
    // The optimum knows the end, so it is compared only where all of it is played.
    const messages = session.messages.slice(0, size(session.messages.length))
    const { budget } = recorded
    const { calls } = await billsOf({ ...session, messages }, { ...settings, budget })
    const names =
      messages.length === session.messages.length
        ? (['plimsoll', 'full', 'optimum'] as const)
        : (['plimsoll', 'full'] as const)
    for (const name of names)
      expect(calls[name].map(({ tokens, cost }) => ({ tokens, cost: Math.round(cost) }))).toEqual(
        recorded.calls[name].slice(0, calls[name].length),
      )
  })
})
