import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { PlimsollError, retention } from '../../../src/index.ts'
import { listSession } from '../../../src/operations/sessions.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { changeSessions, changeUsers, withFeatures } from './changed-settings.ts'
import { openedIn, storeIn } from './opened.ts'
import { rowsOf, sessionObject, userObject } from './rows.ts'
import { sabotage, watch } from './saboteur.ts'
import { said, World } from './world.ts'

const SECRET = /Turin|Window|rhymes|tunnel/
const DAY = 86_400_000

beforeAll(async () => {
  // What is ended is logged.
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  await sabotage()
})

async function made(): Promise<World> {
  const world = new World()
  for (const session of ['trip', 'home']) {
    await world.create(session, { title: 'To Turin' })
    await world.append(session, said(`${session}-1`, 'Two seats to Turin.'))
    await world.remember(session, 'Window seats.')
    await world.remember(session, 'The tunnel is closed.', 'finding')
    await world.context(session)
  }
  await world.call('PUT', '/v1/me/profile/SOUL.md', { text: 'Answers in rhymes.' })
  return world
}

/** All that the user's objects hold, as text: as it is stored, and decrypted where possible. */
async function allOf({ user }: World): Promise<string> {
  const objects = [userObject(user), sessionObject(user, 'trip'), sessionObject(user, 'home')]
  return JSON.stringify(await Promise.all(objects.flatMap((object) => [rowsOf(object), openedIn(object)])))
}

/** Does what an object owes, at once. */
async function runWork(object: DurableObjectStub): Promise<void> {
  await runInDurableObject(object, (_, { storage }) => {
    storage.sql.exec(`UPDATE plimsoll_edge_work SET due = 1 WHERE due IS NOT NULL`)
  }).catch(() => {})
  await runDurableObjectAlarm(object).catch(() => {})
}

interface Certificate {
  readonly action: string
  readonly target: string
  readonly already: boolean
  readonly removed: {
    readonly sessions: { readonly count: number }
    readonly messages: { readonly count: number }
  }
}

const erase = (world: World) => world.call<Certificate>('DELETE', '/v1/me')

