/**
 * What listens at the port of `npm start`: wrangler behind it takes the URL of a request from
 * headers of its own (`MF-Original-URL`), which any page can send that has made its name point here
 * (DNS rebinding).
 */
import { once } from 'node:events'
import {
  request as ask,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'

const HOST = '127.0.0.1'
const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?$/i
/** Headers that Miniflare and wrangler take for their own. */
const INNER = /^(mf-|x-forwarded-)/i
/** workerd hides these from a Worker where they are empty, and the edge would write at once. */
const CONDITION = /^if-(none-)?match$/i

export interface Front {
  /** Where the edge listens, which only this asks. */
  readonly port: number
  /** What goes along with each request, so that the edge knows that it came by here. */
  readonly headers: Readonly<Record<string, string>>
}

/** Listens at a port, and hands on what asks for this machine by its own name. */
export async function listen(port: number, front: Front): Promise<Server> {
  const server = createServer((request, response) => {
    if (!isOwn(request)) return void response.writeHead(421).end('This is for loopback hosts alone.\n')
    const inner = ask(options(request, front), (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      // What breaks off there breaks off here.
      pipeline(answer, response, () => {})
    })
    inner.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
    response.on('close', () => inner.destroy())
    request.pipe(inner)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!isOwn(request)) return void socket.end('HTTP/1.1 421 Misdirected Request\r\n\r\n')
    const inner = ask(options(request, front))
    socket.on('error', () => inner.destroy())
    inner.on('error', () => socket.destroy())
    // Refused: there is no other protocol.
    inner.on('response', (answer) => {
      socket.write(headOf(answer))
      pipeline(answer, socket, () => {})
    })
    inner.on('upgrade', (answer: IncomingMessage, other: Socket, first: Buffer) => {
      socket.write(headOf(answer))
      socket.write(first)
      other.write(head)
      other.on('error', () => socket.destroy())
      socket.on('close', () => other.destroy())
      socket.pipe(other).pipe(socket)
    })
    inner.end()
  })
  server.listen(port, HOST)
  await once(server, 'listening')
  return server
}

function isOwn({ headers: { host = '' } }: IncomingMessage): boolean {
  return LOOPBACK.test(host)
}

function options({ method, url, headers }: IncomingMessage, { port, headers: own }: Front) {
  const given: IncomingHttpHeaders = Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !INNER.test(name))
      // The empty tag, which nothing has either, and which the edge refuses.
      .map(([name, value]) => [name, value === '' && CONDITION.test(name) ? '""' : value]),
  )
  return { host: HOST, port, method, path: url, headers: { ...given, ...own } }
}

/** Of an answer, as it goes over the wire. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}\r\n`] : []))
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`
}
