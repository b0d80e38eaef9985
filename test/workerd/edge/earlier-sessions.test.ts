import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import { notesOf } from '../../../src/forgetting/note-keys.ts'
import { webHost } from '../../../src/platform/web.ts'
import { FACT } from '../../../src/ports/fact.ts'
import type { SessionStart } from '../../../src/ports/start.ts'
import { Device, put, remove, written } from './device.ts'
import { notesWritten, rowsOf, userObject } from './rows.ts'
import { World } from './world.ts'

const DAY = 86_400_000

afterEach(() => {
  vi.restoreAllMocks()
})

async function started(world: World, session: string, query = ''): Promise<SessionStart> {
  const { status, body } = await world.call('GET', `/v1/sessions/${session}/start${query}`)
  if (status !== 200) throw new Error(`a start is answered with ${status}: ${JSON.stringify(body)}`)
  return body as unknown as SessionStart
}

async function told(world: World, session: string, query?: string): Promise<readonly string[]> {
  return (await started(world, session, query)).context_recall.map(({ title }) => title).sort()
}

/** Facts are noted later; a start of their own session does not wait for that. */
async function noted(world: World, session: string): Promise<void> {
  await started(world, session, '?sessions=own')
}

/** A user whose session `home` kept two findings. */
async function met(): Promise<World> {
  const world = new World()
  for (const session of ['home', 'trip']) await world.create(session, { project: 'turin' })
  for (const text of ['Gate 7 is closed.', 'The lift is broken.'])
    await world.remember('home', text, 'finding')
  await noted(world, 'home')
  return world
}

