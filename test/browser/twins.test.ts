import { afterAll, inject, it } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { SEED } from '../everywhere/runs.ts'
import type {} from '../twins/provided.ts'
import { checkForgotten } from '../twins/twins.ts'

const worlds = inject('worlds')
const limit = 60_000 + 3_000 * worlds
let [name, handles]: [string, readonly DexieStore[]] = ['', []]

async function close(): Promise<void> {
  for (const handle of handles) await handle.close()
  if (handles.length > 0) indexedDB.deleteDatabase(name)
}

/** One handle for each of two tabs. The database before is let go of. */
async function open(): Promise<readonly Store[]> {
  await close()
  name = crypto.randomUUID()
  handles = [0, 1].map(() => dexieStore({ name, mirror: null, durability: 'relaxed' }))
  return handles
}

afterAll(close)

it('two worlds in IndexedDB that differ in a secret are the same once it is forgotten', {
  timeout: limit + 10_000,
}, async () => {
  await checkForgotten({ open, seed: SEED, worlds, limit })
})
