import { describe, expect, it } from 'vitest'
import { loadO200k } from '../../src/counters/o200k.ts'
import { size } from '../everywhere/runs.ts'
import { measure } from './measure.ts'
import { plimsoll, pruning, type Recorded, type Reply, replay } from './replay.ts'

/** On a push half of them. */
const QUESTIONS = Math.max(5, size(10))

/** Questions, each answered after twenty steps whose tools have a lot to say. */
function generated(): Recorded {
  const replies = (round: number): Reply[] =>
    Array.from({ length: 20 }, (_, step) => {
      const id = `call_${step}`
      const path = `src/part_${round}/file_${step}.ts`
      const text = step === 19 ? `Round ${round} is done.` : `Reading ${path}.`
      const lines = Array.from(
        { length: 150 + ((step * 37) % 200) },
        (_, line) => `${line}: export const v${line} = '${path}'`,
      )
      return step === 19
        ? { text, calls: [], results: new Map() }
        : {
            text,
            calls: [{ type: 'tool-call', id, name: 'read_file', input: { path } }],
            results: new Map([[id, lines.join('\n')]]),
          }
    })
  return {
    id: 'generated',
    rounds: Array.from({ length: QUESTIONS }, (_, round) => ({
      user: `Look into part ${round}.`,
      replies: replies(round),
    })),
    tools: ['read_file'],
  }
}

describe('many steps of streamText behind the transport of useChat, at 16 000 tokens', () => {
  it('never pass the cap, break no rule and cost less than 0.4 of what pruneMessages costs', {
    timeout: 60_000,
  }, async () => {
    const counter = await loadO200k()
    const of = async (policy: typeof pruning) => measure([await replay(generated(), policy)], counter, 16_000)
    const ours = await of(plimsoll(counter, 16_000))
    const theirs = await of(pruning)
    expect(ours).toMatchObject({ requests: 20 * QUESTIONS, overCap: 0, rulesBroken: 0, blankTexts: 0 })
    expect(ours.mostTokens).toBeGreaterThan(8_000)
    expect(theirs.requests).toBe(20 * QUESTIONS)
    expect(ours.costPerRequest / theirs.costPerRequest).toBeLessThanOrEqual(0.4)
  })
})
