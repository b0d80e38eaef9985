import { env } from 'cloudflare:test'
import { vi } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { UserReplica } from '../../../src/edge/replica/user-replica.ts'
import type { SessionScope } from '../../../src/edge/rows/session-record.ts'
import type { Context } from '../../../src/index.ts'
import { fromWire } from '../../../src/ports/wire.ts'
import { type Answered, Caller, fetchWorker, type User } from './caller.ts'

export const said = (id: string, content: string, role = 'user') => ({ id, role, content, created_at: 0 })

/**
 * A caller and what is asked of their sessions; ids of ops are those of the messages, so that all
 * of it can be repeated.
 */
export class World {
  readonly caller: Caller

  constructor(caller = new Caller()) {
    this.caller = caller
  }

  /** Somebody who has not signed in. */
  static async guest(): Promise<World & { readonly token: string }> {
    const response = await fetchWorker('/v1/guests', { method: 'POST' })
    const { token, user_id: userId } = (await response.json()) as { token: string; user_id: string }
    return Object.assign(new World(new Caller({ userId }, token)), { token })
  }

  get user(): User {
    return this.caller.user
  }

  scope(sessionId = 'trip'): SessionScope {
    return { ...this.user, sessionId }
  }

  stub(sessionId?: string) {
    return env.SESSIONS.getByName(objectName(this.scope(sessionId)))
  }

  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<Answered<Body>> {
    return this.caller.call(method, path, body, key === undefined ? {} : { 'Idempotency-Key': key })
  }

  create(session = 'trip', more: object = {}): Promise<Answered> {
    return this.call('POST', '/v1/sessions', { session_id: session, ...more })
  }

  append(session: string, ...messages: readonly ReturnType<typeof said>[]): Promise<Answered> {
    const key = messages.map(({ id }) => id).join('+')
    return this.call('POST', `/v1/sessions/${session}/messages`, { messages }, key)
  }

  remember(session: string, text: string, kind = 'preference'): Promise<Answered> {
    const fact = { kind, text, id: `fact-${text.length}`, created_at: 0 }
    return this.call('POST', `/v1/sessions/${session}/facts`, fact, fact.id)
  }

  async context(session = 'trip', body: object = {}): Promise<Context> {
    const { status, body: context } = await this.call('POST', `/v1/sessions/${session}/context`, body)
    if (status !== 200) throw new Error(`a context is answered with ${status}: ${JSON.stringify(context)}`)
    return fromWire(context) as Context
  }

  async messages(session = 'trip'): Promise<readonly string[] | number> {
    const { status, body } = await this.call('GET', `/v1/sessions/${session}/messages`)
    if (status !== 200) return status
    return (body as { messages: { id: string; content: unknown }[] }).messages.map(
      ({ id, content }) => `${id}: ${JSON.stringify(content)}`,
    )
  }

  async listed(): Promise<readonly string[] | number> {
    const { status, body } = await this.call<{ sessions: { session_id: string }[] }>('GET', '/v1/sessions')
    if (status !== 200) return status
    return body.sessions.map(({ session_id: id }) => id)
  }

  async facts(): Promise<readonly string[] | number> {
    const { status, body } = await this.call<{ facts: { text: string }[] }>('GET', '/v1/me/facts')
    if (status !== 200) return status
    return body.facts.map(({ text }) => text).sort()
  }

  claim(token: string): Promise<Answered<{ sessions: { from: string; to: string }[]; facts: number }>> {
    return this.call('POST', '/v1/me/claim', { token })
  }
}

/**
 * Begins a write, and holds it where it asks for what the user's sessions share. @returns lets it
 * go, and gives the status of its answer
 */
export async function held(world: World): Promise<() => Promise<number>> {
  const { refresh } = UserReplica.prototype
  let isFree = false
  const waiting = vi.spyOn(UserReplica.prototype, 'refresh').mockImplementation(async function (
    this: UserReplica,
    ...options
  ) {
    while (!isFree) await scheduler.wait(1)
    return refresh.apply(this, options)
  })
  const writing = world.call('POST', '/v1/sessions/trip/context', { messages: [said('m2', 'And back.')] })
  while (waiting.mock.calls.length === 0) await scheduler.wait(1)
  waiting.mockRestore()
  return async () => {
    isFree = true
    return (await writing).status
  }
}
