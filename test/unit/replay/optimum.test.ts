import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Counter } from '../../../src/index.ts'
import { countMessage, perRequest } from '../../../src/kernel/count.ts'
import { costOf } from '../../../src/replay/cost.ts'
import { Line, type LineCall } from '../../../src/replay/optimum.ts'
import { runs } from '../../everywhere/runs.ts'
import { plimsoll } from '../support/command.ts'
import { trip } from '../support/recordings.ts'

const counter: Counter = { id: 'length', kind: 'exact', count: (text) => text.length }
const head = perRequest(counter)
const framing = countMessage(counter, { content: '' })

/** The least cost by trying every token as the beginning of every window. */
function tried(sums: readonly number[], calls: readonly LineCall[], room: number, floor: number): number {
  let costs = new Map<number, number>()
  let before: LineCall | undefined
  for (const call of calls) {
    const end = sums[call.end] as number
    const least = Math.min(floor, call.shown, end, Math.max(0, room - call.tail))
    const next = new Map<number, number>()
    for (let from = 0; from <= end - least; from++) {
      const tokens = head + end - from + call.tail
      if (end - from > Math.max(room - call.tail, least)) continue
      if (!before) next.set(from, costOf(tokens, 0))
      for (const [begun, cost] of costs) {
        if (begun > from || !before) continue
        const repeated = begun === from ? head + (sums[before.end] as number) - from : head
        next.set(from, Math.min(next.get(from) ?? Number.POSITIVE_INFINITY, cost + costOf(tokens, repeated)))
      }
    }
    costs = next
    before = call
  }
  return Math.min(...costs.values())
}

describe('the optimum of a recording', () => {
  it('is the least of all windows that begin at any token', () => {
    const turn = fc.record({
      size: fc.integer({ min: 0, max: 20 }),
      isCall: fc.boolean(),
      shown: fc.integer({ min: 0, max: 60 }),
      tail: fc.integer({ min: 0, max: 3 }),
    })
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 20, max: 80 }),
        fc.integer({ min: 1, max: 40 }),
        (turns, room, floor) => {
          const line = new Line(
            { id: '', format: 'openai', messages: [] },
            { budget: room + head, floor, counter },
          )
          const sums = [0]
          const calls: LineCall[] = []
          for (const { size, isCall, shown, tail } of turns) {
            line.append({ role: 'user', content: 'x'.repeat(size) })
            sums.push((sums.at(-1) ?? 0) + size + framing)
            if (isCall) calls.push({ end: line.length, shown, tail })
          }
          if (calls.length > 0) expect(line.cost(calls)).toBeCloseTo(tried(sums, calls, room, floor), 6)
        },
      ),
      runs(200),
    )
  })

  it('stands beside each policy of a replay, which costs no less', async () => {
    const argv = ['replay', 'trip.jsonl', '--json', '--counter', 'default', '--budget', '3000']
    for (const floor of ['400', '1500']) {
      const { out } = await plimsoll([...argv, '--floor', floor], trip)
      const { figures } = JSON.parse(out)
      for (const policy of ['plimsoll', 'full', 'rounds', 'messages', 'tokens']) {
        const { costPerCall, optimum } = figures[policy]
        expect(optimum.floor).toBe(Number(floor))
        expect(optimum.ratio).toBeGreaterThanOrEqual(1)
        expect(optimum.ratio).toBeCloseTo(costPerCall / optimum.costPerCall, 0)
      }
    }
    expect((await plimsoll([...argv, '--floor', '3001'], trip)).err).toMatch('more than the line')
  })
})
