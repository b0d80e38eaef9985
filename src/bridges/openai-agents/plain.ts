import { base64, fromBase64 } from '../../ports/base64.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json } from '../../ports/message.ts'

/** What bytes are called as JSON, and what wraps an object that has a field of such a name. */
const BYTES = '$bytes'
const OBJECT = '$object'

/**
 * A copy of a value as JSON; bytes are base64 in it, and what is undefined is left out.
 *
 * @throws TypeError: dates, functions, symbols, bigints, cycles, holes, hidden or computed fields,
 * and other typed arrays, which would not come back as they were; it names no content
 */
export function encode(value: unknown, above: readonly object[] = []): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (Number.isFinite(value)) return value as number
  if (typeof value !== 'object' || above.includes(value)) throw new TypeError('has no JSON')
  if (value instanceof Uint8Array) return { [BYTES]: base64(new Uint8Array(value)) }
  const within = [...above, value]
  if (Array.isArray(value)) {
    if (Reflect.ownKeys(value).length !== value.length + 1) throw new TypeError('has holes or fields')
    return fieldsOf(value, Object.keys(value)).map(([, field]) => encode(field ?? null, within))
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('is of a class')
  const fields = fieldsOf(value, Reflect.ownKeys(value)).flatMap(([name, field]) =>
    field === undefined ? [] : [[name, encode(field, within)] as const],
  )
  const object = Object.fromEntries(fields)
  return BYTES in object || OBJECT in object ? { [OBJECT]: object } : object
}

/** What {@link encode} was given. */
export function decode(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(decode)
  const object = value as { readonly [name: string]: Json }
  // Other writers may have fields of these names.
  const { [BYTES]: text, [OBJECT]: wrapped } = object
  const isAlone = Object.keys(object).length === 1
  const bytes = isAlone && typeof text === 'string' ? fromBase64(text) : undefined
  if (bytes) return bytes
  const fields = isAlone && isRecord(wrapped) ? wrapped : object
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, decode(field)]))
}

/** Reads no getter. */
function fieldsOf(value: object, names: readonly (string | symbol)[]): (readonly [string, unknown])[] {
  return names.map((name) => {
    const field = Object.getOwnPropertyDescriptor(value, name)
    if (typeof name === 'symbol' || !field?.enumerable || !('value' in field))
      throw new TypeError('has hidden or computed fields')
    return [name, field.value]
  })
}
