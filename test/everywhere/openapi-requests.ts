/**
 * Requests as a description of an API allows them, drawn at random from a seed: what a client that
 * was generated from it may send. Some break a rule of it on purpose.
 */
import { SAMPLES } from './edge-samples.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly minItems?: number
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

export interface DrawnRequest {
  readonly operation: Operation
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Texts that ids, names and words are drawn from: few, so that they meet again. */
const WORDS = ['m1', 'm2', 'about', 'booking', 'Two seats to Turin.', 'Über 日本', 'finding', 'x']
const MOST_DEPTH = 5

export class OpenApiRequests {
  readonly #api: Api
  readonly #random: () => number
  readonly #operations: readonly {
    readonly method: string
    readonly path: string
    readonly operation: Operation
  }[]
  #place = 0

  /** @param random gives numbers from 0 up to 1 */
  constructor(api: Api, random: () => number) {
    this.#api = api
    this.#random = random
    this.#operations = Object.entries(api.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation: operation as Operation,
      })),
    )
  }

  /** The next operation in turn. @param known values of parameters of paths */
  next(known: Readonly<Record<string, readonly string[]>>): DrawnRequest {
    const { method, path, operation } = this.#operations[this.#place++ % this.#operations.length] as {
      method: string
      path: string
      operation: Operation
    }
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(this.#pick(known[name] ?? WORDS)),
    )
    const query: string[] = []
    const headers: Record<string, string> = {}
    for (const { name, in: place, required, schema } of operation.parameters ?? []) {
      if (place === 'path' || (!required && this.#random() < 0.6)) continue
      const value = this.#value(schema, 0)
      if (place === 'query') query.push(`${name}=${encodeURIComponent([value].flat().join())}`)
      else headers[name] = this.#header(name)
    }
    const [type, content] = this.#pick(Object.entries(operation.requestBody?.content ?? { '': undefined }))
    const body = content && this.#body(`${method} ${path}`, type, content.schema)
    return {
      operation,
      method,
      path: query.length > 0 ? `${url}?${query.join('&')}` : url,
      headers: {
        ...headers,
        ...(type !== '' && { 'Content-Type': type }),
        ...(path.endsWith('/mcp') && { Accept: 'application/json, text/event-stream' }),
      },
      ...(body !== undefined && { body }),
    }
  }

  #header(name: string): string {
    if (name === 'Idempotency-Key') return `key ${Math.floor(this.#random() * 32)}`
    return this.#pick(['*', '"a"', 'W/"a", "b"'])
  }

  #body(route: string, type: string, schema: Schema): string {
    if (type !== 'application/json') {
      const sample = SAMPLES[route]?.(() => Math.floor(this.#random() * 64), { session: '', fact: '' })
      return typeof sample === 'string' ? sample : 'Ask for the day.'
    }
    const value = this.#value(schema, 0)
    // Now and then one thing more, or less, than is allowed.
    if (this.#random() < 0.1 && typeof value === 'object' && value !== null)
      Object.assign(value, {
        [this.#pick([...Object.keys(value), 'unknown'])]: this.#pick([null, 1, 'x', [], {}]),
      })
    return JSON.stringify(value)
  }

  #value(given: Schema, depth: number): unknown {
    const schema = this.#resolved(given)
    const { anyOf, oneOf, enum: values, type } = schema
    if ('const' in schema) return schema.const
    if (values) return this.#pick(values)
    const options = anyOf ?? oneOf
    if (options) return this.#value(this.#pick(options), depth + 1)
    const kind = typeof type === 'string' ? type : this.#pick(type ?? ['null'])
    switch (kind) {
      case 'string':
        return this.#text(schema)
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = minimum + 100 } = schema
        return Math.floor(Math.max(minimum, 0) + this.#random() * Math.min(maximum, 100))
      }
      case 'boolean':
        return this.#random() < 0.5
      case 'array': {
        const least = schema.minItems ?? 0
        const length = depth > MOST_DEPTH ? least : Math.max(least, Math.floor(this.#random() * 3))
        return Array.from({ length }, () => this.#value(schema.items ?? {}, depth + 1))
      }
      case 'object':
        return this.#object(schema, depth)
      default:
        return null
    }
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, depth: number): object {
    const entries = Object.entries(properties).filter(
      ([name]) => required.includes(name) || (depth < MOST_DEPTH && this.#random() < 0.4),
    )
    const object = Object.fromEntries(entries.map(([name, schema]) => [name, this.#value(schema, depth + 1)]))
    if (typeof additionalProperties === 'object' && depth < MOST_DEPTH && this.#random() < 0.3)
      object[this.#pick(WORDS)] = this.#value(additionalProperties, depth + 1)
    return object
  }

  #text({ pattern = '', minLength = 0 }: Schema): string {
    if (pattern.includes('https')) return 'https://x.test/a.png'
    if (pattern.startsWith('^\\d')) return String(Math.floor(this.#random() * 20))
    if (pattern.includes('\\w')) return 'find'
    const word = this.#pick(WORDS)
    return word.length < minLength ? word.padEnd(minLength, 'x') : word
  }

  #resolved(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1)
    return name === undefined ? schema : this.#resolved(this.#api.components.schemas[name] as Schema)
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }
}

/** What is said of an answer; undefined: nothing. */
export function describedAnswer(
  { responses }: Operation,
  status: number,
  type: string,
): Schema | true | undefined {
  const answer = responses[status] ?? responses[`${Math.trunc(status / 100)}XX`]
  if (!answer) return undefined
  if (!answer.content) return type === '' ? true : undefined
  return answer.content[type]?.schema
}
