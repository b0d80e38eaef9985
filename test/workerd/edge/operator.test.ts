import { env } from 'cloudflare:test'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createApp, type LogLine, operatorBySecret } from '../../../src/edge/hono.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import type { Certificate } from '../../../src/ports/certificate.ts'
import { edgeVariables } from '../../edge-variables.ts'
import { fetchWorker, newUser, ORIGIN, tokenOf, type User } from './caller.ts'
import { described } from './routes.ts'
import { rowsOf, userObject } from './rows.ts'
import { said, World } from './world.ts'

const SECRET = edgeVariables.OPERATOR_SECRET
const routes = described.filter(({ path }) => path.startsWith('/v1/operator/'))

const pathOf = ({ tenant, userId }: User, more = ''): string =>
  `/v1/operator/users/${userId}${more}?tenant=${tenant}`

function operate(method: string, path: string, token: string = SECRET): Promise<Response> {
  return fetchWorker(path, { method, headers: { Authorization: `Bearer ${token}` } })
}

/** Somebody who has said something, and left. */
async function left(): Promise<World> {
  const world = new World()
  await world.create('trip')
  await world.append('trip', said('m1', 'Two seats to Turin.'))
  await world.remember('trip', 'Window seats.')
  return world
}

beforeEach(() => {
  vi.spyOn(console, 'log').mockReturnValue(undefined)
})

describe('an operator', () => {
  it('finds whether anything is held of a user, without what it says, and writes nothing by that', async () => {
    const world = await left()
    const before = await rowsOf(userObject(world.user))
    const response = await operate('GET', pathOf(world.user))
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      is_empty: false,
      sessions: { count: 1, first: ['trip'] },
      facts: 1,
      documents: 0,
      skills: 0,
    })
    expect(await rowsOf(userObject(world.user))).toEqual(before)
    for (const other of [newUser(), { ...world.user, tenant: 'other' }])
      expect(await (await operate('GET', pathOf(other))).json()).toMatchObject({ is_empty: true })
  })

  it('exports what the user could have exported', async () => {
    const world = await left()
    const lines = async (response: Response) => (await response.text()).split('\n')
    const own = await lines(await world.caller.fetch('GET', '/v1/me/export'))
    const theirs = await lines(await operate('GET', pathOf(world.user, '/export')))
    expect(theirs.join()).toContain('Two seats to Turin.')
    // The first export was recorded in the log.
    const recorded = theirs.filter((line) => !line.includes('"id":"audit/'))
    expect(recorded.slice(1, -2)).toEqual(own.slice(1, -2))
    const { body } = await world.call<{ records: { action: string }[] }>('GET', '/v1/me/audit')
    expect(body.records.filter(({ action }) => action === 'export')).toHaveLength(2)
  })

  it('erases a user, and asks again for what is left where there is more than one call removes', async () => {
    const world = await left()
    const certificate = { action: 'erase', already: false } as unknown as Certificate
    const some = vi.spyOn(UserObject.prototype, 'erase').mockResolvedValueOnce({ isDone: false, certificate })
    const first = await operate('DELETE', pathOf(world.user))
    some.mockRestore()
    expect(first.status).toBe(202)
    expect(await first.json()).toMatchObject({ action: 'erase', left: { sessions: 1 } })
    const second = await operate('DELETE', pathOf(world.user))
    expect([second.status, await second.json()]).toMatchObject([200, { action: 'erase' }])
    expect(await (await operate('GET', pathOf(world.user))).json()).toMatchObject({ is_empty: true })
    expect(await world.messages()).toBe(404)
  })

  it('is nobody without the secret, and a user is none', async () => {
    expect(routes).toHaveLength(3)
    const world = await left()
    const tokens = ['x', `${SECRET}x`, SECRET.slice(0, -1), await tokenOf(world.user)]
    for (const { method, path } of routes)
      for (const token of [undefined, ...tokens]) {
        const response = await fetchWorker(path.replace('{user}', world.user.userId), {
          method,
          headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
        })
        expect([method, path, token, response.status]).toEqual([method, path, token, 401])
      }
    expect(await world.messages()).toHaveLength(1)
    expect((await operate('GET', '/v1/sessions')).status).toBe(401)
  })

  it('is not there where no secret is set', async () => {
    const app = createApp(() => ({ objects: env, authenticate: async () => ({ userId: 'ada' }) }))
    for (const { method, path } of routes) {
      const request = new Request(ORIGIN + path.replace('{user}', 'ada'), {
        method,
        headers: { Authorization: `Bearer ${SECRET}` },
      })
      const response = await app.fetch(request, {})
      expect([response.status, await response.json()]).toMatchObject([404, { detail: 'no such route' }])
    }
  })

  it('leaves a line in the log for each call, which names the object and nobody', async () => {
    const world = await left()
    const lines: LogLine[] = []
    const app = createApp(() => ({
      objects: env,
      authenticate: async () => undefined,
      operator: operatorBySecret(SECRET),
      log: (line) => void lines.push(line),
    }))
    const headers = { Authorization: `Bearer ${SECRET}` }
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '/export'],
      ['DELETE', ''],
    ] as const) {
      const request = new Request(ORIGIN + pathOf(world.user, more), { method, headers })
      await (await app.fetch(request, {})).text()
    }
    const object = userObject(world.user).id.toString()
    expect(lines.map(({ operator }) => operator)).toEqual(
      ['find', 'export', 'erase'].map((action) => ({ action, object })),
    )
    expect(JSON.stringify(lines)).not.toContain(world.user.userId)
    // By default too, though nothing failed.
    const logged = vi.spyOn(console, 'log').mockReturnValue(undefined)
    logged.mockClear()
    await operate('GET', pathOf(world.user))
    expect(JSON.parse(String(logged.mock.calls[0]?.[0]))).toMatchObject({ operator: { action: 'find' } })
  })

  it('has a secret that is none of the weak ones, and that a header can hold', () => {
    for (const secret of ['short', 'x'.repeat(64), 'a secret with white space in it, of 32'])
      expect(() => operatorBySecret(secret)).toThrow(expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }))
  })
})
