/**
 * `npm run test:lease -- [1000] [--seed 1] [--real 20]`: an agent's run with two possible holders
 * of its lease, until the one that had it was killed so often, in one store and in two that follow
 * each other. Also with a lossy network, processes that stand still, and a model that never says
 * the same twice. Prints how long the other one took to go on. With `--real`, in their place: a tab
 * of a real Chromium, and a real workerd, killed so often (`test/e2e/unplug.test.ts`).
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { differencesOf, type HoldersSettings, holders } from './holders.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, real: { type: 'string' } },
})
if (values.real !== undefined) {
  const args = ['run', '--project', 'e2e', 'test/e2e/unplug.test.ts']
  const env = { ...process.env, UNPLUG: values.real }
  process.exit(spawnSync('vitest', args, { stdio: 'inherit', env }).status ?? 1)
}
const kills = Number(positionals[0] ?? 1_000)
/** Where both are there all the time. */
const MOST_MS = 2_000

const whole = await holders({ seed: 0, kills: 0, stores: 'shared' })
const rows: object[] = []
for (const stores of ['shared', 'synced'] as const)
  for (const more of [
    {},
    { stalls: 4 },
    { differs: true, stalls: 4 },
    { faults: true },
    { faults: true, stalls: 4 },
    { skew: 600_000 },
    { skew: -600_000 },
  ]) {
    if (stores === 'shared' && ('faults' in more || 'skew' in more)) continue
    const sum = {
      kills: 0,
      holderKills: 0,
      takeovers: 0,
      slowestMs: 0,
      marks: 0,
      dropped: 0,
      again: 0,
      failed: 0,
    }
    for (let seed = Number(values.seed); sum.holderKills < kills; seed++) {
      const settings: HoldersSettings = { seed, kills: 8, stores, ...more }
      const one = await holders(settings)
      const differences = differencesOf(whole, one, settings)
      const isSlow = one.slowest > MOST_MS && !('stalls' in more) && !('faults' in more)
      if (isSlow) differences.push(`the next one came after ${one.slowest} ms`)
      for (const difference of differences) console.error(`${JSON.stringify(settings)}: ${difference}`)
      sum.kills += one.kills
      sum.holderKills += one.holderKills
      sum.takeovers += one.takeovers
      sum.slowestMs = Math.max(sum.slowestMs, one.slowest)
      sum.marks = Math.max(sum.marks, one.marks)
      sum.dropped += one.dropped
      for (const { runs } of one.calls.values()) sum.again += runs - 1
      if (differences.length > 0) sum.failed++
    }
    rows.push({ stores, ...more, ...sum })
  }
console.table(rows)
if (rows.some((row) => 'failed' in row && row.failed !== 0)) process.exitCode = 1
