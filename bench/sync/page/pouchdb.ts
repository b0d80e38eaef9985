import PouchDB from 'pouchdb-browser'
import { uuidv7 } from '../../../src/platform/uuid.ts'
import { type DeviceOrder, PATHS, POUCHDB } from '../orders.ts'
import type { PouchDocument } from '../serve-pouchdb.ts'
import { type Device, messagesOf } from './device.ts'

/**
 * PouchDB on IndexedDB: a document a message. It replicates once, in the direction that is needed.
 */
export async function openPouchdb({ name, writes }: DeviceOrder, batchSize: number): Promise<Device> {
  const db = new PouchDB<PouchDocument>(name)
  await db.info()
  return {
    async write(exchanges) {
      const messages = messagesOf(exchanges, uuidv7)
      const written = await db.bulkDocs(messages.map(({ id, ...message }) => ({ ...message, _id: id })))
      const failed = written.find(({ error }) => error !== undefined)
      if (failed) throw new Error(`PouchDB did not write ${failed.id}`)
    },
    async goOnline() {
      const url = `${location.origin}/${PATHS[POUCHDB]}/${name}`
      const options = { batch_size: batchSize }
      await (writes ? db.replicate.to(url, options) : db.replicate.from(url, options))
    },
    async messages() {
      const { rows } = await db.allDocs({ include_docs: true })
      return rows.map(({ doc: { _id: id, role, content, createdAt } }) => ({ id, role, content, createdAt }))
    },
    remove: () => db.destroy(),
  }
}
