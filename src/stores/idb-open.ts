import { outdated } from './idb-errors.ts'
import { DATABASE_VERSION, TABLES } from './idb-schema.ts'
import { lost } from './idb-store.ts'

/** Where a database is opened. */
export interface OpenOptions {
  readonly name: string
  /** Default: the platform's. */
  readonly indexedDB?: IDBFactory
  readonly IDBKeyRange?: typeof globalThis.IDBKeyRange
}

/** As much of an `IDBDatabase` as is used here. */
export type Handle = Pick<IDBDatabase, 'transaction' | 'close'>

/**
 * Opens the database, and makes its tables where it is new: the same ones, whatever opens it. One
 * of a later version is opened as it is.
 *
 * @param onClose runs when the handle was closed by something else than its own `close`: the
 * browser, or because another tab upgrades or deletes the database, which must not wait for this
 * one.
 * @param isKnown whether it was there before: without Dexie it is not made again then
 * @throws ERR_UPGRADE_REQUIRED where the database is of an older version
 * @throws ERR_STORAGE_LOST where it was there before, and is gone
 */
export type OpenDatabase = (options: OpenOptions, onClose: () => void, isKnown?: boolean) => Promise<Handle>

/** Dexie numbers tens of versions. */
const VERSION = DATABASE_VERSION * 10

export const openDatabase: OpenDatabase = async (options, onClose, isKnown) => {
  const database = await ask(options, isKnown, VERSION).catch((error: unknown) => {
    if ((error as { name?: unknown }).name === 'VersionError') return ask(options, isKnown)
    throw error
  })
  database.onclose = onClose
  database.onversionchange = () => {
    database.close()
    onClose()
  }
  return database
}

function ask(
  { name, indexedDB = globalThis.indexedDB }: OpenOptions,
  isKnown?: boolean,
  version?: number,
): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version)
    let refusal: Error | undefined
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion === 0 && !isKnown) return makeTables(request.result)
      refusal = oldVersion === 0 ? lost() : outdated(name)
      request.transaction?.abort()
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(refusal ?? request.error)
  })
}

function makeTables(database: IDBDatabase): void {
  for (const [table, keys] of Object.entries(TABLES)) {
    const [primary = '', ...indexes] = keys.split(',')
    const store = database.createObjectStore(table, { keyPath: pathOf(primary) })
    for (const index of indexes) {
      const name = index.replace('&', '')
      store.createIndex(name, pathOf(name), { unique: name !== index })
    }
  }
}

/** Of a key as Dexie writes it: a field, or several in brackets. */
function pathOf(key: string): string | string[] {
  return key.startsWith('[') ? key.slice(1, -1).split('+') : key
}
