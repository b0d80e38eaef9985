import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import { PlimsollError } from '../../../src/index.ts'
import { changeSessions, useDemoModel, withFeatures } from './changed-settings.ts'
import { Device, remove } from './device.ts'
import { openedIn } from './opened.ts'
import { notesWritten, rowsOf, sessionObject, userObject } from './rows.ts'
import { said, World } from './world.ts'

const CANARY = 'xylocanaryq'
const SESSIONS = ['trip', 'home', 'work']
const LIKES = { kind: 'preference', text: `Likes ${CANARY} seats.`, id: 'shared' }

interface Certified {
  readonly already: boolean
  readonly removed: { readonly heads: { readonly count: number; readonly first: readonly string[] } }
  readonly confirmed: readonly string[]
  readonly pending: readonly string[]
}

/** A user whose sessions have all shown a fact that they share. */
async function made(): Promise<World> {
  const world = new World()
  for (const session of SESSIONS) {
    await world.create(session)
    await world.append(session, said(`${session}-1`, 'Hello.'))
  }
  await world.call('POST', '/v1/sessions/trip/facts', LIKES)
  await shown(world)
  return world
}

/** All of its sessions show it. */
async function shown(world: World): Promise<void> {
  for (const session of SESSIONS) {
    await vi.waitFor(async () => {
      const { blocks } = await world.context(session, { new_epoch: true })
      expect(JSON.stringify(blocks)).toContain(CANARY)
    })
    expect(await holdsOf(world, session)).toBe(true)
  }
}

async function holdsOf({ user }: World, session: string): Promise<boolean> {
  const object = sessionObject(user, session)
  return JSON.stringify([await rowsOf(object), await openedIn(object)]).includes(CANARY)
}

async function holders(world: World): Promise<readonly string[]> {
  const held = await Promise.all(SESSIONS.map((session) => holdsOf(world, session)))
  return SESSIONS.filter((_, index) => held[index])
}

/** Of a session: keys of its heads that hold it, and its secret. */
async function headsOf({ user }: World, session: string) {
  const opened = Object.values(await openedIn(sessionObject(user, session)))
  const registers = opened.flatMap((scope) => scope.registers)
  const heads = registers.filter(({ key, body }) => key.startsWith('head/') && body?.includes(CANARY))
  return {
    heads: heads.map(({ key }) => key),
    secret: registers.find(({ key }) => key === 'secret')?.body,
  }
}

const forget = (world: World) => world.call<Certified>('DELETE', '/v1/sessions/trip/facts/shared')

/** Does what a user's object owes, or another one, at once. */
async function ring({ user }: World, object = userObject(user)): Promise<void> {
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1 WHERE due IS NOT NULL')
    return storage.setAlarm(Date.now() + 60_000)
  })
  await runDurableObjectAlarm(object)
}

/** Until it is called, or the test ends, these sessions confirm nothing, and hear of nothing. */
function deaf(): () => void {
  const spies = [
    vi.spyOn(SessionObject.prototype, 'poke').mockReturnValue(undefined),
    vi
      .spyOn(SessionObject.prototype, 'sync')
      .mockRejectedValue(new PlimsollError('ERR_STORAGE', 'the object was not reached')),
    vi.spyOn(console, 'error').mockReturnValue(undefined),
  ]
  const end = () => {
    for (const spy of spies) spy.mockRestore()
  }
  onTestFinished(end)
  return end
}

