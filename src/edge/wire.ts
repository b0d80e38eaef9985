import { camel, fromWire as read, snake, toWire as write } from '../ports/wire.ts'

/** Names of the library's own are few and short; of what a stranger sends, little is kept. */
const MOST_NAMES = 512
const LONGEST_NAME = 64

const keptSnake = kept(snake)
const keptCamel = kept(camel)

/** As that of the ports, for who makes many: names are kept, which halves the time. */
export function toWire(value: unknown): unknown {
  return write(value, keptSnake)
}

/** As that of the ports, for who reads many. */
export function fromWire(value: unknown): unknown {
  return read(value, keptCamel)
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
