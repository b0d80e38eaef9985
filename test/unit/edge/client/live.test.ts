import { describe, expect, it } from 'vitest'
import {
  type ClientOptions,
  createClient,
  type LiveEvent,
  type Socket,
} from '../../../../src/client/index.ts'
import { type Answer, json, offline, problem, scene } from './support.ts'

class FakeSocket implements Socket {
  static made: FakeSocket[] = []
  readonly url: string
  readonly protocols: readonly string[]
  readonly #listeners = new Map<string, (event: { readonly data: unknown }) => void>()
  isClosed = false

  constructor(url: string, protocols: string[]) {
    this.url = url
    this.protocols = protocols
    FakeSocket.made.push(this)
  }

  addEventListener(type: string, listener: (event: { readonly data: unknown }) => void): void {
    this.#listeners.set(type, listener)
  }

  close(): void {
    this.isClosed = true
  }

  says(type: 'open' | 'close' | 'message', data?: unknown): void {
    this.#listeners.get(type)?.({ data })
  }
}

const watch = (options: Partial<ClientOptions> = {}, answers: readonly Answer[] = [offline]) => {
  FakeSocket.made = []
  const { client, sent, waits, pass } = scene(answers, { WebSocket: FakeSocket, ...options })
  const told: LiveEvent[] = []
  const close = client.session('a/b').live((event) => told.push(event))
  const socket = async (place: number): Promise<FakeSocket> => {
    await expect.poll(() => FakeSocket.made.length).toBe(place + 1)
    return FakeSocket.made[place] as FakeSocket
  }
  return { close, told, sent, waits, pass, socket }
}

describe('live', () => {
  it('opens a socket with the token as a subprotocol, never in the address', async () => {
    const { socket, close } = watch({ baseUrl: 'https://edge.test/api/' })
    const { url, protocols } = await socket(0)
    expect(url).toBe('wss://edge.test/api/v1/sessions/a%2Fb/live')
    expect(protocols).toEqual(['plimsoll.v1', 'bearer.secret'])
    close()
    const plain = watch({ baseUrl: 'http://localhost:8787' })
    expect((await plain.socket(0)).url).toBe('ws://localhost:8787/v1/sessions/a%2Fb/live')
    plain.close()
  })

  it('opens one without a token where the app gives none, and asks without one why it was refused', async () => {
    FakeSocket.made = []
    const asked: RequestInit[] = []
    const client = createClient({
      baseUrl: 'http://localhost:8787',
      WebSocket: FakeSocket,
      fetch: async (_, init) => {
        asked.push(init)
        return problem(404, {})
      },
    })
    const told: LiveEvent[] = []
    client.session('trip').live((event) => told.push(event))
    await expect.poll(() => FakeSocket.made.length).toBe(1)
    expect(FakeSocket.made[0]?.protocols).toEqual(['plimsoll.v1'])
    FakeSocket.made[0]?.says('close')
    await expect.poll(() => told).toEqual([{ type: 'refused', status: 404 }])
    expect(new Headers(asked[0]?.headers).has('authorization')).toBe(false)
  })

  it('tells of changes, and passes over what it does not know', async () => {
    const { socket, told, close } = watch()
    const first = await socket(0)
    first.says('open')
    first.says('message', '{"type":"change","seq":7}')
    for (const odd of ['{"type":"later"}', '{"type":"change"}', 'null', '{', new ArrayBuffer(2)])
      first.says('message', odd)
    expect(told).toEqual([{ type: 'open' }, { type: 'change', seq: 7 }])
    close()
  })

  it('opens another socket after one that closed, with the token of then, later and later', async () => {
    let tokens = 0
    const { socket, told, waits, close } = watch({ token: () => `token-${++tokens}` })
    for (let place = 0; place < 9; place++) (await socket(place)).says('close')
    const last = await socket(9)
    last.says('open')
    expect(last.protocols[1]).toBe('bearer.token-10')
    expect(waits).toEqual([150, 300, 600, 1_200, 2_400, 4_800, 9_600, 15_000, 15_000])
    expect(told).toEqual([...Array(9).fill({ type: 'close' }), { type: 'open' }])
    close()
  })

  it('opens another one soon after one that held for long', async () => {
    const { socket, waits, pass, close } = watch()
    for (let place = 0; place < 3; place++) (await socket(place)).says('close')
    const held = await socket(3)
    pass(30_001)
    held.says('close')
    await socket(4)
    expect(waits).toEqual([150, 300, 600, 150])
    close()
  })

  it('tries again when there is no token, or the platform refuses the socket', async () => {
    let asked = 0
    const { socket, close } = watch({
      token: () => {
        if (++asked < 3) throw new Error('offline')
        return 'secret'
      },
    })
    await socket(0)
    expect(asked).toBe(3)
    close()
  })

  it.each([403, 404, 410])('asks why a socket was refused, and ends at %s', async (status) => {
    const { socket, told, sent, waits } = watch({}, [problem(status, {})])
    ;(await socket(0)).says('close')
    await expect.poll(() => told).toEqual([{ type: 'refused', status }])
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([waits, FakeSocket.made.length]).toEqual([[], 1])
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET https://edge.test/v1/sessions/a%2Fb',
    ])
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer secret')
  })

  it('goes on where the session is there, and asks for a fresh token where the edge refused the old', async () => {
    const asked: (string | undefined)[] = []
    const token = (refused?: string): string => {
      asked.push(refused)
      return `token-${asked.length}`
    }
    const { socket, told, close } = watch({ token }, [json({}), problem(401, {}), problem(503, {}), offline])
    for (let place = 0; place < 4; place++) (await socket(place)).says('close')
    await socket(4)
    expect(asked).toEqual([undefined, undefined, 'token-2', undefined, undefined])
    expect(told).toEqual(Array(4).fill({ type: 'close' }))
    close()
  })

  it('does not ask where a socket was open before it closed', async () => {
    const { socket, sent, close } = watch({}, [problem(404, {})])
    const first = await socket(0)
    first.says('open')
    first.says('close')
    await socket(1)
    expect(sent).toEqual([])
    close()
  })

  it('is silent once it is closed, and opens nothing more', async () => {
    const { socket, told, waits, close } = watch()
    const first = await socket(0)
    close()
    expect(first.isClosed).toBe(true)
    first.says('open')
    first.says('message', '{"type":"change","seq":7}')
    first.says('close')
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([told, waits, FakeSocket.made.length]).toEqual([[], [], 1])
  })

  it('opens nothing if it was closed while the token was asked for', async () => {
    const { close } = watch({ token: async () => 'secret' })
    close()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(FakeSocket.made).toEqual([])
  })

  it('says at once where there is no WebSocket', () => {
    const { client } = scene([], { WebSocket: undefined as never })
    const live = (): unknown => client.session('trip').live(() => {})
    expect(live).toThrow(expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }))
  })
})
