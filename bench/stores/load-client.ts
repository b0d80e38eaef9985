/**
 * Sends one exchange after the other over some connections and waits for each answer, when told to.
 * In a process of its own and as little as it can be, so that it costs every subject the same.
 * Started by `turns.ts`.
 */
import { connect, type Socket } from 'node:net'
import { quantile } from '../stats.ts'
import { EXCHANGE_BYTES } from './edge-orders.ts'
import { exchangeAt } from './messages.ts'

export interface LoadOrder {
  readonly port: number
  /** Name of the session. */
  readonly session: string
  readonly connections: number
  readonly ms: number
  /** Calls of each connection before the time begins. */
  readonly warmUp: number
  /** Beside those that HTTP needs. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Load {
  readonly calls: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Mean size of an answer's body. */
  readonly bytes: number
  /** Calls in all, the warm-up included. */
  readonly sent: number
}

const BODIES = 256
const HEAD_END = '\r\n\r\n'

const bodies = Array.from({ length: BODIES }, (_, number) =>
  JSON.stringify({ messages: exchangeAt(number, EXCHANGE_BYTES) }),
)

process.on('message', (order: LoadOrder) => {
  load(order).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
process.on('disconnect', () => process.exit())

async function load({ port, session, connections, ms, warmUp, headers = {} }: LoadOrder): Promise<Load> {
  const lines = Object.entries({ Host: '127.0.0.1', 'Content-Type': 'application/json', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const head = `POST /v1/sessions/${session}/context HTTP/1.1\r\n${lines}`
  const requests = bodies.map((body) =>
    Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}${HEAD_END}${body}`),
  )
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const times: number[] = []
  let sent = 0
  let bytes = 0
  const call = (connection: Connection): Promise<number> =>
    connection.call(requests[sent++ % BODIES] as Buffer)
  await Promise.all(
    open.map(async (connection) => {
      for (let count = 0; count < warmUp; count++) await call(connection)
    }),
  )
  const start = performance.now()
  await Promise.all(
    open.map(async (connection) => {
      for (let now = performance.now(); now - start < ms; ) {
        const length = await call(connection)
        bytes += length
        const end = performance.now()
        times.push(end - now)
        now = end
      }
    }),
  )
  const seconds = (performance.now() - start) / 1_000
  for (const connection of open) connection.close()
  return {
    calls: times.length,
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    bytes: bytes / times.length,
    sent,
  }
}

/** One HTTP connection with one request at a time. */
class Connection {
  readonly #socket: Socket
  #chunks: Buffer[] = []
  #received = 0
  /** Bytes of the answer, once its head is there. */
  #expected = Number.POSITIVE_INFINITY
  #bodyLength = 0
  #done: ((length: number) => void) | undefined
  #failed: ((error: Error) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk as Buffer))
    socket.on('error', (error) => this.#failed?.(error))
    socket.on('close', () => this.#failed?.(new Error('the connection was closed')))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)))
      socket.once('error', reject)
    })
  }

  /** @returns bytes of the answer's body */
  call(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#done = resolve
      this.#failed = reject
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#failed = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#received += chunk.length
    if (this.#expected === Number.POSITIVE_INFINITY) this.#readHead()
    if (this.#received < this.#expected) return
    this.#chunks = []
    this.#received = 0
    this.#expected = Number.POSITIVE_INFINITY
    this.#done?.(this.#bodyLength)
  }

  #readHead(): void {
    const text = Buffer.concat(this.#chunks).toString('latin1')
    const end = text.indexOf(HEAD_END)
    if (end < 0) return
    const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1]
    if (!text.startsWith('HTTP/1.1 200') || length === undefined) {
      this.#failed?.(new Error(`unexpected answer: ${text.slice(0, 500)}`))
      return
    }
    this.#bodyLength = Number(length)
    this.#expected = end + HEAD_END.length + this.#bodyLength
  }
}
