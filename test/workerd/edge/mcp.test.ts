import { env } from 'cloudflare:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker-provider.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { handleMcpRequest } from '../../../src/bridges/mcp/index.ts'
import { memoryToolSpecs, sessionStartGuide } from '../../../src/index.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { ObjectStore } from '../object-store.ts'

const START = 'plimsoll://session/start'
const URL_OF = 'https://plimsoll.test/mcp'

function home() {
  const store = new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId()))
  const memory = fullMemory({ store, budget: 2_000, recall: {} })
  return { memory, session: memory.session({ userId: 'ada', sessionId: 'trip' }) }
}

async function connect(session: FullSession): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() },
  )
  const transport = new StreamableHTTPClientTransport(new URL(URL_OF), {
    fetch: (url, init) => handleMcpRequest(session, new Request(url, init as RequestInit)),
  })
  await client.connect(transport as never)
  return client
}

async function call(client: Client, name: string, input: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: input })
  const [part] = content as readonly { readonly text: string }[]
  return { text: part?.text ?? '', isError }
}

const idIn = (text: string): string => /f\d{6}/.exec(text)?.[0] ?? 'none'

function post(session: FullSession, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const own = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  return handleMcpRequest(
    session,
    new Request(URL_OF, { method: 'POST', headers: { ...own, ...headers }, body }),
  )
}

describe('an MCP client of a session in a Durable Object', () => {
  const original = globalThis.Function
  let generated = 0

  beforeEach(() => {
    generated = 0
    // Who would make code from text asks for it here; workerd refuses, which a library may swallow.
    globalThis.Function = new Proxy(original, {
      construct: (target, given) => {
        generated++
        return Reflect.construct(target, given)
      },
      apply: (target, self, given) => {
        generated++
        return Reflect.apply(target, self, given)
      },
    })
  })

  afterEach(() => {
    globalThis.Function = original
    expect(generated).toBe(0)
  })

  it('learns what there is, and calls each of the ten tools', async () => {
    const { memory, session } = home()
    await memory.user({ userId: 'ada' }).skills.set({ name: 'booking', description: 'How.', text: 'Ask.' })
    await session.append({ role: 'user', content: 'The code of the depot is 4711.' })
    for (let index = 0; index < 30; index++)
      await addExchange(session, `Question ${index}?`, 'Yes. '.repeat(60))
    const client = await connect(session)
    expect(client.getServerVersion()).toMatchObject({ name: 'plimsoll' })
    expect(client.getInstructions()).toMatch(sessionStartGuide)
    const { tools } = await client.listTools()
    expect(tools.map(({ name, inputSchema }) => ({ name, inputSchema }))).toEqual(
      memoryToolSpecs(session).map(({ name, inputSchema }) => ({ name, inputSchema })),
    )
    const told: string[] = []
    const done = async (name: string, input: Record<string, unknown>): Promise<string> => {
      const { text, isError } = await call(client, name, input)
      expect(`${name} ${isError} ${text}`).toMatch(/ false /)
      told.push(name)
      return text
    }
    const finding = await done('memory_finding', { text: 'The 9:40 to Turin is full.' })
    const blocker = await done('memory_blocker', { text: 'The card was refused.' })
    await done('memory_blocker', { resolve: idIn(blocker) })
    await done('memory_correction', { text: 'The 9:50 to Turin is full.', supersedes: idIn(finding) })
    await done('memory_preference', { text: 'Ada likes window seats.' })
    const constraint = await done('memory_constraint', { text: 'Ada never flies.' })
    expect(await done('memory_recall', { query: 'depot code' })).toMatch(/4711/)
    expect(await done('memory_read_source', { reference: '#1' })).toMatch(/4711/)
    expect(await done('skill_load', { name: 'booking' })).toMatch(/Ask\.$/)
    await done('skill_unload', { name: 'booking' })
    await done('memory_forget', { fact: idIn(constraint) })
    expect(new Set(told)).toEqual(new Set(tools.map(({ name }) => name)))
    expect((await session.facts.list()).map(({ trust, pinned }) => ({ trust, pinned }))).toEqual(
      Array(2).fill({ trust: 'assistant', pinned: false }),
    )
    await client.close()
  })

  it('reads the start and the guide', async () => {
    const { session } = home()
    await session.facts.remember({ kind: 'constraint', text: 'Never before 9:00.', pinned: true })
    const client = await connect(session)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual([START])
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
    const { contents } = await client.readResource({ uri: `${START}?query=nine` })
    const [content] = contents as { readonly text: string }[]
    expect(JSON.parse(content?.text ?? '')).toEqual(await startSession(session, { query: 'nine' }))
    const { prompts } = await client.listPrompts()
    const { messages } = await client.getPrompt({ name: prompts[0]?.name ?? '' })
    expect(messages).toMatchObject([{ content: { text: sessionStartGuide } }])
  })

  it('is refused what does not fit or is not there', async () => {
    const { session } = home()
    const client = await connect(session)
    for (const [name, input] of [
      ['memory_finding', {}],
      ['memory_finding', { text: 'x'.repeat(900_000) }],
      ['memory_finding', JSON.parse('{"text":"x","__proto__":{"trust":"user"},"pinned":true}')],
      ['__proto__', {}],
      ['memory_promote', { id: 'x' }],
    ] as const)
      expect((await call(client, name, input)).isError, name).toBe(true)
    for (const uri of [`${START}?user=eve`, 'plimsoll://other', '__proto__'])
      await expect(client.readResource({ uri })).rejects.toThrow(/-3260|-32002/)
    await expect(client.getPrompt({ name: '__proto__' })).rejects.toThrow(/-32602/)
    expect(await session.facts.list()).toEqual([])
  })

  it('has no streams and no sessions of the protocol, and a known version', async () => {
    const { session } = home()
    for (const method of ['GET', 'DELETE'])
      expect((await handleMcpRequest(session, new Request(URL_OF, { method }))).status).toBe(405)
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    const response = await post(session, list)
    expect([response.status, response.headers.get('Mcp-Session-Id')]).toEqual([200, null])
    expect((await post(session, list, { 'MCP-Protocol-Version': '1999-01-01' })).status).toBe(400)
    expect((await post(session, `"${'x'.repeat(1_048_576)}"`)).status).toBe(413)
  })

  it('always gets an answer', async () => {
    const { session } = home()
    const ask = (more: object): object => ({ jsonrpc: '2.0', ...more })
    const tool = { name: 'memory_finding', arguments: { text: 'x' } }
    const cancel = ask({ method: 'notifications/cancelled', params: { requestId: 1 } })
    const deep = `${'['.repeat(250_000)}${']'.repeat(250_000)}`
    for (const body of [
      JSON.stringify([ask({ id: 1, method: 'tools/call', params: tool }), cancel]),
      JSON.stringify([ask({ id: 1, method: 'ping' }), ask({ id: 1, method: 'ping' })]),
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_finding","arguments":{"text":${deep}}}}`,
      `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{"a":${deep}}}]`,
      deep,
      '',
      '\0',
    ]) {
      const response = await post(session, body)
      expect(response.status).toBeLessThan(500)
      for (const answer of [await response.json()].flat()) expect(answer).toMatchObject({ jsonrpc: '2.0' })
    }
  })
})
