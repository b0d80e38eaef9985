import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createHome } from '../../examples/sync-server.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { encodePush } from '../../src/sync/wire.ts'
import { describeSync } from '../contract/index.ts'
import { SqliteFiles } from '../unit/support/sqlite-files.ts'

const files = new SqliteFiles()
const servers: Server[] = []

/** A token is the name of its user. */
const users = { get: (token: string) => token || undefined } as ReadonlyMap<string, string>

async function listen(): Promise<string> {
  const server = createHome(files.open(), users)
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  await files.remove()
})

const authorize = (user: string) => ({ Authorization: `Bearer ${user}` })
let origin: Promise<string> | undefined

describeSync('of the example, over HTTP', async () => {
  origin ??= listen()
  const home = await origin
  return {
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? undefined : await request.arrayBuffer()
      return fetch(home + pathname + search, { method, headers, ...(body && { body }) })
    },
    authorize,
  }
})

describe('the stream of changes', () => {
  const push = (home: string, user: string, id: string) => {
    const message = { id, role: 'user', content: 'Hello', createdAt: 1, trust: 'user' } as const
    const op = sealOp({ kind: 'append', opId: `entry:${id}`, round: id, messages: [message] })
    return fetch(`${home}/v1/sync/push`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...authorize(user) },
      body: encodePush([{ sessionId: 'trip', generation: '', ops: [op] }]),
    })
  }

  it('tells a user of what other devices wrote, and of nothing else', async () => {
    const home = await listen()
    const response = await fetch(`${home}/v1/sync/changes`, { headers: authorize('ada') })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe(': open\n\n')
    await push(home, 'bob', 'm1')
    await push(home, 'ada', 'm1')
    expect((await reader?.read())?.value).toBe('data: {"session":"trip"}\n\n')
    await reader?.cancel()
  })

  it('is closed to who proves nothing', async () => {
    expect((await fetch(`${await listen()}/v1/sync/changes`)).status).toBe(401)
  })
})

describe('a connection', () => {
  const JSON_TYPE = 'Content-Type: application/json'
  const ADA = 'Authorization: Bearer ada'

  /** Asks by these lines, then by another method than is taken. @returns the statuses of both */
  async function statusesOf(lines: readonly string[], body = ''): Promise<readonly unknown[]> {
    const socket = connect(Number(new URL(await listen()).port), '127.0.0.1')
    const length = `Content-Length: ${body.length}`
    socket.write([...lines, 'Host: home', length, '', body].join('\r\n'))
    socket.write(['GET /v1/sync/push HTTP/1.1', 'Host: home', '', ''].join('\r\n'))
    let answer = ''
    const statuses = () => [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gmu)].map(([, status]) => status)
    for await (const part of socket.setEncoding('utf8')) {
      answer += part
      if (statuses().length === 2) break
    }
    return statuses()
  }

  it.each([
    ['is too long', '413', 9, ['POST /v1/sync/push HTTP/1.1', ADA, JSON_TYPE]],
    ['is nobody’s', '401', 1, ['POST /v1/sync/push HTTP/1.1', JSON_TYPE]],
    ['is of no type', '415', 1, ['POST /v1/sync/push HTTP/1.1', ADA]],
    ['goes nowhere', '404', 1, ['POST /v1/nothing HTTP/1.1', ADA, JSON_TYPE]],
  ])('answers what comes after a body that %s', async (_, status, mebibytes, lines) => {
    expect(await statusesOf(lines, 'x'.repeat(mebibytes * 2 ** 20))).toEqual([status, '405'])
  })

  it.each(['TRACE / HTTP/1.1', 'GET //[ HTTP/1.1'])('answers what comes after %s', async (line) => {
    expect(await statusesOf([line])).toEqual(['400', '405'])
  })
})
