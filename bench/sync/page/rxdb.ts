import { createRxDatabase, type RxCollection } from 'rxdb/plugins/core'
import { replicateRxCollection } from 'rxdb/plugins/replication'
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie'
import { uuidv7 } from '../../../src/platform/uuid.ts'
import { type DeviceOrder, PATHS, type PlainMessage, RXDB } from '../orders.ts'
import type { Checkpoint, Fetched } from '../serve-rxdb.ts'
import { type Device, messagesOf } from './device.ts'

const SCHEMA = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 36 },
    role: { type: 'string' },
    content: { type: 'string' },
    createdAt: { type: 'number' },
  },
  required: ['id', 'role', 'content', 'createdAt'],
} as const

/**
 * RxDB on its storage of Dexie: a document a message, no index but the key, no validation, one tab.
 * Its replication, of both directions, has started before, and is paused.
 */
export async function openRxdb({ name, durability }: DeviceOrder, batchSize: number): Promise<Device> {
  const db = await createRxDatabase({
    name,
    storage: getRxStorageDexie({ chromeTransactionDurability: durability }),
    multiInstance: false,
  })
  const { messages } = await db.addCollections({ messages: { schema: SCHEMA } })
  const replication = replicateRxCollection<PlainMessage, Checkpoint>({
    collection: messages as RxCollection<PlainMessage>,
    replicationIdentifier: name,
    live: true,
    push: pushTo(name, batchSize),
    pull: pullFrom(name, batchSize),
  })
  let failure: Error | undefined
  replication.error$.subscribe((error) => {
    failure ??= error
  })
  await replication.awaitInitialReplication()
  await replication.pause()
  return {
    async write(exchanges) {
      const { error } = await messages.bulkInsert(messagesOf(exchanges, uuidv7))
      if (error.length > 0) throw new Error(`RxDB did not write ${error.length} documents`)
    },
    async goOnline() {
      await replication.start()
      await replication.awaitInSync()
      if (failure) throw failure
    },
    async messages() {
      const found = await messages.find({ sort: [{ id: 'asc' }] }).exec()
      return found.map((document) => document.toMutableJSON())
    },
    async remove() {
      await db.remove()
    },
  }
}

function pushTo(name: string, batchSize: number) {
  return {
    batchSize,
    handler: async (rows: readonly unknown[]) => {
      const response = await fetch(`/${PATHS[RXDB]}/${name}`, { method: 'POST', body: JSON.stringify(rows) })
      return response.json()
    },
  }
}

function pullFrom(name: string, batchSize: number) {
  return {
    batchSize,
    handler: async (checkpoint: Checkpoint | undefined, limit: number): Promise<Fetched> => {
      const after = checkpoint?.seq ?? 0
      const response = await fetch(`/${PATHS[RXDB]}/${name}?after=${after}&limit=${limit}`)
      return response.json()
    },
  }
}
