import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { MAX_ENTRY_BYTES } from '../../../kernel/log/message.ts'
import { webHost } from '../../../platform/web.ts'
import { checkMediaType } from '../../../ports/attachment.ts'
import { isPlimsollError, PlimsollError } from '../../../ports/errors.ts'
import type { Scope } from '../../../ports/op.ts'
import { checkPicture } from '../../../ports/picture.ts'
import {
  PUSH_OPS,
  type PullAnswer,
  type PushAnswer,
  SYNC_PROTOCOL,
  SYNC_SCOPES,
  type SyncFailure,
  type SyncScope,
} from '../../../ports/sync.ts'
import { utf8Length } from '../../../ports/utf8-length.ts'
import { PULL_BYTES, PULL_OPS } from '../../../sync/answer-pull.ts'
import { headersOf, MOST_ATTACHED } from '../../../sync/home-attachments.ts'
import { encodePush } from '../../../sync/wire.ts'
import { decodePull, decodePush, encodePullAnswers, encodePushAnswers } from '../../../sync/wire-requests.ts'
import type { AppEnv } from '../app-env.ts'
import { JSON_TYPE, MAX_BODY_BYTES, readBytes, readJsonText } from '../body.ts'
import { describe } from '../describe.ts'
import { checkName, queryIn } from '../endpoint.ts'
import { onSession, onUser, userScope } from '../objects.ts'
import { asPlimsollError, PROBLEMS } from '../problem.ts'
import { schemas, shapes } from '../schemas.ts'

/** An op may be as long as an entry, and others go with it. */
const MOST_PUSHED = MAX_ENTRY_BYTES + MAX_BODY_BYTES

const name = z.string().min(1)
const proto = z.literal(SYNC_PROTOCOL)
const session = schemas.id.optional().describe('None: the scope that the caller’s sessions share.')
const generation = z.string().describe('Names the log, until it is erased; empty: none is known.')
const cursor = z.int().min(0).describe('Place of an op in the log: 1, 2, 3 …')
const time = z.int().min(0).describe('When the home answered, by its clock: Unix milliseconds.')
const anchor = z.string().optional().describe('Random, of the op at the cursor: none at 0.')
const body = shapes.json.nullable()
const index = z
  .array(z.object({ group: name, order: z.string().optional(), weight: z.int().optional() }))
  .optional()
const op = z
  .object({
    op: name.optional().describe('None: `entry:` and its id.'),
    kind: name.optional(),
    mark: name.optional(),
    put: name.optional().describe('The key of the register that it writes.'),
    delete: name.optional().describe('What it empties, for ever.'),
    erase: z.literal(true).optional(),
    id: schemas.id.optional(),
    ids: z.array(schemas.id).optional(),
    round: z
      .union([schemas.id, z.literal(0)])
      .optional()
      .describe('0: as the append before it.'),
    base: name.optional(),
    lane: name.optional(),
    sources: z.array(name).optional(),
    index,
    attachments: z.array(name).optional(),
    contexts: z.array(z.array(z.union([name, shapes.count]))).optional(),
    body: body.optional(),
    bodies: z.array(body).optional(),
    beside: z.array(z.array(shapes.json)).optional(),
  })
  .openapi('SyncOp', { description: 'One of `put`, `delete`, `erase` and `mark`; none: messages.' })
const failure = z
  .object({
    error: z.object({ code: name, message: z.string(), retry_after: shapes.count.optional() }),
  })
  .openapi('SyncFailure')

const attachments = z.array(schemas.id)
const pushedTo = z.object({
  session,
  generation,
  ops: z.array(op).max(PUSH_OPS),
  without: attachments.optional().describe('Attachments that no op is to wait for.'),
})
const push = z.object({ proto, scopes: z.array(pushedTo).max(SYNC_SCOPES) }).openapi('Push', {
  example: { proto: SYNC_PROTOCOL, scopes: [{ session: 'trip', generation: '', ops: [] }] },
})
const pushed = z
  .object({
    time,
    scopes: z.array(
      z.union([
        z.object({
          generation,
          results: z.array(
            z.union([cursor, z.object({ conflict: z.string().nullable() }), z.object({ rejected: name })]),
          ),
          head: shapes.count,
          repeated: z.array(shapes.count).optional().describe('Places of ops that were here before.'),
          lacks: attachments.optional().describe('Attachments that the next op waits for.'),
        }),
        z.object({ erased: z.literal(true), generation }),
        failure,
      ]),
    ),
  })
  .openapi('Pushed')
