import { createMemory } from '../../../src/create-memory.ts'
import type { Session } from '../../../src/ports/memory.ts'
import type { Store } from '../../../src/ports/store.ts'
import { type DexieStore, dexieStore } from '../../../src/stores/dexie.ts'
import { exchangeAt } from '../messages.ts'
import { BUDGET, type Durability, EXCHANGE_BYTES } from '../page-orders.ts'

export const SCOPE = { userId: 'ada', sessionId: 'bench' }

export interface Ours {
  readonly store: DexieStore
  readonly session: Session
}

export function openOurs(name: string, durability: Durability, rounds?: number): Ours {
  const store = dexieStore({ name, durability })
  return { store, session: openSession(store, rounds) }
}

export function openSession(store: Store, rounds?: number): Session {
  const window = rounds === undefined ? {} : { window: { max: { rounds }, keep: { rounds } } }
  return createMemory({ store, budget: BUDGET, ...window }).session(SCOPE)
}

export async function closeOurs({ store, session }: Ours): Promise<void> {
  await session.close()
  await store.close()
}

/** Appends exchanges `from` (inclusive) to `to` (exclusive), so many messages a call. */
export async function fillOurs({ session }: Ours, from: number, to: number, batch: number): Promise<void> {
  const exchanges = batch / 2
  for (let at = from; at < to; at += exchanges) {
    const numbers = Array.from({ length: Math.min(exchanges, to - at) }, (_, index) => at + index)
    await session.append(numbers.flatMap((number) => exchangeAt(number, EXCHANGE_BYTES)))
  }
}
