/**
 * What strangers may send to the edge: bodies of every route that takes one, from almost right to
 * anything at all. Seeded.
 */
import { pick, SAMPLES, type Target } from './edge-samples.ts'
import { randomFrom } from './random.ts'

/** One request. */
export interface Attempt {
  /** Method and pattern, for example `POST /v1/sessions/{session}/messages`. */
  readonly route: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** In an answer: a failure of the edge's that is sent over MCP, or after the answer was begun. */
export const FAILED = /ERR_INTERNAL|"code":-32603/

/**
 * Whether a refusal comes after something was written, as it may: of a context, whose messages are
 * in the log then, and of an import, whose earlier lines are.
 */
export function isAfterWriting(answer: string): boolean {
  return /ERR_TOOL_PENDING|ERR_BUDGET_TOO_SMALL|context_length_exceeded|"detail":"import: lines/.test(answer)
}

const ROUTES = Object.keys(SAMPLES)
/** Routes whose bodies are text of another kind. */
const MEDIA: { readonly [route: string]: string } = {
  'PUT /v1/sessions/{session}/parts/{entry}/{n}': 'text/plain',
  'PUT /v1/me/skills/{name}': 'text/markdown',
}
const MEBIBYTE = 2 ** 20
const HOSTILE_KEYS = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '', '\0', 'then']
/** JSON texts in place of a value: some say what no value of JavaScript's can be written as. */
const HOSTILE_TEXTS: readonly string[] = [
  ...['null', 'true', '[]', '{}', '""', '0', '-0', '-1', '1e999', '-1e999', '1e308', '5e-324', '0.1'],
  ...['9007199254740993', '123456789012345678901234567890', '"\\ud800"', '"a\\udfffb"', '"\\u0000"'],
  ...['"\\ufeff"', '"\\u202etxt"', '"NEAR(\\""', '"\' OR 1=1 --"', '"<script>"', '"../../x"', '"a:b"'],
  ...['"e\\u0301"', '"\\u00e9"', '"__proto__"', '"constructor"', '{"__proto__":{"polluted":true}}'],
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"then":1,"toJSON":1,"length":1e9}',
  '[[[[[[[[[[]]]]]]]]]]',
  JSON.stringify('\u{1f44d}'.repeat(300)),
  JSON.stringify('x'.repeat(10_240)),
  JSON.stringify('\\'.repeat(3_000)),
  JSON.stringify(Array.from({ length: 400 }, (_, index) => index)),
  JSON.stringify(Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`k${index}`, index]))),
]
const TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'text/markdown',
  'multipart/form-data',
  '',
]
const DEPTHS = [8, 31, 33, 41, 1_000, 100_000]

/** Attempts, one after the other, always the same for a seed. */
export class EdgeBodies {
  readonly #random: () => number
  #place = 0

  constructor(seed: number) {
    this.#random = generator(seed)
  }

