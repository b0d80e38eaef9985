/**
 * The server of the bench, in a process of its own: it has the page, and each subject under a path
 * of its own, `/<subject>/…`, and counts the bytes of their requests and answers. Started by
 * `server-process.ts`.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { heldIn, LIMIT, OURS, PATHS, POUCHDB, RXDB, type Tally } from './orders.ts'
import { serveLimit } from './serve-limit.ts'
import { serveOurs } from './serve-ours.ts'
import { servePouchdb } from './serve-pouchdb.ts'
import { serveRxdb } from './serve-rxdb.ts'
import type { Served } from './served.ts'
import type { ServerOrder } from './server-process.ts'

const [folder = '', script = ''] = process.argv.slice(2)
const served: Readonly<Record<string, Served>> = {
  [PATHS[OURS]]: serveOurs(folder),
  [PATHS[LIMIT]]: serveLimit(folder),
  [PATHS[RXDB]]: serveRxdb(folder),
  [PATHS[POUCHDB]]: servePouchdb(folder),
}
const files: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  '/': { type: 'text/html', body: '<!doctype html><script type="module" src="/page.js"></script>' },
  '/page.js': { type: 'text/javascript', body: readFileSync(script, 'utf8') },
}
let tally: Tally = { requests: 0, upBytes: 0, downBytes: 0 }

const server = createServer((request, response) => {
  answer(request, response).catch((error: Error) => {
    console.error(error)
    response.writeHead(500).end()
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', (order: ServerOrder) => {
  obey(order).then(
    (answer) => process.send?.({ answer }),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
process.on('disconnect', () => process.exit())

async function obey(order: ServerOrder): Promise<unknown> {
  if (order.what === 'held') return heldIn((await served[order.path]?.messages(order.name)) ?? [])
  const taken = tally
  tally = { requests: 0, upBytes: 0, downBytes: 0 }
  return taken
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = request
  const file = files[url]
  if (file) {
    // Isolated pages get a clock of 5 microseconds, others one of 100.
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
    response.writeHead(200, { 'Content-Type': file.type }).end(file.body)
    return
  }
  const [, path = ''] = url.split('/')
  const subject = served[path]
  if (!subject) {
    response.writeHead(404).end()
    return
  }
  const up = await buffer(request)
  const given = new Request(`http://${headers.host}${url}`, {
    method,
    headers: headers as Record<string, string>,
    ...(up.length > 0 && { body: new Uint8Array(up) }),
  })
  count(1, up.length, 0)
  const { status, headers: told, body } = await subject.answer(url.slice(path.length + 1), given)
  response.writeHead(status, Object.fromEntries(told))
  const parts = Readable.fromWeb((body ?? new Blob().stream()) as never)
  parts.on('data', (part: Uint8Array) => count(0, 0, part.length))
  // A page that leaves ends what it listened to.
  await pipeline(parts, response).catch(() => {})
}

function count(requests: number, up: number, down: number): void {
  tally = {
    requests: tally.requests + requests,
    upBytes: tally.upBytes + up,
    downBytes: tally.downBytes + down,
  }
}
