import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context, Handler, HonoRequest } from 'hono'
import { etagOf, versionsIn } from '../../ports/etag.ts'
import { checkId, invalid } from '../../text/json.ts'
import type { Answer } from '../objects/answer.ts'
import type { Condition } from '../objects/condition.ts'
import type { CallMeta } from '../objects/session-rpc.ts'
import type { Principal } from '../principal.ts'
import { limitHeaders } from '../wait-headers.ts'
import { fromWire } from '../wire.ts'
import type { AppEnv } from './app-env.ts'
import { type Body, readJson } from './body.ts'
import { type Description, describe, routeOf } from './describe.ts'
import { keyedOf } from './keyed.ts'
import { STEP } from './schemas.ts'

/** What a handler is given: a request that was read and checked. */
export interface Call<Query, Input> {
  readonly context: Context<AppEnv>
  readonly principal: Principal
  readonly query: Query
  readonly body: Input
  /** What goes with a call of an object. */
  readonly meta: CallMeta
  /** What `If-Match` and `If-None-Match` ask for. */
  readonly condition: Condition
  /** A parameter of the path: an id of 1 to 256 bytes. */
  param(name: string): string
}

export interface Endpoint<Query extends z.ZodType, Input extends z.ZodType> extends Description {
  readonly query?: Query
  /** A body of another kind the handler reads itself: see {@link Description.media}. */
  readonly body?: Input
  /**
   * Whether the body's keys stay as they are: it is not of this library's shapes. Default false.
   */
  readonly isVerbatim?: boolean
}

const NO_BODY: Body<undefined> = { value: undefined, bytes: 0, raw: new Uint8Array() }
const NO_QUERY = z.strictObject({})

/** One route: described for OpenAPI, and answered. */
export function endpoint<Query extends z.ZodType, Input extends z.ZodType>(
  app: OpenAPIHono<AppEnv>,
  spec: Endpoint<Query, Input>,
  handle: (call: Call<Camel<z.output<Query>>, Camel<z.output<Input>>>) => Promise<Answer | Response>,
): void {
  const { method, path, query, isVerbatim, status = 200 } = spec
  // Of several kinds its handler reads it.
  const body = spec.media?.body === undefined ? spec.body : undefined
  describe(app, spec)
  const handler: Handler<AppEnv> = async (context) => {
    const { req } = context
    const given = body ? await readJson(req.raw) : NO_BODY
    const keyed = await keyedOf(req, given.raw)
    const condition = conditionIn(req, spec)
    const answered = await handle({
      context,
      principal: context.get('principal'),
      query: queryIn(req, query) as never,
      body: (isVerbatim ? given.value : body && fromWire(checked(body, given.value, 'body'))) as never,
      meta: { bytes: given.bytes, ...(keyed && { keyed }) },
      condition,
      param: (name) => checkId('the path', name, req.param(name)),
    })
    if (answered instanceof Response) return answered
    if (answered.account) context.set('account', answered.account)
    const { etag } = answered
    const { noneMatch } = condition
    const isHeld = noneMatch === '*' || (etag !== undefined && noneMatch?.includes(etag))
    // RFC 9110, section 13.1.2: what the caller holds is what is there.
    if (method === 'get' && etag !== undefined && isHeld)
      return new Response(null, { status: 304, headers: { ETag: etagOf(etag) } })
    return responseOf(answered, status)
  }
  app.on(method.toUpperCase(), routeOf(path), handler)
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
type Opaque = 'input' | 'output' | 'metadata' | 'checkpoint' | 'value' | 'input_schema' | 'review'

export function responseOf({ json, etag, status: own, limits }: Answer, status: number): Response {
  const headers = { ...(etag !== undefined && { ETag: etagOf(etag) }), ...limitHeaders(limits) }
  if (json === '') return new Response(null, { status: 204, headers })
  return new Response(json, {
    status: own ?? status,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
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

/** An id that a URL can hold: it takes `.` and `..` for steps of a path, escaped or not. */
export function checkName(argument: string, value: string): string {
  if (STEP.test(value)) throw invalid('the request', argument, 'cannot stand in a URL')
  return checkId('the request', argument, value)
}

/** What a query says. @throws ERR_INVALID_ARGUMENT: a name is unknown here, or there twice */
export function queryIn(req: HonoRequest, schema: z.ZodType = NO_QUERY): unknown {
  // Most requests have none, and to look for it costs more than the rest.
  const isGiven = req.url.includes('?')
  if (!isGiven && schema === NO_QUERY) return {}
  const given = isGiven ? Object.entries(req.queries()) : []
  const twice = given.find(([, values]) => values.length !== 1)
  if (twice) throw invalid('the request', 'query', 'must not name anything twice')
  return fromWire(checked(schema, Object.fromEntries(given.map(([name, [value]]) => [name, value])), 'query'))
}

/** Others were refused before. @throws ERR_INVALID_ARGUMENT: a header is no list of entity tags */
function conditionIn(req: HonoRequest, { method, isVersioned }: Description): Condition {
  const isRead = method === 'get'
  const match = isVersioned && !isRead ? tagsIn(req, 'If-Match') : undefined
  const noneMatch = isVersioned || isRead ? tagsIn(req, 'If-None-Match') : undefined
  return { ...(match && { match }), ...(noneMatch && { noneMatch }) }
}

function tagsIn(req: HonoRequest, name: string): readonly string[] | '*' | undefined {
  const header = req.header(name)
  if (header === undefined) return undefined
  const versions = versionsIn(header)
  if (!versions) throw invalid('the request', name, 'must be * or entity tags with commas between them')
  if (versions !== '*') for (const version of versions) checkId('the request', name, version)
  return versions
}
