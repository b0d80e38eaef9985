/**
 * `npm run test:twins -- [worlds] [--seed N] [--store map|encrypted|dexie]`: plays so many
 * histories in pairs of worlds, and says where two of them part. Over Dexie they are played in
 * Chromium.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { mapStore } from '../../src/index.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { checkBeside, checkForgotten, checkUntrusted } from './twins.ts'

const KEYS = 'a secret of no fewer bytes than thirty-two'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, store: { type: 'string', default: 'map' } },
})
const { store } = values
if (store !== 'map' && store !== 'encrypted' && store !== 'dexie')
  throw new Error(`--store must be map, encrypted or dexie, not ${store}`)
const worlds = Number(positionals[0] ?? 200)
if (store === 'dexie') inChromium()
else await inNode()

function inChromium(): void {
  const { status } = spawnSync('npm', ['run', 'test:browser', '--', 'test/browser/twins.test.ts'], {
    stdio: 'inherit',
    env: { ...process.env, TWINS: String(worlds), FAST_CHECK_SEED: values.seed },
    shell: process.platform === 'win32', // npm is a .cmd there
  })
  process.exitCode = status ?? 1
}

async function inNode(): Promise<void> {
  /** A quarter of the worlds each for what costs less to go wrong. */
  const LAWS = {
    forgotten: [checkForgotten, 1],
    untrusted: [checkUntrusted, 4],
    beside: [checkBeside, 4],
  } as const
  for (const [law, [check, part]] of Object.entries(LAWS)) {
    const started = performance.now()
    const count = Math.ceil(worlds / part)
    await check({
      open: () => (store === 'map' ? mapStore() : encryptedStore(mapStore(), secretKeys(KEYS))),
      seed: Number(values.seed),
      worlds: count,
    })
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    console.log(
      `${law}: ${count} pairs of worlds from seed ${values.seed} on, ${store} store: the same in all, in ${seconds} s`,
    )
  }
}