describe('a start at the edge', () => {
  it('has what other sessions kept, and calls none of their objects', async () => {
    const world = await met()
    await evictDurableObject(world.stub('home'))
    const calls = vi.spyOn(SessionObject.prototype, 'call')
    const others = [vi.spyOn(SessionObject.prototype, 'scope'), vi.spyOn(SessionObject.prototype, 'sync')]
    const { memory_count, context_recall, recall } = await started(world, 'trip')
    expect(calls.mock.calls.map(([{ sessionId }]) => sessionId)).toEqual(['trip'])
    for (const other of others) expect(other).not.toHaveBeenCalled()
    expect(recall).toBeUndefined()
    expect(memory_count).toBe(2)
    expect(context_recall.map(({ session, kind, trust }) => [session, kind, trust])).toEqual([
      ['home', 'finding', 'user'],
      ['home', 'finding', 'user'],
    ])
    expect(await told(world, 'trip', '?query=lift')).toEqual(['The lift is broken.'])
    expect(await told(world, 'trip', '?project=oslo')).toEqual([])
    expect(await told(world, 'trip', '?sessions=own')).toEqual([])
    expect((await started(world, 'trip', '?working_memory_budget_tokens=400')).budget.cap).toBe(400)
    expect(JSON.stringify((await world.context('trip')).blocks)).not.toContain('Gate')
  })

  it('has what was said a moment ago, of a session that does not answer within some seconds', async () => {
    const world = await met()
    const pulls = vi.spyOn(UserObject.prototype, 'pull')
    const isNote = ([, { commit }]: Parameters<UserObject['pull']>) =>
      commit?.ops.some(({ envelope: { key } }) => key?.startsWith('kept/'))
    for (const day of ['Monday', 'Thursday'])
      await world.remember('home', `The museum is free on ${day}.`, 'finding')
    expect(pulls.mock.calls.some(isNote)).toBe(false)
    expect(await told(world, 'trip')).toEqual(
      expect.arrayContaining(['The museum is free on Monday.', 'The museum is free on Thursday.']),
    )
    expect(pulls.mock.calls.filter(isNote)).toHaveLength(1)
    await world.remember('home', 'The museum is shut today.', 'finding')
    const silent = vi.spyOn(SessionObject.prototype, 'tellNotes').mockReturnValue(new Promise(() => {}))
    expect(await told(world, 'trip')).not.toContain('The museum is shut today.')
    silent.mockRestore()
    vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + 6_000)
    await runDurableObjectAlarm(world.stub('home'))
    pulls.mockClear()
    expect(await told(world, 'trip')).toContain('The museum is shut today.')
    expect(pulls.mock.calls.some(isNote)).toBe(false)
  })

  it('is held by no copy, and gone once it is forgotten or its session is deleted', async () => {
    const world = await met()
    await started(world, 'trip')
    expect(JSON.stringify(await rowsOf(world.stub('trip')))).not.toContain('Gate 7')
    const text = 'Gate 7 is closed.'
    await world.call('DELETE', `/v1/sessions/home/facts/fact-${text.length}`)
    expect(await told(world, 'trip')).toEqual(['The lift is broken.'])
    expect(JSON.stringify(await rowsOf(userObject(world.user)))).not.toContain('Gate 7')
    await world.call('DELETE', '/v1/sessions/home')
    expect(await told(world, 'trip')).toEqual([])
    expect((await started(world, 'trip')).memory_count).toBe(0)
  })

  it('is gone once a device forgets it, which had not heard of what the user was told', async () => {
    const world = await met()
    const device = new Device(world)
    const { generation } = await device.log('home')
    const text = 'Gate 7 is closed.'
    const key = `fact/fact-${text.length}`
    await device.push('home', generation, remove('d1', `register:${key}`))
    // It takes off no note that it knows of.
    const own = await device.log(undefined)
    const note = put('n1', `${notesOf('home')}fact-${text.length}`, null)
    const refused = await device.push(undefined, own.generation, note)
    expect(refused).toMatchObject({ results: [{ conflict: expect.any(String) }] })
    await notesWritten(world.user, 'home')
    expect(JSON.stringify(await rowsOf(userObject(world.user)))).not.toContain('Gate 7')
    expect(await told(world, 'trip')).toEqual(['The lift is broken.'])
  })

  it.each(['fact', 'session'])(
    'has no note that a device sends once its %s was forgotten',
    async (forgotten) => {
      const world = new World()
      for (const session of ['home', 'trip']) await world.create(session)
      const text = 'Gate 7 is closed.'
      const made = await written(world, (session) => session.facts.remember({ kind: 'finding', text }))
      const device = new Device(world)
      const { generation } = await device.log('trip')
      await device.push('trip', generation, ...made.session)
      await notesWritten(world.user, 'trip')
      expect(await told(world, 'home')).toEqual([text])
      const [fact] = made.session.flatMap(({ envelope: { key } }) => (key?.startsWith(FACT) ? key : []))
      if (forgotten === 'fact') await device.push('trip', generation, remove('d1', `register:${fact}`))
      else await world.call('DELETE', '/v1/sessions/trip')
      if (forgotten === 'fact') await notesWritten(world.user, 'trip')
      const own = await device.log(undefined)
      const notes = made.user.filter(({ envelope: { key } }) => key?.startsWith(notesOf('trip')))
      expect(await device.push(undefined, own.generation, ...notes)).toMatchObject({
        results: notes.map(() => ({ conflict: expect.any(String) })),
      })
      expect(await told(world, 'home')).toEqual([])
      expect(JSON.stringify(await rowsOf(userObject(world.user)))).not.toContain('Gate 7')
    },
  )

  it('goes with a session that another user takes over', async () => {
    const guest = await World.guest()
    await guest.create('trip')
    await guest.remember('trip', 'The museum is free.', 'finding')
    const world = new World()
    await world.create('new')
    expect((await world.claim(guest.token)).status).toBe(200)
    expect(await told(world, 'new')).toEqual(['The museum is free.'])
    expect(JSON.stringify(await rowsOf(userObject(guest.user)))).not.toContain('museum')
  })

  it('has it later where the user’s object was not reached, by an alarm', async () => {
    const world = await met()
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const { pull } = UserObject.prototype
    const failing = vi.spyOn(UserObject.prototype, 'pull').mockImplementation(function (
      this: UserObject,
      scope,
      request,
    ) {
      const isNote = request.commit?.ops.some(({ envelope: { key } }) => key?.startsWith('kept/'))
      return isNote ? Promise.reject(new Error('out of order')) : pull.call(this, scope, request)
    })
    expect((await world.remember('home', 'The museum is free on Sundays.', 'finding')).status).toBe(200)
    await noted(world, 'home')
    failing.mockRestore()
    expect(await told(world, 'trip')).not.toContain('The museum is free on Sundays.')
    vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + 2 * DAY)
    await runDurableObjectAlarm(world.stub('home'))
    expect(await told(world, 'trip')).toContain('The museum is free on Sundays.')
  })
})
