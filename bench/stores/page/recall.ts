import type { MessageInput } from '../../../src/index.ts'
import { dexieStore } from '../../../src/stores/dexie.ts'
import { type FirstReads, firstRecall, StoreSubject } from '../../recall/store-subject.ts'
import { timed } from './turns.ts'

const NAME = 'recall'

const openStore = () => dexieStore({ name: NAME, durability: 'relaxed' })

let subject: StoreSubject | undefined

const opened = (): StoreSubject => {
  subject ??= new StoreSubject(openStore())
  return subject
}

/**
 * Appends to a session, each list in a call of its own. Resolves with the milliseconds that it
 * took.
 */
export function appendRecalled(
  sessionId: string,
  recalls: boolean,
  appends: readonly MessageInput[][],
): Promise<number> {
  return timed(() => opened().append(sessionId, recalls, appends))
}

export function rankRecalled(
  sessionId: string,
  queries: readonly string[],
  first: number,
): Promise<string[][]> {
  return opened().rank(sessionId, queries, first)
}

export function settleRecalled(sessionId: string): Promise<void> {
  return opened().settled(sessionId)
}

/** The first recall over a connection of its own, which is open already. */
export async function recallFirst(sessionId: string, query: string): Promise<FirstReads & { ms: number }> {
  const store = openStore()
  await store.open({ userId: 'nobody' }).head()
  const start = performance.now()
  const reads = await firstRecall(store, sessionId, query)
  const ms = performance.now() - start
  await store.close()
  return { ...reads, ms }
}
