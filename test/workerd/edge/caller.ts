import { exports } from 'cloudflare:workers'
import { SignJWT } from 'jose'
import { edgeVariables } from '../../edge-variables.ts'

export const ORIGIN = 'https://plimsoll.test'

export interface Answered<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** Who calls the worker under test. */
export interface User {
  readonly tenant?: string
  readonly userId: string
}

const secret = new TextEncoder().encode(edgeVariables.JWT_SECRET)

/** @param until when it ends, by the edge's clock */
export function tokenOf({ tenant, userId }: User, until: string | Date = '1h'): Promise<string> {
  return new SignJWT({ tenant })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(edgeVariables.JWT_ISSUER)
    .setAudience(edgeVariables.JWT_AUDIENCE)
    .setSubject(userId)
    .setExpirationTime(until)
    .sign(secret)
}

export function fetchWorker(path: string, init?: RequestInit): Promise<Response> {
  return exports.default.fetch(new Request(ORIGIN + path, init))
}

/** A user nobody has seen before. */
export function newUser(): User {
  return { tenant: 'acme', userId: `user-${crypto.randomUUID()}` }
}

/** Calls the worker in one user's name. */
export class Caller {
  readonly user: User
  readonly #token: Promise<string>

  constructor(user: User = newUser(), token?: string) {
    this.user = user
    this.#token = token === undefined ? tokenOf(user) : Promise.resolve(token)
  }

  async fetch(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('Authorization', `Bearer ${await this.#token}`)
    return fetchWorker(path, { ...init, method, headers })
  }

  /** A call with a body of JSON, and its answer. */
  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered<Body>> {
    const response = await this.fetch(method, path, {
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
    }
  }

  /** A session of this user that nobody has seen before. */
  async session(): Promise<string> {
    const session = `session-${crypto.randomUUID()}`
    await this.call('POST', '/v1/sessions', { session_id: session })
    return session
  }
}
