import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { UserReplica } from '../../../src/edge/replica/user-replica.ts'
import { type Model, PlimsollError } from '../../../src/index.ts'
import { changeSessions } from './changed-settings.ts'
import { openedIn } from './opened.ts'
import { rowsOf, sessionObject } from './rows.ts'
import { chosen, sabotage, watch } from './saboteur.ts'
import { held, said, World } from './world.ts'

const MOST_ROUNDS = 24

beforeAll(async () => {
  // What is ended is logged.
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  await sabotage()
})

async function made(): Promise<World> {
  const world = new World()
  await world.create()
  await world.append('trip', said('m1', 'Two seats to Turin.'))
  return world
}

/**
 * All that the session's object holds, as text: as it is stored, and decrypted where possible.
 */
async function allOf({ user }: World): Promise<string> {
  const stub = sessionObject(user, 'trip')
  return JSON.stringify([await rowsOf(stub), await openedIn(stub)])
}

/**
 * Answers when it is let go, with pauses of the object's own, since promises of others do not wake
 * it.
 */
function slowModel(): { readonly model: Model; asked: boolean; isFree: boolean } {
  const state = {
    asked: false,
    isFree: false,
    model: {
      id: 'slow',
      async *complete() {
        state.asked = true
        while (!state.isFree) await scheduler.wait(1)
        yield { type: 'text', text: 'The reply of the model.' }
        yield {
          type: 'finish',
          message: { role: 'assistant', content: 'The reply of the model.' },
          reason: 'stop',
        }
      },
    } as Model,
  }
  return state
}