describe('a fact of the user’s that is forgotten', () => {
  it('is in no session any more when the answer says so, heads included', async () => {
    const world = await made()
    const { status, body } = await forget(world)
    expect([status, body]).toMatchObject([200, { already: false, confirmed: ['store', 'replicas'] }])
    expect(body.pending).not.toContain('replicas')
    expect(await holders(world)).toEqual([])
    for (const session of SESSIONS) {
      const { blocks, receipt } = await world.context(session)
      expect(JSON.stringify(blocks)).not.toContain(CANARY)
      expect(receipt.failures).toEqual([])
    }
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).toBe('')
  })

  it('is counted in the certificate with all heads that showed it, and the secrets of these go', async () => {
    const world = await made()
    await world.append('trip', said('trip-2', 'Hello again.'))
    await world.call('POST', '/v1/sessions/trip/facts', { kind: 'finding', text: 'It rains.' })
    await world.context('trip', { new_epoch: true })
    const before = await Promise.all(SESSIONS.map((session) => headsOf(world, session)))
    const count = before.flatMap(({ heads }) => heads).length
    expect(count).toBeGreaterThanOrEqual(4)
    const { body } = await forget(world)
    expect(body.removed.heads.count).toBe(count)
    expect(body.removed.heads.first).toEqual(expect.arrayContaining([...(before[0]?.heads ?? ['none'])]))
    const after = await Promise.all(SESSIONS.map((session) => headsOf(world, session)))
    for (const [index, { heads, secret }] of after.entries()) {
      expect(heads).toEqual([])
      expect(secret).toMatch(/[0-9a-f]{64}/)
      expect(secret).not.toBe(before[index]?.secret)
    }
    // They are counted once.
    await world.call('POST', '/v1/sessions/trip/facts', { ...LIKES, id: 'other' })
    await world.context('home', { new_epoch: true })
    const { heads } = await headsOf(world, 'home')
    expect(heads).toHaveLength(1)
    const next = await world.call<Certified>('DELETE', '/v1/sessions/trip/facts/other')
    expect(next.body.removed.heads.count).toBe(1)
  })

  it('is in no answer that another session has kept', async () => {
    const world = await made()
    const body = { messages: [said('home-2', 'What do I like?')] }
    const asked = () => world.call('POST', '/v1/sessions/home/context', body, 'asked')
    expect(JSON.stringify((await asked()).body)).toContain(CANARY)
    const kept = async () => (await rowsOf(sessionObject(world.user, 'home'))).plimsoll_edge_answer
    expect(await kept()).not.toBe('')
    await forget(world)
    expect(await kept()).toBe('')
    expect(JSON.stringify((await asked()).body)).not.toContain(CANARY)
  })

  it('is in no stream of a reply that another session, which showed it, has kept', async () => {
    await useDemoModel()
    const world = await made()
    const path = '/v1/sessions/home/chat'
    const response = await world.caller.fetch('POST', path, {
      headers: { 'Content-Type': 'application/json' },
      body: '{"message":"Which seats?"}',
    })
    const run = response.headers.get('Plimsoll-Run')
    await response.text()
    const kept = async () => (await rowsOf(sessionObject(world.user, 'home'))).plimsoll_edge_run
    expect(await kept()).not.toBe('')
    await forget(world)
    expect(await kept()).toBe('')
    expect((await world.caller.fetch('GET', `${path}/${run}`)).status).toBe(204)
  })

  it('is gone in the session that handed it over, no matter who forgets it', async () => {
    const world = await made()
    const fact = { id: 'said', kind: 'preference', text: `Likes ${CANARY} tea.`, trust: 'assistant' }
    await world.call('POST', '/v1/sessions/work/facts', fact)
    expect((await world.call('PATCH', '/v1/sessions/work/facts/said', { promote: true })).status).toBe(200)
    await forget(world)
    const { body } = await world.call<Certified>('DELETE', '/v1/sessions/trip/facts/said')
    expect(body.confirmed).toEqual(['store', 'replicas'])
    expect(JSON.stringify(await world.call('GET', '/v1/sessions/work/facts?all=true'))).not.toContain(CANARY)
    expect(await holders(world)).toEqual([])
  })

  it('goes with the message that it was taken from', async () => {
    const world = await made()
    await world.call('POST', '/v1/sessions/trip/facts', {
      ...{ kind: 'preference', text: `Likes ${CANARY} tea.`, id: 'derived', sources: ['trip-1'] },
    })
    await forget(world)
    await vi.waitFor(async () => {
      await world.context('home', { new_epoch: true })
      expect(await holders(world)).toContain('home')
    })
    const { body } = await world.call<Certified>('DELETE', '/v1/sessions/trip/messages/trip-1')
    expect(body.confirmed).toEqual(['store', 'replicas'])
    expect(await holders(world)).toEqual([])
  })

  it('is owed by sessions that were not reached, until an alarm has reached them', async () => {
    const world = await made()
    const hear = deaf()
    const { body } = await forget(world)
    expect(body).toMatchObject({ confirmed: ['store'], pending: ['replicas', 'devices', 'recovery'] })
    expect(await holders(world)).toEqual(['home', 'work'])
    for (let attempt = 0; attempt < 7; attempt++) await ring(world)
    expect((await forget(world)).body).toMatchObject({ already: true, confirmed: ['store'] })
    hear()
    // Whichever object ends meanwhile, the list is on disk.
    await evictDurableObject(userObject(world.user))
    for (const session of SESSIONS) await evictDurableObject(world.stub(session))
    await ring(world)
    expect(await holders(world)).toEqual([])
    expect((await forget(world)).body).toMatchObject({ already: true, confirmed: ['store', 'replicas'] })
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).toBe('')
  })

  it('is owed by no session that was deleted', async () => {
    const world = await made()
    await world.call('DELETE', '/v1/sessions/work')
    expect((await forget(world)).body.confirmed).toEqual(['store', 'replicas'])
    expect(await holders(world)).toEqual([])
  })

  it('is kept by no context that was on its way', async () => {
    const world = await made()
    let isFree = false
    let isWaiting = false
    const slow = {
      name: 'slow',
      open: () => ({
        show: {
          tail: async () => {
            isWaiting = true
            while (!isFree) await scheduler.wait(1)
            return undefined
          },
        },
      }),
    }
    await changeSessions((settings) => withFeatures(settings, slow))
    await evictDurableObject(world.stub('home'))
    const building = world.context('home', { new_epoch: true })
    while (!isWaiting) await scheduler.wait(1)
    await forget(world)
    isFree = true
    await building
    expect(await holders(world)).toEqual([])
  })

  it('is in no export that is made from then on', async () => {
    const world = await made()
    const hear = deaf()
    await forget(world)
    expect(await holders(world)).toEqual(['home', 'work'])
    const text = async () => (await world.caller.fetch('GET', '/v1/me/export')).text()
    expect(await text()).not.toContain(CANARY)
    expect(await text()).toMatch(/"type":"end"/)
    hear()
  })

  it('is exported by no session that cannot ask whether it was', async () => {
    const world = await made()
    deaf()
    await forget(world)
    vi.spyOn(UserObject.prototype, 'pull').mockRejectedValue(
      new PlimsollError('ERR_STORAGE', 'the object was not reached'),
    )
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    const response = await world.caller.fetch('GET', '/v1/me/export')
    const text = await response.text().catch(() => 'broken off')
    expect(text).not.toContain(CANARY)
    expect(text).not.toMatch(/"type":"end"/)
  })
})

