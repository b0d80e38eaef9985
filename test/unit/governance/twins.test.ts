import { describe, it } from 'vitest'
import { mapStore, type Store } from '../../../src/index.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { runs } from '../../everywhere/runs.ts'
import { checkTwins } from '../../twins/twins.ts'

const KEYS = 'a secret of this test, of 32 bytes or more'
const STORES: readonly (readonly [name: string, open: () => Store, worlds: number])[] = [
  ['map', () => mapStore(), 60],
  ['encrypted', () => encryptedStore(mapStore(), secretKeys(KEYS)), 8],
]

describe.each(STORES)('two worlds over the %s store that differ in a secret', (_, open, worlds) => {
  it('are the same once it is forgotten, whatever happened before and happens after', async () => {
    const { seed, numRuns } = runs(worlds)
    await checkTwins({ open, seed, worlds: numRuns })
  })
})
