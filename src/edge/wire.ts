import { camel, OPAQUE, snake } from '../ports/wire.ts'

/** Names of the library's own are few and short; of what a stranger sends, little is kept. */
const MOST_NAMES = 512
const LONGEST_NAME = 64

const keptSnake = kept(snake)
const keptCamel = kept(camel)

/**
 * As that of the ports, for who makes many: names are kept, and objects are filled and not made of
 * lists, which takes a quarter of the time.
 */
export function toWire(value: unknown): unknown {
  return renamed(value, keptSnake)
}

/** As that of the ports, for who reads many. */
export function fromWire(value: unknown): unknown {
  return renamed(value, keptCamel)
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename))
  const from = value as { readonly [key: string]: unknown }
  const made: { [key: string]: unknown } = {}
  for (const key of Object.keys(from)) {
    const name = rename(key)
    const item = OPAQUE.has(key) ? from[key] : renamed(from[key], rename)
    // What is assigned under this name is no property, but what the object inherits from.
    if (name === '__proto__')
      Object.defineProperty(made, name, { value: item, configurable: true, enumerable: true, writable: true })
    else made[name] = item
  }
  return made
}

function kept(make: (key: string) => string): (key: string) => string {
  const names = new Map<string, string>()
  return (key) => {
    let name = names.get(key)
    if (name === undefined) {
      name = make(key)
      if (names.size < MOST_NAMES && key.length <= LONGEST_NAME) names.set(key, name)
    }
    return name
  }
}