const pull = z
  .object({
    proto,
    scopes: z
      .array(
        z.object({
          session,
          generation: generation.optional(),
          cursor,
          anchor,
          limit: z.int().min(1).max(PULL_OPS).optional(),
          known: z.array(z.array(z.int().min(1)).min(2).max(2)).optional(),
          replica: z.string().min(1).max(64).optional().describe('A random name of the replica.'),
          start: z
            .union([z.int().min(0), z.object({ bytes: z.int().min(1), since: z.int() }).partial()])
            .optional()
            .describe('Ops after this seq in place of those after the cursor; or the newest of the log.'),
          waiting: z.array(name).max(512).optional().describe('Ops that wait there; with `start`.'),
        }),
      )
      .max(SYNC_SCOPES),
  })
  .openapi('Pull', { example: { proto: SYNC_PROTOCOL, scopes: [{ session: 'trip', cursor: 0 }] } })
const start = z
  .object({
    ordinal: shapes.count.describe('Messages up to there.'),
    first: schemas.id.optional(),
    registers: z
      .array(
        z.object({
          key: name,
          version: name,
          seq: cursor,
          sources: z.array(name).optional(),
          index,
          body: z.string().describe('As it is stored.'),
        }),
      )
      .describe('With a value, and not written since.'),
    marks: z.array(z.object({ slot: name, id: schemas.id, seq: cursor, chain: shapes.count })),
    arrived: z.array(name).describe('Of the ops that wait, those that were written up to there.'),
  })
  .openapi('SyncStart')
const pulled = z
  .object({
    time,
    scopes: z.array(
      z.union([
        z.object({
          generation,
          from: cursor,
          ops: z.array(z.union([op, name])),
          cursor,
          anchor,
          head: shapes.count,
          replicas: z
            .array(z.tuple([name, z.int().min(-1)]))
            .optional()
            .describe('Up to which seq each replica holds nothing of what was deleted.'),
          emptiedAt: shapes.count.optional().describe('The newest seq that deleted something.'),
          start: start.optional().describe('What the log comes to at `from`, where that was asked for.'),
        }),
        z.object({ reset: z.enum(['erased', 'diverged', 'too-old']), generation }),
        failure,
      ]),
    ),
  })
  .openapi('Pulled')

const attachmentQuery = z.strictObject({
  session: schemas.id,
  generation,
  id: schemas.id.describe('Of the attachment.'),
})
const attached = z.object({ attached: z.enum(['stored', 'kept', 'deleted']) }).openapi('Attached')
const ANY_TYPE = '*/*'

/**
 * The home of replicas: what they wrote while they were offline, and what others did. One request
 * is about several scopes of the caller's, each with an answer of its own.
 */
