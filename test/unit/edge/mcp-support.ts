import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'vitest'
import { handleMcpRequest, type McpRequestOptions } from '../../../src/bridges/mcp/index.ts'
import { type Json, mapStore } from '../../../src/index.ts'
import { type FullMemory, type FullSession, fullMemory } from '../../contract/full-memory.ts'

const NOON = Date.UTC(2026, 10, 22, 12)
export const START = 'plimsoll://session/start'

export interface Home {
  readonly memory: FullMemory
  readonly session: FullSession
}

export function home(options: object = {}): Home {
  const memory = fullMemory({
    store: mapStore(),
    budget: 16_000,
    clock: () => NOON,
    recall: {},
    ...options,
  })
  return { memory, session: memory.session({ userId: 'ada', sessionId: 'trip' }) }
}

/** A client of the SDK's own, whose every request goes to {@link handleMcpRequest}. */
export async function connect(session: FullSession, options: McpRequestOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('https://plimsoll.test/mcp'), {
    fetch: (url, init) => handleMcpRequest(session, new Request(url, init), options),
  })
  await client.connect(transport as never)
  return client
}

interface Told {
  readonly text: string
  readonly isError: boolean
}

export async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<Told> {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: input })
  expect(structuredContent).toBeUndefined()
  const [part] = content as readonly { readonly type: string; readonly text: string }[]
  expect(content).toEqual([{ type: 'text', text: expect.any(String) }])
  return { text: part?.text ?? '', isError: isError === true }
}

export async function readStart(client: Client, uri = START): Promise<Record<string, Json>> {
  const { contents } = await client.readResource({ uri })
  const [{ text, ...rest } = { text: '' }] = contents as { text: string }[]
  expect(contents).toHaveLength(1)
  expect(rest).toEqual({ uri, mimeType: 'application/json' })
  return JSON.parse(text)
}

export const idIn = (text: string): string => /f\d{6}/.exec(text)?.[0] ?? 'none'
export const SKILL = { name: 'booking', description: 'How to book.', text: 'Ask for the date first.' }

export const HEADERS = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': LATEST_PROTOCOL_VERSION,
}

export function post(
  session: FullSession,
  body: string | null,
  { headers = {}, ...options }: McpRequestOptions & { readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  const init = { method: 'POST', headers: { ...HEADERS, ...headers }, body }
  return handleMcpRequest(session, new Request('https://plimsoll.test/mcp', init), options)
}

export async function rpc(session: FullSession, message: object): Promise<unknown> {
  return (await post(session, JSON.stringify({ jsonrpc: '2.0', ...message }))).json()
}
