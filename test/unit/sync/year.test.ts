/** What the clocks of devices say orders nothing, and holds up nothing. */

import { afterEach, expect, test, vi } from 'vitest'
import { createMemory } from '../../../src/index.ts'
import { messageIn } from '../../../src/kernel/log/bodies.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { ErrorCode } from '../../../src/ports/errors.ts'
import type { Store } from '../../../src/ports/store.ts'
import { append } from '../../contract/samples.ts'
import { limit, size } from '../../everywhere/runs.ts'
import { randomFrom } from '../../sync/commands.ts'
import { device, idsOf, logOf, offline, refusing, TestHome, TRIP } from '../support/synced.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS

afterEach(() => {
  vi.useRealTimers()
})

/** A clock that is wrong by so many milliseconds, and can be set. */
function clock(wrongMs = 0) {
  const own = { wrongMs }
  return { own, host: { ...webHost, now: () => Date.now() + own.wrongMs } }
}

/** A log, but for what was recorded of contexts, which is of the places that each writer saw. */
async function rowsOf(store: Store) {
  return (await logOf(store)).map(({ contexts: _, ...row }) => row)
}

test.each<readonly [what: string, code: ErrorCode, details: object]>([
  ['what failed', 'ERR_INTERNAL', {}],
  ['a home that said when to come again', 'ERR_RATE_LIMIT', { retryAfter: 60 }],
])('a clock that is set back keeps nobody from trying again: %s', async (_, code, details) => {
  vi.useFakeTimers()
  const home = new TestHome()
  const { own, host } = clock()
  const { store, link } = device(home, { host })
  const { push } = link
  link.push = refusing(code, details)
  await store.open(TRIP).commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(store.status.waiting).toBe(1)
  own.wrongMs = -10 * YEAR_MS
  link.push = push
  await vi.advanceTimersByTimeAsync(120_000)
  expect(store.status).toMatchObject({ state: 'current', waiting: 0 })
})

test('a clock that is set back keeps no interval from coming, nor a stop from being told', async () => {
  vi.useFakeTimers()
  const home = new TestHome()
  const { own, host } = clock()
  const { store, base, link } = device(home, { host, pollMs: 60_000 })
  store.follow(TRIP)
  await vi.advanceTimersByTimeAsync(1_000)
  own.wrongMs = -10 * YEAR_MS
  await home.open().commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(120_000)
  expect(await idsOf(base)).toEqual(['m1'])
  link.pull = () => new Promise(() => {})
  home.poke()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(store.status.state).toBe('syncing')
  own.wrongMs -= YEAR_MS
  await vi.advanceTimersByTimeAsync(61_000)
  expect(store.status.state).toBe('stalled')
})

test(
  'ten devices with clocks that are years apart, and are set, hold one log and one context after a year (T44)',
  async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
    const random = randomFrom(44)
    const below = (count: number): number => Math.floor(random() * count)
    const wrongMs = (): number => Math.round((random() - 0.5) * 20 * YEAR_MS)
    const home = new TestHome()
    const days = size(365)
    const said = new Map<number, string[]>()
    const devices = Array.from({ length: 10 }, (_, at) => {
      const { own, host } = clock(wrongMs())
      let isOnline = true
      let back = (): void => {}
      const network = {
        isOnline: () => isOnline,
        listen: (again: () => void) => {
          back = again
          return () => {}
        },
      }
      const { store, link, base } = device(home, { host, network, capMs: 6 * 3_600_000, random })
      const { push, pull } = link
      const session = createMemory({ store, budget: 4_000, clock: host.now }).session(TRIP)
      said.set(at, [])
      return {
        base,
        store,
        session,
        /** Days until its network is back. */
        left: 0,
        /** Messages that it wrote since it was cut off. */
        unsent: 0,
        set: () => {
          own.wrongMs = wrongMs()
        },
        plug: (isIn: boolean) => {
          // Every second one is not told of its network: its calls fail.
          if (at % 2 === 0) isOnline = isIn
          else Object.assign(link, isIn ? { push, pull } : { push: offline, pull: offline })
          if (isIn && at % 2 === 0) back()
        },
      }
    })
    for (let day = 0; day < days; day++) {
      for (const [at, one] of devices.entries()) {
        if (random() < 0.05) one.set()
        if (one.left === 0 && random() < 0.05) {
          one.left = 1 + below(60)
          one.unsent = 0
          one.plug(false)
        } else if (one.left > 0 && --one.left === 0) one.plug(true)
        if (random() < 0.3) {
          const text = `${at} on day ${day}`
          await one.session.append({ role: random() < 0.5 ? 'user' : 'assistant', content: text })
          said.get(at)?.push(text)
          one.unsent++
        }
        if (random() < 0.1) await one.session.context()
      }
      await vi.advanceTimersByTimeAsync(DAY_MS)
      for (const { left, store, unsent } of devices)
        if (left === 0) expect(store.status).toMatchObject({ state: 'current', waiting: 0 })
        else expect(store.status.waiting).toBeGreaterThanOrEqual(unsent)
      home.poke()
    }
    for (const one of devices) one.plug(true)
    await vi.advanceTimersByTimeAsync(DAY_MS)
    home.poke()
    await vi.advanceTimersByTimeAsync(60_000)
    const log = await rowsOf(home.store)
    const messages = log.flatMap((row) => (row.kind === 'message' ? (messageIn(row) ?? []) : []))
    const times = messages.map(({ createdAt }) => createdAt)
    expect(times).not.toEqual([...times].sort((one, other) => one - other))
    for (const [at, texts] of said)
      expect(
        messages.map(({ content }) => content).filter((text) => `${text}`.startsWith(`${at} on`)),
      ).toEqual(texts)
    expect(messages).toHaveLength([...said.values()].flat().length)
    const contexts = new Set<string>()
    for (const { base, store, session } of devices) {
      expect(store.status).toMatchObject({ state: 'current', waiting: 0, refused: 0 })
      expect(await rowsOf(base)).toEqual(log)
      contexts.add(JSON.stringify((await session.context()).blocks))
    }
    expect(contexts.size).toBe(1)
  },
  limit(60_000),
)
