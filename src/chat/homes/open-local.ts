import type { Memory } from '../../core/memory.ts'
import { lexicalRecall } from '../../core/recall/lexical-recall.ts'
import { createMemory } from '../../lazy.ts'
import type { Budget } from '../../ports/context.ts'
import { type DexieStore, dexieStore } from '../../stores/dexie.ts'
import type { ChatPlatform } from '../settings.ts'

const BUDGET: Budget = { contextWindow: 16_000, maxOutputTokens: 2_000 }

export interface LocalStoreOptions {
  /** Of the database. */
  readonly name: string
  readonly system: string | undefined
  readonly budget: Budget | undefined
  readonly platform: ChatPlatform
}

/** A database of this browser's with sessions in it. */
export interface LocalStore {
  readonly memory: Memory
  readonly store: DexieStore
}

/** Opens the sessions that are kept in this browser. Nothing is read before the first call. */
export function openLocal({ name, system, budget = BUDGET, platform }: LocalStoreOptions): LocalStore {
  const { indexedDB, IDBKeyRange, storage, newId, now } = platform
  const store = dexieStore({
    name,
    mirror: storage,
    ...(indexedDB && { indexedDB }),
    ...(IDBKeyRange && { IDBKeyRange }),
  })
  const memory = createMemory({
    store,
    budget,
    // What leaves the window is summarised by the extract: whether a model may be called for it, the page did not say.
    compaction: {},
    recall: lexicalRecall(),
    clock: now,
    newId,
    ...(system !== undefined && { system }),
  })
  return { memory, store }
}
