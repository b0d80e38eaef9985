import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import { invalid } from '../../text/json.ts'
import type { AppEnv } from './app-env.ts'
import { schemas } from './schemas.ts'

/** What the description of the API says of a route. */
export interface Description {
  /** Names it in clients that are generated. */
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As OpenAPI writes it: `/v1/sessions/{session}`. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodType
  /** Of JSON. */
  readonly body?: z.ZodType
  /** Media type of a body, or of an answer, that is not JSON, or may be another. */
  readonly media?: { readonly body?: string; readonly answer?: string }
  /** What it answers with; none: 204. */
  readonly answer?: z.ZodType
  readonly status?: 201
  /** Further statuses: with the same body, but for 101, 204 and 304. */
  readonly also?: readonly (101 | 200 | 202 | 204)[]
  /**
   * Whether what is read or written has a version: then the answer has an `ETag`, a read may be
   * 304, and a write may be bound to it.
   */
  readonly isVersioned?: true
  /** Headers of an answer beside those that every answer has. */
  readonly headers?: readonly (keyof typeof HEADERS)[]
  /** Whether a write takes an `Idempotency-Key`. Default true. */
  readonly isKeyed?: false
  /** Whether anybody may ask, without a token. Default: only outside of `/v1` and `/mcp`. */
  readonly isOpen?: true
  /** Who may ask. Default: users. */
  readonly by?: 'operator'
  /** What it refuses with, as JSON, beside problem details. */
  readonly refusal?: z.ZodType
  /** Status of an answer that has no body, beside those that never have one. */
  readonly bodiless?: 202
}

const text = { type: 'string' as const }
const HEADERS = {
  ETag: 'Version of what was read or written',
  Location: 'Where the session is that was made (201)',
  'Plimsoll-Run': 'Names the run',
  RateLimit: 'What is left of the budgets that it was taken of (draft-ietf-httpapi-ratelimit-headers)',
  'RateLimit-Policy': 'How much there is of them, and in how many seconds',
  'X-Request-Id': 'Names the request in the edge’s log',
  'Retry-After': 'Seconds to wait',
  Allow: 'Methods that the route takes (405)',
  'WWW-Authenticate': 'How to authenticate (401)',
}
const REFUSAL = ['X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy'] as const
const PARAMETER = /\{(\w+)\}/g

/** As the router writes a path. */
export function routeOf(path: string): string {
  return path.replace(PARAMETER, ':$1')
}

/** Describes a route, and refuses what would bind it to a version where nothing has one. */
export function describe(app: OpenAPIHono<AppEnv>, description: Description): void {
  refuseConditions(app, description)
  const { id, method, path, summary, query, body, media = {}, isOpen, by = 'bearer', refusal } = description
  const content = {
    ...(body && { 'application/json': { schema: body } }),
    ...(media.body !== undefined && { [media.body]: { schema: text } }),
  }
  const isOwn = /^\/(v1|mcp)\b/.test(path) && !isOpen
  app.openAPIRegistry.registerPath(
    createRoute({
      operationId: id,
      method,
      path,
      summary,
      tags: [path.split('/')[path.startsWith('/v1') ? 2 : 1] ?? 'edge'],
      parameters: parametersOf(description),
      security: isOwn ? [{ [by]: [] }] : [],
      request: {
        ...(query && { query: query as never }),
        ...(Object.keys(content).length > 0 && { body: { content, required: true } }),
      },
      responses: {
        ...successes(description),
        '4XX': refused(refusal, [...REFUSAL, 'Allow', 'WWW-Authenticate']),
        '5XX': refused(refusal, REFUSAL),
      } as never,
    }),
  )
}

/**
 * A condition that is not heeded would be broken in silence. But for `If-None-Match` of a read:
 * what has no version is not what the caller holds, so all of it is the answer.
 */
function refuseConditions(app: OpenAPIHono<AppEnv>, { method, path, isVersioned }: Description): void {
  const isWrite = method !== 'get'
  if (isVersioned && isWrite) return
  const refused = isWrite ? ['If-Match', 'If-None-Match'] : ['If-Match']
  app.on(method.toUpperCase(), routeOf(path), ({ req }, next) => {
    const name = refused.find((one) => req.header(one) !== undefined)
    if (name !== undefined) throw invalid('the request', name, 'is not for what has no version')
    return next()
  })
}

/** What stands in the path, and headers that a request may have. */
function parametersOf({ method, path, isVersioned, isKeyed, isOpen }: Description) {
  const isWrite = method !== 'get'
  const names: [string, string][] = []
  if (isWrite && isKeyed !== false && path.startsWith('/v1') && !isOpen)
    names.push(['Idempotency-Key', 'Names what is asked for: the same again is done once'])
  if (isVersioned) names.push(['If-None-Match', 'Versions that are not to be there, or `*`'])
  if (isVersioned && isWrite) names.push(['If-Match', 'Versions of which one is to be there, or `*`'])
  const parameters = [...path.matchAll(PARAMETER)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: text,
  }))
  return [
    ...parameters,
    ...names.map(([name, description]) => ({
      name,
      in: 'header' as const,
      required: false,
      description,
      schema: name === 'Idempotency-Key' ? { ...text, pattern: '^[ -~]{1,256}$' } : text,
    })),
  ]
}

function successes({
  method,
  answer,
  status: made,
  also = [],
  media = {},
  headers = [],
  ...rest
}: Description) {
  const { isVersioned, bodiless } = rest
  const status = made ?? 200
  const hasBody = answer !== undefined || media.answer !== undefined
  const content = {
    ...(answer && { 'application/json': { schema: answer } }),
    ...(media.answer !== undefined && { [media.answer]: { schema: text } }),
  }
  const isWrite = method !== 'get'
  const own = headersOf([
    'X-Request-Id',
    ...(isVersioned ? (['ETag'] as const) : []),
    ...(isWrite ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
    ...headers,
  ])
  const statuses: number[] = [...(hasBody ? [status] : also.includes(101) ? [] : [204]), ...also]
  return {
    ...Object.fromEntries(
      statuses.map((code) => [
        code,
        {
          description: DONE[code] ?? 'Done',
          headers: own,
          ...(code !== 204 && code !== 101 && code !== bodiless && hasBody && { content }),
        },
      ]),
    ),
    ...(isVersioned && !isWrite && { 304: { description: 'It is what the caller holds', headers: own } }),
  }
}

const DONE: Readonly<Record<number, string>> = {
  101: 'A WebSocket',
  200: 'Done',
  201: 'Made',
  202: 'Begun; the rest follows',
  204: 'Done, or nothing is there to say',
}

function refused(schema: z.ZodType | undefined, headers: readonly (keyof typeof HEADERS)[]) {
  return {
    description: 'A refusal',
    headers: headersOf(headers),
    content: {
      'application/problem+json': { schema: schemas.problem },
      ...(schema && { 'application/json': { schema } }),
    },
  }
}

function headersOf(names: readonly (keyof typeof HEADERS)[]) {
  return Object.fromEntries(names.map((name) => [name, { description: HEADERS[name], schema: text }]))
}
