import type { Budget } from '../../ports/context.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { type DexieStore, indexedDbStore } from '../../stores/indexed-db.ts'
import { kept } from '../kept.ts'
import type { ChatPlatform } from '../settings.ts'
import type { LocalMemory } from './local-memory.ts'

export interface LocalStoreOptions {
  /** Of the database. */
  readonly name: string
  readonly system: string | undefined
  readonly budget: Budget | undefined
  readonly platform: ChatPlatform
}

/** A database of this browser's with sessions in it. */
export interface LocalStore {
  readonly store: DexieStore
  /**
   * The memory over it, the same each time. It weighs more than all else here, and nobody needs it
   * to read.
   */
  readonly memory: () => Promise<LocalMemory>
}

/** Opens the sessions that are kept in this browser. Nothing is read before the first call. */
export function openLocal({ name, platform, ...options }: LocalStoreOptions): LocalStore {
  const { indexedDB, IDBKeyRange, storage } = platform
  const engine = { ...(indexedDB && { indexedDB }), ...(IDBKeyRange && { IDBKeyRange }) }
  const store = indexedDbStore({ name, mirror: storage, ...engine })
  const memory = kept(async () => {
    const { localMemory } = await import('./local-memory.ts').catch((cause: unknown) => {
      throw new PlimsollError('ERR_INTERNAL', 'chat: the memory could not be loaded', { cause })
    })
    return localMemory({ ...options, store, platform })
  })
  return { store, memory }
}