  next(target: Target): Attempt {
    // In turn, so that each route gets as many.
    const route = ROUTES[this.#place++ % ROUTES.length] as string
    const { body, type = 'application/json' } = this.#body(route, target)
    const [method = '', pattern = ''] = route.split(' ')
    const random = this.#random
    const names: { readonly [name: string]: string } = {
      session: target.session,
      fact: random() % 4 === 0 ? 'nowhere' : target.fact,
      entry: `u${random() % 8}`,
      n: pick(random, ['0', '1', '15', '16', '-1', 'x', '1e1']),
      name: pick(random, ['booking', 'about', 'Not A Name']),
    }
    return {
      route,
      method,
      path: pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? '')),
      headers: {
        ...(type !== '' && { 'Content-Type': type }),
        ...(route.endsWith('/mcp') && { Accept: 'application/json, text/event-stream' }),
        ...(random() % 8 === 0 && { 'Idempotency-Key': `op${random() % 16}` }),
        ...(random() % 16 === 0 && { 'If-Match': pick(random, ['"x"', '*', 'W/"x"', '', '"']) }),
      },
      body,
    }
  }

  #body(route: string, target: Target): { readonly body: Attempt['body']; readonly type?: string } {
    const random = this.#random
    const sample = SAMPLES[route]?.(random, target)
    const isText = typeof sample === 'string'
    const type = isText ? (MEDIA[route] ?? 'text/plain') : 'application/json'
    const text = isText ? sample : JSON.stringify(sample)
    switch (random() % 20) {
      case 0:
        return { body: text, type }
      case 1:
        return { body: text, type: pick(random, TYPES) }
      case 2:
        return { body: this.#bytes(random() % 512), type }
      case 3:
        return { body: text.slice(0, random() % (text.length + 1)), type }
      case 4:
      case 5:
        return { body: this.#flipped(text), type }
      case 6:
        return { body: pick(random, HOSTILE_TEXTS), type }
      case 7:
        return { body: isText ? this.#spliced(text) : this.#deep(sample), type }
      case 8:
        return random() % 16 === 0 ? { body: this.#large(sample, text), type } : { body: '', type }
      default: {
        if (isText) return { body: this.#spliced(text), type }
        let mutated = text
        for (let times = 1 + (random() % 3); times > 0; times--) mutated = this.#mutated(mutated)
        return { body: mutated, type }
      }
    }
  }

  /**
   * One value, key or item of a JSON text in place of another; what was mutated before may be no
   * JSON any more.
   */
  #mutated(text: string): string {
    const random = this.#random
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return text
    }
    const nodes = nodesOf(value)
    const node = nodes[random() % nodes.length]
    if (!node) return pick(random, HOSTILE_TEXTS)
    const { holder, key } = node
    switch (random() % 6) {
      case 0:
        if (Array.isArray(holder)) holder.splice(Number(key), 1)
        else delete holder[key]
        return JSON.stringify(value)
      case 1:
        return withText(value, node, `${JSON.stringify(holder[key])},${JSON.stringify(key)}:1`)
      case 2:
        define(holder, pick(random, HOSTILE_KEYS), holder[key])
        return JSON.stringify(value)
      default:
        return withText(value, node, pick(random, HOSTILE_TEXTS))
    }
  }

  #deep(sample: unknown): string {
    const depth = pick(this.#random, DEPTHS)
    const [open, close] = pick(this.#random, [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
    const copy = copied(sample)
    const nodes = nodesOf(copy)
    const node = nodes[this.#random() % nodes.length]
    const inner = `${open.repeat(depth)}1${close.repeat(depth)}`
    return node ? withText(copy, node, inner) : inner
  }

  /** Of about the largest size that is read, or above it. */
  #large(sample: unknown, text: string): string {
    const long = 'x'.repeat(MEBIBYTE - 2_000 + (this.#random() % 4_000))
    const copy = copied(sample)
    const nodes = nodesOf(copy)
    const node = nodes[this.#random() % nodes.length]
    return node ? withText(copy, node, JSON.stringify(long)) : text + long
  }

  #spliced(text: string): string {
    const at = this.#random() % (text.length + 1)
    return `${text.slice(0, at)}${pick(this.#random, HOSTILE_TEXTS)}${text.slice(at + (this.#random() % 4))}`
  }

  #flipped(text: string): Uint8Array<ArrayBuffer> {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff)
    for (let times = 1 + (this.#random() % 4); times > 0 && bytes.length > 0; times--)
      bytes[this.#random() % bytes.length] = this.#random() & 0xff
    return bytes
  }

  #bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.#random() & 0xff)
  }
}

interface Node {
  readonly holder: Record<string, unknown>
  readonly key: string
}

/** A text that no sample holds, where another is put in. */
const HERE = '\u2318'

/** The text of a value in which a node is another text. */
function withText(value: unknown, { holder, key }: Node, text: string): string {
  define(holder, key, HERE)
  return JSON.stringify(value).replace(`"${HERE}"`, () => text)
}

function nodesOf(value: unknown): readonly Node[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...nodesOf(holder[key])])
}

function copied(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** As JSON.parse does it: a key is a key, whatever it is. */
function define(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Whole numbers below 2^32. */
function generator(seed: number): () => number {
  const random = randomFrom(seed)
  return () => random() * 2 ** 32
}
