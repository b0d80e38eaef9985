/** Several tabs of one browser: one works, and no write waits for it to be well. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import type { Channel, Lock } from '../../../src/platform/tabs.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { refusalsOf, signOut } from '../../../src/sync/index.ts'
import { syncOnce } from '../../../src/sync/once.ts'
import { append, put } from '../../contract/samples.ts'
import {
  device,
  idsOf,
  logOf,
  offline,
  outboxOf,
  refusing,
  TestHome,
  TRIP,
  write,
} from '../support/synced.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Locks and channels of one browser. */
function browser() {
  let queue: Promise<void> = Promise.resolve()
  const lock: Lock = (_, work, signal) => {
    const mine = queue.then(() => (signal.aborted ? undefined : work()))
    queue = mine.catch(() => {})
    return mine
  }
  const channels = new Set<Channel>()
  const channel = (): Channel => {
    const own: Channel = {
      onmessage: null,
      postMessage: (data) => {
        const copy = structuredClone(data)
        for (const other of channels)
          if (other !== own) queueMicrotask(() => other.onmessage?.({ data: copy }))
      },
      close: () => channels.delete(own),
    }
    channels.add(own)
    return own
  }
  return { lock, channel }
}

function tabs() {
  const home = new TestHome()
  const base = mapStore()
  const options = { store: base, ...browser() }
  const [one, two] = [device(home, options), device(home, options)]
  return { home, base, one, two }
}

test('one tab works, and does what another one writes', async () => {
  const { home, one, two, base } = tabs()
  const ask = vi.spyOn(two.link, 'pull')
  await vi.advanceTimersByTimeAsync(100)
  await write(two.store, [append('a', ['m1'])])
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(home.store)).toEqual(['m1'])
  expect(await outboxOf(base)).toBe(0)
  expect(ask).not.toHaveBeenCalled()
  expect(two.store.status.state).toBe('current')
  expect(one.store.status.state).toBe('current')
  await expect(two.store.settled()).resolves.toMatchObject({ waiting: 0 })
})

test('a tab that does not work learns the time of the home from the one that does', async () => {
  const { one, two } = tabs()
  const { pull } = one.link
  one.link.pull = async (requests, signal) =>
    Object.assign([...(await pull(requests, signal))], { time: Date.now() + 3_600_000 })
  one.store.follow(TRIP)
  await vi.advanceTimersByTimeAsync(100)
  for (const { store } of [one, two]) {
    expect(store.clock.earliest()).toBeGreaterThan(Date.now() + 3_599_000)
    expect(store.clock.latest()).toBeLessThan(Date.now() + 3_601_000)
  }
})

