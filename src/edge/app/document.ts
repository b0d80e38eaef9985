import type { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from './app-env.ts'

const INFO = {
  title: 'Plimsoll',
  version: '1',
  description:
    'Agent memory that never loads past the line: sessions, contexts, facts and chat over HTTP. ' +
    'Where a route has no If-Match or If-None-Match, it refuses them (400): nothing there has a version. ' +
    'A read that has no ETag answers whole, whatever If-None-Match says.',
}

/**
 * Any JSON value, by its name. Objects refer to it, and items of lists do not: TypeScript resolves
 * an array at once, and would find the type in its own annotation.
 */
const JSON_SCHEMAS = {
  Json: {
    description: 'Any JSON value, of at most 32 levels.',
    anyOf: [
      { type: ['null', 'boolean', 'number', 'string'] },
      { type: 'array', items: {} },
      { $ref: '#/components/schemas/JsonObject' },
    ],
  },
  JsonObject: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Json' } },
}
const ANY = { $ref: '#/components/schemas/Json' }
/** What says what a value is; a schema without any of it is for anything. */
const SAYING = ['$ref', 'type', 'anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const']

interface Schema {
  readonly [keyword: string]: unknown
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes?: object
  }
}

/** The description of the API. @param url where the app is mounted */
export function documentOf(app: OpenAPIHono<AppEnv>, url: string): OpenApiDocument {
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO, servers: [{ url }] })
  // What a schema leaves open is said by one name.
  const { components, ...rest } = JSON.parse(JSON.stringify(document)) as OpenApiDocument
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [name, named(schema)])
  return {
    ...(said(rest) as Omit<OpenApiDocument, 'components'>),
    components: { ...components, schemas: { ...Object.fromEntries(schemas), ...JSON_SCHEMAS } },
  }
}

/** The same with each schema named, wherever one stands in a description of routes. */
function said(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(said)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === 'schema' ? named(item as Schema) : said(item)]),
  )
}

function named(schema: Schema): Schema {
  if (!SAYING.some((keyword) => keyword in schema)) return { ...schema, ...ANY }
  const each = (item: unknown): unknown => named(item as Schema)
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      switch (keyword) {
        case 'properties':
          return [
            keyword,
            Object.fromEntries(Object.entries(value as Schema).map(([name, one]) => [name, each(one)])),
          ]
        case 'items':
          return [keyword, each(value)]
        case 'additionalProperties':
          return [keyword, value === true ? ANY : value === false ? value : each(value)]
        case 'anyOf':
        case 'oneOf':
        case 'allOf':
          return [keyword, (value as readonly unknown[]).map(each)]
        default:
          return [keyword, value]
      }
    }),
  )
}
