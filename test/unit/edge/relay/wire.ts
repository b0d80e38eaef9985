import { vi } from 'vitest'
import { RELAY_HEADER } from '../../../../src/edge/relay/frames.ts'
import { Relays } from '../../../../src/edge/relay/relays.ts'
import { ServedRelay, type ServedRelayOptions } from '../../../../src/edge/relay/served-relay.ts'
import { webHost } from '../../../../src/platform/web.ts'
import type { Host } from '../../../../src/ports/host.ts'

type Frame = string | ArrayBuffer

/** One end of a socket: what it sends the other one gets later, in order. */
class End {
  binaryType = ''
  tags: string[] = []
  sent: Frame[] = []
  other: End | undefined
  /** Of an object's end, whose events the runtime hands to the object. */
  onFrame: (frame: Frame) => void = () => {}
  onClose: () => void = () => {}
  #isClosed = false

  accept(): void {}

  addEventListener(type: string, listener: (event: { data: Frame }) => void): void {
    if (type === 'message') this.onFrame = (data) => listener({ data })
    if (type === 'close') this.onClose = () => listener({ data: '' })
  }

  send(given: string | ArrayBuffer | Uint8Array): void {
    if (this.#isClosed) throw new TypeError('the socket is closed')
    const frame = given instanceof Uint8Array ? given.slice().buffer : given
    this.sent.push(frame)
    setTimeout(() => this.other?.get(frame))
  }

  get(frame: Frame): void {
    if (!this.#isClosed) this.onFrame(frame)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    setTimeout(() => this.other?.closed())
  }

  closed(): void {
    this.#isClosed = true
    this.onClose()
  }
}

/** An object and a Worker, and what each of them fetches by. */
export interface Wire {
  readonly relays: Relays
  readonly served: ServedRelay
  /** The Worker's end, to be cut. */
  readonly worker: End
  readonly object: End
  readonly beats: () => number
}

export interface WireOptions extends Partial<ServedRelayOptions> {
  readonly fetchHere?: typeof fetch
  readonly now?: () => number
}

/** Its waits are a fiftieth of what they are called. */
const host: Host = { ...webHost, timeout: (ms) => webHost.timeout(ms / 50) }

export const ID = 'relay-1'

export function wire({ fetchHere, now = webHost.now, ...options }: WireOptions = {}): Wire {
  const worker = new End()
  const object = new End()
  worker.other = object
  object.other = worker
  vi.stubGlobal('WebSocketPair', function WebSocketPair() {
    return { 0: worker, 1: object }
  })
  // Node's own takes no status of an upgrade.
  vi.stubGlobal('Response', Upgradable)
  let beats = 0
  const none = async (): Promise<Response> => {
    throw new Error('nobody fetches here')
  }
  const relays = new Relays({
    ctx: {
      acceptWebSocket: (socket: unknown, tags?: string[]) => {
        ;(socket as End).tags = tags ?? []
      },
      getTags: (socket: unknown) => (socket as End).tags,
    },
    host: { ...host, now },
    fetch: fetchHere ?? none,
    onBeat: () => {
      beats++
    },
  })
  object.onFrame = (frame) => void relays.heard(object as unknown as WebSocket, frame)
  object.onClose = () => relays.closed(object as unknown as WebSocket)
  relays.accept(new Headers({ [RELAY_HEADER]: ID }))
  vi.unstubAllGlobals()
  const served = new ServedRelay(worker as unknown as WebSocket, {
    host,
    fetch: none,
    later: (run, ms) => void setTimeout(run, ms / 50),
    ...options,
  })
  return { relays, served, worker, object, beats: () => beats }
}

class Upgradable extends Response {
  constructor(body?: null, init: ResponseInit = {}) {
    super(body, init.status === 101 ? {} : init)
  }
}
