/**
 * Two worlds that differ in one secret, until it is forgotten in both: computed here, over two
 * memories of their own, byte by byte of all that they store.
 */
import { standard } from '../../src/features/standard.ts'
import { createMemory, forget, mapStore } from '../../src/index.ts'
import type { Store } from '../../src/ports/store.ts'

/** What somebody says in each of the worlds. */
export const CODES = ['4711', '9302'] as const

/** What both store after a step. */
export interface Compared {
  /** Bytes in each of them. */
  readonly bytes: readonly [number, number]
  /** Places at which their bytes differ. */
  readonly differing: number
  /** Whether the secret can be read in each of them. */
  readonly readable: readonly [boolean, boolean]
}

/** After what was said, after what was remembered of it, and after it was forgotten. */
export async function playWorlds(): Promise<readonly [said: Compared, known: Compared, forgotten: Compared]> {
  const worlds = await Promise.all(CODES.map(playWorld))
  const [one = [], other = []] = worlds
  return [0, 1, 2].map((step) => compare(one[step] ?? '', other[step] ?? '')) as unknown as readonly [
    Compared,
    Compared,
    Compared,
  ]
}

/** @returns all that is stored after each step */
async function playWorld(code: string): Promise<readonly string[]> {
  const store = mapStore()
  // The same time, ids and key in both: what differs comes of what was said.
  let ids = 0
  const memory = createMemory({
    store,
    budget: 4_000,
    clock: () => 0,
    newId: () => `id-${++ids}`,
    newSecret: () => '0'.repeat(64),
    use: standard(),
  })
  const session = memory.session({ userId: 'you', sessionId: 'world' })
  const { messages } = await session.append({ role: 'user', content: `My code is ${code}.` })
  const said = await stored(store)
  const source = messages[0]?.id ?? ''
  await session.facts.remember({ kind: 'finding', text: `The code is ${code}.`, sources: [source] })
  const known = await stored(store)
  await forget(session, source)
  return [said, known, await stored(store)]
}

/** All rows of a store, as text. */
async function stored(store: Store): Promise<string> {
  const rows: unknown[] = []
  for (const scope of (await store.scopes?.()) ?? []) {
    const opened = store.open(scope)
    const { marks, ...head } = await opened.head()
    rows.push(scope, head, [...marks.values()], (await opened.changesSince(0)).rows)
    rows.push(
      await opened.registers(''),
      (await opened.derived('')).map(({ key, bytes }) => [key, [...bytes]]),
    )
  }
  return JSON.stringify(rows)
}

function compare(one: string, other: string): Compared {
  const [bytes, others] = [one, other].map((text) => new TextEncoder().encode(text)) as [
    Uint8Array,
    Uint8Array,
  ]
  let differing = Math.abs(bytes.length - others.length)
  for (let place = 0; place < Math.min(bytes.length, others.length); place++)
    if (bytes[place] !== others[place]) differing++
  const [code, otherCode] = CODES
  return {
    bytes: [bytes.length, others.length],
    differing,
    readable: [one.includes(code), other.includes(otherCode)],
  }
}
