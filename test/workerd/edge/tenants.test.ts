import { env } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { authenticatorOf } from '../../../src/edge/auth/from-env.ts'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { accepted, acceptedResponse } from '../../../src/edge/replica/refusal.ts'
import { isPlimsollError } from '../../../src/ports/errors.ts'
import { edgeVariables } from '../../edge-variables.ts'
import { SAMPLES } from '../../everywhere/edge-samples.ts'
import { Caller, newUser, tokenOf, type User } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { nameOf, owned, type Route } from './routes.ts'
import { changedIn, type Rows, rowsOf, sessionObject, userObject } from './rows.ts'

/** Some names that would be one if they were joined, or were all of one tenant. */
const TENANTS = ['a', 'a:b', 'b']
const USERS = ['u', 'b:u', 'v']

interface Owner {
  readonly caller: Caller
  /** Known to everybody, and nobody else's. */
  readonly session: string
  readonly fact: string
  /** What nobody else may ever read. */
  readonly secret: string
}

const owners: Owner[] = []
const suffix = crypto.randomUUID()

async function newOwner(user: User): Promise<Owner> {
  const caller = new Caller(user)
  const secret = `secret${crypto.randomUUID().replaceAll('-', '')}`
  const session = `of-${JSON.stringify([user.tenant, user.userId])}`
  const path = `/v1/sessions/${encodeURIComponent(session)}`
  await caller.call('POST', '/v1/sessions', { session_id: session, title: secret })
  await caller.call('POST', `${path}/messages`, { messages: [{ id: 'm1', role: 'user', content: secret }] })
  await caller.call('PUT', `${path}/checkpoint`, { value: secret })
  await caller.call('PUT', '/v1/me/profile/about', { text: secret })
  await caller.call('PUT', '/v1/me/skills/booking', { description: secret, text: secret })
  await caller.call('POST', '/v1/me/facts', { kind: 'preference', text: secret, id: 'shared' })
  await caller.call('POST', `${path}/chat`, { message: secret }).catch(() => {})
  const { body } = await caller.call<{ fact: { id: string } }>('POST', `${path}/facts`, {
    kind: 'finding',
    text: secret,
  })
  await caller.call('POST', `${path}/context`, {})
  return { caller, session, fact: body.fact.id, secret }
}

/** A call that would do what its route does, if it were allowed. */
async function attempt(caller: Caller, { method, path }: Route, session: string, fact: string) {
  const sample = SAMPLES[`${method} ${path}`]?.(() => 0, { session, fact })
  const names: Record<string, string> = {
    ...{ session, fact, message: 'm1', entry: 'm9', n: '0', run: 'current', name: 'about' },
  }
  const body = typeof sample === 'string' ? sample : JSON.stringify(sample)
  const response = await caller.fetch(
    method,
    path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? '')),
    {
      headers: {
        'Content-Type': typeof sample === 'string' ? 'text/plain' : 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(path.endsWith('/live') && { Upgrade: 'websocket' }),
      },
      ...(sample !== undefined && { body }),
    },
  )
  const headers = Object.fromEntries(response.headers)
  for (const name of ['x-request-id', 'content-length']) delete headers[name]
  const text = await response.text()
  return {
    status: response.status,
    headers,
    body: text
      .replaceAll(JSON.stringify(session).slice(1, -1), 'SESSION')
      .replace(/"request_id":"[^"]*"/, ''),
    text,
  }
}

const objectsOf = ({ caller: { user }, session }: Owner): Promise<Rows[]> =>
  Promise.all([rowsOf(userObject(user)), rowsOf(sessionObject(user, session))])

