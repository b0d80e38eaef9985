import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { durableObjectMemory } from '../../src/durable-object.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import type { Message } from '../../src/ports/message.ts'
import type { SealedOp } from '../../src/ports/op.ts'
import { type LogRow, PAGE_ROWS, PAGE_UNITS } from '../../src/ports/store.ts'
import { durableObjectStore } from '../../src/stores/durable-object.ts'
import type { SqlStorageLike } from '../../src/stores/sql-schema.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }
const BUDGET = 2_000
const LONG = 'Plimsoll '.repeat(2 ** 20 / 9)
const SHORT = 'Plimsoll '.repeat(110)

/** A question and its answer. */
function round(id: string, answer: string): SealedOp {
  const said = (id: string, role: 'user' | 'assistant', text: string): Message => ({
    id,
    role,
    content: [{ type: 'text', text }],
    createdAt: 0,
    trust: role,
  })
  const messages = [said(id, 'user', `What about ${id}?`), said(`${id}/answer`, 'assistant', answer)]
  return sealOp({ kind: 'append', opId: id, round: id, messages })
}

const rounds = (prefix: string, count: number, answer: string): SealedOp[] =>
  Array.from({ length: count }, (_, index) => round(`${prefix}/${index}`, answer))

/** An object that ends in the same ten messages, whatever was before. */
async function newSession(before: readonly (readonly SealedOp[])[]): Promise<DurableObjectStub> {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId())
  for (const ops of [...before, rounds('last', 5, SHORT)])
    await runInDurableObject(stub, (_, { storage }) =>
      durableObjectStore(storage).open(SCOPE).commit(ops, decide),
    )
  return stub
}

/** The storage of an object, and what was asked of it since the last time. */
function counted(storage: DurableObjectStorage) {
  let cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  const counting: SqlStorageLike = {
    transactionSync: (closure) => storage.transactionSync(closure),
    sql: {
      exec: (query, ...bindings) => {
        const cursor = storage.sql.exec(query, ...bindings)
        cursors.push(cursor)
        return cursor
      },
    },
  }
  const since = () => {
    const statements = cursors.length
    const read = cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
    cursors = []
    return { statements, read }
  }
  return { storage: counting, since }
}

/** Runs something in the object when it was evicted, as it is when it wakes. */
async function woken<Result>(
  stub: DurableObjectStub,
  run: (storage: DurableObjectStorage) => Promise<Result>,
): Promise<Result> {
  await evictDurableObject(stub)
  return runInDurableObject(stub, (_, { storage }) => run(storage))
}

const unitsOf = (rows: readonly LogRow[]): number =>
  rows.reduce((sum, { body, derived }) => sum + (body?.length ?? 0) + (derived?.length ?? 0), 0)

let large: DurableObjectStub
let small: DurableObjectStub

beforeAll(async () => {
  large = await newSession(
    Array.from({ length: 20 }, (_, block) => [
      ...rounds(`${block}/short`, 1_000, SHORT),
      ...rounds(`${block}/long`, 9, LONG),
    ]),
  )
  small = await newSession([])
}, 60_000)

describe('a session of 200 MB in a Durable Object (T13)', () => {
  it('is not read before it is called', async () => {
    await woken(large, async (storage) => {
      expect(storage.sql.databaseSize).toBeGreaterThan(200_000_000)
      const counting = counted(storage)
      durableObjectStore(counting.storage).open(SCOPE)
      durableObjectMemory(counting, { budget: BUDGET }).session(SCOPE)
      expect(counting.since()).toEqual({ statements: 0, read: 0 })
    })
  })

  it('gives its first page after a wake from as many statements and rows as one of ten messages', async () => {
    const work = (stub: DurableObjectStub) =>
      woken(stub, async (storage) => {
        const counting = counted(storage)
        const scope = durableObjectStore(counting.storage).open(SCOPE)
        const { rows } = await scope.entries({ last: 5 })
        const first = counting.since()
        await scope.head()
        return { ids: rows.map(({ id }) => id), first, head: counting.since() }
      })
    const found = await work(large)
    expect(found).toEqual(await work(small))
    expect(found.first.statements).toBeLessThanOrEqual(4)
    expect(found.first.read).toBeLessThanOrEqual(35)
  })

  it('gives its first context after a wake from a few rows, the first of all and any later one', async () => {
    const work = (stub: DurableObjectStub) =>
      woken(stub, async (storage) => {
        const counting = counted(storage)
        const memory = durableObjectMemory(counting, { budget: BUDGET })
        const { blocks } = await memory.session(SCOPE).context()
        return { ids: blocks.flatMap(({ from }) => from), ...counting.since() }
      })
    for (const most of [
      { statements: 35, read: 110 },
      // One of them asks whether the user's own scope holds anything to remember.
      { statements: 16, read: 50 },
    ]) {
      const [{ ids }, found] = [await work(small), await work(large)]
      expect(found.ids).toEqual(ids)
      expect(ids.length).toBeGreaterThan(5)
      expect(found.statements).toBeLessThanOrEqual(most.statements)
      expect(found.read).toBeLessThanOrEqual(most.read)
    }
  })

  it('is read to its beginning in pages of at most 1 Mi units, or one row', async () => {
    await woken(large, async (storage) => {
      const scope = durableObjectStore(storage).open(SCOPE)
      let messages = 0
      for (let to: string | undefined, more = true; more; ) {
        const page = await scope.entries({ kinds: ['message'], ...(to !== undefined && { to }) })
        expect(page.rows.length).toBeGreaterThan(0)
        expect(page.rows.length).toBeLessThanOrEqual(PAGE_ROWS)
        if (page.rows.length > 1) expect(unitsOf(page.rows)).toBeLessThanOrEqual(PAGE_UNITS)
        messages += page.rows.length
        to = page.rows[0]?.id
        more = page.more
      }
      expect(messages).toBe(40_370)
    })
  }, 30_000)
})
