/**
 * `npm run test:twins -- [worlds] [--seed N] [--store map|encrypted|sqlite|dexie] [--http N]`:
 * plays so many histories in pairs of worlds, and says where two of them part; then so many over
 * HTTP, in workerd. Over Dexie they are played in Chromium, and none over HTTP.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { mapStore, type Store } from '../../src/index.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { SqliteFiles } from '../unit/support/sqlite-files.ts'
import { checkBeside, checkForgotten, checkSynced, checkUntrusted, HTTP_PAIRS } from './twins.ts'

const KEYS = 'a secret of no fewer bytes than thirty-two'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'map' },
    http: { type: 'string' },
  },
})
const files = new SqliteFiles()
const STORES: Readonly<Record<string, () => Store>> = {
  map: mapStore,
  encrypted: () => encryptedStore(mapStore(), secretKeys(KEYS)),
  sqlite: () => files.open(),
}
const FILES = { browser: 'test/browser/twins.test.ts', workerd: 'test/workerd/edge/twins.test.ts' }
const { store, seed } = values
const worlds = Number(positionals[0] ?? 200)
const open = STORES[store]
if (open) await inNode(open)
else if (store === 'dexie') play('browser', { TWINS: String(worlds) })
else throw new Error(`--store must be one of ${Object.keys(STORES).join(', ')} and dexie, not ${store}`)

async function inNode(open: () => Store): Promise<void> {
  /** A quarter of the worlds each for what costs less to go wrong. */
  const LAWS = {
    forgotten: [checkForgotten, 1],
    untrusted: [checkUntrusted, 4],
    beside: [checkBeside, 4],
    synced: [checkSynced, 4],
  } as const
  for (const [law, [check, part]] of Object.entries(LAWS)) {
    const started = performance.now()
    const count = Math.ceil(worlds / part)
    await check({ open, seed: Number(seed), worlds: count })
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    console.log(
      `${law}: ${count} pairs of worlds from seed ${seed} on, ${store} store: the same in all, in ${seconds} s`,
    )
  }
  await files.remove()
  const overHttp = Number(values.http ?? Math.ceil(worlds / 10))
  if (overHttp > 0) play('workerd', { FAST_CHECK_RUNS: String(overHttp / HTTP_PAIRS) })
}

/** In the place where the store, or the edge, runs. */
function play(place: 'browser' | 'workerd', runs: Readonly<Record<string, string>>): void {
  const { status } = spawnSync('npm', ['run', `test:${place}`, '--', FILES[place]], {
    cwd: resolve(import.meta.dirname, '../..'),
    stdio: 'inherit',
    env: { ...process.env, ...runs, FAST_CHECK_SEED: seed },
    shell: process.platform === 'win32', // npm is a .cmd there
  })
  process.exitCode = status ?? 1
}
