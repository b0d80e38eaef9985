import { afterEach, expect } from 'vitest'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeStart } from '../everywhere/start.ts'

const opened: DexieStore[] = []

// A store that went on in memory would give the same bytes, and tell nothing of this browser's
// database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeStart('Dexie', () => {
  const store = dexieStore({ name: crypto.randomUUID() })
  opened.push(store)
  return store
})
