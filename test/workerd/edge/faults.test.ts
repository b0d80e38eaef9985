import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Scope } from '../../../src/ports/op.ts'
import { isWhole } from '../../everywhere/runs.ts'
import { Device, message } from './device.ts'
import { encryption } from './opened.ts'
import { chosen, dump, sabotage, watch } from './saboteur.ts'
import { said, World } from './world.ts'

/**
 * Rounds of one test; where there are more steps, only some are tried. With encryption a push has
 * fewer: it has the others in the clear.
 */
const MOST_ROUNDS = isWhole || !encryption ? 24 : 8

beforeAll(async () => {
  // What is ended is logged.
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  await sabotage()
})

interface Act {
  readonly setup: (world: World) => Promise<unknown>
  readonly act: (world: World) => Promise<number>
  /** Statuses of an act that is done, or was done before. */
  readonly done: readonly number[]
  /**
   * What there is: where it is given, not all of it is written at once, and only this need be as it
   * was or as it will be.
   */
  readonly look?: (world: World) => Promise<unknown>
}

const PLENTY = 'The train to the coast leaves in the morning and comes back at night. '.repeat(60)

const created = async (world: World): Promise<void> => {
  await world.create()
  await world.append('trip', said('m1', 'Two seats to Turin.'))
}

/** Runs what is due, whatever it waits for. */
async function ring(world: World): Promise<number> {
  await runInDurableObject(world.stub(), async (_, { storage }) => {
    storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1')
    await storage.setAlarm(Date.now() + 60_000)
  })
  try {
    return (await runDurableObjectAlarm(world.stub())) ? 200 : 500
  } catch {
    return 500
  }
}

const ACTS: Readonly<Record<string, Act>> = {
  'an append': {
    setup: (world) => world.create(),
    act: async (world) => (await world.append('trip', said('m1', 'One.'), said('m2', 'Two.'))).status,
    done: [200],
  },
  'a push that makes its session': {
    setup: async () => {},
    act: async (world) => {
      const pushed = await new Device(world)
        .push('trip', '', message('m1', 'One.'), message('m2', 'Two.'))
        .catch(() => undefined)
      return pushed && 'results' in pushed ? 200 : 500
    },
    done: [200],
    // A session that holds nothing may have been made.
    look: async (world) => [await world.messages()].flat().filter((one) => one !== 404),
  },
  'a context that begins an epoch': {
    setup: created,
    act: async (world) => (await world.call('POST', '/v1/sessions/trip/context', {})).status,
    done: [200],
  },
  'a compaction in the alarm': {
    setup: async (world) => {
      await created(world)
      await world.context()
      for (let index = 0; index < 14; index++) {
        const role = index % 2 === 0 ? 'assistant' : 'user'
        await world.append('trip', said(`n${index}`, `Number ${index}. ${PLENTY}`, role))
      }
      await runInDurableObject(world.stub(), async (_, { storage }) => {
        storage.sql.exec(
          `CREATE TABLE IF NOT EXISTS plimsoll_edge_work (kind TEXT NOT NULL, key TEXT NOT NULL, due INTEGER, again INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0, payload TEXT, failed INTEGER, error TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID`,
        )
        storage.sql.exec(`INSERT INTO plimsoll_edge_work (kind, key, due) VALUES ('compact', '', 1)`)
      })
      // What a summary says of its beginning depends on what is in memory.
      await evictDurableObject(world.stub())
    },
    act: ring,
    done: [200],
  },
  'a fact of the user’s': {
    setup: created,
    act: async (world) => (await world.remember('trip', 'Window seats.')).status,
    done: [200],
    look: (world) => world.facts(),
  },
  'the creation of a session': {
    setup: async () => {},
    act: async (world) => (await world.create('trip', { title: 'Turin' })).status,
    done: [201, 200],
    look: async (world) => (await world.call('GET', '/v1/sessions/trip')).status,
  },
  'the deletion of a session': {
    setup: async (world) => {
      await created(world)
      await world.remember('trip', 'Window seats.')
      await world.context()
      await world.call('PUT', '/v1/sessions/trip/checkpoint', { value: { step: 1 } })
    },
    act: async (world) => (await world.call('DELETE', '/v1/sessions/trip')).status,
    done: [200, 404],
    look: (world) => world.messages(),
  },
}

/** Of an object without a row. */
const NO_ROWS = '[[]]'

describe('an object that ends', () => {
  for (const [name, { setup, act, done, look }] of Object.entries(ACTS))
    it(`at any step of ${name} has all of it or nothing, and has it once when it is asked again (T7)`, async () => {
      const of = async (world: World): Promise<string> =>
        look ? JSON.stringify(await look(world)) : dump(scopesOf(world))
      const all = async (world: World) => ({
        // A second erase is one op more.
        rows: (await dump([world.scope()])).replace(/"seq":\d+,"kind":"erase"/g, 'erased'),
        listed: await world.listed(),
        facts: await world.facts(),
      })
      const calm = new World()
      await setup(calm)
      const before = await of(calm)
      const steps = watch(scopesOf(calm))
      expect(await act(calm)).toBe(done[0])
      const names = [...steps.names]
      const after = await of(calm)
      const end = await all(calm)
      expect(after === before).toBe(false)
      expect(names.length).toBeGreaterThan(5)
      for (const at of chosen({ names }, MOST_ROUNDS)) {
        const world = new World()
        await setup(world)
        const round = `at ${at}, ${names[at - 1]}`
        watch(scopesOf(world), at)
        await act(world)
        const found = await of(world)
        const state = found === before ? 'before' : found === after ? 'after' : found
        expect({ round, state }).toEqual({ round, state: expect.stringMatching(/^(before|after)$/) })
        watch(scopesOf(world))
        expect({ round, status: await act(world) }).toEqual({
          round,
          status: expect.toBeOneOf([...done]),
        })
        const once = await all(world)
        // The mark of an erase is lost where its object ended while its database was written again.
        const isAnew = name === 'the deletion of a session' && once.rows === NO_ROWS
        expect({ round, ...once, ...(isAnew && { rows: end.rows }) }).toEqual({ round, ...end })
      }
    }, 60_000)
})

function scopesOf(world: World): readonly Scope[] {
  return [world.scope(), world.user]
}
