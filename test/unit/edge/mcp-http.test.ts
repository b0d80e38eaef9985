import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { handleMcpRequest } from '../../../src/bridges/mcp/index.ts'
import { HEADERS, home, post, rpc } from './mcp-support.ts'

describe('an HTTP request of MCP', () => {
  const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

  it.each(['GET', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'])('is not %s', async (method) => {
    const headers = { Accept: 'text/event-stream' }
    const request = new Request('https://plimsoll.test/mcp', { method, headers })
    const response = await handleMcpRequest(home().session, request)
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'POST'])
  })

  it('is answered as JSON, without a session id', async () => {
    const response = await post(home().session, LIST)
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(response.headers.has('Mcp-Session-Id')).toBe(false)
    expect(await response.json()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
  })

  it('needs no initialization before it, and no version', async () => {
    const { session } = home()
    const request = new Request('https://plimsoll.test/mcp', {
      method: 'POST',
      headers: { Accept: HEADERS.Accept, 'Content-Type': 'application/json; charset=utf-8' },
      body: LIST,
    })
    expect((await handleMcpRequest(session, request)).status).toBe(200)
  })

  it.each([
    ['a version that nobody knows', { 'MCP-Protocol-Version': '1999-01-01' }, LIST, 400],
    ['no JSON', {}, '{"jsonrpc"', 400],
    ['an empty body', {}, '', 400],
    ['no JSON-RPC', {}, '{"method":"ping"}', 400],
    ['JSON-RPC 1.0', {}, '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400],
    ['an id that is null', {}, '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400],
    ['an id that is a fraction', {}, '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400],
    ['parameters that are a list', {}, '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 400],
    ['an answer without a result', {}, '{"jsonrpc":"2.0","id":1}', 400],
    ['an error without a code', {}, '{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}', 400],
    ['an error of an answer', {}, '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', 202],
    ['initialize beside another', {}, `[${LIST},${LIST.replace('tools/list', 'initialize')}]`, 400],
    ['an empty batch', {}, '[]', 400],
    ['no body at all', {}, null, 400],
    ['a batch of 101', {}, `[${Array(101).fill(LIST).join()}]`, 400],
    ['text', { 'Content-Type': 'text/plain' }, LIST, 415],
    ['a client that takes no JSON', { Accept: 'text/html' }, LIST, 406],
    ['a notification', {}, '{"jsonrpc":"2.0","method":"notifications/initialized"}', 202],
    ['an answer to nothing', {}, '{"jsonrpc":"2.0","id":7,"result":{}}', 202],
    ['more bytes than there may be', {}, `"${'x'.repeat(10_000)}"`, 413],
  ])('with %s is answered with a status', async (_, headers, body, status) => {
    expect((await post(home().session, body, { headers, maxBytes: 10_000 })).status).toBe(status)
  })

  it('has at most 1 MiB unless the app says otherwise', async () => {
    const body = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2))
    expect((await post(home().session, body(1_048_576))).status).toBe(400)
    expect((await post(home().session, body(1_048_577))).status).toBe(413)
  })

  it('is refused with options that there are none of', async () => {
    for (const given of ['x', Number.NaN, 0, -1, null].map((maxBytes) => ({ maxBytes })))
      await expect(post(home().session, LIST, given as never)).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument: 'maxBytes',
      })
    // Whatever the request is.
    const get = new Request('https://plimsoll.test/mcp')
    await expect(handleMcpRequest(home().session, get, { unknown: 1 } as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'unknown',
    })
  })

  it('names what is wrong with its parameters by a code alone', async () => {
    const { session } = home()
    for (const [method, params] of [
      ['tools/call', { name: 7 }],
      ['tools/call', { arguments: {} }],
      ['tools/call', { name: 'memory_finding', arguments: ['secret'] }],
      ['resources/read', { uri: { secret: 1 } }],
      ['prompts/get', undefined],
      ['initialize', { protocolVersion: 1 }],
    ] as const)
      expect(await rpc(session, { id: 1, method, params })).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32602, message: 'MCP error -32602: Invalid params' },
      })
  })

  it('gets the version that it asks for, or the newest', async () => {
    const { session } = home()
    for (const [asked, given] of [
      ['2025-03-26', '2025-03-26'],
      ['1999-01-01', LATEST_PROTOCOL_VERSION],
    ]) {
      const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
      expect(await rpc(session, { id: 1, method: 'initialize', params })).toMatchObject({
        result: { protocolVersion: given },
      })
    }
  })

  it('is answered also where it asks for a task, of which there are none', async () => {
    const params = { name: 'memory_finding', arguments: { text: 'x' }, task: { ttl: 1 } }
    expect(await rpc(home().session, { id: 1, method: 'tools/call', params })).toMatchObject({
      result: { isError: false },
    })
  })

  it('is answered also where its batch cancels it', async () => {
    const cancel = { method: 'notifications/cancelled', params: { requestId: 1, reason: 'x' } }
    const call = {
      id: 1,
      method: 'tools/call',
      params: { name: 'memory_finding', arguments: { text: 'x' } },
    }
    const batch = [call, cancel].map((message) => ({ jsonrpc: '2.0', ...message }))
    const response = await post(home().session, JSON.stringify(batch))
    expect(await response.json()).toMatchObject({ id: 1, result: { isError: false } })
  })
})
