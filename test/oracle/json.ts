/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/**
 * A value as plain JSON: bytes as a list of numbers, a map as its entries; what JSON cannot say
 * becomes null.
 */
export function plain(value: unknown): Json {
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (one instanceof Uint8Array) return [...one]
    return one instanceof Map ? [...one] : one
  })
  return text === undefined ? null : (JSON.parse(text) as Json)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The field of an object; undefined where it has none, or it is no object. */
export function field(value: unknown, name: string): Json | undefined {
  return isObject(value) ? value[name] : undefined
}

/** The items of a list; none, where it is no list. */
export function listIn(value: unknown, name?: string): readonly Json[] {
  const list = name === undefined ? value : field(value, name)
  return Array.isArray(list) ? (list as readonly Json[]) : []
}

export function textIn(value: unknown, name: string): string {
  const text = field(value, name)
  return typeof text === 'string' ? text : ''
}

export function numberIn(value: unknown, name: string): number {
  const number = field(value, name)
  return typeof number === 'number' ? number : 0
}
