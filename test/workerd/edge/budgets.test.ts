import { evictDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Answered, Caller } from './caller.ts'
import { changeSessions, changeUsers, useDemoModel } from './changed-settings.ts'
import { changedIn, sessionObject, stateOf, userObject } from './rows.ts'

const hi = { messages: [{ role: 'user', content: 'Hi.' }] }
const completion = { model: 'plimsoll', ...hi }
const finding = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'memory_recall', arguments: { query: 'x' } },
}
const MCP = { Accept: 'application/json, text/event-stream' }
const DAY = 24 * 60 * 60 * 1000

/** A refusal that says when to come back, in words that both headers and body have. */
function wait({ status, headers, body }: Answered<Record<string, unknown>>): number {
  const seconds = Number(headers.get('Retry-After'))
  expect([status, body?.code]).toEqual([429, 'ERR_RATE_LIMIT'])
  expect(body?.retry_after).toBe(seconds)
  expect(Number.isSafeInteger(seconds) && seconds >= 1).toBe(true)
  return seconds
}

describe('a budget that is used up (T37)', () => {
  beforeEach(() => {
    // Ahead, since tokens that are made now must hold later.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

  it('counts each request of a batch of MCP', async () => {
    await changeSessions((settings) => ({ ...settings, budgets: { appendsPerMinute: 5 } }))
    const caller = new Caller()
    const session = await caller.session()
    const batch = (size: number) =>
      caller.call(
        'POST',
        `/v1/sessions/${session}/mcp`,
        Array.from({ length: size }, () => finding),
        MCP,
      )
    expect((await batch(3)).status).toBe(200)
    expect((await batch(3)).status).toBe(429)
    expect((await batch(2)).status).toBe(200)
  })

  it.each([
    ['messages', (path: string) => ['POST', `${path}/messages`, hi] as const],
    ['contexts', (path: string) => ['POST', `${path}/context`, hi] as const],
    ['contexts without a body', (path: string) => ['POST', `${path}/context`, undefined] as const],
    ['compactions', (path: string) => ['POST', `${path}/compact`, { new_epoch: true }] as const],
    ['titles', (path: string) => ['PATCH', path, { title: 'Turin' }] as const],
    ['facts', (path: string) => ['POST', `${path}/facts`, { kind: 'finding', text: 'x' }] as const],
    ['rewinds', (path: string) => ['POST', `${path}/rewind`, { undo: true }] as const],
    ['checkpoints', (path: string) => ['PUT', `${path}/checkpoint`, { value: 1 }] as const],
    ['chats', (path: string) => ['POST', `${path}/chat`, { message: 'Hi.' }] as const],
    ['completions', (path: string) => ['POST', `${path}/openai/chat/completions`, completion] as const],
    ['calls of MCP', (path: string) => ['POST', `${path}/mcp`, finding] as const],
  ])('of calls refuses %s, keeps nothing of them, and lets them in again in time', async (_, callOf) => {
    await useDemoModel()
    await changeSessions((settings) => ({ ...settings, budgets: { appendsPerMinute: 2 } }))
    const caller = new Caller()
    const session = await caller.session()
    const path = `/v1/sessions/${session}`
    for (let n = 0; n < 2; n++) expect((await caller.call('POST', `${path}/messages`, hi)).status).toBe(200)
    const before = await stateOf(caller.user, session)
    const [method, to, body] = callOf(path)
    const refused = await caller.call<Record<string, unknown>>(method, to, body, MCP)
    const seconds = to.includes('/openai/') ? Number(refused.headers.get('Retry-After')) : wait(refused)
    expect(refused.status).toBe(429)
    expect(seconds).toBe(30)
    expect(changedIn(before, await stateOf(caller.user, session))).toEqual([])
    // Reads cost nothing.
    expect((await caller.call('GET', `${path}/messages`)).status).toBe(200)
    later((seconds - 1) * 1000)
    expect((await caller.call('POST', `${path}/messages`, hi)).status).toBe(429)
    later(1000)
    const response = await caller.fetch(method, to, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...MCP },
    })
    expect(response.status).not.toBe(429)
    await response.text()
  })

  it('of bytes refuses bodies and parts, of a session and of a user, and says what can never be', async () => {
    await changeSessions((settings) => ({ ...settings, budgets: { bytesPerDay: 1_000 } }))
    await changeUsers((settings) => ({ ...settings, budgets: { bytesPerDay: 1_000 } }))
    const caller = new Caller()
    const session = await caller.session()
    const path = `/v1/sessions/${session}`
    const part = (size: number) =>
      caller.call('PUT', `${path}/parts/m1/0`, 'x'.repeat(size), { 'Content-Type': 'text/plain' })
    expect(await part(1_001)).toMatchObject({ status: 422, body: { code: 'ERR_LIMIT', limit: 1_000 } })
    expect((await part(700)).status).toBe(204)
    const before = await stateOf(caller.user, session)
    const message = { messages: [{ role: 'user', content: 'x'.repeat(400) }] }
    const seconds = wait(await caller.call('POST', `${path}/messages`, message))
    expect(changedIn(before, await stateOf(caller.user, session))).toEqual([])
    later(seconds * 1000)
    const awake = new Caller(caller.user)
    expect((await awake.call('POST', `${path}/messages`, message)).status).toBe(200)
    const about = { text: 'x'.repeat(800) }
    expect((await awake.call('PUT', '/v1/me/profile/about', about)).status).toBe(200)
    const kept = await stateOf(caller.user, session)
    wait(await awake.call('PUT', '/v1/me/profile/about', about))
    wait(await awake.call('PUT', '/v1/me/skills/booking', { description: 'x', text: 'x'.repeat(400) }))
    wait(await awake.call('POST', '/v1/me/facts', { kind: 'preference', text: 'x'.repeat(400) }))
    expect(changedIn(kept, await stateOf(caller.user, session))).toEqual([])
  })

  it('of bytes counts those of what is imported, not its characters', async () => {
    const from = new Caller()
    const session = await from.session()
    const messages = [{ role: 'user', content: 'ж'.repeat(800) }]
    expect((await from.call('POST', `/v1/sessions/${session}/messages`, { messages })).status).toBe(200)
    const body = await (await from.fetch('GET', '/v1/me/export')).text()
    await changeSessions((settings) => ({ ...settings, budgets: { bytesPerDay: 1_500 } }))
    const headers = { 'Content-Type': 'application/jsonl' }
    const response = await new Caller().fetch('POST', '/v1/me/import', { body, headers })
    expect(await response.json()).toMatchObject({ status: 422, code: 'ERR_LIMIT', limit: 1_500 })
  })

  it('of sessions refuses new ones by every door, and none that is there', async () => {
    await useDemoModel()
    await changeUsers((settings) => ({ ...settings, budgets: { sessionsPerHour: 2 } }))
    const caller = new Caller()
    for (const status of [201, 200])
      for (const session_id of ['one', 'two'])
        expect((await caller.call('POST', '/v1/sessions', { session_id })).status).toBe(status)
    const before = await stateOf(caller.user, 'default')
    expect(wait(await caller.call('POST', '/v1/sessions', { session_id: 'default' }))).toBe(1800)
    wait(await caller.call('POST', '/mcp', finding, MCP))
    const refused = await caller.call('POST', '/v1/openai/chat/completions', completion)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1800'])
    expect(changedIn(before, await stateOf(caller.user, 'default'))).toEqual([])
    expect((await caller.call('POST', '/v1/sessions/one/messages', hi)).status).toBe(200)
    later(1_800_000)
    expect((await caller.call('POST', '/mcp', finding, MCP)).status).toBe(200)
  })

  it('of the model’s tokens refuses the next reply, and what was said is not lost', async () => {
    await useDemoModel()
    await changeSessions((settings) => ({ ...settings, budgets: { modelTokensPerHour: 4_000 } }))
    const caller = new Caller()
    const path = `/v1/sessions/${await caller.session()}`
    const statuses: number[] = []
    const say = (n: number) =>
      caller.fetch('POST', `${path}/chat`, {
        body: JSON.stringify({ message: `Hi ${n}.` }),
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `op-${n}` },
      })
    let last: Response | undefined
    for (let n = 0; n < 8 && (last?.status ?? 200) === 200; n++) {
      last = await say(n)
      statuses.push(last.status)
      if (last.status === 200) await last.text()
    }
    expect(statuses.length).toBeGreaterThan(1)
    expect(statuses.at(-1)).toBe(429)
    const seconds = Number(last?.headers.get('Retry-After'))
    later(seconds * 1000)
    const again = await say(statuses.length - 1)
    expect([again.status, (await again.text()).includes('[DONE]')]).toEqual([200, true])
  })

  it('is as much used after its object was evicted, and whatever the clock does', async () => {
    await changeSessions((settings) => ({ ...settings, budgets: { appendsPerMinute: 1 } }))
    const caller = new Caller()
    const session = await caller.session()
    const append = () => caller.call<Record<string, unknown>>('POST', `/v1/sessions/${session}/messages`, hi)
    expect((await append()).status).toBe(200)
    await evictDurableObject(sessionObject(caller.user, session))
    await evictDurableObject(userObject(caller.user))
    expect(wait(await append())).toBe(60)
    const now = Date.now()
    // A day back: it neither stays shut for a day nor opens at once.
    vi.setSystemTime(now - DAY)
    expect(wait(await append())).toBeLessThanOrEqual(60)
    later(60_000)
    expect((await append()).status).toBe(200)
    // A day ahead: one minute's worth, not a day's.
    vi.setSystemTime(now + DAY / 48)
    expect((await append()).status).toBe(200)
    wait(await append())
  })
})
