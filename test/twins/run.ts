/**
 * `npm run test:twins -- [worlds] [--seed N] [--store map|encrypted]`: plays so many histories in
 * pairs of worlds, and says where two of them part.
 */
import { parseArgs } from 'node:util'
import { mapStore } from '../../src/index.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { checkTwins } from './twins.ts'

const KEYS = 'a secret of no fewer bytes than thirty-two'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, store: { type: 'string', default: 'map' } },
})
const { store } = values
if (store !== 'map' && store !== 'encrypted')
  throw new Error(`--store must be map or encrypted, not ${store}`)
const worlds = Number(positionals[0] ?? 200)
const started = performance.now()
await checkTwins({
  open: () => (store === 'map' ? mapStore() : encryptedStore(mapStore(), secretKeys(KEYS))),
  seed: Number(values.seed),
  worlds,
})
const seconds = (performance.now() - started) / 1_000
console.log(
  `${worlds} pairs of worlds from seed ${values.seed} on, ${store} store: the same in all of them, in ${seconds.toFixed(1)} s`,
)
