import { PlimsollError } from '../../ports/errors.ts'

/** Where rows are kept, in the order in which they were added, until they are removed. */
export interface RowStore<Row extends { readonly id: string }> {
  /** Durable when it resolves. @throws ERR_STORAGE_FULL, ERR_STORAGE */
  put(row: Row): Promise<void>
  /** As `put`, where the row is still there. */
  replace(row: Row): Promise<void>
  list(): Promise<readonly Row[]>
  remove(id: string): Promise<void>
  close(): Promise<void>
}

const STORE = 'messages'

/** Rows of what was not sent, in a database of their own: a transaction a change. */
export function idbRows<Row extends { readonly id: string }>(
  indexedDB: IDBFactory,
  name: string,
): RowStore<Row> {
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
      request.onerror = () => reject(request.error)
    }).catch((error) => {
      opened = undefined
      throw failure(error)
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
    put: (row) =>
      change((store) =>
        placeOf(store, row.id, (place) => store.put(place === undefined ? row : { ...row, place })),
      ),
    replace: (row) =>
      change((store) =>
        placeOf(store, row.id, (place) => place !== undefined && store.put({ ...row, place })),
      ),
    remove: (id) =>
      change((store) => placeOf(store, id, (place) => place !== undefined && store.delete(place))),
    async list() {
      const database = await open()
      return new Promise((resolve, reject) => {
        const request = database.transaction(STORE).objectStore(STORE).getAll()
        request.onsuccess = () => {
          const rows: (Row & { readonly place: number })[] = request.result
          resolve(rows.map(({ place: _, ...row }) => row as unknown as Row))
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

/** Rows for pages without a database: they are gone with the page. */
export function memoryRows<Row extends { readonly id: string }>(): RowStore<Row> {
  const rows = new Map<string, Row>()
  return {
    async put(row) {
      rows.set(row.id, row)
    },
    async replace(row) {
      if (rows.has(row.id)) rows.set(row.id, row)
    },
    list: async () => [...rows.values()],
    async remove(id) {
      rows.delete(id)
    },
    async close() {},
  }
}

function failure(cause: unknown): PlimsollError {
  const { name, message = 'the database failed' } = (cause ?? {}) as Partial<Error>
  return name === 'QuotaExceededError'
    ? new PlimsollError('ERR_STORAGE_FULL', 'chat: there is no room left', { cause })
    : new PlimsollError('ERR_STORAGE', `chat: ${message}`, { cause })
}
