import { DurableObject } from 'cloudflare:workers'
import type { AppendOptions } from '../../core/writer.ts'
import { handleMcpRequest } from '../../mcp/handle-request.ts'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { MessageInput } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import { durableObjectStore } from '../../stores/durable-object.ts'
import { type Answer, answer, NOTHING } from './answer.ts'
import type { EdgeBindings } from './bindings.ts'
import { callObject } from './call-object.ts'
import { copyScope } from './copy-scope.ts'
import { LiveSockets } from './live-sockets.ts'
import { objectName } from './object-name.ts'
import { answerScopeCall, remoteScope, type ScopeCall, type ScopeHost } from './remote-scope.ts'
import {
  type Asked,
  CHANGES,
  type GivenMessage,
  OWN_CALLS,
  type SessionCallInput,
  type SessionCallName,
  sessionCalls,
} from './session-calls.ts'
import { SessionHome, userOf } from './session-home.ts'
import { SessionRecords, type SessionScope } from './session-record.ts'
import type { SessionSettings } from './settings.ts'
import { UserReplica } from './user-replica.ts'

/** What goes with a call beside its input. */
export interface CallMeta {
  /** Names the op; repeating it is a no-op that gives the first result. */
  readonly opId?: string
  /** Of the request's body, for the budget of bytes. */
  readonly bytes?: number
}

/** A request of the Model Context Protocol; its body is within the limit. */
export interface McpCall {
  readonly method: string
  readonly headers: [string, string][]
  readonly body?: Uint8Array
}

export interface SessionOptions {
  readonly title?: string
  readonly project?: string
}

/**
 * One session: its log, contexts and chats, and a copy of what its user's sessions share. Its calls are RPC methods of a Durable Object;
 * each says whose it is, and anybody else's is not there.
 *
 * Extend it to choose model, tools and memory, by overriding {@link settings}; export the class from the Worker and bind it as `SESSIONS`.
 */
