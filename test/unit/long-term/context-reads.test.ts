import { expect, test } from 'vitest'
import { charsPerToken, mapStore, type Store } from '../../../src/index.ts'
import { type FullSession, memoryWith } from '../../contract/full-memory.ts'
import { DAY, entryOf, fact, NOON, put } from '../support/starts.ts'

const ADA = { userId: 'ada' }
const COUNTER = charsPerToken(4)

/** A store that notes each call, and counts the rows that it gave. */
class Noted {
  calls: string[] = []
  rows = 0
  readonly store: Store

  constructor(store: Store) {
    this.store = {
      ...store,
      open: (scope) =>
        new Proxy(store.open(scope), {
          get: (target, key: string) => {
            const value: unknown = Reflect.get(target, key)
            if (typeof value !== 'function') return value
            return async (...args: unknown[]) => {
              this.calls.push(`${scope.sessionId === undefined ? 'user' : 'session'}.${key}`)
              const given = await value.apply(target, args)
              const rows = Array.isArray(given) ? given : (given as { rows?: readonly unknown[] })?.rows
              this.rows += key === 'register' ? 1 : (rows?.length ?? 0)
              return given
            }
          },
        }),
    }
  }

  /** What is called and read while that is done. */
  async during(
    work: () => Promise<unknown>,
  ): Promise<{ readonly calls: readonly string[]; readonly rows: number }> {
    this.calls = []
    this.rows = 0
    await work()
    return { calls: this.calls, rows: this.rows }
  }
}

function open(store: Store, clock = { now: NOON }): FullSession {
  const memory = memoryWith(['facts'], { store, budget: 16_000, counter: COUNTER, clock: () => clock.now })
  return memory.session({ ...ADA, sessionId: 'trip' })
}

test('where nothing is remembered a context reads one head more, and an append nothing', async () => {
  const { store, ...noted } = noting()
  const session = open(store)
  await session.append({ role: 'user', content: 'Where to?' })
  const first = await noted.during(() => session.context())
  expect(first.calls.filter((call) => call.startsWith('user.'))).toEqual(['user.head', 'user.head'])
  const append = await noted.during(() => session.append({ role: 'assistant', content: 'To Turin.' }))
  expect(append.calls).toEqual(['session.commit'])
  const second = await noted.during(() => session.context())
  expect(second.calls).toEqual(['session.changesSince', 'user.head'])
})

test('what is remembered is read again only when it changed, or the UTC day did', async () => {
  const clock = { now: NOON }
  const { store, ...noted } = noting()
  const session = open(store, clock)
  await session.facts.remember({ kind: 'preference', text: 'Likes window seats.' })
  await session.facts.remember({ kind: 'finding', text: 'The ferry leaves at noon.' })
  await session.append({ role: 'user', content: 'Where to?' })
  await session.context()
  await session.append({ role: 'user', content: 'And then?' })
  const unchanged = await noted.during(() => session.context())
  expect(unchanged.calls).toEqual(['session.changesSince', 'user.head'])
  clock.now += DAY
  const nextDay = await noted.during(() => session.context())
  expect(nextDay.calls).toContain('user.indexed')
  await session.facts.remember({ kind: 'finding', text: 'It rains in Turin.' })
  expect((await noted.during(() => session.context())).calls).toContain('session.indexed')
  expect((await noted.during(() => session.context())).calls).toEqual(['session.changesSince', 'user.head'])
})

/**
 * What a context reads of a user with so many facts, when nothing is in memory and after one more
 * fact.
 */
async function readsAmong(count: number) {
  const map = mapStore()
  const facts = Array.from({ length: count }, (_, index) =>
    fact({ id: `f${String(index).padStart(6, '0')}`, pinned: index % 2 === 0, createdAt: NOON - index }),
  )
  await put(
    map.open(ADA),
    facts.map((one) => entryOf(one, COUNTER)),
  )
  await open(map).append({ role: 'user', content: 'Where to?' })
  const { store, ...noted } = noting(map)
  const session = open(store)
  const cold = await noted.during(() => session.context())
  await session.facts.remember({ kind: 'preference', text: 'Likes window seats.' })
  const warm = await noted.during(() => session.context())
  return { cold, warm }
}

test('a context reads as much of 10 000 facts as of 1 000', async () => {
  const few = await readsAmong(1_000)
  const many = await readsAmong(10_000)
  expect(many).toEqual(few)
  expect(many.cold.rows).toBeLessThan(300)
  expect(many.cold.calls.length).toBeLessThanOrEqual(24)
  expect(many.warm.calls.length).toBeLessThan(12)
})

function noting(store: Store = mapStore()) {
  const noted = new Noted(store)
  return { store: noted.store, during: noted.during.bind(noted) }
}

test('where nothing changed, no fact is counted again', async () => {
  let counted = 0
  const counter = {
    id: 'counted',
    kind: 'exact' as const,
    count: (text: string) => {
      counted++
      return Math.ceil(text.length / 4)
    },
  }
  const memory = memoryWith(['facts'], { store: mapStore(), budget: 16_000, counter })
  const session = memory.session({ ...ADA, sessionId: 'trip' })
  await session.append({ role: 'user', content: 'Where to?' })
  for (const [index, word] of ['first', 'second', 'third', 'fourth'].entries()) {
    if (index === 2) await session.context()
    await session.facts.remember({ kind: 'preference', text: `Likes the ${word} pier.` })
  }
  await session.context()
  counted = 0
  await session.context()
  expect(counted).toBe(0)
})
