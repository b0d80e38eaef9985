import { webHost } from '../platform/web.ts'
import { checkMediaType } from '../ports/attachment.ts'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../ports/errors.ts'
import type { Scope } from '../ports/op.ts'
import { checkOptions, invalid } from '../ports/options.ts'
import type { Store } from '../ports/store.ts'
import type {
  AttachmentRequest,
  PullAnswer,
  PushAnswer,
  SyncFailure,
  SyncOp,
  SyncScope,
} from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { PROBLEM_TYPE, type Problem } from '../ports/wire.ts'
import { checkFunction, checkMethod } from '../text/check-value.ts'
import { answerPull, PULL_BYTES } from './answer-pull.ts'
import { answerPush, type PushOptions } from './home.ts'
import { giveAttachment, headersOf, MOST_ATTACHED, takeAttachment } from './home-attachments.ts'
import { newTok } from './tok.ts'
import {
  attachmentIn,
  decodePull,
  decodePush,
  encodePullAnswers,
  encodePushAnswers,
} from './wire-requests.ts'

export interface SyncServerOptions {
  /** Where the homes are. What else writes to it does so through `homeStore(store)`. */
  readonly store: Store
  /**
   * Contract: says who calls, or `undefined` where the request proves nothing. It must not read the
   * body. What it throws is answered with its code where it is a `PlimsollError`, else with 500.
   */
  readonly authenticate: (request: Request) => Promise<Omit<Scope, 'sessionId'> | undefined>
  /**
   * Contract: gives what says of an op why it is not taken, for example `checkPushed`. Called
   * before each push to a scope, with all of its ops. Default: all are taken, for homes that see
   * ciphertext alone, or that only replicas of one's own can reach.
   */
  readonly check?: (scope: Scope, ops: readonly SyncOp[]) => Promise<PushOptions['refuse']>
  /** Called after a push wrote to a scope: its other replicas may want to know. */
  readonly onChange?: (scope: Scope) => void
  /** Called with each failure that is the server's own; the answer says no more than that. */
  readonly onError?: (error: unknown) => void
  /**
   * Largest body of a request, in bytes. Default 4 MiB: a push has at most half a million UTF-16
   * units of bodies, of which each can take 6 bytes, unless its first op alone has more. Of an
   * attachment by default 8 MiB, and 4 KiB for what encrypts it.
   */
  readonly maxBytes?: number
  /** Default: 96 random bits. */
  readonly newTok?: () => string
  /** The home's time, Unix milliseconds: answers tell it. Default: `Date.now`. */
  readonly now?: () => number
}

const MAX_BYTES = 4 * 2 ** 20
const JSON_TYPE = 'application/json'
const METHODS: { readonly [call: string]: readonly string[] } = {
  push: ['POST'],
  pull: ['POST'],
  attachment: ['PUT', 'GET'],
}

/**
 * The home of any number of users' replicas, over any store: answers `POST …/v1/sync/push` and
 * `…/pull`, `PUT` and `GET …/v1/sync/attachment`. Each caller reaches its own scopes and no others.
 *
 * @example
 * ```ts
 * import { sqliteStore } from 'plimsoll/sqlite'
 * import { syncServer } from 'plimsoll/sync'
 *
 * const answer = syncServer({ store: sqliteStore({ path: 'home.sqlite' }), authenticate })
 * ```
 */
export function syncServer(options: SyncServerOptions): (request: Request) => Promise<Response> {
  checkOptions('syncServer', 'options', options, [
    'store',
    'authenticate',
    'check',
    'onChange',
    'onError',
    'maxBytes',
    'newTok',
    'now',
  ])
  checkMethod('syncServer', 'store', options.store, 'open')
  checkFunction('syncServer', 'authenticate', options.authenticate)
  const server = new SyncServer(options)
  return (request) => server.answer(request)
}

class SyncServer {
  readonly #options: SyncServerOptions
  readonly #newTok: () => string
  readonly #now: () => number

