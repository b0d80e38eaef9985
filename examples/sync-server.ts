// The home of replicas without a cloud: Node's own server over a file of SQLite. It answers the two
// calls of sync, and a stream that tells of changes, so that replicas need not ask.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { checkPushed, createMemory, type Scope, type Store, standard } from 'plimsoll'
import { sqliteStore } from 'plimsoll/sqlite'
import { homeStore, syncServer } from 'plimsoll/sync'

/** @param users each user by the token that proves it: in an app, what its sign-in says */
export function createHome(store: Store, users: ReadonlyMap<string, string>): Server {
  const memory = createMemory({ store: homeStore(store), use: standard() })
  const listeners = new Map<string, Set<ServerResponse>>()
  const userOf = (authorization = '') => users.get(authorization.replace(/^Bearer /, ''))

  const answer = syncServer({
    store,
    authenticate: async ({ headers }) => {
      const userId = userOf(headers.get('Authorization') ?? '')
      return userId === undefined ? undefined : { userId }
    },
    check: (scope, ops) => checkPushed(memory, scope, ops),
    onChange: ({ userId, sessionId }: Scope) => {
      for (const stream of listeners.get(userId) ?? [])
        stream.write(`data: ${JSON.stringify({ session: sessionId })}\n\n`)
    },
    onError: (error) => console.error(error),
  })

  /** Server-sent events: a hint each time that something changed. */
  const listen = (incoming: IncomingMessage, response: ServerResponse): void => {
    const user = userOf(incoming.headers.authorization)
    if (user === undefined) {
      response.writeHead(401).end()
      return
    }
    const streams = listeners.get(user) ?? new Set()
    listeners.set(user, streams.add(response))
    response.on('close', () => {
      streams.delete(response)
      if (streams.size === 0) listeners.delete(user)
    })
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    response.write(': open\n\n')
  }

  return createServer(async (incoming, response) => {
    // What nobody has read of a body is let go: the next request comes after it.
    response.on('finish', () => incoming.unpipe().resume())
    if (incoming.method === 'GET' && incoming.url === '/v1/sync/changes') return listen(incoming, response)
    const request = requestOf(incoming)
    const { status, headers, body } = request ? await answer(request) : MALFORMED
    response.writeHead(status, Object.fromEntries(headers))
    if (body) Readable.fromWeb(body as never).pipe(response)
    else response.end()
  })
}

/** To what no `Request` can be made of. */
const MALFORMED = new Response(null, { status: 400 })

/** @returns undefined: its URL is none, or its method is one that `Request` does not take */
function requestOf(incoming: IncomingMessage): Request | undefined {
  const { method = 'GET', url = '/', headers } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  // Not the request itself: a body that is refused would take its connection with it.
  const body = incoming.pipe(new PassThrough())
  try {
    return new Request(new URL(url, 'http://home'), {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(hasBody && { body: Readable.toWeb(body) as ReadableStream, duplex: 'half' }),
    } as RequestInit)
  } catch {
    return undefined
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { HOME_FILE = 'home.db', HOME_TOKEN = crypto.randomUUID() } = process.env
  const home = createHome(sqliteStore({ path: HOME_FILE }), new Map([[HOME_TOKEN, 'me']]))
  home.listen(8_787, '127.0.0.1', () =>
    console.log(`The home is at http://127.0.0.1:8787, its token is ${HOME_TOKEN}`),
  )
}
