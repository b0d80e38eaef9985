import { base64url } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { checkOptions } from '../../ports/options.ts'
import { decrypt, encrypt, prefixed, randomBytes } from './cipher.ts'
import { cryptoKeys } from './crypto-keys.ts'
import type { Keys } from './keys.ts'

const TABLE = 'keys'
const SLOT = 'user'
const ID_BYTES = 8
const TRIAL = prefixed(['trial'])

export interface KeptKeysOptions {
  /**
   * Of the database that holds the key. One name, one key; another user of the same browser needs
   * another name.
   */
  readonly name: string
  /** Default: the browser's own. */
  readonly indexedDB?: IDBFactory
}

interface Kept {
  readonly id: string
  readonly key: CryptoKey
}

/**
 * A key that this browser keeps in IndexedDB and never shows: it is made at the first call, and
 * nobody can read its bytes, scripts of the page included. It keeps the data from being copied
 * elsewhere and read there. It is no protection from who uses this browser's profile, from scripts
 * of the page, or from who has an image of the disk with the profile: only a passphrase is. Where
 * the browser drops the key, as Safari does after seven days without a visit, nothing opens the
 * data any more: keep it for data that an edge has too. Several tabs get the same key.
 *
 * @throws ERR_STORAGE: the browser keeps no such key (Safari in private and lockdown mode); take
 * `passphraseKeys`; ERR_INVALID_ARGUMENT
 */
export async function keptKeys(options: KeptKeysOptions): Promise<Keys> {
  checkOptions('keptKeys', 'options', options, ['name', 'indexedDB'])
  const { name, indexedDB = globalThis.indexedDB } = options
  try {
    const database = await opened(indexedDB, name)
    try {
      const fresh: Kept = {
        id: `kept.${base64url(randomBytes(ID_BYTES))}`,
        key: await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
      }
      // The first one wins: several tabs may start at once.
      await settled(database, (table) => {
        const found = table.get(SLOT)
        found.onsuccess = () => found.result ?? table.put(fresh, SLOT)
        return found
      })
      const { id, key }: Kept = await settled(database, (table) => table.get(SLOT))
      // Some browsers store such a key and give back none, or one that does not work.
      await decrypt(key, TRIAL, await encrypt(key, TRIAL, randomBytes(1)))
      return cryptoKeys(id, key)
    } finally {
      database.close()
    }
  } catch (cause) {
    throw new PlimsollError('ERR_STORAGE', `keptKeys: this browser cannot keep a key in ${name}`, { cause })
  }
}

/**
 * Removes the key: no page and no script reads what it encrypted from then on, here or from a copy
 * of the data. The browser's files hold its bytes until the browser rewrites them: from who has
 * these, only a passphrase protects. Idempotent.
 *
 * @throws ERR_STORAGE, ERR_INVALID_ARGUMENT
 */
export async function destroyKeptKeys(options: KeptKeysOptions): Promise<void> {
  checkOptions('destroyKeptKeys', 'options', options, ['name', 'indexedDB'])
  const { name, indexedDB = globalThis.indexedDB } = options
  try {
    const database = await opened(indexedDB, name)
    await settled(database, (table) => table.clear())
    database.close()
  } catch (cause) {
    throw new PlimsollError('ERR_STORAGE', `destroyKeptKeys: ${name} was not removed`, { cause })
  }
}

function opened(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  const asked = factory.open(name, 1)
  asked.onupgradeneeded = () => asked.result.createObjectStore(TABLE)
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
    asked.onblocked = () => reject(new Error('another tab holds it open'))
  })
}

/** What a request gave, once its transaction is on disk. */
function settled<Result>(
  database: IDBDatabase,
  ask: (table: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const transaction = database.transaction(TABLE, 'readwrite', { durability: 'strict' })
  const asked = ask(transaction.objectStore(TABLE))
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(asked.result)
    transaction.onabort = () => reject(transaction.error)
  })
}
