import { env, runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { rewrite } from '../../../src/edge/rows/rewrite.ts'
import { TokenBuckets } from '../../../src/edge/rows/token-buckets.ts'
import { rowsOf, userObject } from './rows.ts'
import { said, World } from './world.ts'

const fresh = () => env.SESSIONS.get(env.SESSIONS.newUniqueId())

it('keeps every row of the library’s tables, and the indexes that they are found by', async () => {
  const world = new World()
  await world.create()
  await world.append('trip', said('m1', 'Two seats to Turin.'), said('m2', 'For Monday.', 'assistant'))
  await world.remember('trip', 'Window seats.')
  await world.context()
  const before = await rowsOf(world.stub())
  const indexes = () =>
    runInDurableObject(world.stub(), (_, { storage: { sql } }) =>
      sql.exec(`SELECT name, sql FROM sqlite_master WHERE name LIKE 'plimsoll%' ORDER BY name`).toArray(),
    )
  const made = await indexes()
  await runInDurableObject(world.stub(), (_, { storage }) => rewrite(storage))
  const { alarm: _, ...after } = await rowsOf(world.stub())
  expect(before).toMatchObject(after)
  expect(await indexes()).toEqual(made)
  expect((await world.append('trip', said('m3', 'And back.'))).status).toBe(200)
  expect(await world.messages()).toHaveLength(3)
})

it('is what an erase does, which leaves what is used up of budgets', async () => {
  const world = new World()
  await world.create()
  await runInDurableObject(userObject(world.user), (_, { storage }) => {
    new TokenBuckets(storage, { sessions: { capacity: 3, perMs: 60_000 } }, () => 0).take('sessions', 1)
  })
  const before = await rowsOf(userObject(world.user))
  expect((await world.call('DELETE', '/v1/me')).status).toBe(200)
  const after = await rowsOf(userObject(world.user))
  expect(after.plimsoll_edge_bucket).toBe(before.plimsoll_edge_bucket)
  expect(after.plimsoll_edge_bucket).not.toBe('')
  expect(after.plimsoll_log).toContain('erase')
})

it('leaves an object alone that holds something of an app', async () => {
  for (const fill of [
    ({ sql }: DurableObjectStorage) => sql.exec('CREATE TABLE notes (text TEXT)').toArray(),
    ({ kv }: DurableObjectStorage) => kv.put('key', 'value'),
  ])
    await runInDurableObject(fresh(), async (_, { storage }) => {
      storage.sql.exec('CREATE TABLE plimsoll_test (n INTEGER PRIMARY KEY, text TEXT)')
      fill(storage)
      let isDeleted = false
      const { sql, kv } = storage
      await rewrite({
        sql,
        kv,
        deleteAll: async () => {
          isDeleted = true
        },
        sync: async () => {},
      })
      expect(isDeleted).toBe(false)
    })
})
