import { expect, test } from 'vitest'
import { start as startSession } from '../../../src/operations/start/start.ts'
import type { Store } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { size } from '../../everywhere/runs.ts'
import { COUNTED_BY_FOUR, DAY, entryOf, fact, NOON, put, sessionOver } from '../support/starts.ts'

/** A store that counts what is read of it: rows, and sums that were asked for. */
function counted(store: Store) {
  const reads = { rows: 0, sums: 0 }
  const rows = <Row>(found: readonly Row[]): readonly Row[] => {
    reads.rows += found.length
    return found
  }
  const counting = changedStore(store, (inner) => ({
    indexed: async (...query) => rows(await inner.indexed(...query)),
    registers: async (...query) => rows(await inner.registers(...query)),
    register: async (key) => {
      reads.rows++
      return inner.register(key)
    },
    sums: async (groups) => {
      reads.sums += groups.length
      return inner.sums(groups)
    },
    entries: () => Promise.reject(new Error('no start reads the log')),
    changesSince: () => Promise.reject(new Error('no start reads the log')),
  }))
  return { store: counting, reads }
}

/** What a start reads of a user with so many facts, half of them of the asked project. */
async function readsAmong(count: number) {
  const map = mapStore()
  const own = map.open({ userId: 'ada' })
  const facts = Array.from({ length: count }, (_, index) =>
    fact({
      id: `f${String(index).padStart(6, '0')}`,
      reviewAt: NOON + ((index % 90) - 60) * DAY,
      confidence: index % 20 === 0 ? 0.2 : 0.9,
      ...(index % 2 === 0 && { project: 'trip' }),
      ...(index % 50 === 0 && { expiresAt: NOON + (100 + (index % 30)) * DAY }),
    }),
  )
  await put(
    own,
    facts.map((one) => entryOf(one, COUNTED_BY_FOUR)),
  )
  const { store, reads } = counted(map)
  const start = await startSession(sessionOver(store, COUNTED_BY_FOUR), { project: 'trip' })
  expect(start.memory_count).toBe(count)
  expect(start.overflow.pinned.count).toBe(count - start.pinned.length)
  return reads
}

test('a start reads as much of very many facts as of 1 000', async () => {
  const few = await readsAmong(1_000)
  const many = await readsAmong(size(100_000))
  expect(many).toEqual(few)
  expect(many.rows).toBeLessThanOrEqual(300)
  expect(many.sums).toBeLessThanOrEqual(1_300)
}, 60_000)