test('a tab takes over when the one that works is closed', async () => {
  const { home, one, two } = tabs()
  await vi.advanceTimersByTimeAsync(100)
  await one.store.close()
  await write(two.store, [append('a', ['m1'])])
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('a tab that holds the lock and does nothing holds up no write for long', async () => {
  const { home, base, one, two } = tabs()
  one.link.push = () => new Promise(() => {})
  one.link.pull = () => new Promise(() => {})
  await vi.advanceTimersByTimeAsync(100)
  await write(two.store, [append('a', ['m1'])])
  await vi.advanceTimersByTimeAsync(9_000)
  expect(await idsOf(home.store)).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await idsOf(home.store)).toEqual(['m1'])
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('a tab shows that the one that works is offline, and what was refused there', async () => {
  const { home, one, two } = tabs()
  const told = vi.fn()
  refusalsOf(two.store).on('conflict', told)
  await vi.advanceTimersByTimeAsync(100)
  const { pull } = one.link
  one.link.pull = offline
  const scope = two.store.open(TRIP)
  await scope.commit([put('p', 'mood', null)], decide)
  await vi.advanceTimersByTimeAsync(100)
  expect(two.store.status.state).toBe('offline')
  await home.open().commit([put('q', 'mood', null)], decide)
  one.link.pull = pull
  one.store.resume()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toHaveBeenCalledOnce()
  expect(two.store.status.state).toBe('conflict')
})

test.each(['one', 'two'] as const)(
  'what tab %s sees to of what was refused counts in no tab',
  async (name) => {
    const { home, ...all } = tabs()
    for (const { store } of [all.one, all.two]) store.follow(TRIP)
    await home.open().commit([put('q', 'mood', null)], decide)
    await write(all.two.store, [put('p', 'mood', null)])
    await vi.advanceTimersByTimeAsync(1_000)
    const statuses = () => [all.one, all.two].map(({ store }) => store.status)
    const conflict = { state: 'conflict', refused: 1 }
    expect(statuses()).toMatchObject([conflict, conflict])
    const refusals = refusalsOf(all[name].store)
    const [refused] = await refusals.of(TRIP)
    await refusals.resolve(refused as never, 'theirs')
    await vi.advanceTimersByTimeAsync(1_000)
    const current = { state: 'current', waiting: 0, refused: 0 }
    expect(statuses()).toEqual([current, current])
  },
)

test('a tab that is opened says what waits, though another one works and cannot send it', async () => {
  const home = new TestHome()
  const options = { store: mapStore(), ...browser() }
  const one = device(home, options)
  const { push, pull } = one.link
  Object.assign(one.link, { push: offline, pull: offline })
  await write(one.store, [append('a', ['m1'])])
  await vi.advanceTimersByTimeAsync(1_000)
  const two = device(home, options)
  const isSettled = vi.fn()
  two.store.settled().then(isSettled, () => {})
  await vi.advanceTimersByTimeAsync(1_000)
  expect(two.store.status.waiting).toBe(1)
  expect(isSettled).not.toHaveBeenCalled()
  Object.assign(one.link, { push, pull })
  one.store.resume()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isSettled).toHaveBeenCalledWith({ state: 'current', waiting: 0, refused: 0 })
})

test('a tab to which the browser refuses locks works, and hears of changes', async () => {
  const home = new TestHome()
  const { base, store } = device(home, { lock: async () => Promise.reject(new Error('of the browser')) })
  await write(store, [append('a', ['m1'])])
  store.follow(TRIP)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await idsOf(home.store)).toEqual(['m1'])
  await home.open().commit([append('b', ['m2'])], decide)
  home.poke()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
})

test.each(['one', 'two'] as const)('what %s signs out of stays away, in its other tabs too', async (name) => {
  const all = tabs()
  const { home, base, one, two } = all
  for (const { store } of [one, two]) store.follow(TRIP)
  await home.open().commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(base)).toEqual(['m1'])
  await expect(signOut(all[name].store)).resolves.toMatchObject({ done: true })
  await vi.advanceTimersByTimeAsync(100)
  await home.open().commit([append('b', ['m2'])], decide)
  home.poke()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await idsOf(base)).toEqual([])
  for (const { store } of [one, two]) expect(store.status.state).toBe('signed-out')
  one.store.resume()
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
  for (const { store } of [one, two]) expect(store.status.state).toBe('current')
})

