import { describe, expect, it } from 'vitest'
import { useDemoModel } from './changed-settings.ts'
import { rowsOf, sessionObject, userObject } from './rows.ts'
import { said, World } from './world.ts'

const CANARY = 'xylocanaryq'

interface Certified {
  readonly already: boolean
  readonly removed: Readonly<Record<string, { readonly count: number; readonly first: readonly string[] }>>
}

/** All that the objects of a session and its user hold. */
async function everything({ user }: World): Promise<string> {
  return JSON.stringify(await Promise.all([rowsOf(sessionObject(user, 'trip')), rowsOf(userObject(user))]))
}

describe('a message that is forgotten at the edge', () => {
  it('is in neither object any more, nor is what came of it, and its certificate says so', async () => {
    await useDemoModel()
    const world = new World()
    await world.create()
    const text = `Remember that I like ${CANARY} seats.`
    await world.append('trip', said('m1', text))
    await world.call('POST', '/v1/sessions/trip/facts', {
      ...{ kind: 'preference', text: `Likes ${CANARY} seats.`, id: 'shared', sources: ['m1'] },
    })
    const chat = await world.caller.fetch('POST', '/v1/sessions/trip/chat', {
      headers: { 'Content-Type': 'application/json' },
      body: '{"message":"Which seats?"}',
    })
    await chat.text()
    // The slices of a message that was uploaded, and is sent once more.
    await world.caller.fetch('PUT', '/v1/sessions/trip/parts/m1/0', {
      headers: { 'Content-Type': 'text/plain' },
      body: JSON.stringify(said('m1', text)),
    })
    // The stream of the reply, which tells of what was said.
    expect((await rowsOf(world.stub())).plimsoll_edge_run).not.toBe('')
    expect((await everything(world)).split(CANARY).length).toBeGreaterThan(4)
    const { status, body } = await world.call<Certified>('DELETE', '/v1/sessions/trip/messages/m1')
    expect([status, body]).toMatchObject([
      200,
      {
        action: 'forget',
        target: 'm1',
        already: false,
        removed: { messages: { count: 1, first: ['m1'] }, facts: { count: 1, first: ['shared'] } },
        confirmed: ['store', 'replicas'],
      },
    ])
    expect(await world.facts()).toEqual([])
    expect((await rowsOf(world.stub())).plimsoll_edge_run).toBe('')
    expect(await everything(world)).not.toContain(CANARY)
  })

  it('is forgotten once, is 404 where there never was one, and is no fact of that id', async () => {
    const world = new World()
    await world.create()
    await world.append('trip', said('m1', 'Hello.'))
    await world.call('POST', '/v1/sessions/trip/facts', { kind: 'finding', text: 'It rains.', id: 'rain' })
    const forget = (id: string) => world.call<Certified>('DELETE', `/v1/sessions/trip/messages/${id}`)
    expect((await forget('m1')).body.already).toBe(false)
    expect([(await forget('m1')).status, (await forget('m1')).body]).toMatchObject([200, { already: true }])
    expect((await forget('none')).status).toBe(404)
    expect((await forget('rain')).status).toBe(404)
    const { body } = await world.call<{ facts: unknown[] }>('GET', '/v1/sessions/trip/facts')
    expect(body.facts).toHaveLength(1)
  })
})

describe('a fact that is forgotten at the edge', () => {
  it('is answered with a certificate, each time that it is asked for', async () => {
    const world = new World()
    await world.create()
    await world.call('POST', '/v1/sessions/trip/facts', { kind: 'finding', text: 'It rains.', id: 'rain' })
    const forget = () => world.call<Certified>('DELETE', '/v1/sessions/trip/facts/rain')
    expect(await forget()).toMatchObject({
      status: 200,
      body: { action: 'forget', target: 'rain', already: false, removed: { facts: { count: 1 } } },
    })
    expect(await forget()).toMatchObject({ status: 200, body: { target: 'rain', already: true } })
    expect((await world.call('DELETE', '/v1/sessions/trip/facts/none')).status).toBe(404)
  })
})

describe('the audit at the edge', () => {
  it('lists what was done, the newest first, page by page', async () => {
    const world = new World()
    await world.create()
    for (const id of ['m1', 'm2', 'm3']) {
      await world.append('trip', said(id, 'Hello.'))
      await world.call('DELETE', `/v1/sessions/trip/messages/${id}`)
    }
    await world.call('DELETE', '/v1/sessions/trip')
    const read = async (query: string) => {
      const path = `/v1/me/audit${query}`
      const { status, body } = await world.call<{ records: { id: string; target: string }[] }>('GET', path)
      return { status, records: body.records, targets: body.records?.map(({ target }) => target) }
    }
    const { records, targets } = await read('')
    expect(targets).toEqual(['trip', 'm3', 'm2', 'm1'])
    expect(records[1]).toMatchObject({ action: 'forget', counts: { messages: 1 } })
    expect((await read('?first=2')).targets).toEqual(['trip', 'm3'])
    expect((await read(`?after=${records[1]?.id}&first=1`)).targets).toEqual(['m2'])
    for (const query of ['?first=0', '?first=513', '?first=x', '?after=x'])
      expect((await read(query)).status).toBe(400)
    expect((await new World().call('GET', '/v1/me/audit')).body).toEqual({ records: [] })
  })
})
