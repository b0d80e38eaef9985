import { afterEach, expect } from 'vitest'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeTransfer } from '../everywhere/transfer.ts'

const opened: DexieStore[] = []

// A store that went on in memory would say the same, and tell nothing of this browser's database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeTransfer('Dexie', () => {
  const store = dexieStore({ name: crypto.randomUUID() })
  opened.push(store)
  return store
})
