import { env, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { guestTokens } from '../../../src/edge/auth/guests.ts'
import { GUEST_LIFETIME_MS, guestEnd } from '../../../src/edge/guest.ts'
import { edgeVariables } from '../../edge-variables.ts'
import { Caller, fetchWorker } from './caller.ts'
import { changeSessions, changeUsers, useDemoModel } from './changed-settings.ts'
import { rowsOf, sessionObject, userObject } from './rows.ts'
import { said, World } from './world.ts'

const DAY = 86_400_000
const MINUTE = 60_000

const tablesOf = (stub: DurableObjectStub): Promise<number> =>
  runInDurableObject(
    stub,
    (_, { storage }) =>
      storage.sql.exec(`SELECT name FROM sqlite_master WHERE name LIKE 'plimsoll%'`).toArray().length,
  )

async function met() {
  const guest = await World.guest()
  await guest.create('trip')
  await guest.append('trip', said('m1', 'Two seats to Turin.'))
  await guest.remember('trip', 'Window seats.')
  return guest
}

const allOf = async ({ user }: World): Promise<string> =>
  JSON.stringify([await rowsOf(userObject(user)), await rowsOf(sessionObject(user, 'trip'))])

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
})
afterEach(() => {
  vi.useRealTimers()
})
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

describe('a guest who only looks', () => {
  const reads = [
    ['GET', '/v1/sessions'],
    ['GET', '/v1/me/facts'],
    ['GET', '/v1/me/profile'],
    ['GET', '/v1/me/profile/about'],
    ['GET', '/v1/me/skills'],
    ['GET', '/v1/me/skills/booking'],
    ['GET', '/v1/me/audit'],
    ['POST', '/v1/me/recall', { query: 'Turin', sessions: 'all' }],
    ['GET', '/v1/sessions/trip'],
    ['GET', '/v1/sessions/trip/messages'],
  ] as const

  it('leaves objects that hold nothing, and the first write makes the tables', async () => {
    const guest = await World.guest()
    for (const [method, path, body] of reads) {
      const { status } = await guest.call(method, path, body)
      expect([path, status]).toEqual([path, expect.toBeOneOf([200, 404])])
      expect([path, await tablesOf(userObject(guest.user))]).toEqual([path, 0])
    }
    expect(await tablesOf(sessionObject(guest.user, 'trip'))).toBe(0)
    await guest.create('trip')
    expect(await tablesOf(userObject(guest.user))).toBeGreaterThan(0)
    expect(await guest.listed()).toEqual(['trip'])
  })

  it('has a budget for that, of each object, which comes back', async () => {
    const budgets = { guestReadsPerMinute: 3 }
    await changeUsers((settings) => ({ ...settings, guestBudgets: budgets }))
    await changeSessions((settings) => ({ ...settings, budgets }))
    const guest = await met()
    const statuses = async (path: string) => {
      const found: number[] = []
      for (let n = 0; n < 4; n++) found.push((await guest.call('GET', path)).status)
      return found
    }
    expect(await statuses('/v1/me/facts')).toEqual([200, 200, 200, 429])
    expect((await guest.call('GET', '/v1/me/export')).status).toBe(429)
    // Creating it read it once.
    expect(await statuses('/v1/sessions/trip/messages')).toEqual([200, 200, 429, 429])
    const refused = await guest.call('GET', '/v1/sessions/trip')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '20'])
    // What is written has budgets of its own.
    expect((await guest.append('trip', said('m2', 'And back.'))).status).toBe(200)
    later(20_000)
    expect((await guest.call('GET', '/v1/sessions/trip')).status).toBe(200)
  })

  it('pays for each session that a recall looks through', async () => {
    await changeUsers((settings) => ({ ...settings, guestBudgets: { guestReadsPerMinute: 40 } }))
    const [guest, ada] = [await met(), new World()]
    const find = async (world: World, sessions: unknown): Promise<number> =>
      (await world.call('POST', '/v1/me/recall', { query: 'Turin', sessions })).status
    expect(await find(guest, 'all')).toBe(200)
    expect(await find(guest, ['trip'])).toBe(200)
    expect(await find(guest, 'all')).toBe(429)
    for (let n = 0; n < 3; n++) expect(await find(ada, 'all')).toBe(200)
    // Nor does one call look through more than some.
    expect(
      await find(
        ada,
        Array.from({ length: 257 }, (_, index) => `s-${index}`),
      ),
    ).toBe(400)
  })

  it('has one by default, and a user has none', async () => {
    const [guest, ada] = [await World.guest(), new World()]
    const last = async (world: World): Promise<number> => {
      let status = 0
      for (let n = 0; n <= 240; n++) status = (await world.call('GET', '/v1/me/profile')).status
      return status
    }
    expect(await last(guest)).toBe(429)
    expect(await last(ada)).toBe(200)
  })
})

