import { afterEach, expect } from 'vitest'
import { mapStore } from '../../src/index.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeTwoTier } from '../everywhere/two-tier.ts'

const opened: DexieStore[] = []

// A store that went on in memory would say the same, and tell nothing of this browser's database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeTwoTier('Dexie', () => {
  const store = dexieStore({ name: crypto.randomUUID() })
  opened.push(store)
  return store
})
describeTwoTier('a map', () => mapStore())