  constructor(options: SyncServerOptions) {
    this.#options = options
    this.#newTok = options.newTok ?? newTok
    this.#now = options.now ?? webHost.now
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.#answer(request)
    } catch (error) {
      return problem(this.#known(error))
    }
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const [, call = ''] = /\/v1\/sync\/(push|pull|attachment)$/.exec(url.pathname) ?? []
    const methods = METHODS[call]
    if (!methods) throw new PlimsollError('ERR_NOT_FOUND', 'the request: there is no such route')
    if (!methods.includes(request.method)) {
      const reason = `must be a ${methods.join(' or ')}`
      return problem(new PlimsollError('ERR_METHOD_NOT_ALLOWED', `the request: ${reason}`), methods)
    }
    const principal = await this.#options.authenticate(request)
    if (!principal) throw new PlimsollError('ERR_UNAUTHENTICATED', 'the request: proves nobody')
    const { tenant, userId } = principal
    const user: Scope = { ...(tenant !== undefined && { tenant }), userId }
    if (call === 'attachment') return this.#attachment(user, attachmentIn(url.searchParams), request)
    checkJson(request)
    const text = decoded(await readBody(request, this.#options.maxBytes ?? MAX_BYTES))
    return json(await (call === 'push' ? this.#push(user, text) : this.#pull(user, text)))
  }

  async #attachment(user: Scope, asked: AttachmentRequest, request: Request): Promise<Response> {
    const { sessionId, id } = asked
    const scope = this.#options.store.open({ ...user, ...(sessionId !== undefined && { sessionId }) })
    if (request.method === 'GET') {
      const found = await giveAttachment(scope, asked)
      if (found) return new Response(found.bytes, { headers: headersOf(found) })
      throw new PlimsollError('ERR_NOT_FOUND', `attachment: nothing is attached under ${id}`, { id })
    }
    const mediaType = checkMediaType('attach', request.headers.get('Content-Type'))
    const bytes = await readBody(request, this.#options.maxBytes ?? MOST_ATTACHED)
    const attached = await takeAttachment(scope, asked, { id, mediaType, bytes }, this.#now())
    return json(JSON.stringify({ attached }))
  }

  async #push(user: Scope, text: string): Promise<string> {
    const { store, check, onChange } = this.#options
    const answers: (PushAnswer | SyncFailure)[] = []
    for (const request of decodePush(text))
      answers.push(
        await this.#inScope(user, request, async (scope) => {
          const refuse = await check?.(scope, request.ops)
          return answerPush(store.open(scope), request, {
            newTok: this.#newTok,
            ...(refuse && { refuse }),
            ...(onChange && { onWrite: () => onChange(scope) }),
          })
        }),
      )
    return encodePushAnswers(answers, this.#now())
  }

  async #pull(user: Scope, text: string): Promise<string> {
    const answers: (PullAnswer | SyncFailure)[] = []
    let left = PULL_BYTES
    for (const request of decodePull(text)) {
      const bytes = Math.max(0, left)
      const answer = await this.#inScope(user, request, (scope) =>
        answerPull(this.#options.store.open(scope), request, { newTok: this.#newTok, bytes }),
      )
      answers.push(answer)
      if ('ops' in answer && (answer.start || answer.ops.length > 0))
        left -= utf8Length(encodePullAnswers([answer]))
    }
    return encodePullAnswers(answers, this.#now())
  }

  /** One scope that fails does not stop the others. */
  async #inScope<Answer>(
    user: Scope,
    { sessionId }: SyncScope,
    work: (scope: Scope) => Promise<Answer>,
  ): Promise<Answer | SyncFailure> {
    try {
      return await work({ ...user, ...(sessionId !== undefined && { sessionId }) })
    } catch (error) {
      const { code, message, retryAfter } = this.#known(error)
      return { error: { code, message, ...(retryAfter !== undefined && { retryAfter }) } }
    }
  }

  /** What is not ours is hidden: its message may hold anything. */
  #known(error: unknown): PlimsollError {
    const known = isPlimsollError(error)
      ? error
      : new PlimsollError('ERR_INTERNAL', 'the server: internal error; send the same again')
    if (statusOf(known.code) >= 500) this.#options.onError?.(error)
    return known
  }
}

/** How errors are answered; all others are faults of the server's own. */
const PROBLEMS: { readonly [code in ErrorCode]?: readonly [status: number, title: string] } = {
  ERR_CONFLICT: [409, 'Not as the request says'],
  ERR_DUPLICATE_ID: [409, 'The id names something else'],
  ERR_ENTRY_TOO_LARGE: [413, 'Too large'],
  ERR_FORBIDDEN: [403, 'Forbidden'],
  ERR_INVALID_ARGUMENT: [400, 'The request is not valid'],
  ERR_METHOD_NOT_ALLOWED: [405, 'Not by this method'],
  ERR_NOT_FOUND: [404, 'Not found'],
  ERR_OVERLOADED: [503, 'Too much to do'],
  ERR_RATE_LIMIT: [429, 'A budget is used up'],
  ERR_UNAUTHENTICATED: [401, 'Not authenticated'],
  ERR_UNSUPPORTED_MEDIA_TYPE: [415, 'Not of this type'],
  ERR_UPGRADE_REQUIRED: [426, 'Written by a newer version'],
}

function statusOf(code: ErrorCode): number {
  return PROBLEMS[code]?.[0] ?? 500
}

/** An error as RFC 9457 problem details. */
function problem(error: PlimsollError, methods?: readonly string[]): Response {
  const { code, message, argument, size, limit, retryAfter } = error
  const [status, title] = PROBLEMS[code] ?? [500, 'The server failed']
  const details = {
    type: `urn:plimsoll:error:${code}`,
    title,
    status,
    detail: message,
    code,
    argument,
    size,
    limit,
    retry_after: retryAfter,
  } satisfies Partial<Record<keyof Problem | 'retry_after', unknown>>
  return new Response(JSON.stringify(details), {
    status,
    headers: {
      'Content-Type': PROBLEM_TYPE,
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
      ...(methods && { Allow: methods.join(', ') }),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  })
}

/** @throws ERR_UNSUPPORTED_MEDIA_TYPE */
function checkJson({ headers }: Request): void {
  const type = headers.get('Content-Type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== JSON_TYPE || (headers.get('Content-Encoding') ?? 'identity') !== 'identity')
    throw new PlimsollError('ERR_UNSUPPORTED_MEDIA_TYPE', `the body: must be ${JSON_TYPE}`)
}

function json(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' } })
}

/** @throws ERR_ENTRY_TOO_LARGE, ERR_INVALID_ARGUMENT (it broke off) */
async function readBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = request.body?.getReader()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      // Counted as it comes: what a header says of its length is only a claim.
      size += value.length
      if (size > limit) break
      parts.push(value)
    }
  } catch {
    throw invalid('the request', 'body', 'must be whole')
  } finally {
    await reader?.cancel().catch(() => {})
  }
  if (size > limit) {
    const reason = `more than ${limit} bytes`
    throw new PlimsollError('ERR_ENTRY_TOO_LARGE', `the body: ${reason}`, { size, limit })
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

/** @throws ERR_INVALID_ARGUMENT: not UTF-8 */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw invalid('the request', 'body', 'must be UTF-8')
  }
}
