import type { Budget } from '../../ports/context.ts'
import type { Store } from '../../ports/store.ts'
import { type DexieStore, indexedDbStore } from '../../stores/indexed-db.ts'
import { kept } from '../kept.ts'
import type { ChatPlatform } from '../settings.ts'
import { loaded } from './load.ts'
import { loadMemory } from './load-local.ts'
import type { LocalMemory } from './local-memory.ts'

export interface MemorySettings {
  readonly system: string | undefined
  readonly budget: Budget | undefined
  readonly platform: ChatPlatform
}

export interface LocalStoreOptions extends MemorySettings {
  /** With it the name of the database begins. */
  readonly name: string
  /** Whose it is. */
  readonly owner: string
}

/** A database of this browser's with sessions in it. */
export interface LocalStore {
  readonly owner: string
  readonly store: DexieStore
  /** As {@link memoryOver} gives it. */
  readonly memory: () => Promise<LocalMemory>
}

/** Opens the sessions that are kept in this browser. Nothing is read before the first call. */
export function openLocal({ name, owner, ...options }: LocalStoreOptions): LocalStore {
  const store = openDatabase(`${name}/${owner}`, options.platform)
  return { owner, store, memory: memoryOver(store, options) }
}

/** A database of this browser's. Nothing is read before the first call. */
export function openDatabase(name: string, platform: ChatPlatform): DexieStore {
  const { indexedDB, IDBKeyRange, storage } = platform
  const engine = { ...(indexedDB && { indexedDB }), ...(IDBKeyRange && { IDBKeyRange }) }
  return indexedDbStore({ name, mirror: storage, ...engine })
}

/**
 * The memory over a store, the same each time. It weighs more than all else here, and nobody needs
 * it to read.
 */
export function memoryOver(store: Store, options: MemorySettings): () => Promise<LocalMemory> {
  return kept(async () => {
    const { localMemory } = await loaded(loadMemory)
    return localMemory({ ...options, store })
  })
}
