/**
 * `npm run test:long -- [--only name] [--share 0.05] [--histories 200] [--seed N]`: the runs that
 * take minutes, one after the other, each with the same new seed, and what came of them.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    share: { type: 'string', default: '0.05' },
    histories: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const { only, share, histories, seed } = values

/** What each step runs: a script of this folder, with its arguments. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  mutation: ['mutation/run.ts', '--share', share, '--seed', seed],
  oracle: ['oracle/run.ts', histories, '--seed', seed],
}
if (only !== undefined && !Object.hasOwn(STEPS, only))
  throw new Error(`--only must be one of ${Object.keys(STEPS).join(', ')}, not ${only}`)

const rows: { readonly step: string; readonly result: string; readonly seconds: number }[] = []
for (const [step, [script = '', ...rest]] of Object.entries(STEPS)) {
  if (only !== undefined && step !== only) continue
  console.log(`\n== ${step}: node test/${[script, ...rest].join(' ')}`)
  const started = performance.now()
  const code = await run(join(import.meta.dirname, script), rest)
  const seconds = Math.round((performance.now() - started) / 1_000)
  rows.push({ step, result: code === 0 ? 'passed' : `failed (${code})`, seconds })
}
console.log()
console.table(rows)
if (rows.some(({ result }) => result !== 'passed')) process.exitCode = 1

/** @returns the exit code; the signal's name, where one ended it */
async function run(script: string, rest: readonly string[]): Promise<number | string> {
  const child = spawn(process.execPath, [script, ...rest], { stdio: 'inherit' })
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? String(signal)))
  })
}
