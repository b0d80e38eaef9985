/** What is told of changes at home while something else is under way. */
import { expect, test, vi } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { webHost } from '../../../src/platform/web.ts'
import { httpTransport } from '../../../src/sync/http.ts'
import { edgeSocket } from '../../../src/sync/sockets.ts'
import { append, erase } from '../../contract/samples.ts'
import { device, idsOf, refusing, TestHome, TRIP } from '../support/synced.ts'

test('a change that is told while an older answer is under way is fetched', async () => {
  const home = new TestHome()
  const { link, base, store } = device(home)
  const log = home.open()
  store.follow(TRIP)
  await log.commit([append('a', ['m1'])], decide)
  await store.settled()
  const { pull } = link
  link.pull = async (requests, signal) => {
    link.pull = pull
    const answers = await pull(requests, signal)
    await log.commit([append('b', ['m2'])], decide)
    home.poke({ sessionId: 'trip' })
    return answers
  }
  home.poke()
  await store.settled()
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
  await store.close()
})

test('a connection that came back does not shorten a wait that the home asked for', async () => {
  const home = new TestHome()
  let now = 0
  const { link, base, store } = device(home, { host: { ...webHost, now: () => now } })
  store.follow(TRIP)
  await store.settled()
  await home.open().commit([append('a', ['m1'])], decide)
  const { pull } = link
  const busy = vi.fn(refusing('ERR_OVERLOADED', { retryAfter: 60 }))
  link.pull = busy
  home.poke()
  await vi.waitFor(() => expect(store.status.cause).toMatchObject({ code: 'ERR_OVERLOADED' }))
  link.pull = vi.fn(pull)
  home.poke()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(link.pull).not.toHaveBeenCalled()
  now = 60_000
  home.poke()
  await store.settled()
  expect(await idsOf(base)).toEqual(['m1'])
})

test('a session that was erased elsewhere is listened to, since another device may fill it again', async () => {
  const home = new TestHome()
  const { base, store } = device(home)
  store.follow(TRIP)
  await home.open().commit([append('a', ['m1'])], decide)
  home.poke()
  await store.settled()
  await home.open().commit([erase('e')], decide)
  home.poke()
  await store.settled()
  await vi.waitFor(async () => expect(await idsOf(base)).toEqual([]))
  await home.open().commit([append('b', ['m2'])], decide)
  home.poke()
  await vi.waitFor(async () => expect(await idsOf(base)).toEqual(['m2']))
  await store.close()
})

test('a socket of what was erased is opened again ever later, up to a quarter of an hour', async () => {
  const { sockets, FakeSocket } = fakeSockets()
  const waits: number[] = []
  const transport = httpTransport({
    url: 'https://memory.test',
    token: 'token',
    socket: edgeSocket({ WebSocket: FakeSocket as never, random: () => 1 }),
    host: {
      now: () => 0,
      controller: () => new AbortController(),
      timeout(ms) {
        waits.push(ms)
        const controller = new AbortController()
        queueMicrotask(() => controller.abort())
        return { signal: controller.signal, clear: () => {} }
      },
    },
  })
  const end = transport.pokes?.([{ sessionId: 'trip' }], () => {})
  const closeAll = async (code: number | undefined, count: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      const { length } = sockets
      sockets.at(-1)?.say('close', code)
      await vi.waitFor(() => expect(sockets).toHaveLength(length + 1))
    }
  }
  await vi.waitFor(() => expect(sockets).toHaveLength(1))
  await closeAll(1006, 9)
  expect(waits.at(-1)).toBe(30_000)
  await closeAll(4404, 6)
  expect(waits.slice(-3)).toEqual([900_000, 900_000, 900_000])
  // It is there again.
  sockets.at(-1)?.say('open')
  await closeAll(1006, 1)
  expect(waits.at(-1)).toBe(30_000)
  end?.()
})

test('a socket that cannot be opened again has the home asked once', async () => {
  const { sockets, FakeSocket } = fakeSockets()
  const transport = httpTransport({
    url: 'https://memory.test',
    token: 'token',
    socket: edgeSocket({ WebSocket: FakeSocket as never, random: () => 0 }),
  })
  const told = vi.fn()
  const end = transport.pokes?.([{ sessionId: 'trip' }], told)
  await vi.waitFor(() => expect(sockets).toHaveLength(1))
  sockets[0]?.say('open')
  for (const count of [1, 2, 3]) {
    sockets[count - 1]?.say('close')
    await vi.waitFor(() => expect(sockets).toHaveLength(count + 1))
  }
  expect(told.mock.calls).toEqual([[undefined], [{ scope: { sessionId: 'trip' } }]])
  end?.()
})

test('a socket that cannot be made is tried again, and is no failure that nobody hears of', async () => {
  const { sockets, FakeSocket } = fakeSockets()
  let tries = 0
  class Refusing extends FakeSocket {
    constructor() {
      // As of a token that no protocol's name can hold.
      if (++tries === 1) throw new SyntaxError('of the platform')
      super()
    }
  }
  const transport = httpTransport({
    url: 'https://memory.test',
    token: 'token',
    socket: edgeSocket({ WebSocket: Refusing as never, random: () => 0 }),
  })
  const end = transport.pokes?.([{ sessionId: 'trip' }], () => {})
  await vi.waitFor(() => expect(sockets).toHaveLength(1))
  end?.()
})

for (const [code, times] of [
  [4404, 1],
  [1006, 0],
] as const)
  test(`a socket that closes with ${code} tells of ${times} changes`, async () => {
    const { sockets, FakeSocket } = fakeSockets()
    const transport = httpTransport({
      url: 'https://memory.test',
      token: 'token',
      socket: edgeSocket({ WebSocket: FakeSocket as never }),
    })
    const told = vi.fn()
    const end = transport.pokes?.([{ sessionId: 'trip' }], told)
    await vi.waitFor(() => expect(sockets).toHaveLength(1))
    sockets[0]?.say('close', code)
    expect(told.mock.calls).toEqual(Array(times).fill([{ scope: { sessionId: 'trip' } }]))
    end?.()
  })

interface Sayable {
  /** @param code of a close */
  say(type: string, code?: number): void
}

/** A class of sockets that do what a test says, and those that were made of it. */
function fakeSockets() {
  const sockets: Sayable[] = []
  class FakeSocket extends EventTarget implements Sayable {
    constructor() {
      super()
      sockets.push(this)
    }
    close(): void {}
    say(type: string, code = 1006): void {
      this.dispatchEvent(Object.assign(new Event(type), { code }))
    }
  }
  return { sockets, FakeSocket }
}
