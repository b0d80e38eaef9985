import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { PAGE_UNITS } from '../../../src/ports/store.ts'
import { durableObjectStore } from '../../../src/stores/durable-object.ts'
import { World } from './world.ts'

const LONG = 'Plimsoll '.repeat(2 ** 20 / 9)
/** Rounds of long answers, of a megabyte each, and of short ones after them. */
const [LONG_ROUNDS, SHORT_ROUNDS] = [200, 60]

async function fill(world: World, longRounds: number): Promise<void> {
  await world.create()
  const scope = world.scope()
  const ops = (prefix: string, count: number, answer: string) =>
    Array.from({ length: count }, (_, index) => {
      const round = `${prefix}/${index}`
      const message = (id: string, role: 'user' | 'assistant', content: string) =>
        ({ id, role, content, createdAt: 0, trust: role }) as const
      const messages = [
        message(round, 'user', `What about ${index}?`),
        message(`${round}/a`, 'assistant', answer),
      ]
      return sealOp({ kind: 'append', opId: round, round, messages })
    })
  await runInDurableObject(world.stub(), async (_, { storage }) => {
    const store = durableObjectStore(storage).open(scope)
    for (let block = 0; block < longRounds; block += 20) await store.commit(ops(`${block}`, 20, LONG), decide)
    await store.commit(ops('short', SHORT_ROUNDS, 'Plimsoll '.repeat(20)), decide)
  })
  await evictDurableObject(world.stub())
}

/** Rows that a call of a session's object reads, its wake included. */
async function rowsRead(
  world: World,
  call: () => Promise<unknown>,
): Promise<{ readonly rows: number; readonly statements: number }> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  const sql = await runInDurableObject(
    world.stub(),
    (_, { storage }) => Object.getPrototypeOf(storage.sql) as SqlStorage,
  )
  const { exec } = sql
  await evictDurableObject(world.stub())
  sql.exec = function (this: SqlStorage, query: string, ...bindings: unknown[]) {
    const cursor = exec.call(this, query, ...bindings)
    cursors.push(cursor)
    return cursor
  } as typeof exec
  try {
    await call()
  } finally {
    sql.exec = exec
  }
  return runInDurableObject(world.stub(), () => {
    const read = cursors.flatMap((cursor) => rowsOf(cursor) ?? [])
    return { rows: read.reduce((sum, rows) => sum + rows, 0), statements: read.length }
  })
}

/** Undefined where it is another object's: what the user's reads is no matter here. */
function rowsOf(cursor: SqlStorageCursor<Record<string, SqlStorageValue>>): number | undefined {
  try {
    return cursor.rowsRead
  } catch {
    return undefined
  }
}

const [large, small] = [new World(), new World()]

/** Rows that one statement reads of a log whose entries may be long. */
const PIECE = 16

beforeAll(async () => {
  await fill(large, LONG_ROUNDS)
  await fill(small, 20)
}, 60_000)

describe('a session of 200 MB at the edge (T13)', () => {
  it('wakes, and gives its first page and its first context, from as many statements as one of 20 MB', async () => {
    const size = await runInDurableObject(large.stub(), (_, { storage }) => storage.sql.databaseSize)
    expect(size).toBeGreaterThan(200_000_000)
    for (const [name, call, most] of [
      ['info', (world: World): Promise<unknown> => world.call('GET', '/v1/sessions/trip'), 60],
      ['messages', (world: World): Promise<unknown> => world.messages(), 200],
      ['context', (world: World): Promise<unknown> => world.context(), 400],
      ['a later context', (world: World): Promise<unknown> => world.context(), 400],
    ] as const) {
      const [here, there] = [
        await rowsRead(large, () => call(large)),
        await rowsRead(small, () => call(small)),
      ]
      expect({ name, statements: here.statements }).toEqual({ name, statements: there.statements })
      // What is read before a long entry ends a page is less where the log begins there.
      expect(Math.abs(here.rows - there.rows)).toBeLessThanOrEqual(PIECE)
      expect(here.rows).toBeLessThan(most)
    }
    expect((await large.context()).blocks.length).toBeGreaterThan(50)
  })

  it('is read in pages of about 1 MiB, however much is asked for', async () => {
    const ids: string[] = []
    for (let page = 0, before = ''; page < 20; page++) {
      const response = await large.caller.fetch('GET', `/v1/sessions/trip/messages?messages=1000000${before}`)
      expect(response.status).toBe(200)
      const text = await response.text()
      expect(text.length).toBeLessThan(PAGE_UNITS * 1.1)
      const { messages } = JSON.parse(text) as { messages: { id: string }[] }
      ids.unshift(...messages.map(({ id }) => id))
      before = `&before=${encodeURIComponent(ids[0] ?? '')}`
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(2 * SHORT_ROUNDS + 19)
    expect(ids.slice(-2)).toEqual([`short/${SHORT_ROUNDS - 1}`, `short/${SHORT_ROUNDS - 1}/a`])
  })
})
