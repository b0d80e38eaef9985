/**
 * `npm run test:peers [-- --peers DIR]`: other libraries' own suites, and runs of their own loops,
 * over the bridges. Packages come from npm; what only their repositories have is read from DIR,
 * with checkouts named `langgraphjs`, `openai-agents-js` and `anthropic-sdk-typescript`, and
 * skipped by name where it is not there. Nothing of theirs is kept here.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { FILES, missingFiles } from './files.ts'

const { values } = parseArgs({ options: { peers: { type: 'string' } } })
const folder = values.peers === undefined ? undefined : resolve(values.peers)
for (const { name } of missingFiles(folder)) console.log(`skipped  ${name}: it is not in --peers DIR`)
for (const { name, skips = [] } of FILES)
  for (const skip of skips) console.log(`skipped  ${name}: “${skip} …”, see docs/bridges.md`)
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/peers/vite.config.ts'],
  {
    cwd: resolve(import.meta.dirname, '../..'),
    stdio: 'inherit',
    env: { ...process.env, ...(folder !== undefined && { PEERS: folder }) },
  },
)
process.exitCode = status ?? 1