describe.each([
  [
    'a document',
    '/v1/me/profile/SOUL.md',
    (world: World, text: string) => world.call('PUT', '/v1/me/profile/SOUL.md', { text }),
  ],
  [
    'a skill',
    '/v1/me/skills/tides',
    (world: World, description: string) =>
      world.call('PUT', '/v1/me/skills/tides', { description, text: 'Look at the table.' }),
  ],
] as const)('%s of the user’s that is removed', (_, path, put) => {
  /** All sessions have shown it, as it was before it was changed. */
  async function written(): Promise<World> {
    const world = new World()
    for (const session of SESSIONS) {
      await world.create(session)
      await world.append(session, said(`${session}-1`, 'Hello.'))
    }
    expect((await put(world, `Speak of ${CANARY}.`)).status).toBe(200)
    await shown(world)
    await put(world, 'Speak of nothing.')
    await world.context('trip', { new_epoch: true })
    return world
  }

  it('is in no object any more when it is answered, whatever it said before', async () => {
    const world = await written()
    expect(await holders(world)).toEqual(SESSIONS)
    expect((await world.call('DELETE', path)).status).toBe(204)
    expect(await holders(world)).toEqual([])
    expect(JSON.stringify(await openedIn(userObject(world.user)))).not.toContain(CANARY)
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).toBe('')
    // It may be written again, and is gone again.
    await put(world, `Speak of ${CANARY}.`)
    await shown(world)
    for (const session of SESSIONS) {
      const { receipt } = await world.context(session)
      expect(receipt.failures).toEqual([])
    }
    await world.call('DELETE', path)
    expect(await holders(world)).toEqual([])
    expect((await world.call('DELETE', path)).status).toBe(204)
  })

  it('is owed by sessions that were not reached, until an alarm has reached them', async () => {
    const world = await written()
    const hear = deaf()
    expect((await world.call('DELETE', path)).status).toBe(204)
    expect(await holders(world)).toEqual(SESSIONS)
    await ring(world)
    hear()
    await evictDurableObject(userObject(world.user))
    for (const session of SESSIONS) await evictDurableObject(world.stub(session))
    await ring(world)
    expect(await holders(world)).toEqual([])
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).toBe('')
  })
})

