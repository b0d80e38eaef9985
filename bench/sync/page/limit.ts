import { uuidv7 } from '../../../src/platform/uuid.ts'
import { type DeviceOrder, LIMIT, PATHS, type PlainMessage } from '../orders.ts'
import { type Device, messagesOf } from './device.ts'

interface Row extends PlainMessage {
  readonly log: string
  /** At home; absent: nobody has said. */
  readonly seq?: number
}

/**
 * The least that it takes: one request with all messages or for all of them, and then one
 * transaction that writes each, with its place at home.
 */
export async function openLimit({ name, durability, writes }: DeviceOrder): Promise<Device> {
  const db = await openDatabase(name)
  let rows: Row[] = []

  const put = (): Promise<void> => {
    const transaction = db.transaction('messages', 'readwrite', { durability })
    const store = transaction.objectStore('messages')
    for (const row of rows) store.put(row)
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
  }

  return {
    async write(exchanges) {
      rows = messagesOf(exchanges, uuidv7).map((message) => ({ ...message, log: name }))
      await put()
    },
    async goOnline() {
      const url = `/${PATHS[LIMIT]}/${name}`
      if (writes) {
        const body = JSON.stringify(rows.map(({ log: _, ...message }) => message))
        await answerTo(fetch(url, { method: 'POST', body }))
      } else {
        const messages = (await answerTo(fetch(url))) as PlainMessage[]
        rows = messages.map((message) => ({ ...message, log: name }))
      }
      rows = rows.map((row, seq) => ({ ...row, seq }))
      await put()
    },
    async messages() {
      const request = db.transaction('messages').objectStore('messages').index('order').getAll()
      return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    },
    async remove() {
      db.close()
      indexedDB.deleteDatabase(name)
    },
  }
}

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1)
  request.onupgradeneeded = () => {
    const store = request.result.createObjectStore('messages', { keyPath: 'id' })
    store.createIndex('order', ['log', 'seq'], { unique: true })
  }
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

async function answerTo(fetched: Promise<Response>): Promise<unknown> {
  const response = await fetched
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  return response.json()
}
