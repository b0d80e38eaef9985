/**
 * `npm run test:cases -- [vitest's options]`: all random cases, of which a push runs a tenth,
 * with a seed that is new and printed, and what a push does not wait for. `FAST_CHECK_RUNS=20` runs
 * twenty times as many, `FAST_CHECK_SEED` the same ones again.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { FAST_CHECK_RUNS: '1', ...process.env },
})
process.exitCode = status ?? 1
