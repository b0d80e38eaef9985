import { expect, it } from 'vitest'
import { charsPerToken, mapStore } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { PAGE_ROWS } from '../../../src/ports/store.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { put, remove } from '../../contract/samples.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

const ADA = { userId: 'ada' }
const FACTS = 20_000

it('an export of 20 000 facts holds a page of them at a time, and reads one by one only those that were deleted', async () => {
  const reads = { pages: 0, single: 0 }
  /** Rows that were read and not given yet. */
  let held = 0
  let mostHeld = 0
  const page = async <Rows>(asked: Promise<Rows>, rowsOf: (page: Rows) => number): Promise<Rows> => {
    const found = await asked
    reads.pages++
    held += rowsOf(found)
    mostHeld = Math.max(mostHeld, held)
    return found
  }
  const below = mapStore()
  const scope = below.open(ADA)
  for (let first = 0; first < FACTS; first += 500)
    await scope.commit(
      Array.from({ length: 500 }, (_, at) =>
        put(`op-${first + at}`, `fact/${first + at}`, null, { body: '{}' }),
      ),
      decide,
    )
  await scope.commit(
    Array.from({ length: 100 }, (_, at) => remove(`delete-${at}`, `register:fact/${at * 200}`)),
    decide,
  )
  const store = changedStore(below, (inner) => ({
    changesSince: (seq) => page(inner.changesSince(seq), ({ rows }) => rows.length),
    registers: (prefix, after) => page(inner.registers(prefix, after), (rows) => rows.length),
    register: (key) => {
      reads.single++
      return inner.register(key)
    },
  }))
  const memory = fullMemory({ store, budget: 1_000, counter: charsPerToken(4) })
  const found = { put: 0, register: 0, deleted: 0 }
  for await (const text of exportFrom(memory, ADA)) {
    const line = JSON.parse(text) as { type: string; value?: unknown }
    if (line.type === 'put') found.put++
    else if (line.type === 'register') found[line.value === undefined ? 'deleted' : 'register']++
    if (line.type === 'put' || line.type === 'delete' || line.value !== undefined) held--
  }
  expect(found).toEqual({ put: FACTS, register: FACTS - 100, deleted: 100 })
  expect(mostHeld).toBeLessThanOrEqual(PAGE_ROWS)
  expect(reads.pages).toBeLessThanOrEqual(2 * Math.ceil((FACTS + 100) / PAGE_ROWS) + 2)
  // And one of the audit.
  expect(reads.single).toBeLessThanOrEqual(101)
})
