import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { SessionObject } from '../../../src/edge/cloudflare.ts'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { facts as factsOf, PlimsollError } from '../../../src/index.ts'
import { isWhole } from '../../everywhere/runs.ts'
import { changeUsers, withFeatures } from './changed-settings.ts'
import { encryption } from './opened.ts'
import { rowsOf, sessionObject, userObject } from './rows.ts'
import { chosen, sabotage, watch } from './saboteur.ts'
import { held, said, World } from './world.ts'

/**
 * Rounds of one test; where there are more steps, only some are tried. With encryption a push has
 * fewer: it has the others in the clear.
 */
const MOST_ROUNDS = isWhole || !encryption ? 32 : 10

beforeAll(async () => {
  // What is ended is logged.
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  await sabotage()
})

/** A guest with a session, and somebody who has signed in. */
async function met(): Promise<{
  readonly guest: Awaited<ReturnType<typeof World.guest>>
  readonly ada: World
}> {
  const [guest, ada] = [await World.guest(), new World()]
  await guest.create('trip', { title: 'Turin', project: 'summer' })
  await guest.append('trip', said('m1', 'Two seats to Turin.'))
  return { guest, ada }
}

/** All that the objects of somebody hold: the user's own, and that of the session `trip`. */
async function allOf({ user }: World): Promise<string> {
  return JSON.stringify([await rowsOf(userObject(user)), await rowsOf(sessionObject(user, 'trip'))])
}

const LONG = 'The train to the coast leaves in the morning and comes back at night. '.repeat(40)

