import { base64, fromBase64 } from '../../ports/base64.ts'
import type { Json } from '../../ports/message.ts'
import { isPlainObject } from '../../text/json.ts'
import { copyOf, isAsTraced, type Trace, traceOf } from './copies.ts'

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

/** Texts whose values are kept have so many characters together. */
const KEPT_CHARACTERS = 8 * 2 ** 20

/** What a value was written as, or read from. All values that were read from a text share it. */
interface Known {
  readonly text: Text
  readonly trace: Trace
}

/**
 * Writes and reads values with a serializer, item by item. An item that was written or read before
 * is not written again while it is as it was, nor read again: each reader gets a copy of its own.
 * So a turn late in a thread takes little more time than an early one.
 */
export class Values {
  readonly #serializer: Serializer
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder()
  readonly #known = new WeakMap<object, Known>()
  /** What was read of each text; the oldest first. */
  readonly #copies = new Map<Text, Known & { readonly copy: object }>()
  #characters = 0

  constructor(serializer: Serializer) {
    this.#serializer = serializer
  }

  async dump(value: unknown): Promise<Json> {
    return packed(await this.#dump(value))
  }

  load(value: Json): Promise<unknown> {
    return this.#load(unpacked(value))
  }

  /** The parts of a value. What is no plain list or object, or cannot be parted, is one item. */
  async contentOf(value: unknown): Promise<Content> {
    if (Array.isArray(value)) {
      const items = await this.#texts(value)
      if (!items.includes('')) return { shape: 'list', items }
    } else if (isPlainObject(value) && !('lc' in value)) {
      const fields = Object.entries(value)
      const items = await this.#texts(fields.map(([, item]) => item))
      if (!items.includes(''))
        return { shape: 'map', items: fields.map(([name], at) => `${JSON.stringify(name)}\n${items[at]}`) }
    }
    return { shape: 'one', items: await this.#texts([value]) }
  }

  async valueOf({ shape, items }: Content): Promise<unknown> {
    if (shape !== 'map') {
      const values = await this.#valuesOf(items)
      return shape === 'list' ? values : values[0]
    }
    const fields = items.map(fieldIn)
    const values = await this.#valuesOf(fields.map(([, text]) => text))
    return Object.fromEntries(fields.map(([name], at) => [JSON.parse(name), values[at]]))
  }

  async #texts(values: readonly unknown[]): Promise<Text[]> {
    const texts: Text[] = []
    for (const value of values) texts.push(this.#textOf(value) ?? (await this.#write(value)))
    return texts
  }

  /** What a value was written as, if it is as it was. */
  #textOf(value: unknown): Text | undefined {
    const known = typeof value === 'object' && value !== null ? this.#known.get(value) : undefined
    return known && isAsTraced(value, known.trace) ? known.text : undefined
  }

  async #write(value: unknown): Promise<Text> {
    const text = await this.#dump(value)
    if (typeof value === 'object' && value !== null && copyOf(value))
      this.#known.set(value, { text, trace: traceOf(value) })
    return text
  }

  async #valuesOf(texts: readonly Text[]): Promise<unknown[]> {
    const values: unknown[] = []
    for (const text of texts) values.push(this.#copied(text) ?? (await this.#read(text)))
    return values
  }

  #copied(text: Text): object | undefined {
    const known = this.#copies.get(text)
    const given = known && copyOf(known.copy)
    if (given) this.#known.set(given, known)
    return given
  }

  async #read(text: Text): Promise<unknown> {
    const value = await this.#load(text)
    const copy = typeof value === 'object' && value !== null ? copyOf(value) : undefined
    if (!copy) return value
    const known = { text, copy, trace: traceOf(copy) }
    this.#known.set(value as object, known)
    if (!this.#copies.has(text)) this.#characters += text.length
    this.#copies.set(text, known)
    for (const [oldest] of this.#copies) {
      if (this.#characters <= KEPT_CHARACTERS) break
      this.#copies.delete(oldest)
      this.#characters -= oldest.length
    }
    return value
  }

  /** Empty where the serializer writes nothing: a function, for example. */
  async #dump(value: unknown): Promise<Text> {
    const [type, bytes] = await this.#serializer.dumpsTyped(value)
    return type === 'json' ? this.#decoder.decode(bytes) : `#${type}#${base64(bytes)}`
  }

  async #load(text: Text): Promise<unknown> {
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
  // Most values only grow at their end, and need none.
  let places: ReadonlyMap<Text, number> | undefined
  const placeOf = (item: Text): number | undefined => {
    places ??= new Map(base.map((one, at) => [one, at]))
    return places.get(item)
  }
  const parts: Json[][] = [[]]
  let added = 0
  let next = 0
  for (const item of items) {
    const isGrowing = places === undefined && next === base.length
    const at = base[next] === item ? next : isGrowing ? undefined : placeOf(item)
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
