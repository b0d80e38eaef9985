import { dexieStore } from '../../src/stores/dexie.ts'
import { describeGovernance } from '../everywhere/governance.ts'
import { dumpDatabase } from './idb-dump.ts'

describeGovernance('Dexie', async () => {
  const name = crypto.randomUUID()
  return { store: dexieStore({ name }), dump: () => dumpDatabase(indexedDB, name) }
})
