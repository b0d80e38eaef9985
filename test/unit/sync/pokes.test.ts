/** What is told of changes at home while something else is under way. */
import { expect, test, vi } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { edgeSocket, httpTransport } from '../../../src/sync/http.ts'
import { append, erase } from '../../contract/samples.ts'
import { ADA, device, idsOf, TestHome, TRIP, write } from '../support/synced.ts'

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

test('a session that was erased elsewhere is listened to again once something is in it', async () => {
  const home = new TestHome()
  const { link, store } = device(home)
  const listened: (readonly (string | undefined)[])[] = []
  link.pokes = (scopes) => {
    listened.push(scopes.map(({ sessionId }) => sessionId))
    return () => listened.push([])
  }
  store.follow(ADA)
  store.follow(TRIP)
  await home.open().commit([append('a', ['m1'])], decide)
  await store.settled()
  await vi.waitFor(() => expect(listened.at(-1)).toEqual([undefined, 'trip']))
  await home.open().commit([erase('e')], decide)
  store.resume()
  await vi.waitFor(() => expect(listened.at(-1)).toEqual([undefined]))
  await write(store, [append('b', ['m2'])])
  await vi.waitFor(() => expect(listened.at(-1)).toEqual([undefined, 'trip']))
  await store.close()
})

test('a socket that cannot be opened again has the home asked once', async () => {
  const sockets: FakeSocket[] = []
  class FakeSocket extends EventTarget {
    constructor() {
      super()
      sockets.push(this)
    }
    close(): void {}
    say(type: string): void {
      this.dispatchEvent(Object.assign(new Event(type), { code: 1006 }))
    }
  }
  const transport = httpTransport({
    url: 'https://memory.test',
    token: 'token',
    socket: edgeSocket,
    WebSocket: FakeSocket as never,
    random: () => 0,
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

for (const [code, times] of [
  [4404, 1],
  [1006, 0],
] as const)
  test(`a socket that closes with ${code} tells of ${times} changes`, async () => {
    const sockets: FakeSocket[] = []
    class FakeSocket extends EventTarget {
      constructor() {
        super()
        sockets.push(this)
      }
      close(): void {}
    }
    const transport = httpTransport({
      url: 'https://memory.test',
      token: 'token',
      socket: edgeSocket,
      WebSocket: FakeSocket as never,
    })
    const told = vi.fn()
    const end = transport.pokes?.([{ sessionId: 'trip' }], told)
    await vi.waitFor(() => expect(sockets).toHaveLength(1))
    sockets[0]?.dispatchEvent(Object.assign(new Event('close'), { code }))
    expect(told.mock.calls).toEqual(Array(times).fill([{ scope: { sessionId: 'trip' } }]))
    end?.()
  })
