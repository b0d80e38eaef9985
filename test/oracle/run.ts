/**
 * `npm run test:oracle -- [histories] [--seed N] [--store map|encrypted|sqlite] [--keep]`: plays
 * histories over the frozen build and the working sources, and says where they part first; with
 * `sqlite` over the working sources in memory, and on disk. `--keep` writes what the frozen build
 * breaks a law in to `known/`, where the reason is to be filled in.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { onDisk, SqliteFiles } from '../unit/support/sqlite-files.ts'
import type { History } from './commands.ts'
import { Coverage } from './coverage.ts'
import { broken } from './judge.ts'
import { play } from './play.ts'
import { shrunk } from './shrink.ts'
import { sidesOf } from './sides.ts'
import { survey } from './survey.ts'
import { verdictTold } from './verdict.ts'

/** From so many histories on, each place must have been reached. */
const ENOUGH = 500
const SECRET = 'a secret of no fewer bytes than thirty-two'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'map' },
    keep: { type: 'boolean', default: false },
  },
})
const { store } = values
if (store !== 'map' && store !== 'encrypted' && store !== 'sqlite')
  throw new Error(`--store must be map, encrypted or sqlite, not ${store}`)
const histories = Number(positionals[0] ?? 100)
const seed = Number(values.seed)

const files = new SqliteFiles()
const inMemory = sidesOf((build) => ({
  open: () =>
    store === 'encrypted'
      ? build.encryptedStore(build.mapStore(), build.secretKeys(SECRET))
      : build.mapStore(),
}))
const sides = store === 'sqlite' ? { frozen: inMemory.built, built: onDisk(inMemory.built, files) } : inMemory

const coverage = new Coverage()
const kinds = new Set<string>()
const lawless: History[] = []
let played = 0
let commands = 0
/** Histories that were compared up to a wanted difference, and their commands from there on. */
const parted = { histories: 0, commands: 0 }
const started = performance.now()
const difference = await survey({
  ...sides,
  histories,
  seed,
  onPlayed: (history, verdict, result) => {
    played++
    commands += history.commands.length
    for (const { kind } of history.commands) kinds.add(kind)
    coverage.add(result)
    if (verdict.status === 'same' && verdict.until !== undefined) {
      parted.histories++
      parted.commands += history.commands.length - verdict.until
    }
    if (verdict.status !== 'lawless') return
    lawless.push(history)
    console.log(`seed ${history.seed}: the frozen build breaks a law\n${verdictTold(verdict)}`)
  },
})
const seconds = (performance.now() - started) / 1_000
console.log(coverage.told())
console.log(
  `${played} histories from seed ${seed} on, ${store} store: ${commands} commands in ${seconds.toFixed(1)} s, ` +
    `${(played / seconds).toFixed(1)} histories a second; ${lawless.length} were not compared, as the frozen build breaks a law in them; ` +
    `${parted.histories} went other ways, as is wanted: ${parted.commands} of their commands were not compared`,
)
if (values.keep) for (const history of lawless) await keep(history)
await files.remove()
if (difference !== undefined) fail(difference)
else if (played >= ENOUGH) {
  const missing = coverage.missing(kinds)
  if (missing.length > 0) fail(`not reached: ${missing.join(', ')}`)
}

function fail(reason: string): void {
  console.error(reason)
  process.exitCode = 1
}

/** What is left of a history when each of its commands is needed to break a law. */
async function keep(history: History): Promise<void> {
  const linesOf = async (one: History): Promise<readonly string[]> =>
    broken(one, await play(one, sides.frozen))
  const least = await shrunk(history, async (shorter) => (await linesOf(shorter)).length > 0)
  const file = join(import.meta.dirname, 'known', `seed-${history.seed}.json`)
  const kept = { why: '', breaks: await linesOf(least), history: least }
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`)
  console.log(`${file}: ${least.commands.length} commands`)
}
