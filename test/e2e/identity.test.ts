import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConversation } from '../../src/replay/transcript.ts'
import { BrowserSide } from '../identity/browser.ts'
import { compare, compareSynced } from '../identity/compare.ts'
import { EdgeSide } from '../identity/edge.ts'
import { generated } from '../identity/generated.ts'
import { replayOf } from '../identity/steps.ts'

const BUDGET = 2_000
const trip = readConversation(
  readFileSync(resolve(import.meta.dirname, '../../examples/trip.jsonl'), 'utf8').trim(),
  1,
)

let browser: BrowserSide
let edge: EdgeSide

beforeAll(async () => {
  browser = await BrowserSide.start()
  edge = await EdgeSide.start({ budget: BUDGET, system: trip.system, origin: browser.origin })
})

afterAll(async () => {
  await browser?.stop()
  await edge?.stop()
})

describe('a browser with Dexie and the edge over HTTP give the same bytes', () => {
  it('for each call of the recorded trip', async () => {
    const replay = replayOf(trip, 'trip')
    const found = await compare(replay, { budget: BUDGET, browser, edge })
    expect(found.differences).toEqual([])
    expect(found).toMatchObject({ calls: 36, refused: 0 })
    expect(found.epochs).toBeGreaterThan(3)
  })

  it('for each call of several hundred messages with tools, long outputs, late results and tails', async () => {
    const conversation = { ...generated(60), ...(trip.system !== undefined && { system: trip.system }) }
    expect(conversation.messages.length).toBeGreaterThan(300)
    const played = (time: number) => {
      const replay = replayOf(conversation, `generated / ${time}`, 3)
      return compare(replay, { budget: BUDGET, browser, edge })
    }
    let found = await played(1)
    // A summary that takes longer than the edge waits for it (10 ms) comes a call later: that is
    // another log. It is rare, and not what is compared.
    for (let time = 2; time <= 3 && found.differences.length > 0; time++) found = await played(time)
    expect(found.differences).toEqual([])
    expect(found.calls).toBe(replayOf(conversation, 'generated', 3).steps.length)
    expect(found.epochs).toBeGreaterThan(20)
    expect(found.refused).toBeLessThan(found.calls / 10)
  })

  it('for calls of the recorded trip, where the browser is a replica of the edge', async () => {
    const replay = replayOf(trip, 'synced')
    const steps = replay.steps.slice(0, 12)
    const found = await compareSynced({ ...replay, steps }, { budget: BUDGET, browser, edge })
    expect(found.differences).toEqual([])
    expect(found).toMatchObject({ calls: 12, refused: 0 })
    expect(found.epochs).toBeGreaterThan(1)
  })

  it('and another byte on one side would be seen', async () => {
    const replay = replayOf(trip, 'seeded')
    const found = await compare(
      { ...replay, steps: replay.steps.slice(0, 4) },
      { budget: BUDGET + 1, browser, edge },
    )
    expect(found.differences).toHaveLength(4)
    expect(found.differences[0]).toMatch(/^call 0: .* from character \d+ on/)
  })
})
