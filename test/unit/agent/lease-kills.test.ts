import { expect, test } from 'vitest'
import { differencesOf, type HoldersSettings, holders } from '../../crash/holders.ts'
import { isWhole } from '../../everywhere/runs.ts'

const whole = await holders({ seed: 0, kills: 0, stores: 'shared' })
const SEEDS = isWhole ? 12 : 4

/** What came of some runs, which all ended as if nobody had been killed. */
async function play(settings: Omit<HoldersSettings, 'seed' | 'kills'>) {
  const sum = { holderKills: 0, takeovers: 0, slowest: 0, marks: 0 }
  for (let seed = 1; seed <= SEEDS; seed++) {
    const given = { seed, kills: 8, ...settings }
    const one = await holders(given)
    expect([seed, differencesOf(whole, one, given)]).toEqual([seed, []])
    sum.holderKills += one.holderKills
    sum.takeovers += one.takeovers
    sum.slowest = Math.max(sum.slowest, one.slowest)
    sum.marks = Math.max(sum.marks, one.marks)
  }
  return sum
}

test('what a run says of itself is in its requests, and must be so after it was taken over', () => {
  const requests = [...whole.requests.values()].flatMap((step) => [...step]).join()
  for (const said of ['You seem to be stuck', '% of the token budget is used'])
    expect(requests).toContain(said)
})

test.each(['shared', 'synced'] as const)(
  'of two agents over %s stores the other one goes on within two seconds, wherever one is killed',
  async (stores) => {
    const { holderKills, takeovers, slowest, marks } = await play({ stores })
    expect(holderKills).toBeGreaterThanOrEqual(2.5 * SEEDS)
    expect(takeovers).toBeGreaterThanOrEqual(0.8 * SEEDS)
    expect(slowest).toBeLessThanOrEqual(2_000)
    expect(marks).toBeLessThan(40)
  },
)

test('an agent that stood still goes on from what the other one wrote', async () => {
  for (const stores of ['shared', 'synced'] as const) await play({ stores, stalls: 4 })
})

test('where two models say different things, the log and both agents have one of them', async () => {
  for (const stores of ['shared', 'synced'] as const) await play({ stores, stalls: 6, differs: true })
})

test('a network that loses what it carries changes nothing of that', async () => {
  await play({ stores: 'synced', faults: true })
  await play({ stores: 'synced', faults: true, stalls: 4, differs: true })
})