describe('a device that is gone once its delete was taken', () => {
  /** All that the session's object owes, and then the user's. */
  async function settled(world: World): Promise<void> {
    await ring(world, sessionObject(world.user, 'trip'))
    await ring(world)
  }

  async function expectGone(world: World): Promise<void> {
    expect(await holders(world)).toEqual([])
    expect(JSON.stringify(await rowsOf(userObject(world.user)))).not.toContain(CANARY)
  }

  it.each([
    ['from a message', 'facts', { ...LIKES, sources: ['trip-1'] }, 'entry:trip-1'],
    ['by a commit', 'commit', { facts: [LIKES] }, 'register:fact/shared'],
  ] as const)('takes along what the edge shared %s', async (_, route, body, target) => {
    const world = new World()
    for (const session of SESSIONS) {
      await world.create(session)
      await world.append(session, said(`${session}-1`, 'Hello.'))
    }
    expect((await world.call('POST', `/v1/sessions/trip/${route}`, body)).status).toBeLessThan(300)
    await shown(world)
    const device = new Device(world)
    const { generation } = await device.log('trip')
    await device.push('trip', generation, remove('d1', target))
    await settled(world)
    await expectGone(world)
  })

  it('takes along what is noted, and shared, of what derives in a session from a fact of the user', async () => {
    const world = new World()
    for (const session of SESSIONS) await world.create(session)
    const remember = async (path: string, body: object) =>
      expect((await world.call('POST', `/v1/sessions/trip/${path}`, body)).status).toBeLessThan(300)
    await remember('commit', { facts: [{ kind: 'preference', text: 'Likes windows.', id: 'x' }] })
    await remember('facts', { kind: 'finding', text: `Seat ${CANARY}.`, id: 'y', sources: ['fact/x'] })
    await remember('commit', { facts: [{ ...LIKES, sources: ['fact/y'] }] })
    await notesWritten(world.user, 'trip')
    expect(await world.facts()).toContain(LIKES.text)
    expect(JSON.stringify(await rowsOf(userObject(world.user)))).toContain(`Seat ${CANARY}`)
    const device = new Device(world)
    const { generation } = await device.log(undefined)
    await device.push(undefined, generation, remove('d1', 'register:fact/x'))
    await ring(world)
    await notesWritten(world.user, 'trip')
    await settled(world)
    await expectGone(world)
  })
})
