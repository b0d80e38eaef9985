/**
 * Recall over one store, for Node, workerd and pages alike, so without anything that one of them
 * lacks.
 */
import {
  createMemory,
  facts,
  type MessageInput,
  type RecallShape,
  recall,
  type Session,
} from '../../src/index.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import { englishStemmer } from '../../src/stemmer.ts'

const USER = 'ada'
const BUDGET = 16_000

/** What the first recall of a session read from the store. */
export interface FirstReads {
  /** Rows of the log, those of the results aside. */
  readonly rows: number
  readonly blocks: number
  readonly blockKiB: number
  /** Words that were stemmed: the query's, and those that recall weighs in every query. */
  readonly stemmed: number
  readonly found: number
}

export class StoreSubject {
  readonly #store: Store
  readonly #sessions = new Map<string, Session<{ recall?: RecallShape }>>()

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Each list in an append of its own, in a session that keeps what recall needs or one that does
   * not.
   */
  async append(sessionId: string, recalls: boolean, appends: readonly MessageInput[][]): Promise<void> {
    const session = this.#session(sessionId, recalls)
    for (const messages of appends) await session.append(messages)
  }

  /** By query, the ids of what is found, best first. */
  async rank(sessionId: string, queries: readonly string[], first: number): Promise<string[][]> {
    const session = this.#session(sessionId, true)
    const found: string[][] = []
    for (const query of queries)
      found.push(((await session.recall?.find(query, { first })) ?? []).map(({ id }) => id))
    return found
  }

  /** Resolves when what was begun off the hot path has ended. */
  async settled(sessionId: string): Promise<void> {
    await this.#session(sessionId, true).history({ messages: 1 })
  }

  #session(sessionId: string, recalls: boolean): Session<{ recall?: RecallShape }> {
    const key = `${sessionId} ${recalls}`
    const session = this.#sessions.get(key) ?? (recalls ? recalling : plain)(this.#store, sessionId)
    this.#sessions.set(key, session)
    return session
  }
}

function plain(store: Store, sessionId: string) {
  return createMemory({ store, budget: BUDGET, use: [facts()] }).session({ userId: USER, sessionId })
}

/** A session that keeps what recall needs. */
function recalling(store: Store, sessionId: string, stemmer = englishStemmer) {
  const use = [facts(), recall({ stemmer })] as const
  return createMemory({ store, budget: BUDGET, use }).session({ userId: USER, sessionId })
}

/** Recalls in a session that nothing was read of yet. */
export async function firstRecall(store: Store, sessionId: string, query: string): Promise<FirstReads> {
  const reads = { rows: 0, blocks: 0, bytes: 0, stemmed: 0 }
  const counted: Store = {
    open: (scope) => counting(store.open(scope), reads),
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
  }
  const stemmer = {
    id: englishStemmer.id,
    stem(word: string): string {
      reads.stemmed++
      return englishStemmer.stem(word)
    },
  }
  const found = await recalling(counted, sessionId, stemmer).recall.find(query)
  const { rows, blocks, bytes, stemmed } = reads
  return { rows, blocks, blockKiB: Math.round(bytes / 1024), stemmed, found: found.length }
}

/** What is asked of the scope, noted. */
function counting(scope: ScopeStore, reads: { rows: number; blocks: number; bytes: number }): ScopeStore {
  const own: Partial<ScopeStore> = {
    async changesSince(seq) {
      const changes = await scope.changesSince(seq)
      reads.rows += changes.rows.length
      return changes
    },
    async derived(prefix, after) {
      const rows = await scope.derived(prefix, after)
      reads.blocks += rows.length
      for (const { bytes } of rows) reads.bytes += bytes.length
      return rows
    },
  }
  return new Proxy(scope, {
    get(target, key) {
      const value: unknown = Reflect.get(Object.hasOwn(own, key) ? own : target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