export abstract class SessionObject<Env extends EdgeBindings = EdgeBindings>
  extends DurableObject<Env>
  implements ScopeHost
{
  readonly #records = new SessionRecords(this.ctx.storage)
  readonly #local: Store = durableObjectStore(this.ctx.storage)
  readonly #sockets = new LiveSockets(this.ctx, webHost.now)
  #home: SessionHome | undefined

  /** Contract: what the session is made with; asked at its first call after the object woke. */
  protected abstract settings(): SessionSettings

  /**
   * Makes the session, unless it is there. Idempotent; a title is set in any case, a project when it is made.
   *
   * @throws ERR_RATE_LIMIT, ERR_INVALID_ARGUMENT
   */
  async create(scope: SessionScope, { title, project }: SessionOptions = {}): Promise<Answer> {
    const home = await this.#ensure(scope, project)
    const sessions = home.memory.sessions(home.user)
    await sessions.add(scope.sessionId)
    if (title !== undefined) await sessions.title(scope.sessionId, title)
    return this.info(scope)
  }

  /** The session as it is listed. @throws ERR_NOT_FOUND */
  async info(scope: SessionScope): Promise<Answer> {
    const home = this.#open(scope)
    await home.refresh()
    const { sessionId } = scope
    const { createdAt = 0 } = this.#records.get() ?? {}
    const info = await home.memory.sessions(home.user).get(sessionId)
    const { project } = home
    return answer({
      ...(info ?? { sessionId, title: '', createdAt }),
      ...(project !== undefined && { project }),
    })
  }

  /** Runs one of {@link sessionCalls}. @throws ERR_NOT_FOUND: no such session, or another's */
  async call<Name extends SessionCallName>(
    scope: SessionScope,
    name: Name,
    input: SessionCallInput<Name>,
    { opId }: CallMeta = {},
  ): Promise<Answer> {
    const home = this.#open(scope)
    const stale = OWN_CALLS.has(name) ? undefined : await home.refresh()
    const session = home.session()
    const append = (messages: readonly GivenMessage[], options: AppendOptions) =>
      session.append(messages as readonly MessageInput[], options)
    const call = sessionCalls[name] as (asked: Asked, input: SessionCallInput<Name>) => Promise<Answer>
    return call({ session, append, ...(opId !== undefined && { opId }), ...(stale && { stale }) }, input)
  }

  /** Removes the session and all that is in it. @throws ERR_NOT_FOUND */
  async erase(scope: SessionScope): Promise<Answer> {
    const record = this.#records.get()
    if (!record || !isSame(record.scope, scope) || record.state === 'copying') throw notFound(scope)
    this.#records.put({ ...record, state: 'erasing' })
    await this.#finishErase()
    return NOTHING
  }

  /** A call of the session's store by another of the user's objects. @throws ERR_NOT_FOUND */
  async scope(scope: Scope, call: ScopeCall): Promise<unknown> {
    const record = this.#records.get()
    if (!record || !isSame(record.scope, scope) || (record.state !== 'live' && record.state !== 'moving'))
      throw notFound(scope)
    return answerScopeCall(this.#local.open(record.scope), call)
  }

  async chat(
    _s: SessionScope,
    _b: unknown,
    _m: CallMeta,
  ): Promise<{ run: string; stream: ReadableStream<Uint8Array> }> {
    throw new Error('todo')
  }
  async resumeChat(_s: SessionScope, _r: string): Promise<ReadableStream<Uint8Array> | undefined> {
    throw new Error('todo')
  }
  async stopChat(_s: SessionScope, _r: string): Promise<Answer> {
    throw new Error('todo')
  }
  async compact(_s: SessionScope, _o: unknown): Promise<Answer> {
    throw new Error('todo')
  }
  async putPart(_s: SessionScope, _o: unknown, _m: CallMeta): Promise<Answer> {
    throw new Error('todo')
  }

  /** Answers one request of the Model Context Protocol, on a session that is made if it is not there. */
  async mcp(scope: SessionScope, { method, headers, body }: McpCall): Promise<Response> {
    const home = await this.#ensure(scope)
    await home.refresh()
    const request = new Request('https://session/mcp', { method, headers, ...(body && { body }) })
    return handleMcpRequest(home.session(), request)
  }

  /** A socket that is told of changes. Its scope and its end are in headers, which the Worker alone sets. */
  override async fetch(request: Request): Promise<Response> {
    const { headers } = request
    const scope = JSON.parse(decodeURIComponent(headers.get('Plimsoll-Scope') ?? 'null')) as SessionScope
    this.#open(scope)
    const expires = headers.get('Plimsoll-Expires')
    return this.#sockets.accept(
      expires === null ? undefined : Number(expires),
      headers.has('Sec-WebSocket-Protocol'),
    )
  }

  /** Says that what the user's sessions share has changed. A hint. */
  poke(): void {
    this.#home?.poke()
  }

  /** From now on the session is only read, by whoever takes it over. Idempotent. @throws ERR_NOT_FOUND */
  async release(scope: SessionScope): Promise<SessionOptions> {
    const record = this.#records.get()
    if (!record || !isSame(record.scope, scope) || record.state === 'copying' || record.state === 'erasing')
      throw notFound(scope)
    const home = this.#homeOf(scope)
    const info = await home.memory.sessions(home.user).get(scope.sessionId)
    this.#records.put({ ...record, state: 'moving' })
    const { project } = record
    return { title: info?.title ?? '', ...(project !== undefined && { project }) }
  }

  /**
   * Takes a session over from another object. Idempotent; where it was not finished, it goes on.
   *
   * @throws ERR_DUPLICATE_ID: a session of that name is there, and was not taken over from there
   */
  async takeOver(scope: SessionScope, from: SessionScope): Promise<void> {
    this.#checkName(scope)
    const movedFrom = objectName(from)
    const record = this.#records.get()
    if (record && record.movedFrom !== movedFrom)
      throw new PlimsollError('ERR_DUPLICATE_ID', `takeOver: there is a session ${scope.sessionId}`, {
        id: scope.sessionId,
      })
    if (record?.state === 'live') return
    const stub = () => this.env.SESSIONS.getByName(movedFrom)
    const { title, project } = await callObject(stub, webHost, 'takeOver', (object) => object.release(from))
    const taken = {
      scope,
      movedFrom,
      createdAt: webHost.now(),
      ...(project !== undefined && { project }),
    }
    this.#records.put({ ...taken, state: 'copying' })
    await copyScope(remoteScope({ stub, scope: from, host: webHost }), this.#local.open(scope))
    this.#records.put({ ...taken, state: 'live' })
    this.#home = undefined
    await this.create(scope, title ? { title } : {})
  }

  /** The session, which is there. @throws ERR_NOT_FOUND, ERR_CONFLICT: it is being moved */
  #open(scope: SessionScope): SessionHome {
    const record = this.#records.get()
    if (!record || !isSame(record.scope, scope)) throw notFound(scope)
    if (record.state === 'moving')
      throw new PlimsollError('ERR_CONFLICT', 'session: it is being moved to another user', { version: null })
    if (record.state !== 'live') throw notFound(scope)
    return this.#homeOf(scope)
  }

  /** The session, made if it is not there. */
  async #ensure(scope: SessionScope, project?: string): Promise<SessionHome> {
    this.#checkName(scope)
    if (this.#records.get()?.state === 'erasing') await this.#finishErase()
    if (!this.#records.get()) {
      const user = userOf(scope)
      await callObject(
        () => this.env.USERS.getByName(objectName(user)),
        webHost,
        'create',
        (object) => object.admit(user),
      )
      this.#records.put({
        scope,
        ...(project !== undefined && { project }),
        createdAt: webHost.now(),
        state: 'live',
      })
    }
    return this.#open(scope)
  }

  #homeOf(scope: SessionScope): SessionHome {
    const record = this.#records.get()
    if (!record) throw notFound(scope)
    if (!this.#home) {
      const user = userOf(scope)
      this.#home = new SessionHome({
        record,
        settings: this.settings(),
        local: this.#local,
        replica: new UserReplica({
          local: this.#local.open(user),
          scope: user,
          sessionId: scope.sessionId,
          stub: () => this.env.USERS.getByName(objectName(user)),
          host: webHost,
        }),
      })
    }
    return this.#home
  }

  /** Removes what an erase that was begun has left. Idempotent. */
  async #finishErase(): Promise<void> {
    const record = this.#records.get()
    if (record?.state !== 'erasing') return
    const home = this.#homeOf(record.scope)
    await home.memory.sessions(home.user).delete(record.scope.sessionId)
    this.#home = undefined
    this.#records.remove()
    this.#sockets.end()
  }

  /** What calls this object by another's name is a mistake of ours. @throws ERR_NOT_FOUND */
  #checkName(scope: SessionScope): void {
    const { name } = this.ctx.id
    if (name !== undefined && name !== objectName(scope)) throw notFound(scope)
  }
}

function isSame(one: Scope, other: Scope): boolean {
  return one.tenant === other.tenant && one.userId === other.userId && one.sessionId === other.sessionId
}

/** The same for what is another's and for what is nowhere. */
function notFound({ sessionId = '' }: Scope): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `session: no ${sessionId}`, { id: sessionId })
}
