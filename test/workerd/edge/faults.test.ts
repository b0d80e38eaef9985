import { env, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import type { Scope } from '../../../src/ports/op.ts'
import { Caller } from './caller.ts'
import { dump, type Steps, sabotage, watch } from './saboteur.ts'

/** Rounds of one test; where there are more steps, only some are tried. */
const MOST_ROUNDS = 48

beforeAll(sabotage)

/** A user with one session. Always the same name: fences, and so hashes, are derived from it. */
class World {
  readonly caller = new Caller()
  readonly user: Scope = this.caller.user
  readonly session: Scope = { ...this.user, sessionId: 'trip' }
  readonly scopes: readonly Scope[] = [this.session, this.user]

  async call(method: string, path: string, body?: unknown, key?: string): Promise<number> {
    const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
    return (await this.caller.call(method, path, body, headers)).status
  }

  dump(): Promise<string> {
    return dump(this.scopes)
  }
}

interface Act {
  readonly setup?: (world: World) => Promise<unknown>
  /** Gives the status of its answer. */
  readonly act: (world: World) => Promise<number>
  readonly done: number
}

const create = (world: World): Promise<number> => world.call('POST', '/v1/sessions', { session_id: 'trip' })
const said = (id: string, content: string) => ({ id, role: 'user', content, created_at: 0 })
const append = (world: World, ...ids: string[]): Promise<number> =>
  world.call(
    'POST',
    '/v1/sessions/trip/messages',
    { messages: ids.map((id) => said(id, `This is ${id}.`)) },
    ids.join('+'),
  )

const ACTS: Readonly<Record<string, Act>> = {
  'an append': {
    setup: create,
    act: (world) => append(world, 'm1', 'm2'),
    done: 200,
  },
  'a context that begins an epoch': {
    setup: async (world) => {
      await create(world)
      await append(world, 'm1')
    },
    act: (world) => world.call('POST', '/v1/sessions/trip/context', {}),
    done: 200,
  },
}

describe('an object that ends', () => {
  for (const [name, { setup, act, done }] of Object.entries(ACTS))
    it(`at any step of ${name} has all of it or nothing, and has it once when it is asked again (T7)`, async () => {
      const calm = new World()
      await setup?.(calm)
      const before = await calm.dump()
      const counted = watch(calm.scopes)
      expect(await act(calm)).toBe(done)
      const steps = counted.count
      const after = await calm.dump()
      expect(after === before).toBe(false)
      console.log(name, steps)
      for (let at = 1; at <= steps; at++) {
        const world = new World()
        await setup?.(world)
        const found = watch(world.scopes, at)
        const status = await act(world)
        console.log(at, status, found.ended?.slice(0, 60))
        const state = await world.dump()
        expect(state === before || state === after).toBe(true)
        watch(world.scopes)
        expect(await act(world)).toBe(done)
        expect((await world.dump()) === after).toBe(true)
      }
    })
})
