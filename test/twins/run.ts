/**
 * `npm run test:twins -- [worlds] [--seed N] [--store map|encrypted|sqlite|dexie] [--http N]`:
 * plays so many histories in pairs of worlds, and says where two of them part; then so many over
 * HTTP, in workerd. Over Dexie they are played in Chromium.
 */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { mapStore, type Store } from '../../src/index.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { SqliteFiles } from '../unit/support/sqlite-files.ts'
import { checkBeside, checkForgotten, checkUntrusted, HTTP_PAIRS } from './twins.ts'

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
const { store } = values
const open = STORES[store]
if (!open && store !== 'dexie')
  throw new Error(`--store must be one of ${Object.keys(STORES).join(', ')}, dexie, not ${store}`)
const worlds = Number(positionals[0] ?? 200)
/** A quarter of the worlds each for what costs less to go wrong. */
const LAWS = {
  forgotten: [checkForgotten, 1],
  untrusted: [checkUntrusted, 4],
  beside: [checkBeside, 4],
} as const
for (const [law, [check, part]] of open ? Object.entries(LAWS) : []) {
  const started = performance.now()
  const count = Math.ceil(worlds / part)
  await check({
    open: open as () => Store,
    seed: Number(values.seed),
    worlds: count,
  })
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(
    `${law}: ${count} pairs of worlds from seed ${values.seed} on, ${store} store: the same in all, in ${seconds} s`,
  )
}
await files.remove()
if (!open) vitest('browser', 'test/browser/twins.test.ts', { TWINS: String(worlds) })
const overHttp = Number(values.http ?? (open ? Math.ceil(worlds / 10) : 0))
if (overHttp > 0)
  vitest('workerd', 'test/workerd/edge/twins.test.ts', { FAST_CHECK_RUNS: String(overHttp / HTTP_PAIRS) })

/** Runs a file of tests elsewhere, with the same seed. */
function vitest(project: string, file: string, env: Readonly<Record<string, string>>): void {
  const root = resolve(import.meta.dirname, '../..')
  const { status } = spawnSync(
    process.execPath,
    [resolve(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', project, file],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env, FAST_CHECK_SEED: String(values.seed) },
    },
  )
  process.exitCode ||= status ?? 1
}