describe('claiming what a guest did', () => {
  it('moves all of a session, whose contexts are the same byte for byte, and leaves nothing', async () => {
    const { guest, ada } = await met()
    const bytes = Uint8Array.from({ length: 700_000 }, (_, at) => (at * 7_919) % 251)
    const attachment = { id: 'picture', mediaType: 'image/png', bytes }
    await guest.stub().scope(guest.scope(), { method: 'attach', attachment, at: 0 })
    const media = { type: 'media', media_type: 'image/png', name: 'a.png', ref: 'picture', tokens: 10 }
    const picture = { ...said('m2', ''), content: [{ type: 'text', text: 'Here.' }, media] }
    await guest.call('POST', '/v1/sessions/trip/messages', { messages: [picture] })
    await guest.context()
    for (let index = 0; index < 12; index++) {
      const role = index % 2 === 0 ? 'assistant' : 'user'
      await guest.append('trip', said(`n${index}`, `Number ${index}. ${LONG}`, role))
    }
    expect((await guest.call('POST', '/v1/sessions/trip/compact', { new_epoch: true })).status).toBe(200)
    await guest.remember('trip', 'Window seats.')
    await guest.remember('trip', 'The station is closed.', 'finding')
    await guest.call('PUT', '/v1/sessions/trip/checkpoint', { value: { stationsLeft: 3 } })
    const reads = async (world: World) => ({
      contexts: [await world.context(), await world.context('trip', { tail: 'It is Monday.' })],
      facts: (await world.call('GET', '/v1/sessions/trip/facts')).body,
      checkpoint: (await world.call('GET', '/v1/sessions/trip/checkpoint')).body,
      messages: (await world.call('GET', '/v1/sessions/trip/messages')).body,
      start: (await world.call('GET', '/v1/sessions/trip/start')).body,
      title: (await world.call('GET', '/v1/sessions/trip')).body.title,
      project: (await world.call('GET', '/v1/sessions/trip')).body.project,
    })
    const before = await reads(guest)
    expect(before.contexts[0]?.receipt.summary).toBeDefined()
    const { status, body } = await ada.claim(guest.token)
    expect({ status, body }).toEqual({
      status: 200,
      body: { sessions: [{ from: 'trip', to: 'trip' }], facts: 1 },
    })
    const after = await reads(ada)
    expect(after.start).toEqual(before.start)
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
    const moved = await ada.stub().scope(ada.scope(), { method: 'attachment', id: 'picture' })
    expect((moved as typeof attachment).bytes).toEqual(bytes)

    expect([await guest.listed(), await guest.facts()]).toEqual([401, 401])
    for (const path of ['', '/messages', '/checkpoint', '/facts', '/start', '/explain'])
      expect((await guest.call('GET', `/v1/sessions/trip${path}`)).status).toBe(404)
    expect((await guest.call('POST', '/v1/sessions/trip/context', {})).status).toBe(404)
    expect(await allOf(guest)).not.toMatch(/Turin|station|Window|Number/)
  })

  it('is done once: repeated it answers the same, and to another user it gives nothing', async () => {
    const { guest, ada } = await met()
    await guest.remember('trip', 'Window seats.')
    const { body } = await ada.claim(guest.token)
    const before = await allOf(ada)
    expect(await ada.claim(guest.token)).toMatchObject({ status: 200, body })
    expect(await allOf(ada)).toBe(before)
    const bob = new World()
    expect((await bob.claim(guest.token)).body).toEqual({ sessions: [], facts: 0 })
    expect([await bob.listed(), await bob.facts(), await bob.messages()]).toEqual([[], [], 404])
  })

  it('of two users at once serves one, and the other gets nothing', async () => {
    const { guest, ada } = await met()
    const bob = new World()
    await Promise.all([ada.claim(guest.token), bob.claim(guest.token)])
    await Promise.all([ada.claim(guest.token), bob.claim(guest.token)])
    const found = [await ada.messages(), await bob.messages()]
    expect(found).toContainEqual(['m1: "Two seats to Turin."'])
    expect(found).toContain(404)
    expect([await ada.listed(), await bob.listed()].flat()).toEqual(['trip'])
  })

  it('gives a session another name where its own is taken, and both are whole', async () => {
    // Cut in the middle of a character, it would be no name.
    const name = `${'n'.repeat(59)}🚢 and more`
    const { guest, ada } = await met()
    await guest.create(name)
    await guest.append(name, said('g1', 'The guest’s.'))
    await ada.create('trip')
    await ada.append('trip', said('a1', 'Ada’s.'))
    await ada.create(name)
    const { status, body } = await ada.claim(guest.token)
    expect(status).toBe(200)
    const to = new Map(body.sessions.map(({ from, to }) => [from, to]))
    expect(await ada.messages('trip')).toEqual(['a1: "Ada’s."'])
    expect(await ada.messages(to.get('trip'))).toEqual(['m1: "Two seats to Turin."'])
    expect(await ada.messages(encodeURIComponent(to.get(name) ?? ''))).toEqual(['g1: "The guest’s."'])
    expect(await ada.listed()).toEqual(['trip', name, ...to.values()].sort())
  })

  it('leaves facts for which there is no room with the guest, and moves them when there is', async () => {
    const { guest, ada } = await met()
    for (const text of ['Window seats.', 'No flights at night.', 'Vegetarian meals only.'])
      await guest.remember('trip', text)
    const cap = (facts: number): Promise<void> =>
      changeUsers((settings) => withFeatures(settings, factsOf({ caps: { facts } })))
    await cap(1)
    expect(await ada.claim(guest.token)).toMatchObject({ status: 422, body: { code: 'ERR_LIMIT' } })
    expect(await ada.messages()).toEqual(['m1: "Two seats to Turin."'])
    expect([await ada.facts(), await guest.facts()]).toMatchObject([{ length: 1 }, { length: 2 }])
    await cap(500)
    await evictDurableObject(userObject(ada.user))
    expect(await ada.claim(guest.token)).toMatchObject({ status: 200, body: { facts: 3 } })
    expect([await ada.facts(), await guest.facts()]).toMatchObject([{ length: 3 }, 401])
  })

  it('is finished by an alarm where nobody repeats it', async () => {
    const { guest, ada } = await met()
    await guest.remember('trip', 'Window seats.')
    const failing = vi
      .spyOn(SessionObject.prototype, 'takeOver')
      .mockRejectedValueOnce(new PlimsollError('ERR_STORAGE', 'sql: it failed'))
    expect((await ada.claim(guest.token)).status).toBe(500)
    failing.mockRestore()
    await evictDurableObject(userObject(ada.user))
    await runInDurableObject(userObject(ada.user), async (_, { storage }) => {
      storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1')
      await storage.setAlarm(Date.now() + 3_600_000)
    })
    await runDurableObjectAlarm(userObject(ada.user))
    expect(await ada.messages()).toEqual(['m1: "Two seats to Turin."'])
    expect([await ada.facts(), await guest.listed()]).toMatchObject([{ length: 1 }, 401])
    const owed = await runInDurableObject(userObject(ada.user), (_, { storage }) =>
      storage.sql.exec('SELECT kind FROM plimsoll_edge_work').toArray(),
    )
    expect(owed).toEqual([])
  })

  it('loses nothing that is being written meanwhile: it is moved, or refused', async () => {
    const { guest, ada } = await met()
    const write = await held(guest)
    await ada.claim(guest.token)
    const status = await write()
    const found = await ada.messages()
    expect(found).toEqual(['m1: "Two seats to Turin."', ...(status === 200 ? ['m2: "And back."'] : [])])
    expect(await allOf(guest)).not.toContain('And back')
  })

  it('is for one user, and nobody writes to or removes what is being moved', async () => {
    const { guest, ada } = await met()
    const bob = new World()
    const write = await held(guest)
    await guest.stub().release(guest.scope(), objectName(ada.user))
    expect(await write()).toBe(409)
    expect((await guest.append('trip', said('m2', 'And back.'))).status).toBe(409)
    expect((await guest.call('DELETE', '/v1/sessions/trip')).status).toBe(409)
    expect((await bob.claim(guest.token)).status).toBe(409)
    expect((await ada.claim(guest.token)).status).toBe(200)
    expect(await ada.messages()).toEqual(['m1: "Two seats to Turin."'])
    expect([await bob.claim(guest.token), await bob.listed()]).toMatchObject([{ status: 200 }, []])
  })

  it('completes when it is repeated after an object ended at any step (T7)', async () => {
    const setup = async () => {
      const { guest, ada } = await met()
      await guest.remember('trip', 'Window seats.')
      const look = async () => ({
        listed: await ada.listed(),
        messages: await ada.messages(),
        facts: await ada.facts(),
        title: (await ada.call('GET', '/v1/sessions/trip')).body.title,
        left: [await guest.listed(), await guest.messages(), await guest.facts()],
      })
      return { guest, ada, look, scopes: [guest.user, guest.scope(), ada.user, ada.scope()] }
    }
    const calm = await setup()
    const steps = watch(calm.scopes)
    expect((await calm.ada.claim(calm.guest.token)).body.sessions).toHaveLength(1)
    const after = await calm.look()
    expect(after).toMatchObject({ listed: ['trip'], facts: ['Window seats.'], left: [401, 404, 401] })
    for (const at of chosen(steps, MOST_ROUNDS)) {
      const { guest, ada, look, scopes } = await setup()
      const round = `at ${at}, ${steps.names[at - 1]}`
      watch(scopes, at)
      await ada.claim(guest.token)
      watch(scopes)
      const { status, body } = await ada.claim(guest.token)
      expect({ round, status, sessions: body.sessions }).toEqual({
        round,
        status: 200,
        sessions: [{ from: 'trip', to: 'trip' }],
      })
      expect({ round, ...(await look()) }).toEqual({ round, ...after })
    }
  }, 60_000)
})
