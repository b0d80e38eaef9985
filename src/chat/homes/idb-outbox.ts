import { PlimsollError } from '../../ports/errors.ts'
import type { OutboxEntry, OutboxStore } from './outbox.ts'

const STORE = 'messages'

/** An outbox in a database of its own: a row a message, a transaction a change. */
export function idbOutbox(indexedDB: IDBFactory, name: string): OutboxStore {
  let opened: Promise<IDBDatabase> | undefined
  const open = (): Promise<IDBDatabase> => {
    opened ??= new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name, 1)
      request.onupgradeneeded = () =>
        request.result
          .createObjectStore(STORE, { keyPath: 'place', autoIncrement: true })
          .createIndex('id', 'id', {
            unique: true,
          })
      request.onsuccess = () => {
        const database = request.result
        // Its deletion need not wait.
        database.onversionchange = () => {
          database.close()
          opened = undefined
        }
        resolve(database)
      }
      request.onerror = () => reject(failure(request.error))
    }).catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const change = async (work: (store: IDBObjectStore) => void): Promise<void> => {
    const database = await open()
    await new Promise<void>((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' })
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
      work(transaction.objectStore(STORE))
    }).catch((error: unknown) => {
      throw failure(error)
    })
  }
  const placeOf = (
    store: IDBObjectStore,
    id: string,
    found: (place: IDBValidKey | undefined) => void,
  ): void => {
    const request = store.index('id').getKey(id)
    request.onsuccess = () => found(request.result)
  }
  return {
    put: (entry) =>
      change((store) =>
        placeOf(store, entry.id, (place) => store.put(place === undefined ? entry : { ...entry, place })),
      ),
    remove: (id) =>
      change((store) => placeOf(store, id, (place) => place !== undefined && store.delete(place))),
    async list() {
      const database = await open()
      return new Promise((resolve, reject) => {
        const request = database.transaction(STORE).objectStore(STORE).getAll()
        request.onsuccess = () => {
          const rows: (OutboxEntry & { readonly place: number })[] = request.result
          resolve(rows.map(({ place: _, ...entry }) => entry))
        }
        request.onerror = () => reject(failure(request.error))
      })
    },
    async close() {
      const database = await opened?.catch(() => undefined)
      opened = undefined
      database?.close()
    },
  }
}

/** An outbox for pages without a database: what waits is gone with the page. */
export function memoryOutbox(): OutboxStore {
  const entries = new Map<string, OutboxEntry>()
  return {
    async put(entry) {
      entries.set(entry.id, entry)
    },
    list: async () => [...entries.values()],
    async remove(id) {
      entries.delete(id)
    },
    async close() {},
  }
}

function failure(cause: unknown): PlimsollError {
  const { name, message = 'the database failed' } = (cause ?? {}) as Partial<Error>
  return name === 'QuotaExceededError'
    ? new PlimsollError('ERR_STORAGE_FULL', 'outbox: there is no room left', { cause })
    : new PlimsollError('ERR_STORAGE', `outbox: ${message}`, { cause })
}
