import { afterEach, expect } from 'vitest'
import { mapStore } from '../../src/index.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeCalculator } from '../everywhere/calculator.ts'

const opened: DexieStore[] = []

// A store that went on in memory would give the same bytes, and tell nothing of this browser's
// database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeCalculator('Dexie', () => {
  const store = dexieStore({ name: crypto.randomUUID() })
  opened.push(store)
  return store
})
describeCalculator('a map', () => mapStore())
