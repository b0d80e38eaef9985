import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { mapStore } from '../../src/index.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import { describeStart } from '../everywhere/start.ts'

describeStart('a map', () => mapStore())
describeStart('Dexie', () =>
  dexieStore({ name: 'start', channel: null, indexedDB: new IDBFactory(), IDBKeyRange }),
)