describe('what a guest leaves', () => {
  /** The alarms that are due by then. */
  const ring = async (world: World): Promise<void> => {
    const due = await runInDurableObject(userObject(world.user), async (_, { storage }) => {
      const at = await storage.getAlarm()
      if (at === null || at > Date.now()) return false
      // Real time has not come that far.
      await storage.setAlarm(Date.now() + DAY)
      return true
    })
    if (due) await runDurableObjectAlarm(userObject(world.user))
  }

  it('goes once the token has ended, and not before', async () => {
    const guest = await met()
    const end = Date.now() + GUEST_LIFETIME_MS
    vi.setSystemTime(end - MINUTE)
    await ring(guest)
    expect(await guest.messages()).toEqual(['m1: "Two seats to Turin."'])
    vi.setSystemTime(end + 2 * MINUTE)
    expect((await guest.call('GET', '/v1/sessions/trip')).status).toBe(401)
    await ring(guest)
    expect(await allOf(guest)).not.toMatch(/Turin|Window/)
  })

  it('goes then though only facts were written, and as the deployment’s tokens last', async () => {
    await changeUsers((settings) => ({ ...settings, guestLifetimeMs: DAY }))
    const guest = await World.guest()
    await guest.call('POST', '/v1/me/facts', { kind: 'preference', text: 'Window seats.' })
    later(DAY + 2 * MINUTE)
    await ring(guest)
    expect(await allOf(guest)).not.toContain('Window')
  })

  it('of a user does not go', async () => {
    const ada = new World()
    await ada.create('trip')
    await ada.append('trip', said('m1', 'Two seats to Turin.'))
    later(2 * GUEST_LIFETIME_MS)
    await ring(ada)
    expect(await allOf(ada)).toContain('Two seats to Turin.')
    expect(await new World(new Caller(ada.user)).messages()).toHaveLength(1)
  })

  it('goes by when the id was made, or else by the first write', () => {
    const now = Date.UTC(2027, 0, 1)
    const made = now - 5 * DAY
    const digits = made.toString(16).padStart(12, '0')
    const id = `guest_${digits.slice(0, 8)}-${digits.slice(8)}-7abc-8def-0123456789ab`
    expect(guestEnd(id, 30 * DAY, now)).toBe(made + 30 * DAY)
    // It would have ended already, or begins later: another clock made it.
    expect(guestEnd(id, 4 * DAY, now)).toBe(now + 4 * DAY)
    expect(guestEnd(id, 30 * DAY, made - DAY)).toBe(made + 29 * DAY)
    expect(guestEnd('guest_ada', 30 * DAY, now)).toBe(now + 30 * DAY)
  })
})

describe('the token of a guest who was claimed', () => {
  it('is dead: nothing is read, written or made by it, and an operator finds what stayed', async () => {
    await useDemoModel()
    const [guest, ada] = [await met(), new World()]
    await guest.call('PUT', '/v1/me/profile/about', { text: 'Likes trains.' })
    expect((await ada.claim(guest.token)).status).toBe(200)
    const message = { messages: [{ role: 'user', content: 'Hi.' }] }
    const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    for (const [method, path, body] of [
      ['GET', '/v1/sessions'],
      ['GET', '/v1/me/profile'],
      ['GET', '/v1/me/export'],
      ['DELETE', '/v1/me'],
      ['PUT', '/v1/me/profile/about', { text: 'x' }],
      ['POST', '/v1/me/facts', { kind: 'preference', text: 'x' }],
      ['POST', '/v1/sessions', { session_id: 'trip' }],
      ['POST', '/v1/sessions', { session_id: 'another' }],
      ['POST', '/v1/sessions/trip/chat', { message: 'Hi.' }],
      ['POST', '/mcp', mcp],
    ] as const) {
      const { status } = await guest.caller.call(method, path, body, {
        Accept: 'application/json, text/event-stream',
      })
      expect([method, path, status]).toEqual([method, path, 401])
    }
    for (const [method, path, body] of [
      ['GET', '/v1/sessions/trip/messages'],
      ['POST', '/v1/sessions/trip/messages', message],
    ] as const)
      expect([path, (await guest.call(method, path, body)).status]).toEqual([path, 404])
    expect(await ada.messages()).toEqual(['m1: "Two seats to Turin."'])
    // Profile and skills stay behind, until the token has ended, or an operator removes them.
    vi.spyOn(console, 'log').mockReturnValue(undefined)
    const operate = (method: string) =>
      fetchWorker(`/v1/operator/users/${guest.user.userId}`, {
        method,
        headers: { Authorization: `Bearer ${edgeVariables.OPERATOR_SECRET}` },
      })
    expect(await (await operate('GET')).json()).toMatchObject({ is_empty: false, documents: 1, facts: 0 })
    expect((await operate('DELETE')).status).toBe(200)
    expect(await allOf(guest)).not.toContain('trains')
    vi.restoreAllMocks()
  })

  it('is dead though the guest had done nothing', async () => {
    const [guest, ada] = [await World.guest(), new World()]
    await ada.claim(guest.token)
    expect((await guest.create('trip')).status).toBe(401)
    expect((await ada.claim(guest.token)).status).toBe(200)
  })

  it('writes nothing while what it did is being moved', async () => {
    const [guest, ada] = [await met(), new World()]
    await env.USERS.getByName(userObject(guest.user).name ?? '').claimed(guest.user, false)
    expect((await guest.create('another')).status).toBe(409)
    expect((await guest.call('POST', '/v1/me/facts', { kind: 'preference', text: 'x' })).status).toBe(409)
    expect(await guest.listed()).toEqual(['trip'])
    expect((await ada.claim(guest.token)).body.sessions).toHaveLength(1)
  })

  it('is no other guest’s', async () => {
    const [guest, other, ada] = [await met(), await met(), new World()]
    await ada.claim(guest.token)
    expect(await other.listed()).toEqual(['trip'])
    const tokens = guestTokens({
      secret: edgeVariables.GUEST_SECRET,
      clock: Date.now,
      newId: () => crypto.randomUUID(),
    })
    const { token, userId } = await tokens.issue()
    expect(await new World(new Caller({ userId }, token)).listed()).toEqual([])
  })
})
