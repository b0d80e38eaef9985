/** The store for browsers: `plimsoll/dexie`. */
import { Dexie } from 'dexie'
import { checkOptions, invalid } from '../ports/options.ts'
import { isSince, needPeer } from '../ports/peer.ts'
import type { Store } from '../ports/store.ts'
import type { KeyValue, PageEvents } from './browser.ts'
import { outdated } from './idb-errors.ts'
import type { OpenDatabase } from './idb-open.ts'
import { DATABASE_VERSION, TABLES } from './idb-schema.ts'
import { RecoveringStore } from './idb-store.ts'
import type { StoreStatus } from './store-status.ts'
import type { ChannelLike } from './tab-channel.ts'

export { estimate, type KeyValue, type PageEvents, persist } from './browser.ts'
export type { StoreStatus } from './store-status.ts'
export type { ChannelLike } from './tab-channel.ts'
export { guardTransactions } from './transaction-guard.ts'

export interface DexieStoreOptions {
  /** Name of the IndexedDB database. Nothing else may use it. */
  readonly name: string
  /**
   * `strict`: a commit resolves when it is on disk. `relaxed`: when the operating system has it;
   * about twice as fast, survives a crash of the browser, but perhaps not one of the machine.
   * Browsers that know no such choice use their own.
   *
   * @default 'strict'
   */
  readonly durability?: 'strict' | 'relaxed'
  /**
   * Where the database's id is kept outside of it, which tells a new database from one that was
   * lost.
   *
   * @default `localStorage`; `null`, or where there is none: a loss is noticed only while the store
   * is open
   */
  readonly mirror?: KeyValue | null
  /**
   * Tells other tabs of commits.
   *
   * @default a `BroadcastChannel`; `null`, or where there are none: only this store's own listeners
   * are called
   */
  readonly channel?: ((name: string) => ChannelLike | undefined) | null
  /**
   * The page, whose database handle and channel are closed while it is in the back-forward cache.
   *
   * @default `window`, where there is one
   */
  readonly page?: PageEvents | null
  /** @default `globalThis.indexedDB` */
  readonly indexedDB?: IDBFactory
  /** @default `globalThis.IDBKeyRange` */
  readonly IDBKeyRange?: typeof globalThis.IDBKeyRange
}

const OPTIONS = ['name', 'durability', 'mirror', 'channel', 'page', 'indexedDB', 'IDBKeyRange']

export interface DexieStore extends Store {
  status(): StoreStatus
  /**
   * Calls the listener after each change of the status, and before any call resolves that was made
   * under it.
   */
  onStatus(listener: (status: StoreStatus) => void): () => void
  /**
   * Accepts that a database was lost, and goes on with the one that is there now, which may be
   * empty. Sessions that were open before still show what they had read: open them again.
   */
  acceptLoss(): Promise<void>
  /** Closes the database and the channel. The next call opens them again. */
  close(): Promise<void>
}

/**
 * A store in IndexedDB, by way of Dexie. One row an entry, one transaction a commit; resolves when
 * that is complete. Nothing is opened before the first call.
 *
 * Calls reject with `ERR_STORAGE_FULL` (no room; nothing was written, reads and deletes go on),
 * `ERR_UPGRADE_REQUIRED` (commits only), `ERR_STORAGE_LOST`, and `ERR_STORAGE` for anything else,
 * each with the original as `cause`. After a failure that may pass, the call is tried once more on
 * a new handle; then the store goes on in memory and says so: {@link StoreStatus}.
 *
 * @throws ERR_INVALID_ARGUMENT; ERR_NOT_CONFIGURED: a `dexie` before 4
 * @example In a browser:
 * ```ts
 * import { createMemory } from 'plimsoll'
 * import { dexieStore } from 'plimsoll/dexie'
 *
 * const store = dexieStore({ name: 'assistant' })
 * store.onStatus(({ durable, cause }) => durable || showHint(`This conversation is not saved: ${cause}`))
 * const memory = createMemory({ store, budget: 16_000 })
 * ```
 */
export function dexieStore(options: DexieStoreOptions): DexieStore {
  needPeer('plimsoll/dexie', '`dexie` 4', isSince(Dexie.semVer, 4), Dexie.semVer)
  checkOptions('dexieStore', 'options', options, OPTIONS)
  const { name, durability = 'strict' } = options
  if (typeof name !== 'string' || name === '')
    throw invalid('dexieStore', 'name', 'must be a text that is not empty')
  if (durability !== 'strict' && durability !== 'relaxed')
    throw invalid('dexieStore', 'durability', `must be 'strict' or 'relaxed'`)
  return new RecoveringStore({ ...options, durability }, openByDexie)
}

const openByDexie: OpenDatabase = async ({ name, indexedDB, IDBKeyRange }, onClose) => {
  const dexie = new Dexie(name, {
    autoOpen: false,
    ...(indexedDB && { indexedDB }),
    ...(IDBKeyRange && { IDBKeyRange }),
  })
  // Runs for databases of older versions alone. What it throws undoes the upgrade.
  dexie
    .version(DATABASE_VERSION)
    .stores(TABLES)
    .upgrade(() => {
      throw outdated(name)
    })
  // Dexie's own listener would open it again.
  dexie.on('versionchange', () => {
    dexie.close()
    return false
  })
  dexie.on('close', onClose)
  await dexie.open()
  const database = dexie.backendDB()
  return { transaction: database.transaction.bind(database), close: () => dexie.close() }
}
