import { env, evictDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../../src/edge/hono.ts'
import type { User } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { World } from './world.ts'

const said = { role: 'user', content: 'Hi.' }
const DOORS = {
  'an append': ['messages', { messages: [said] }],
  'a context': ['context', { messages: [said] }],
  'a chat': ['chat', { message: said.content }],
  'a completion': ['openai/chat/completions', { model: 'plimsoll', messages: [said] }],
} as const
const CASES = [
  ...Object.entries(DOORS).map((door) => ({ door, lost: 'the answer' as const })),
  ...Object.entries(DOORS)
    .slice(2)
    .map((door) => ({ door, lost: 'the socket' as const })),
]

/**
 * The app over the sessions of the worker under test, of whose calls the first answer does not
 * arrive.
 */
function losing(user: User, what: 'the answer' | 'the socket' = 'the answer') {
  const lost = Object.assign(new Error('Network connection lost.'), { retryable: true })
  let calls = 0
  const SESSIONS = {
    getByName: (name: string) =>
      new Proxy(env.SESSIONS.getByName(name), {
        get:
          (stub, method) =>
          async (...args: unknown[]) => {
            const answer = await (stub as unknown as Record<string | symbol, CallableFunction>)[method]?.(
              ...args,
            )
            // A chat asks for a socket, too, by `fetch`.
            const isSocket = method === 'fetch'
            if (isSocket !== (what === 'the socket')) return answer
            if (++calls === 1) throw lost
            return answer
          },
      }),
  } as unknown as typeof env.SESSIONS
  const app = createApp(() => ({ objects: { ...env, SESSIONS }, authenticate: async () => user }))
  return { app, calls: () => calls }
}

describe('a message without id or key', () => {
  for (const { door, lost } of CASES) {
    const [name, [path, body]] = door
    it(`is written once, though ${lost} of its session’s object is lost: ${name}`, async () => {
      await useDemoModel()
      const world = new World()
      await world.create()
      await evictDurableObject(world.stub())
      const { app, calls } = losing(world.user, lost)
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }
      const response = await app.request(`/v1/sessions/trip/${path}`, init, {})
      await response.text()
      expect([response.status, calls()]).toEqual([200, 2])
      const messages = (await world.messages()) as readonly string[]
      expect(messages.filter((one) => one.endsWith('"Hi."') || one.includes('"text":"Hi."'))).toHaveLength(1)
      // Of the model's replies, too, there is one.
      expect(messages.length).toBeLessThan(3)
    })
  }
})

describe('a write under a condition', () => {
  it.each([
    ['If-None-Match', '*'],
    ['If-Match', 'TAG'],
    ['If-Match', '"a", TAG'],
    ['If-Match', '*'],
  ])('is no conflict with itself, though its answer is lost: %s %s', async (header, tags) => {
    const world = new World()
    await world.create()
    const path = '/v1/sessions/trip/checkpoint'
    const before = header === 'If-Match' ? await world.call('PUT', path, { value: 0 }) : undefined
    await evictDurableObject(world.stub())
    const { app, calls } = losing(world.user)
    const headers = {
      'Content-Type': 'application/json',
      [header]: tags.replace('TAG', before?.headers.get('ETag') ?? ''),
    }
    const init = { method: 'PUT', headers, body: JSON.stringify({ value: 1 }) }
    const response = await app.request(path, init, {})
    expect([response.status, calls()]).toEqual([200, 2])
    expect((await world.call('GET', path)).body).toMatchObject({ value: 1 })
  })
})