export function syncRoutes(app: OpenAPIHono<AppEnv>): void {
  describe(app, {
    id: 'push',
    method: 'post',
    path: '/v1/sync/push',
    isKeyed: false,
    summary: 'Writes ops of a replica, which name themselves: sent again, they are answered the same',
    body: push,
    answer: pushed,
  })
  app.post('/v1/sync/push', async (context) => {
    const settings = context.get('settings')
    const { value: text, bytes } = await readRequest(context, MOST_PUSHED)
    const requests = decodePush(text)
    const answers = await answerEach(context, requests, async (request, user): Promise<PushAnswer> => {
      const { sessionId, ...pushed } = request
      const meta = { bytes: requests.length === 1 ? bytes : utf8Length(encodePush([request])) }
      if (sessionId === undefined)
        return onUser(settings, user, async (object) => object.push(user, pushed, meta))
      const scope = { ...user, sessionId }
      return onSession(settings, scope, async (object) => object.push(scope, pushed, meta))
    })
    return json(encodePushAnswers(answers, webHost.now()))
  })
  describe(app, {
    id: 'pull',
    method: 'post',
    path: '/v1/sync/pull',
    isKeyed: false,
    summary: 'What logs have after a replica’s places: about 900 KB in all, and no less than an op of each',
    body: pull,
    answer: pulled,
  })
  app.post('/v1/sync/pull', async (context) => {
    const settings = context.get('settings')
    const requests = decodePull((await readRequest(context, MAX_BODY_BYTES)).value)
    const bytes = Math.floor(PULL_BYTES / requests.length)
    const answers = await answerEach(context, requests, async (asked, user): Promise<PullAnswer> => {
      const { sessionId, ...request } = asked
      if (sessionId === undefined)
        return onUser(settings, user, async (object) => object.pullLog(user, request, bytes))
      const scope = { ...user, sessionId }
      return onSession(settings, scope, async (object) => object.pull(scope, request, bytes))
    })
    return json(encodePullAnswers(answers, webHost.now()))
  })
  describe(app, {
    id: 'attachBytes',
    method: 'put',
    path: '/v1/sync/attachment',
    isKeyed: false,
    summary: 'Keeps the bytes, of at most 8 MiB, that an op of the next push names; repeating it is a no-op',
    query: attachmentQuery,
    media: { body: ANY_TYPE },
    answer: attached,
  })
  app.put('/v1/sync/attachment', async (context) => {
    const { scope, request } = askedIn(context)
    const mediaType = checkMediaType('attach', context.req.header('Content-Type'))
    const bytes = new Uint8Array(await readBytes(context.req.raw, MOST_ATTACHED))
    checkPicture('attach', 'bytes', mediaType, bytes)
    const outcome = await onSession(context.get('settings'), scope, async (object) =>
      object.attach(scope, request, { id: request.id, mediaType, bytes }, { bytes: bytes.length }),
    )
    return json(JSON.stringify({ attached: outcome }))
  })
  describe(app, {
    id: 'attachedBytes',
    method: 'get',
    path: '/v1/sync/attachment',
    summary: 'The bytes that an op of the log names',
    query: attachmentQuery,
    media: { answer: ANY_TYPE },
  })
  app.get('/v1/sync/attachment', async (context) => {
    const { scope, request } = askedIn(context)
    const settings = context.get('settings')
    const found = await onSession(settings, scope, async (object) => object.attachment(scope, request))
    if (found) return new Response(found.bytes, { headers: headersOf(found) })
    const reason = `nothing is attached under ${request.id}`
    throw new PlimsollError('ERR_NOT_FOUND', `attachment: ${reason}`, { id: request.id })
  })
}

/** Which attachment a request is about. */
function askedIn({ req, var: { principal } }: Context<AppEnv>) {
  const { session, ...request } = queryIn(req, attachmentQuery) as z.output<typeof attachmentQuery>
  return { scope: { ...userScope(principal), sessionId: checkName('session', session) }, request }
}

function readRequest({ req }: Context<AppEnv>, limit: number) {
  queryIn(req)
  return readJsonText(req.raw, limit)
}

function json(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' } })
}

/**
 * Asks for each scope by itself: one that fails is no reason to keep the others waiting.
 *
 * @throws ERR_INVALID_ARGUMENT: no URL can hold the name of a session; ERR_UNAUTHENTICATED: the
 * caller is nobody any more
 */
async function answerEach<Request extends SyncScope, Answer>(
  context: Context<AppEnv>,
  requests: readonly Request[],
  ask: (request: Request, user: Scope) => Promise<Answer>,
): Promise<readonly (Answer | SyncFailure)[]> {
  for (const { sessionId } of requests) if (sessionId !== undefined) checkName('session', sessionId)
  const user = userScope(context.get('principal'))
  const answers = new Map<Request, Promise<Answer | SyncFailure>>()
  /** The last of each scope: those to the same come one after the other. */
  const before = new Map<string | undefined, Promise<unknown>>()
  const begin = (request: Request): void => {
    const { sessionId } = request
    const answered = Promise.resolve(before.get(sessionId))
      .then(() => ask(request, user))
      .catch((error: unknown) => failureOf(context, error))
    before.set(sessionId, answered)
    answers.set(request, answered)
  }
  // What lists a session comes before what is written to it.
  for (const request of requests) if (request.sessionId === undefined) begin(request)
  await Promise.all(answers.values())
  for (const request of requests) if (request.sessionId !== undefined) begin(request)
  return Promise.all(requests.map((request) => answers.get(request) as Promise<Answer | SyncFailure>))
}

function failureOf(context: Context<AppEnv>, error: unknown): SyncFailure {
  if (isPlimsollError(error, 'ERR_UNAUTHENTICATED')) throw error
  const known = asPlimsollError(error)
  const { code, message, retryAfter } = known
  // For the log: the other scopes were answered.
  if (PROBLEMS[code].status >= 500) context.error ??= known
  return { error: { code, message, ...(retryAfter !== undefined && { retryAfter }) } }
}