test('a service worker sends what waits, once', async () => {
  vi.useRealTimers()
  const home = new TestHome()
  const { store, base, link } = device(home)
  store.pause()
  await write(store, [append('a', ['m1'])])
  await store.close()
  const once = { store: base, transport: link, channel: false } as const
  const { push } = link
  link.push = offline
  await expect(syncOnce(once)).rejects.toMatchObject({ code: 'ERR_OFFLINE' })
  expect(await outboxOf(base)).toBe(1)
  link.push = push
  expect(await syncOnce(once)).toMatchObject({ state: 'current' })
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('nothing is tried without a network, and all at once when it is back', async () => {
  const home = new TestHome()
  let isOnline = false
  let back = (): void => {}
  const network = {
    isOnline: () => isOnline,
    listen: (listener: () => void) => {
      back = listener
      return () => {}
    },
  }
  const { store } = device(home, { network })
  await write(store, [append('a', ['m1'])])
  await vi.advanceTimersByTimeAsync(600_000)
  expect(home.calls).toEqual([])
  expect(store.status.state).toBe('offline')
  isOnline = true
  back()
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('a home is asked again at the interval that is set, and told changes are fetched at once', async () => {
  const home = new TestHome()
  const { store, base } = device(home, { pollMs: 60_000 })
  store.follow(TRIP)
  await vi.advanceTimersByTimeAsync(1_000)
  await home.open().commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await idsOf(base)).toEqual(['m1'])
  await home.open().commit([append('b', ['m2'])], decide)
  home.poke({ sessionId: 'other' })
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(base)).toEqual(['m1'])
  home.poke({ sessionId: 'trip' })
  await vi.advanceTimersByTimeAsync(100)
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
})

test('what fails is tried later and later, and not before the home says so', async () => {
  const home = new TestHome()
  const { store, link } = device(home, { baseMs: 1_000, capMs: 8_000, random: () => 1 })
  const at: number[] = []
  const start = Date.now()
  link.pull = async () => {
    at.push(Date.now() - start)
    return offline()
  }
  store.follow(TRIP)
  await vi.advanceTimersByTimeAsync(40_000)
  expect(at).toEqual([0, 1_000, 3_000, 7_000, 15_000, 23_000, 31_000, 39_000])
})

test('a scope that fails holds up no other', async () => {
  const home = new TestHome()
  const { store, link } = device(home)
  const { pull } = link
  link.pull = async (requests, signal) => {
    const answers = await pull(requests, signal)
    return answers.map((answer, index) =>
      requests[index]?.sessionId === 'trip'
        ? { error: { code: 'ERR_RATE_LIMIT', message: 'wait', retryAfter: 60 } }
        : answer,
    )
  }
  await write(store, [append('a', ['m1'])])
  await write(store, [append('b', ['m2'])], { userId: 'ada', sessionId: 'other' })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await idsOf(home.store, { userId: 'ada', sessionId: 'other' })).toEqual(['m2'])
  expect(home.calls.length).toBeLessThan(12)
  link.pull = pull
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await idsOf(home.store)).toEqual(['m1'])
})

const OTHER = { userId: 'ada', sessionId: 'other' }

test('a scope whose answers do not follow its log holds up no other', async () => {
  const home = new TestHome()
  const { base, store, link } = device(home)
  await home.open(TRIP).commit([append('a', ['m1'])], decide)
  await home.open(OTHER).commit([append('b', ['m2'])], decide)
  const { pull } = link
  link.pull = async (requests, signal) =>
    (await pull(requests, signal)).map((answer, index) =>
      requests[index]?.sessionId === 'trip' && 'ops' in answer ? { ...answer, cursor: 7, head: 7 } : answer,
    )
  store.follow(TRIP)
  store.follow(OTHER)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await idsOf(base, OTHER)).toEqual(['m2'])
  expect(store.status.cause).toMatchObject({ code: 'ERR_STORAGE' })
})

test('a session that a home can never be asked about holds up no other', async () => {
  const home = new TestHome()
  const { store, link } = device(home)
  const { pull, push } = link
  /** As the edge does, of a name that can stand in no URL. */
  const refused = refusing('ERR_INVALID_ARGUMENT')
  const isStep = ({ sessionId }: { readonly sessionId?: string }) => sessionId === '..'
  link.pull = async (requests, signal) => (requests.some(isStep) ? refused() : pull(requests, signal))
  link.push = async (requests, signal) => (requests.some(isStep) ? refused() : push(requests, signal))
  await write(store, [append('a', ['m1'])], { userId: 'ada', sessionId: '..' })
  await write(store, [append('b', ['m2'])])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await idsOf(home.store)).toEqual(['m2'])
  await vi.advanceTimersByTimeAsync(40_000)
  expect(store.status).toMatchObject({ waiting: 1, cause: { code: 'ERR_INVALID_ARGUMENT' } })
})