describe('DELETE /v1/me', () => {
  it('leaves nothing of the caller in any object, says what it removed, and touches nobody else', async () => {
    const [world, other] = [await made(), await made()]
    expect(await allOf(world)).toMatch(SECRET)
    const { status, body } = await erase(world)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      action: 'erase',
      target: world.user.userId,
      already: false,
      removed: { sessions: { count: 2 }, messages: { count: 2 } },
    })
    expect(JSON.stringify(body)).not.toMatch(SECRET)
    expect(await allOf(world)).not.toMatch(SECRET)
    expect([await world.listed(), await world.facts()]).toEqual([[], []])
    expect(await world.messages()).toBe(404)
    expect((await erase(world)).body).toMatchObject({ already: true, removed: { sessions: { count: 0 } } })

    expect(await other.messages()).toEqual(['trip-1: "Two seats to Turin."'])
    expect(await other.facts()).toEqual(['Window seats.'])
    await world.create()
    expect(await world.messages()).toEqual([])
    expect(JSON.stringify((await world.context()).blocks)).not.toMatch(SECRET)
  })

  it('is finished by the alarm, where a session could not be erased', async () => {
    const world = await made()
    const failing = vi
      .spyOn(SessionObject.prototype, 'erase')
      .mockRejectedValueOnce(new PlimsollError('ERR_CONFLICT', 'session: it is being moved to another user'))
    expect((await erase(world)).status).toBe(409)
    failing.mockRestore()
    expect(await allOf(world)).toMatch(SECRET)
    await runWork(userObject(world.user))
    expect(await allOf(world)).not.toMatch(SECRET)
    expect((await erase(world)).body).toMatchObject({ already: true })
  })

  it('goes on by itself where there are more sessions than one call erases', async () => {
    const world = await made()
    await runInDurableObject(userObject(world.user), async (_, { storage }) => {
      const memory = fullMemory({ store: storeIn(storage), budget: 1_000 })
      for (let index = 0; index < 300; index++)
        await listSession(memory, { ...world.user, sessionId: `a-${index}` })
    })
    const { status, body } = await erase(world)
    expect(status).toBe(202)
    expect(body).toMatchObject({ action: 'erase', already: false })
    expect(await allOf(world)).toMatch(SECRET)
    await runWork(userObject(world.user))
    expect(await allOf(world)).not.toMatch(SECRET)
    expect(await erase(world)).toMatchObject({ status: 200, body: { already: true } })
  })

  it('calls eight sessions at once, and goes on where one of them failed', async () => {
    const world = await made()
    const ids = Array.from({ length: 58 }, (_, index) => `s-${index}`)
    await runInDurableObject(userObject(world.user), async (_, { storage }) => {
      const memory = fullMemory({ store: storeIn(storage), budget: 1_000 })
      for (const sessionId of ids) await listSession(memory, { ...world.user, sessionId })
    })
    const rounds: number[] = []
    let open = 0
    let calls = 0
    const { erase: original } = SessionObject.prototype
    const counting = vi.spyOn(SessionObject.prototype, 'erase').mockImplementation(async function (
      this: SessionObject,
      ...given
    ) {
      if (open++ === 0) rounds.push(0)
      rounds[rounds.length - 1] = (rounds.at(-1) ?? 0) + 1
      const fails = ++calls === 20
      await scheduler.wait(20)
      try {
        if (fails) throw new PlimsollError('ERR_CONFLICT', 'session: it is being moved to another user')
        return await original.apply(this, given)
      } finally {
        open--
      }
    })
    expect((await erase(world)).status).toBe(409)
    expect(rounds).toEqual([8, 8, 8])
    expect((await erase(world)).status).toBe(200)
    counting.mockRestore()
    // 23 of 60 are done.
    expect(rounds.slice(3)).toEqual([8, 8, 8, 8, 5])
    expect(await allOf(world)).not.toMatch(SECRET)
  })

  it('is finished by the same call, or by the alarm alone, wherever an object ended', async () => {
    const counted = await made()
    const steps = watch([counted.user, counted.scope('trip'), counted.scope('home')])
    await erase(counted)
    const borders = steps.names.flatMap((name, index) => (/ (begins|ends)$/.test(name) ? index + 1 : []))
    const every = Math.ceil(borders.length / 10)
    expect(borders.length).toBeGreaterThan(4)
    for (const at of borders.filter((_, index) => index % every === 0))
      for (const byAlarm of [false, true]) {
        const world = await made()
        watch([world.user, world.scope('trip'), world.scope('home')], at)
        const first = await erase(world)
        if (!byAlarm) expect((await erase(world)).status).toBe(200)
        const objects = [
          userObject(world.user),
          ...['trip', 'home'].map((id) => sessionObject(world.user, id)),
        ]
        // What an object has begun, its own alarm finishes.
        for (let tries = 0; tries < 4; tries++) for (const object of objects) await runWork(object)
        // Where an end came before anything was noted, all of it is there, and nobody was told that
        // it was gone.
        if (first.status !== 200 && byAlarm) await erase(world)
        expect(await allOf(world), `${at} ${byAlarm}`).not.toMatch(SECRET)
      }
  }, 120_000)
})

describe('retention at the edge', () => {
  it('is driven by the alarms of the objects', async () => {
    const kept = retention({ log: { days: 30 }, facts: { days: 30 } })
    await changeSessions((settings) => withFeatures(settings, kept))
    await changeUsers((settings) => withFeatures(settings, kept))
    const world = new World()
    await world.create()
    await world.append('trip', said('old', 'Two seats to Turin.'))
    await world.remember('trip', 'Window seats.')
    await world.call('POST', '/v1/sessions/trip/messages', {
      messages: [{ id: 'new', role: 'user', content: 'And back.' }],
    })
    for (const object of [sessionObject(world.user, 'trip'), userObject(world.user)]) {
      const at = await runInDurableObject(object, (_, { storage }) => storage.getAlarm())
      expect(at).toBeLessThanOrEqual(Date.now() + DAY)
      await runInDurableObject(object, (_, { storage }) => {
        storage.sql.exec(`UPDATE plimsoll_edge_work SET due = 1 WHERE kind = 'retention'`)
      })
      await runDurableObjectAlarm(object)
    }
    // Both say that they were made in 1970.
    expect(await world.messages()).toEqual(['new: "And back."'])
    expect(await world.facts()).toEqual([])
    const rows = JSON.stringify([
      await rowsOf(sessionObject(world.user, 'trip')),
      await rowsOf(userObject(world.user)),
    ])
    expect(rows).not.toContain('Two seats')
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).toContain('retention')
    await erase(world)
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).toBe('')
  })
})