describe('what is somebody else’s (T34)', () => {
  // What makes a session of the name for who calls, or says that nothing goes on there.
  const isDoor = ({ method, path }: Route): boolean =>
    method !== 'DELETE' && /\{session\}\/chat(\/|$)/.test(path)
  const inSession = owned.filter((route) => route.path.includes('{session}') && !isDoor(route))
  const ownOnly = owned.filter((route) => !route.path.includes('{session}') || isDoor(route))

  beforeAll(async () => {
    for (const tenant of TENANTS)
      for (const userId of USERS) owners.push(await newOwner({ tenant: `${tenant}${suffix}`, userId }))
  })

  it.each(inSession.map((route) => [nameOf(route), route] as const))(
    'is not there, and looks as what is nowhere: %s',
    async (_, route) => {
      await useDemoModel()
      for (const owner of owners) {
        const before = await objectsOf(owner)
        await Promise.all(
          owners
            .filter((one) => one !== owner)
            .map(async ({ caller }) => {
              const foreign = await attempt(caller, route, owner.session, owner.fact)
              const nowhere = await attempt(caller, route, 'nowhere', 'nothing')
              expect(foreign.status).toBe(404)
              expect(foreign.text).not.toContain(owner.secret)
              const { text: _, ...shown } = foreign
              const { text: __, ...expected } = nowhere
              expect(shown).toEqual(expected)
              // A request for what is nowhere leaves nothing there.
              expect(Object.keys(await rowsOf(sessionObject(caller.user, owner.session)))).toEqual(['alarm'])
            }),
        )
        const after = await objectsOf(owner)
        expect(before.flatMap((rows, index) => changedIn(rows, after[index] ?? {}))).toEqual([])
      }
    },
  )

  it.each(ownOnly.map((route) => [nameOf(route), route] as const))(
    'is not within reach of what names nobody: %s',
    async (_, route) => {
      await useDemoModel()
      for (const owner of owners.slice(0, 3)) {
        const before = await Promise.all(owners.map(objectsOf))
        // Somebody new in the same tenant, who names the owner's session wherever one can be named.
        const caller = new Caller({ ...owner.caller.user, userId: `new-${crypto.randomUUID()}` })
        const { status, text } = await attempt(caller, route, owner.session, owner.fact)
        expect(status).toBeLessThan(500)
        for (const { secret } of owners) expect(text).not.toContain(secret)
        const after = await Promise.all(owners.map(objectsOf))
        expect(before.flat().flatMap((rows, index) => changedIn(rows, after.flat()[index] ?? {}))).toEqual([])
      }
    },
  )

  it('is not found by recall, by a list, nor under a session of the same name', async () => {
    const [owner] = owners as [Owner]
    const before = await objectsOf(owner)
    const stranger = new Caller({ ...owner.caller.user, userId: 'stranger' })
    const said = [
      await stranger.call('POST', '/v1/sessions', { session_id: owner.session }),
      await stranger.call('GET', '/v1/sessions'),
      await stranger.call('POST', '/v1/me/recall', { query: owner.secret, sessions: [owner.session] }),
      await stranger.call('POST', '/v1/me/recall', { query: owner.secret, sessions: 'all' }),
      await stranger.call('GET', `/v1/sessions/${encodeURIComponent(owner.session)}/messages`),
      await stranger.call('POST', `/v1/sessions/${encodeURIComponent(owner.session)}/context`, {}),
      await stranger.call(
        'GET',
        `/v1/sessions/${encodeURIComponent(owner.session)}/start?query=${owner.secret}`,
      ),
      await stranger.call('DELETE', `/v1/sessions/${encodeURIComponent(owner.session)}`),
      await stranger.call('POST', '/v1/me/claim', { token: 'x' }),
    ]
    expect(said.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200, 200, 200, 400])
    expect(JSON.stringify(said.map(({ body }) => body)).replaceAll(`"${owner.secret}"`, '')).not.toContain(
      owner.secret,
    )
    expect((await objectsOf(owner)).flatMap((rows, index) => changedIn(before[index] ?? {}, rows))).toEqual(
      [],
    )
  })

  it('is taken over by nobody but a user, with the token of a guest of no tenant or the same', async () => {
    const { guests } = authenticatorOf(edgeVariables)
    const guestOf = async (tenant?: string) => {
      const guest = await guests?.issue(tenant)
      const caller = new Caller({ tenant: '', userId: guest?.userId ?? '' }, guest?.token)
      await caller.call('POST', '/v1/sessions', { session_id: 'made-by-a-guest' })
      return { caller, token: guest?.token ?? '' }
    }
    const claim = async (caller: Caller, token: string) =>
      (await caller.call('POST', '/v1/me/claim', { token })).status
    const [plain, same, other] = [await guestOf(), await guestOf('acme'), await guestOf('other')]
    const user = new Caller()
    expect(await claim(plain.caller, (await guestOf()).token)).toBe(400)
    expect(await claim(user, other.token)).toBe(400)
    expect(await claim(user, await tokenOf(newUser()))).toBe(400)
    for (const { caller } of [plain, same, other])
      expect((await caller.call('GET', '/v1/sessions/made-by-a-guest')).status).toBe(200)
    expect(await claim(user, plain.token)).toBe(200)
    expect(await claim(user, same.token)).toBe(200)
    for (const { caller } of [plain, same])
      expect((await caller.call('GET', '/v1/sessions/made-by-a-guest')).status).toBe(404)
  })

  it('is refused by its own objects, should a Worker ever call them in another’s name', async () => {
    const [owner, other] = owners as [Owner, Owner]
    const scope = { ...owner.caller.user, sessionId: owner.session }
    const foreign = { ...other.caller.user, sessionId: owner.session }
    const session = () => env.SESSIONS.getByName(objectName(scope))
    const user = () => env.USERS.getByName(objectName(owner.caller.user))
    const live = async (headers: Record<string, string>): Promise<unknown> =>
      acceptedResponse(await session().fetch('https://session/live', { headers }))
    const before = await objectsOf(owner)
    const calls: (() => Promise<unknown>)[] = [
      () => session().create(foreign),
      () => session().info(foreign),
      () => session().title(foreign, { title: 'x' }),
      () => session().call(foreign, 'messages', {}),
      () => session().call({ ...scope, tenant: 'b' }, 'messages', {}),
      () => session().call({ ...scope, userId: 'x' }, 'messages', {}),
      () => session().call({ ...scope, sessionId: 'x' }, 'messages', {}),
      () => session().compact(foreign, {}),
      () => session().exportLines(foreign, ['log']),
      () => session().importLines(foreign, { lines: '[]', isOther: false, trust: 'user' }),
      () => session().putPart(foreign, { entry: 'm9', n: 0, text: 'x' }, {}),
      () => session().chat(foreign, { message: 'Hi.' }, { messageId: 'm1', relay: 'r1' }),
      () => session().resumeChat(foreign, 'current'),
      () => session().stopChat(foreign, 'current'),
      () =>
        session().complete(foreign, {
          relay: 'r1',
          body: { model: 'plimsoll', messages: [{ role: 'user', content: 'x' }] },
        }),
      () =>
        session().complete(foreign, {
          create: true,
          relay: 'r1',
          body: { model: 'plimsoll', messages: [{ role: 'user', content: 'x' }] },
        }),
      () => session().mcp(foreign, { method: 'GET', headers: [] }),
      () => session().erase(foreign),
      () => session().sync(foreign),
      () => session().rewrap(foreign),
      () => session().release(foreign, 'another'),
      () => session().scope(foreign, { method: 'head' } as never),
      () => session().takeOver(foreign, { scope, id: 'another' }),
      () => live({ Upgrade: 'websocket', 'Plimsoll-Scope': encodeURIComponent(JSON.stringify(foreign)) }),
      () => live({ Upgrade: 'websocket' }),
      () => user().exportLines(foreign, ['log']),
      () => user().importLines(foreign, { lines: '[]', isOther: false, trust: 'user' }),
      () => user().record(foreign, { action: 'export' }),
      () => user().erase(foreign),
      () => user().settle(other.caller.user, { sessionId: 'x', seq: 1 }),
      () => user().call(other.caller.user, 'facts', {}),
      () => user().call(scope, 'facts', {}),
      () => user().admit(other.caller.user),
      () => user().lease(other.caller.user, { least: 1, wanted: 1 }),
      () => user().claimed(other.caller.user, true),
      () => user().checkLiving(other.caller.user),
      () => user().claim(other.caller.user, other.caller.user),
      () => user().scope(other.caller.user, { method: 'head' } as never),
      () => user().pull(other.caller.user, {} as never),
    ]
    for (const call of calls) {
      const error: unknown = await call()
        .then(accepted)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        )
      expect([`${call}`, isPlimsollError(error, 'ERR_NOT_FOUND')]).toEqual([`${call}`, true])
    }
    expect((await objectsOf(owner)).flatMap((rows, index) => changedIn(before[index] ?? {}, rows))).toEqual(
      [],
    )
  })
})
