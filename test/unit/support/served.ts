import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A server on a free port of the loopback. */
export interface Served {
  /** Without a slash at the end. */
  readonly url: string
  close(): Promise<void>
}

export async function serve(listener: RequestListener): Promise<Served> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A handler of the Web's kind, as Hono's `fetch`, behind a socket. */
export function serveFetch(handle: (request: Request) => Response | Promise<Response>): Promise<Served> {
  return serve((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy())
  })
}

async function answer(
  handle: (request: Request) => Response | Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming
  const body = method === 'GET' || method === 'HEAD' ? undefined : await textOf(incoming)
  const response = await handle(
    new Request(`http://${headers.host}${url}`, {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(body !== undefined && { body }),
    }),
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  // The types of the Web's streams and of Node's differ by name alone.
  if (response.body) await pipeline(Readable.fromWeb(response.body as never), outgoing)
  else outgoing.end()
}

export async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text
}
