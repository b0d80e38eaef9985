/**
 * Writes `recorded.json`: the bills of the recording in `examples/`, which the first screen draws
 * without having to count half a million characters.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultCounter } from '../../src/counters/default.ts'
import { type Billed, billsOf } from '../../src/replay/bills.ts'
import { readConversation } from '../../src/replay/transcript.ts'

const BUDGET = 16_000

const text = readFileSync(join(import.meta.dirname, '../../examples/coding-session.jsonl'), 'utf8')
const conversation = readConversation(text, 1)
const bills = await billsOf(conversation, { budget: BUDGET, counter: defaultCounter, pause: async () => {} })
const rounded = (name: Billed): readonly unknown[] =>
  bills.calls[name].map(({ tokens, cost }) => ({ tokens, cost: Math.round(cost) }))
const recorded = {
  budget: bills.budget,
  calls: { plimsoll: rounded('plimsoll'), full: rounded('full'), optimum: rounded('optimum') },
}
writeFileSync(join(import.meta.dirname, 'recorded.json'), `${JSON.stringify(recorded)}\n`)
