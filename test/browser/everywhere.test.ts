/** What holds everywhere, in this browser: one file, since each loads the library once more. */
import { afterEach, expect } from 'vitest'
import { mapStore } from '../../src/index.ts'
import { type DexieStore, dexieStore } from '../../src/stores/dexie.ts'
import { describeAgent } from '../everywhere/agent.ts'
import { describeBridge } from '../everywhere/ai-sdk.ts'
import { describeCalculator } from '../everywhere/calculator.ts'
import { describeGovernance } from '../everywhere/governance.ts'
import { describeRecall } from '../everywhere/recall.ts'
import { describeSessionRecall } from '../everywhere/session-recall.ts'
import { describeStart } from '../everywhere/start.ts'
import { describeTransfer } from '../everywhere/transfer.ts'
import { describeTwoTier } from '../everywhere/two-tier.ts'
import { dumpDatabase } from './idb-dump.ts'

const opened: DexieStore[] = []
const names = new WeakMap<DexieStore, string>()

function open(name: string = crypto.randomUUID()): DexieStore {
  const store = dexieStore({ name, durability: 'relaxed' })
  opened.push(store)
  names.set(store, name)
  return store
}

// A store that went on in memory would say the same, and tell nothing of this browser's database.
afterEach(() => expect(opened.splice(0).map((store) => store.status().state)).not.toContain('memory'))

describeAgent((signal) => new Request('https://example.com', { signal: signal as AbortSignal }))
describeBridge()
describeCalculator('Dexie', () => open())
describeCalculator('a map', () => mapStore())
describeGovernance('Dexie', async () => {
  const name = crypto.randomUUID()
  return { store: open(name), dump: () => dumpDatabase(indexedDB, name) }
})
describeRecall()
describeSessionRecall(
  'Dexie',
  () => open(),
  async (store) => {
    await (store as DexieStore).close()
    return open(names.get(store as DexieStore))
  },
)
describeStart('Dexie', () => open())
describeTransfer('Dexie', () => open())
describeTwoTier('Dexie', () => open())
describeTwoTier('a map', () => mapStore())
