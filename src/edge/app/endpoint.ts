import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import type { Context, Handler } from 'hono'
import { checkId, invalid } from '../../kernel/text/json.ts'
import { etagOf, versionIn } from '../../ports/etag.ts'
import type { Answer } from '../objects/answer.ts'
import type { Principal } from '../principal.ts'
import { fromWire } from '../wire.ts'
import type { AppEnv } from './app-env.ts'
import { type Body, readJson } from './body.ts'
import { schemas } from './schemas.ts'

/** What a handler is given: a request that was read and checked. */
export interface Call<Query, Input> {
  readonly context: Context<AppEnv>
  readonly principal: Principal
  readonly query: Query
  readonly body: Input
  /** Of the body, as it came. */
  readonly bytes: number
  /** The header `Idempotency-Key`. */
  readonly opId: string | undefined
  /** The version in `If-Match`; `null`: there must be none (`If-None-Match: *`). */
  readonly ifVersion: string | null | undefined
  /** A parameter of the path: an id of 1 to 256 bytes. */
  param(name: string): string
}

export interface Endpoint<Query extends z.ZodType, Input extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As OpenAPI writes it: `/v1/sessions/{session}`. */
  readonly path: string
  readonly summary: string
  readonly query?: Query
  /** Of JSON. A body of another kind the handler reads itself: see {@link Endpoint.media}. */
  readonly body?: Input
  /**
   * Whether the body's keys stay as they are: it is not of this library's shapes. Default false.
   */
  readonly isVerbatim?: boolean
  /** Media type of a body, or of an answer, that is not JSON. */
  readonly media?: { readonly body?: string; readonly answer?: string }
  /** What it answers with; none: 204. */
  readonly answer?: z.ZodType
  readonly status?: 201
  /** What else it answers with in JSON, by status. */
  readonly others?: { readonly [status: number]: z.ZodType }
  /** Whether anybody may ask, without a token. Default: only outside of `/v1`. */
  readonly isOpen?: true
  /** Who may ask. Default: users. */
  readonly by?: 'operator'
}

const PROBLEM = {
  description: 'A refusal',
  content: { 'application/problem+json': { schema: schemas.problem } },
}
const PARAMETER = /\{(\w+)\}/g

/** One route: described for OpenAPI, and answered. */
export function endpoint<Query extends z.ZodType, Input extends z.ZodType>(
  app: OpenAPIHono<AppEnv>,
  spec: Endpoint<Query, Input>,
  handle: (call: Call<Camel<z.output<Query>>, Camel<z.output<Input>>>) => Promise<Answer | Response>,
): void {
  const { method, path, query, body, isVerbatim, status = 200 } = spec
  describe(app, spec)
  const handler: Handler<AppEnv> = async (context) => {
    const { req, var: vars } = context
    const given: Body<unknown> = body ? await readJson(req.raw) : { value: undefined, bytes: 0 }
    const answered = await handle({
      context,
      principal: vars.principal,
      query: (query && fromWire(checked(query, req.query(), 'query'))) as never,
      body: (isVerbatim ? given.value : body && fromWire(checked(body, given.value, 'body'))) as never,
      bytes: given.bytes,
      opId: idIn(req.header('Idempotency-Key'), 'Idempotency-Key'),
      ifVersion: expectedIn(req.header('If-Match'), req.header('If-None-Match')),
      param: (name) => checkId('the path', name, req.param(name)),
    })
    if (answered instanceof Response) return answered
    const { etag } = answered
    const held = req.header('If-None-Match')
    // RFC 9110, section 13.1.2: what the caller holds is what is there.
    if (method === 'get' && etag !== undefined && held !== undefined && versionIn(held) === etag)
      return new Response(null, { status: 304, headers: { ETag: etagOf(etag) } })
    return responseOf(answered, status)
  }
  app.on(method.toUpperCase(), path.replace(PARAMETER, ':$1'), handler)
}

/**
 * The type of a checked value once its keys are the library's: shapes are those of the core, which
 * checks them again.
 */
type Camel<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Camel<Item>[]
    : Value extends object
      ? {
          readonly [Key in keyof Value as CamelKey<Key>]: Key extends Opaque
            ? Exclude<Value[Key], undefined>
            : Camel<Exclude<Value[Key], undefined>>
        }
      : Value
type CamelKey<Key> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail> & string>}`
  : Key
type Opaque = 'input' | 'output' | 'metadata' | 'value' | 'input_schema' | 'review'

function responseOf({ json, etag }: Answer, status: number): Response {
  const headers = { ...(etag !== undefined && { ETag: etagOf(etag) }) }
  if (json === '') return new Response(null, { status: 204, headers })
  return new Response(json, { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

/** @throws ERR_INVALID_ARGUMENT, with the path of the first thing that is wrong */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue?.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
  // Zod repeats values of enums and unknown keys in its messages: only its code says nothing of the
  // content.
  throw invalid('the request', `${place}${path ?? ''}`, `is not valid (${issue?.code ?? 'unknown'})`)
}

function idIn(value: string | undefined, name: string): string | undefined {
  return value === undefined ? undefined : checkId('the request', name, value)
}

/** The version that a tag names. @throws ERR_INVALID_ARGUMENT: no tag, or several */
export function tagIn(header: string, name: string): string {
  const version = versionIn(header)
  if (version === undefined) throw invalid('the request', name, 'must be one entity tag')
  return checkId('the request', name, version)
}

function expectedIn(match: string | undefined, noneMatch: string | undefined): string | null | undefined {
  if (match !== undefined) return tagIn(match, 'If-Match')
  return noneMatch === '*' ? null : undefined
}

function describe(
  app: OpenAPIHono<AppEnv>,
  {
    method,
    path,
    summary,
    query,
    body,
    media = {},
    answer,
    status,
    others = {},
    isOpen,
    by,
  }: Endpoint<z.ZodType, z.ZodType>,
): void {
  const parameters = [...path.matchAll(PARAMETER)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' as const },
  }))
  const content =
    body !== undefined
      ? { 'application/json': { schema: body } }
      : media.body !== undefined && { [media.body]: { schema: { type: 'string' as const } } }
  app.openAPIRegistry.registerPath(
    createRoute({
      method,
      path,
      summary,
      tags: [path.split('/')[2] ?? 'edge'],
      parameters,
      security: path.startsWith('/v1') && !isOpen ? [{ [by ?? 'bearer']: [] }] : [],
      request: {
        ...(query && { query: query as never }),
        ...(content && { body: { content, required: true } }),
      },
      responses: {
        ...(answer || media.answer !== undefined
          ? {
              [status ?? 200]: {
                description: 'Done',
                content: {
                  [media.answer ?? 'application/json']: { schema: answer ?? { type: 'string' as const } },
                },
              },
            }
          : { 204: { description: 'Done' } }),
        ...Object.fromEntries(
          Object.entries(others).map(([code, schema]) => [
            code,
            { description: 'As the summary says', content: { 'application/json': { schema } } },
          ]),
        ),
        '4XX': PROBLEM,
        '5XX': PROBLEM,
      } as never,
    }),
  )
}
