/** What is told of changes at home while something else is under way. */
import { expect, test, vi } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { edgeSocket, httpTransport } from '../../../src/sync/http.ts'
import { append } from '../../contract/samples.ts'
import { device, idsOf, TestHome, TRIP } from '../support/synced.ts'

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
