import type { Certificate } from '../ports/certificate.ts'
import type { SessionInfo as AnySessionInfo } from '../ports/session.ts'
import { passAbsent } from './error.ts'
import { type MeClient, meClient } from './me.ts'
import { type CallOptions, type ClientOptions, settingsOf, type WriteOptions } from './options.ts'
import { pathOf } from './paths.ts'
import { type SessionClient, sessionClient } from './session.ts'
import { createTransport, type Transport } from './transport.ts'

/** A conversation, as the edge says of it. */
export interface SessionInfo extends AnySessionInfo {
  /** Whose facts show in it beside those of no project. */
  readonly project?: string
}

/** Somebody who has not signed in. */
export interface Guest {
  readonly token: string
  readonly userId: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

/** What the edge says of itself. */
export interface Health {
  readonly status: string
  /** Whether what the edge stores is encrypted. */
  readonly encrypted?: boolean
  /** Whether a script answers in chats, and no model. */
  readonly demo?: boolean
  readonly [name: string]: unknown
}

/** A session that is to be made. */
export interface NewSession {
  /** Default: the edge makes one. */
  readonly sessionId?: string
  readonly title?: string
  readonly project?: string
}

/** The memory of an edge, over HTTP. Keeps no state but its settings; one is enough. */
export interface Client {
  /** The caller's conversations. */
  readonly sessions: SessionsClient
  /** What all of them share. */
  readonly me: MeClient
  /** Callers who have not signed in. */
  readonly guests: GuestsClient
  /** One conversation; nothing is sent. @throws ERR_INVALID_ARGUMENT */
  session(sessionId: string): SessionClient
  /** Whether the edge is there. Sends no token. */
  health(options?: CallOptions): Promise<Health>
}

export interface SessionsClient {
  /** At most 512 sessions, by id; more of them `after` the last one. */
  list(options?: CallOptions & { readonly after?: string }): Promise<readonly SessionInfo[]>
  /** Idempotent where the session's id is given; without one, a session of a fresh id. */
  create(session?: NewSession, options?: WriteOptions): Promise<SessionInfo>
  /** @throws ERR_NOT_FOUND */
  get(sessionId: string, options?: CallOptions): Promise<SessionInfo>
  /** @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT */
  update(sessionId: string, change: { readonly title: string }, options?: WriteOptions): Promise<SessionInfo>
  /**
   * Removes a session and all of its log. Idempotent.
   *
   * @returns what was removed: ids and counts, no text; undefined: there is no such session
   */
  delete(sessionId: string, options?: WriteOptions): Promise<Certificate | undefined>
}

export interface GuestsClient {
  /**
   * Somebody new, where the edge lets guests in. Sends no token, so that a token function may call
   * it. @throws ERR_NOT_FOUND
   */
  create(options?: WriteOptions): Promise<Guest>
}

/**
 * A client of a Plimsoll edge, for browsers, Node 20 and later, and Workers.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example With an edge:
 * ```ts
 * import { toAnthropic } from 'plimsoll'
 * import { createClient } from 'plimsoll/client'
 *
 * const client = createClient({ baseUrl: 'https://memory.example.com', token: () => auth.token() })
 * const session = client.session('trip')
 * await session.append({ role: 'user', content: 'When does the train leave?' })
 * const request = toAnthropic(await session.context())
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(settingsOf(options))
  const { json } = transport
  return {
    sessions: sessionsClient(transport),
    me: meClient(transport),
    guests: {
      create: (options) => json('POST', pathOf('guests'), { ...options, isOpen: true }),
    },
    session: (sessionId) => sessionClient(transport, sessionId),
    health: (options) => json('GET', '/health', { ...options, isOpen: true }),
  }
}

function sessionsClient({ get, json, settings }: Transport): SessionsClient {
  return {
    list: async (options) =>
      (await get<{ readonly sessions: readonly SessionInfo[] }>(pathOf('sessions'), options)).sessions,
    // Named here, so that it is one session however often the request is sent.
    create: ({ sessionId = settings.newId(), ...body } = {}, options) =>
      json('POST', pathOf('sessions'), { ...options, body: { sessionId, ...body } }),
    get: async (sessionId, options) => json('GET', pathOf('sessions', sessionId), options),
    update: async (sessionId, body, options) =>
      json('PATCH', pathOf('sessions', sessionId), { ...options, body }),
    // It may be there no more since the first try, whose answer was lost.
    delete: async (sessionId, options) =>
      json<Certificate>('DELETE', pathOf('sessions', sessionId), options).catch(passAbsent),
  }
}