describe('deleting a session', () => {
  it('leaves nothing of it in its object, nor of what it had a copy of', async () => {
    const world = await made()
    await world.remember('trip', 'Window seats.')
    await world.remember('trip', 'The station is closed.', 'finding')
    await world.context()
    await world.call('PUT', '/v1/sessions/trip/checkpoint', { value: { step: 'booking' } })
    await world.caller.fetch('PUT', '/v1/sessions/trip/parts/m2/0', {
      body: '{"role":"user","content":"A part of',
    })
    expect(await allOf(world)).toMatch(/Turin.*Window|Window.*Turin/)
    expect(await world.call('DELETE', '/v1/sessions/trip')).toMatchObject({
      status: 200,
      body: { action: 'erase', target: 'trip', already: false, removed: { messages: { count: 1 } } },
    })
    expect(await allOf(world)).not.toMatch(/Turin|Window|station|booking|A part/)
    expect(await world.facts()).toEqual(['Window seats.'])
    await world.create()
    expect(await world.messages()).toEqual([])
    expect(JSON.stringify((await world.context()).blocks)).toContain('Window seats.')
  })

  it('refuses calls that are under way, which leave nothing to the next session of its name', async () => {
    const world = await made()
    const write = await held(world)
    expect((await world.call('DELETE', '/v1/sessions/trip')).status).toBe(200)
    expect(await write()).toBe(404)
    await world.create()
    expect(await world.messages()).toEqual([])
    const another = await held(world)
    await world.call('DELETE', '/v1/sessions/trip')
    await world.create()
    expect(await another()).toBe(404)
    expect([await world.messages(), await world.listed()]).toEqual([[], ['trip']])
  })

  it('refuses what would be written between the removal of its log and its end', async () => {
    const world = await made()
    const write = await held(world)
    const { clear } = UserReplica.prototype
    let isFree = false
    const clearing = vi.spyOn(UserReplica.prototype, 'clear').mockImplementation(async function (
      this: UserReplica,
    ) {
      while (!isFree) await scheduler.wait(1)
      return clear.call(this)
    })
    const deleting = world.call('DELETE', '/v1/sessions/trip')
    while (clearing.mock.calls.length === 0) await scheduler.wait(1)
    expect(await write()).toBe(404)
    isFree = true
    expect((await deleting).status).toBe(200)
    clearing.mockRestore()
    expect(await allOf(world)).not.toContain('And back')
    expect(await world.listed()).toEqual([])
  })

  for (const [door, path, body] of [
    [
      'a completion',
      '/v1/sessions/trip/openai/chat/completions',
      { model: 'plimsoll', messages: [{ role: 'user', content: 'Hi.' }] },
    ],
    ['a chat', '/v1/sessions/trip/chat', { message: 'Hi.' }],
  ] as const)
    it(`leaves nothing of the reply that ${door} still waits for`, async () => {
      const slow = slowModel()
      await changeSessions((settings) => ({ ...settings, model: slow.model }))
      const world = await made()
      await evictDurableObject(world.stub())
      const replying = world.caller.fetch('POST', path, {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
      while (!slow.asked) await scheduler.wait(1)
      const deleting = world.call('DELETE', '/v1/sessions/trip')
      await scheduler.wait(20)
      slow.isFree = true
      expect((await deleting).status).toBe(200)
      await (await replying).text()
      await scheduler.wait(20)
      expect(await allOf(world)).not.toMatch(/The reply|Hi\.|Turin/)
      expect(await world.listed()).toEqual([])
      await world.create()
      expect(await world.messages()).toEqual([])
    })

  it.each([
    ['the session', '', 404],
    ['its log', '/messages', []],
  ] as const)('ends a completion that goes on, where %s goes', async (_, path, left) => {
    let isAborted = false
    const model: Model = {
      id: 'endless',
      async *complete({ signal }) {
        signal?.addEventListener('abort', () => {
          isAborted = true
        })
        for (; !isAborted; await scheduler.wait(1)) yield { type: 'text', text: 'And on. ' }
        throw signal?.reason
      },
    }
    await changeSessions((settings) => ({ ...settings, model }))
    const world = await made()
    await evictDurableObject(world.stub())
    const { body } = await world.caller.fetch('POST', '/v1/sessions/trip/openai/chat/completions', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'plimsoll', stream: true, messages: [{ role: 'user', content: 'Hi.' }] }),
    })
    expect((await world.call('DELETE', `/v1/sessions/trip${path}`)).status).toBe(200)
    expect(await new Response(body).text()).toContain('ERR_CONFLICT')
    expect(isAborted).toBe(true)
    expect(await world.messages()).toEqual(left)
  })

  it('is finished by a completion that makes the session anew, and is answered there', async () => {
    const slow = slowModel()
    slow.isFree = true
    await changeSessions((settings) => ({ ...settings, model: slow.model }))
    const world = new World()
    await world.create('default')
    await world.append('default', said('m1', 'Two seats to Turin.'))
    const commit = vi
      .spyOn(UserReplica.prototype, 'commit')
      .mockRejectedValue(new PlimsollError('ERR_STORAGE', 'the object was not reached'))
    expect((await world.call('DELETE', '/v1/sessions/default')).status).toBe(500)
    commit.mockRestore()
    const messages = [{ role: 'user', content: 'Hi.' }]
    const answered = await world.call('POST', '/v1/openai/chat/completions', { model: 'plimsoll', messages })
    expect(answered.status).toBe(200)
    expect(await world.messages('default')).toHaveLength(2)
  })

  it('is done once where several ask for it', async () => {
    const world = await made()
    const answers = await Promise.all([1, 2, 3].map(() => world.call('DELETE', '/v1/sessions/trip')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const { body } of answers) expect(body).toMatchObject({ action: 'erase', target: 'trip' })
    expect((await world.call('DELETE', '/v1/sessions/trip')).status).toBe(404)
  })

  it('is tried by the alarm until it is done, however long the user’s object does not answer', async () => {
    const world = await made()
    await world.context()
    const commit = vi
      .spyOn(UserReplica.prototype, 'commit')
      .mockRejectedValue(new PlimsollError('ERR_STORAGE', 'the object was not reached'))
    expect((await world.call('DELETE', '/v1/sessions/trip')).status).toBe(500)
    for (let attempt = 0; attempt < 7; attempt++) {
      await runInDurableObject(world.stub(), (_, { storage }) => {
        storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1 WHERE due IS NOT NULL')
        return storage.setAlarm(Date.now() + 60_000)
      })
      await runDurableObjectAlarm(world.stub())
    }
    expect(await world.listed()).toEqual(['trip'])
    commit.mockRestore()
    await runInDurableObject(world.stub(), (_, { storage }) => {
      storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1 WHERE due IS NOT NULL')
      return storage.setAlarm(Date.now() + 60_000)
    })
    await runDurableObjectAlarm(world.stub())
    expect(await world.listed()).toEqual([])
  })

  it('is finished by the alarm where its object ended at any step (T7, T10)', async () => {
    const setup = async (): Promise<World> => {
      const world = await made()
      await world.context()
      return world
    }
    const scopesOf = (world: World) => [world.scope(), world.user]
    const calm = await setup()
    const steps = watch(scopesOf(calm))
    await calm.call('DELETE', '/v1/sessions/trip')
    const names = [...steps.names]
    let finished = 0
    for (const at of chosen({ names }, MOST_ROUNDS)) {
      const world = await setup()
      const round = `at ${at}, ${names[at - 1]}`
      watch(scopesOf(world), at)
      await world.call('DELETE', '/v1/sessions/trip')
      watch(scopesOf(world))
      const isThere = (await world.messages()) !== 404
      const isListed = JSON.stringify(await world.listed()) !== '[]'
      await runDurableObjectAlarm(world.stub())
      const left = await allOf(world)
      expect({ round, listed: await world.listed(), isThere: left.includes('Turin') }).toEqual({
        round,
        listed: isThere ? ['trip'] : [],
        isThere,
      })
      if (isListed && !isThere) finished++
    }
    expect(finished).toBeGreaterThan(3)
  }, 60_000)
})
