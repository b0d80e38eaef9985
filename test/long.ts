/**
 * `npm run test:long -- [--only name] [--seed N] [--share 0.05] [--histories 200] [--kills 5]
 * [--bodies 5000] [--contexts 10000] [--seconds 60] [--worlds 1000] [--pages 100]
 * [--syncs 300000]`: what is too long for a push, one after the other and each with the same new
 * seed, and what came of it. Each is a command of its own too.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

interface Step {
  /** A script of `package.json`. */
  readonly script: string
  readonly arguments?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    share: { type: 'string', default: '0.05' },
    histories: { type: 'string', default: '200' },
    kills: { type: 'string', default: '5' },
    bodies: { type: 'string', default: '5000' },
    contexts: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    worlds: { type: 'string', default: '1000' },
    pages: { type: 'string', default: '100' },
    syncs: { type: 'string', default: '300000' },
  },
})
const { only, seed, share, histories, kills, bodies, contexts, seconds, worlds, pages, syncs } = values

const STEPS: Readonly<Record<string, Step>> = {
  cases: { script: 'test:cases', env: { FAST_CHECK_SEED: seed } },
  agents: { script: 'test:agents' },
  peers: { script: 'test:peers' },
  offline: { script: 'test:offline' },
  manifest: { script: 'test:manifest' },
  hosts: { script: 'test:hosts', arguments: ['node', 'bun', 'deno', 'next'] },
  openapi: { script: 'test:openapi', arguments: [bodies, seed] },
  kill: { script: 'test:kill', arguments: [kills] },
  sqlite: { script: 'test:kill-sqlite', arguments: [String(20 * Number(kills))] },
  lease: { script: 'test:lease', arguments: [String(200 * Number(kills)), '--seed', seed] },
  faults: { script: 'test:browser-faults', env: { KILLS: kills } },
  line: { script: 'test:line', arguments: [contexts, '--seed', seed] },
  attack: { script: 'test:attack', arguments: ['1000000', '--seed', seed, '--seconds', seconds] },
  fuzz: { script: 'test:fuzz', arguments: [bodies, seed] },
  twins: { script: 'test:twins', arguments: [worlds, '--seed', seed] },
  'twins-sqlite': { script: 'test:twins', arguments: ['40', '--seed', seed, '--store', 'sqlite'] },
  pages: { script: 'test:twins', arguments: [pages, '--seed', seed, '--store', 'dexie'] },
  soak: { script: 'test:soak', arguments: ['--seconds', seconds, '--seed', seed, '--keep', '20000'] },
  sync: { script: 'test:sync', arguments: ['--seeds', syncs, '--seed', seed] },
  'sync-states': { script: 'test:sync', arguments: ['--states', '2'] },
  oracle: { script: 'test:oracle', arguments: [histories, '--seed', seed] },
  mutation: { script: 'test:mutation', arguments: ['--share', share, '--seed', seed] },
}
if (only !== undefined && !Object.hasOwn(STEPS, only))
  throw new Error(`--only must be one of ${Object.keys(STEPS).join(', ')}, not ${only}`)

console.log(`--seed ${seed}`)
const rows: { readonly step: string; readonly result: string; readonly seconds: number }[] = []
for (const [step, { script, arguments: rest = [], env = {} }] of Object.entries(STEPS)) {
  if (only !== undefined && step !== only) continue
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  console.log(`\n== ${step}: ${[...variables, 'npm run', script, '--', ...rest].join(' ')}`)
  const started = performance.now()
  const code = await run(['run', script, '--', ...rest], env)
  const seconds = Math.round((performance.now() - started) / 1_000)
  rows.push({ step, result: code === 0 ? 'passed' : `failed (${code})`, seconds })
}
console.log()
console.table(rows)
if (rows.some(({ result }) => result !== 'passed')) process.exitCode = 1

/** @returns the exit code of npm; the signal's name, where one ended it */
async function run(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number | string> {
  const child = spawn('npm', command, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32', // npm is a .cmd there
  })
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? String(signal)))
  })
}
