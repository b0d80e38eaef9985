import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { edgeVariables } from '../../edge-variables.ts'
import { Caller, fetchWorker, newUser, tokenOf, type User } from './caller.ts'
import { changeSessions } from './changed-settings.ts'
import { changedIn, sessionObject, stateOf } from './rows.ts'
import { gate, playing } from './transcript.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

afterEach(() => {
  vi.useRealTimers()
})

/** A socket, and what came over it. */
async function listening(session: string, token: string) {
  const response = await fetchWorker(`/v1/sessions/${encodeURIComponent(session)}/live`, {
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': `plimsoll.v1, bearer.${token}` },
  })
  const { webSocket: socket, status, headers } = response
  const frames: string[] = []
  const closed: number[] = []
  socket?.addEventListener('message', ({ data }) => void frames.push(String(data)))
  socket?.addEventListener('close', ({ code }) => void closed.push(code))
  socket?.accept()
  return { socket, status, headers, frames, closed }
}

async function opened(user: User = newUser()) {
  const caller = new Caller(user)
  const session = await caller.session()
  const write = (content: string) =>
    caller.call('POST', `/v1/sessions/${session}/messages`, { messages: [{ role: 'user', content }] })
  return { caller, session, write }
}

function tokenUntil({ tenant, userId }: User, seconds: number): Promise<string> {
  return new SignJWT({
    tenant,
    iss: edgeVariables.JWT_ISSUER,
    aud: edgeVariables.JWT_AUDIENCE,
    sub: userId,
    exp: seconds,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(edgeVariables.JWT_SECRET))
}

describe('a socket', () => {
  it('hears that its own session changed, never what, and nothing of a session of the same name', async () => {
    const one = await opened()
    const stranger = new Caller()
    await stranger.call('POST', '/v1/sessions', { session_id: one.session })
    const socket = await listening(one.session, await tokenOf(one.caller.user))
    const foreign = await listening(one.session, await tokenOf(stranger.user))
    expect([socket.status, socket.headers.get('Sec-WebSocket-Protocol')]).toEqual([101, 'plimsoll.v1'])
    await one.write('a secret')
    await expect.poll(() => socket.frames.length).toBeGreaterThan(0)
    expect(socket.frames.join()).not.toContain('secret')
    await pause(100)
    expect(foreign.frames).toEqual([])
  })

  it('hears that a message was forgotten', async () => {
    const { caller, session } = await opened()
    const messages = [{ id: 'm1', role: 'user', content: 'Hello.' }]
    await caller.call('POST', `/v1/sessions/${session}/messages`, { messages })
    const socket = await listening(session, await tokenOf(caller.user))
    await caller.call('DELETE', `/v1/sessions/${session}/messages/m1`)
    await expect.poll(() => socket.frames.length).toBeGreaterThan(0)
  })

  it('hears of a streamed completion as it begins, and once its reply is stored', async () => {
    const last = gate()
    await changeSessions((settings) => ({ ...settings, model: playing(['It leaves', last.opened, '.']) }))
    const { caller, session } = await opened()
    const { frames } = await listening(session, await tokenOf(caller.user))
    const response = await caller.fetch('POST', `/v1/sessions/${session}/openai/chat/completions`, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        model: 'plimsoll',
        stream: true,
        messages: [{ role: 'user', content: 'When?' }],
      }),
    })
    await expect.poll(() => frames.length).toBe(1)
    last.open()
    await response.text()
    await expect.poll(() => frames.length).toBe(2)
    const [asked, answered] = frames.map((frame) => (JSON.parse(frame) as { seq: number }).seq)
    expect(answered).toBeGreaterThan(asked ?? Infinity)
  })

  it('is refused where the session is another’s or nowhere, with the same words', async () => {
    const { session } = await opened()
    const stranger = new Caller()
    const bodies = await Promise.all(
      [session, 'nowhere'].map(async (id) => {
        const response = await stranger.fetch('GET', `/v1/sessions/${id}/live`, {
          headers: { Upgrade: 'websocket' },
        })
        expect([response.status, response.webSocket]).toEqual([404, null])
        return (await response.text()).replaceAll(id, 'ID').replace(/"request_id":"[^"]*"/, '')
      }),
    )
    expect(bodies[0]).toBe(bodies[1])
  })

  it('does nothing of what it is sent', async () => {
    const { caller, session } = await opened()
    const before = await stateOf(caller.user, session)
    const { socket, frames, closed } = await listening(session, await tokenOf(caller.user))
    for (const frame of [
      '{"type":"append"}',
      '{',
      '\0',
      'x'.repeat(2 ** 20),
      '__proto__',
      'PING',
      'ping ',
      '',
    ])
      socket?.send(frame)
    socket?.send(new Uint8Array([0xff, 0, 1]))
    socket?.send('ping')
    await expect.poll(() => frames).toEqual(['pong'])
    expect(closed).toEqual([])
    expect(changedIn(before, await stateOf(caller.user, session))).toEqual([])
  })

  it('is closed once it sends more than its session’s budget, for others that listen there too', async () => {
    await changeSessions((settings) => ({ ...settings, budgets: { framesPerMinute: 10 } }))
    const { caller, session, write } = await opened()
    const token = await tokenOf(caller.user)
    const [loud, other, silent] = await Promise.all([1, 2, 3].map(() => listening(session, token)))
    for (let n = 0; n < 40; n++) silent?.socket?.send('ping')
    for (let n = 0; n < 10; n++) loud?.socket?.send('hello')
    await expect.poll(() => silent?.frames.length).toBe(40)
    expect(loud?.closed).toEqual([])
    loud?.socket?.send('hello')
    await expect.poll(() => loud?.closed).toEqual([4429])
    other?.socket?.send('hello')
    await expect.poll(() => other?.closed).toEqual([4429])
    // A client that only listens goes on.
    await write('after that')
    await expect.poll(() => silent?.frames.length).toBe(41)
    expect(silent?.closed).toEqual([])
  })

  it('has a budget of frames where none is set', async () => {
    const { caller, session } = await opened()
    const { socket, closed } = await listening(session, await tokenOf(caller.user))
    for (let n = 0; n < 61; n++) socket?.send('hello')
    await expect.poll(() => closed).toEqual([4429])
  })

  it('ends with the token that opened it', async () => {
    const { caller, session, write } = await opened()
    const soon = Math.trunc(Date.now() / 1000) + 60
    const brief = await listening(session, await tokenUntil(caller.user, soon))
    const lasting = await listening(session, await tokenOf(caller.user))
    vi.useFakeTimers({ toFake: ['Date'], now: soon * 1000 })
    await write('after its end')
    await expect.poll(() => brief.closed).toEqual([4401])
    expect(brief.frames).toEqual([])
    await expect.poll(() => lasting.frames.length).toBeGreaterThan(0)
  })

  it('sleeps with its object, and hears what changes after that and until when its token holds (T20)', async () => {
    const { caller, session, write } = await opened()
    const soon = Math.trunc(Date.now() / 1000) + 60
    const lasting = await listening(session, await tokenOf(caller.user))
    const brief = await listening(session, await tokenUntil(caller.user, soon))
    await evictDurableObject(sessionObject(caller.user, session))
    await write('after it slept')
    await expect.poll(() => [lasting.frames.length, brief.frames.length]).toEqual([1, 1])
    await evictDurableObject(sessionObject(caller.user, session))
    lasting.socket?.send('ping')
    await expect.poll(() => lasting.frames.at(-1)).toBe('pong')
    vi.useFakeTimers({ toFake: ['Date'], now: soon * 1000 })
    await write('after its end')
    await expect.poll(() => [lasting.frames.length, brief.closed]).toEqual([3, [4401]])
  })

  it('ends with its session', async () => {
    const { caller, session } = await opened()
    const { closed } = await listening(session, await tokenOf(caller.user))
    await caller.call('DELETE', `/v1/sessions/${session}`)
    await expect.poll(() => closed).toEqual([4404])
  })

  it('is one of at most 64 of a session', async () => {
    const { caller, session } = await opened()
    const token = await tokenOf(caller.user)
    const sockets = await Promise.all(Array.from({ length: 66 }, () => listening(session, token)))
    await expect.poll(() => sockets.flatMap(({ closed }) => closed)).toEqual([4429, 4429])
    const open = await runInDurableObject(
      sessionObject(caller.user, session),
      (_, state) =>
        state.getWebSockets().filter(({ readyState }) => readyState === WebSocket.READY_STATE_OPEN).length,
    )
    expect(open).toBe(64)
  })
})
