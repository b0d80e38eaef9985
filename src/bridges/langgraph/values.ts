import { isPlainObject } from '../../kernel/text/json.ts'
import { base64, fromBase64 } from '../../ports/base64.ts'
import type { Json } from '../../ports/message.ts'

/** As much of LangGraph's serializer as is used here. */
export interface Serializer {
  dumpsTyped(data: unknown): Promise<[string, Uint8Array]>
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>
}

/** A value as the serializer wrote it: JSON as it is, anything else as `#type#base64`. */
type Text = string

/**
 * A channel's value in the parts that are compared: the items of a list, the fields of an object
 * (name and value, parted by a line feed), or one item that is all of it.
 */
export interface Content {
  readonly shape: 'one' | 'list' | 'map'
  readonly items: readonly Text[]
}

/** What holds a value: the number of it among a checkpoint's own, and that checkpoint's id. */
export type Ref = readonly [slot: number, owner: string]

/** Items of the value itself, then a stretch of its base's, and so on in turn. */
type Parts = readonly (readonly Json[])[]

/** A value as it is stored: what differs from its base, or all of it. */
export interface StoredValue {
  readonly shape: Content['shape']
  readonly parts: Parts
  readonly base?: Ref
  /** How many values are read on the way to one that has no base. */
  readonly links: number
  /** Characters of the items of all these. */
  readonly weight: number
}

/** A value is stored whole once reading it would take so many reads more than it has items, … */
const MOST_LINKS = 64
/** … or so many characters more than twice its own. */
const MOST_WEIGHT = 8192

/** Writes and reads values with a serializer, item by item. */
export class Values {
  readonly #serializer: Serializer
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder()

  constructor(serializer: Serializer) {
    this.#serializer = serializer
  }

  async dump(value: unknown): Promise<Json> {
    return packed(await this.#text(value))
  }

  load(value: Json): Promise<unknown> {
    return this.#value(unpacked(value))
  }

  /** The parts of a value. What is no plain list or object, or cannot be parted, is one item. */
  async contentOf(value: unknown): Promise<Content> {
    if (Array.isArray(value)) {
      const items = await Promise.all(Array.from(value, (item) => this.#text(item)))
      if (!items.includes('')) return { shape: 'list', items }
    } else if (isPlainObject(value) && !('lc' in value)) {
      const fields = Object.entries(value)
      const items = await Promise.all(fields.map(([, item]) => this.#text(item)))
      if (!items.includes(''))
        return { shape: 'map', items: fields.map(([name], at) => `${JSON.stringify(name)}\n${items[at]}`) }
    }
    return { shape: 'one', items: [await this.#text(value)] }
  }

  async valueOf({ shape, items }: Content): Promise<unknown> {
    switch (shape) {
      case 'one':
        return this.#value(items[0] as Text)
      case 'list':
        return Promise.all(items.map((item) => this.#value(item)))
      case 'map':
        return Object.fromEntries(
          await Promise.all(
            items.map(async (item) => {
              const [name, text] = fieldIn(item)
              return [JSON.parse(name), await this.#value(text)] as const
            }),
          ),
        )
    }
  }

  /** Empty where the serializer writes nothing: a function, for example. */
  async #text(value: unknown): Promise<Text> {
    const [type, bytes] = await this.#serializer.dumpsTyped(value)
    return type === 'json' ? this.#decoder.decode(bytes) : `#${type}#${base64(bytes)}`
  }

  async #value(text: Text): Promise<unknown> {
    if (!text.startsWith('#')) return this.#serializer.loadsTyped('json', this.#encoder.encode(text))
    const [, type = '', bytes = ''] = text.split('#')
    return this.#serializer.loadsTyped(type, fromBase64(bytes) ?? new Uint8Array())
  }
}

export function isSameContent(one: Content, other: Content): boolean {
  return (
    one.shape === other.shape &&
    one.items.length === other.items.length &&
    one.items.every((item, at) => item === other.items[at])
  )
}

/** A value as it is stored beside another one that is stored already. */
export function difference(
  next: Content,
  base?: { readonly ref: Ref; readonly stored: StoredValue; readonly content: Content },
): StoredValue {
  const { shape, items } = next
  const size = lengthOf(items)
  const whole = (): StoredValue => ({
    shape,
    parts: [items.map((item) => storedItem(shape, item))],
    links: 0,
    weight: size,
  })
  if (base?.content.shape !== shape || shape === 'one') return whole()
  const { parts, added } = stretches(base.content.items, next)
  const links = base.stored.links + 1
  const weight = base.stored.weight + added
  return links > MOST_LINKS + items.length || weight > MOST_WEIGHT + 2 * size
    ? whole()
    : { shape, parts, base: base.ref, links, weight }
}

/** The content of a stored value. @param base the items of the value that it names as its base */
export function restored({ shape, parts }: StoredValue, base: readonly Text[]): Content {
  const items = parts.flatMap((part, at) => {
    if (at % 2 === 0) return part.map((item) => itemIn(shape, item))
    const [from, count] = part as readonly [number, number]
    return base.slice(from, from + count)
  })
  return { shape, items }
}

/** The items that are new, and between them the stretches that the base has. */
function stretches(base: readonly Text[], { shape, items }: Content): { parts: Parts; added: number } {
  const places = new Map(base.map((item, at) => [item, at]))
  const parts: Json[][] = [[]]
  let added = 0
  let next = 0
  for (const item of items) {
    const at = base[next] === item ? next : places.get(item)
    const isInStretch = parts.length % 2 === 0
    if (at === undefined) {
      if (isInStretch) parts.push([])
      parts.at(-1)?.push(storedItem(shape, item))
      added += item.length
    } else if (isInStretch && at === next) {
      const stretch = parts.at(-1) as [number, number]
      stretch[1]++
    } else {
      if (isInStretch) parts.push([])
      parts.push([at, 1])
    }
    if (at !== undefined) next = at + 1
  }
  return { parts, added }
}

function lengthOf(items: readonly Text[]): number {
  return items.reduce((sum, item) => sum + item.length, 0)
}

function storedItem(shape: Content['shape'], item: Text): Json {
  if (shape !== 'map') return packed(item)
  const [name, text] = fieldIn(item)
  return [name, packed(text)]
}

function itemIn(shape: Content['shape'], stored: Json): Text {
  if (shape !== 'map') return unpacked(stored)
  const [name, text] = stored as readonly [string, Json]
  return `${name}\n${unpacked(text)}`
}

/** A field's name as JSON, and its value. */
function fieldIn(item: Text): readonly [name: string, text: Text] {
  const end = item.indexOf('\n')
  return [item.slice(0, end), item.slice(end + 1)]
}

/** JSON as a value, or as text where it would not come back as it was. */
function packed(text: Text): Json {
  if (text.startsWith('#') || text.startsWith('"')) return text
  try {
    const value = JSON.parse(text) as Json
    return JSON.stringify(value) === text ? value : text
  } catch {
    return text
  }
}

function unpacked(value: Json): Text {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
