import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { describe, expect, it } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { memoryMcpServer } from '../../../src/bridges/mcp/index.ts'
import { mapStore, memoryToolSpecs, PlimsollError, sessionStartGuide } from '../../../src/index.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { start as startSession } from '../../../src/operations/start/start.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { call, connect, home, idIn, readStart, rpc, SKILL, START } from './mcp-support.ts'

describe('an MCP client of a session', () => {
  it('learns who serves, what there is, and how to use it', async () => {
    const client = await connect(home().session)
    expect(client.getServerVersion()).toEqual({
      name: packageJson.name,
      title: 'Plimsoll memory',
      version: packageJson.version,
    })
    expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {} })
    expect(client.getInstructions()).toMatch(sessionStartGuide)
    expect(client.getInstructions()).toMatch(START)
    await client.ping()
    await client.close()
  })

  it('gets what the app says instead', async () => {
    const info = { name: 'travel', version: '7' }
    const client = await connect(home().session, { info, instructions: 'Remember trips.' })
    expect(client.getServerVersion()).toEqual(info)
    expect(client.getInstructions()).toBe('Remember trips.')
  })

  it('connects over any transport, not only over HTTP', async () => {
    const { session } = home()
    const client = new Client({ name: 'test', version: '1' })
    const [here, there] = InMemoryTransport.createLinkedPair()
    const server = memoryMcpServer(session)
    const sent: unknown[] = []
    const send = there.send.bind(there)
    there.send = (message) => {
      sent.push(message)
      return send(message)
    }
    await Promise.all([server.connect(there), client.connect(here)])
    expect((await call(client, 'memory_finding', { text: 'The 9:40 is full.' })).isError).toBe(false)
    expect(await session.facts.list()).toHaveLength(1)
    // What tells that the client is ready asks nothing.
    expect(sent).toMatchObject([{ id: 0 }, { id: 1 }])
    await client.close()
    expect(server.transport).toBeUndefined()
  })

  it('is connected to one transport at a time', async () => {
    const server = memoryMcpServer(home().session)
    const pairs = [1, 2].map(() => InMemoryTransport.createLinkedPair())
    const [first, second] = pairs.map(([, there]) => there as InMemoryTransport)
    await server.connect(first as InMemoryTransport)
    await expect(server.connect(second as InMemoryTransport)).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
    expect(server.transport).toBe(first)
    await server.close()
    await server.connect(second as InMemoryTransport)
    expect(server.transport).toBe(second)
  })

  it('is refused options that there are none of', async () => {
    const { session } = home()
    const info = { name: 'n', version: '1' }
    for (const given of [
      ...[{ newId: 5 }, { instructions: 5 }, { info: 5 }, { info: { ...info, version: 1 } }],
      { info: { ...info, name: 1 } },
      ...[{ unknown: 1 }, null],
    ] as never[]) {
      const refused = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' })
      expect(() => memoryMcpServer(session, given), JSON.stringify(given)).toThrowError(refused)
    }
  })

  it('finds the ten tools, with their schemas and what they do to the memory', async () => {
    const { session } = home()
    const { tools, nextCursor } = await (await connect(session)).listTools()
    expect(nextCursor).toBeUndefined()
    expect(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).toEqual(
      memoryToolSpecs(session),
    )
    const named = (hint: 'readOnlyHint' | 'destructiveHint'): readonly string[] =>
      tools.filter(({ annotations }) => annotations?.[hint]).map(({ name }) => name)
    expect(tools).toHaveLength(10)
    expect(named('readOnlyHint')).toEqual(['memory_recall', 'memory_read_source'])
    expect(named('destructiveHint')).toEqual(['memory_forget'])
    for (const { title, annotations } of tools) {
      expect(title).toMatch(/^[A-Z][a-z ]+$/)
      expect(annotations).toMatchObject({ idempotentHint: true, openWorldHint: false })
    }
  })

  it('finds those alone that the memory has and the app chose', async () => {
    const without = await (await connect(home({ recall: undefined }).session)).listTools()
    expect(without.tools.map(({ name }) => name)).not.toContain('memory_recall')
    const client = await connect(home().session, { only: ['recall'] })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['memory_recall'])
    expect(await call(client, 'memory_finding', { text: 'x' })).toEqual({
      text: 'Error: there is no tool "memory_finding".',
      isError: true,
    })
    await expect(connect(home().session, { only: ['promote' as never] })).rejects.toThrow(
      /no tool's: promote/,
    )
  })

  it('calls each of the ten', async () => {
    const { memory, session } = home({ budget: 2_000 })
    await memory.user({ userId: 'ada' }).skills.set(SKILL)
    await session.append({ role: 'user', content: 'The code of the depot is 4711.' })
    for (let index = 0; index < 40; index++)
      await addExchange(session, `Question ${index}?`, 'Yes. '.repeat(60))
    const client = await connect(session)
    const done = async (name: string, input: Record<string, unknown>): Promise<string> => {
      const { text, isError } = await call(client, name, input)
      expect(`${name}: ${text}`).not.toMatch(/: Error/)
      expect(isError).toBe(false)
      return text
    }
    const finding = await done('memory_finding', { text: 'The 9:40 to Turin is full.', confidence: 0.4 })
    expect(finding).toMatch(/^Remembered: finding f\d{6}, trust assistant\.$/)
    const blocker = await done('memory_blocker', { text: 'The card was refused.' })
    expect(await done('memory_blocker', { resolve: idIn(blocker) })).toBe(`Resolved: ${idIn(blocker)}.`)
    await done('memory_correction', { text: 'The 9:50 to Turin is full.', supersedes: idIn(finding) })
    await done('memory_preference', { text: 'Ada likes window seats.' })
    const constraint = await done('memory_constraint', { text: 'Ada never flies.' })
    expect(await done('memory_recall', { query: 'depot code' })).toMatch(
      /^\[from memory.*\n\d{4}-\d\d-\d\d\n- #1 .*4711/,
    )
    expect(await done('memory_read_source', { reference: '#1' })).toMatch(/^\[from memory.*\n.*4711/)
    expect(await done('skill_load', { name: 'booking' })).toMatch(/Ask for the date first\.$/)
    expect(await session.skills.loaded()).toEqual(['booking'])
    expect(await done('skill_unload', { name: 'booking' })).toBe('Unloaded: booking.')
    expect(await done('memory_forget', { fact: idIn(constraint) })).toBe(`Forgotten: ${idIn(constraint)}.`)
    expect((await session.facts.list()).map(({ kind }) => kind).sort()).toEqual(['correction', 'preference'])
  })

  it('remembers what it says twice once, and again after it was forgotten', async () => {
    const { session } = home()
    const client = await connect(session)
    for (const [name, text] of [
      ['memory_finding', 'The 9:40 is full.'],
      ['memory_constraint', 'Ada never flies.'],
    ] as const) {
      const first = await call(client, name, { text })
      // A client that connects again counts its requests from the start.
      for (const again of [client, await connect(session)])
        expect((await call(again, name, { text })).text).toMatch(`Remembered before`)
      await call(client, 'memory_forget', { fact: idIn(first.text) })
      expect((await session.facts.list()).map((fact) => fact.text)).not.toContain(text)
      expect((await call(await connect(session), name, { text })).text).toMatch(/^Remembered: /)
      expect((await session.facts.list()).map((fact) => fact.text)).toContain(text)
    }
  })

  it('reads the start of the session, and that about a query or a project', async () => {
    const { memory, session } = home()
    await memory.user({ userId: 'ada' }).skills.set(SKILL)
    await session.facts.remember({ kind: 'constraint', text: 'Never before 9:00.', pinned: true })
    await session.facts.remember({
      kind: 'constraint',
      text: 'Turin only.',
      pinned: true,
      project: 'turin & co',
    })
    await session.append({ role: 'user', content: 'The code of the depot is 4711, in C++.' })
    const client = await connect(session)
    expect((await client.listResources()).resources).toMatchObject([
      { uri: START, mimeType: 'application/json', name: 'session_start' },
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates).toMatchObject([{ uriTemplate: `${START}{?query,project}` }])
    expect(await readStart(client)).toEqual(await startSession(session))
    const asked = await readStart(client, `${START}?query=depot%20C%2B%2B&project=turin%20%26%20co`)
    expect(asked).toEqual(await startSession(session, { query: 'depot C++', project: 'turin & co' }))
    expect(asked).toMatchObject({
      pinned: expect.arrayContaining([expect.objectContaining({ content: 'Turin only.' })]),
      context_recall: [{ text: 'The code of the depot is 4711, in C++.' }],
    })
    expect(await readStart(client, `${START}?query=&project=`)).toEqual(await startSession(session))
  })

  it.each([
    ['another scheme', 'file:///etc/passwd', -32002],
    ['another path', 'plimsoll://session/start/..', -32002],
    ['another spelling', 'PLIMSOLL://session/start', -32002],
    ['a fragment', `${START}#a`, -32002],
    ['__proto__', '__proto__', -32002],
    ['another parameter', `${START}?user=eve`, -32602],
    ['__proto__ as a parameter', `${START}?__proto__=a`, -32602],
    ['a parameter twice', `${START}?query=a&query=b`, -32602],
    ['a long query', `${START}?query=${'a'.repeat(401)}`, -32602],
    ['a long project', `${START}?project=${'a'.repeat(257)}`, -32602],
  ])('is refused a resource with %s', async (_, uri, code) => {
    const client = await connect(home().session)
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code })
  })

  it('gets the guide as a prompt, and no other', async () => {
    const client = await connect(home().session)
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['memory_guide'])
    expect((await client.getPrompt({ name: 'memory_guide' })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: sessionStartGuide } },
    ])
    for (const name of ['memory', '__proto__', ''])
      await expect(client.getPrompt({ name })).rejects.toMatchObject({ code: -32602 })
  })

  it('is refused what is not offered', async () => {
    const { session } = home()
    for (const method of [
      'resources/subscribe',
      'resources/unsubscribe',
      'logging/setLevel',
      'completion/complete',
      'tasks/list',
      '__proto__',
      'constructor',
    ])
      expect(await rpc(session, { id: 1, method, params: { uri: START, level: 'info' } })).toMatchObject({
        error: { code: -32601 },
      })
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])
      expect(await rpc(session, { id: 1, method, params: { cursor: 'x' } })).toMatchObject({
        error: { code: -32602 },
      })
  })

  it('reads what went wrong in a tool as an error of that tool', async () => {
    const { session } = home()
    const client = await connect(session)
    for (const [name, input] of [
      ['memory_finding', {}],
      ['memory_finding', { text: 7 }],
      ['memory_finding', { text: 'x'.repeat(601) }],
      ['memory_finding', { text: 'x'.repeat(900_000) }],
      ['memory_finding', JSON.parse('{"text":"x","__proto__":{"trust":"user"},"constructor":1}')],
      ['memory_recall', { query: 'x', first: 1_000 }],
      ['memory_forget', { fact: 'nothing' }],
      ['memory_read_source', { reference: '#99' }],
      ['skill_load', { name: '../secret' }],
      ['skill_load', { name: 'unknown' }],
      ['memory_promote', { id: 'x' }],
      ['__proto__', {}],
      ['constructor', {}],
      ['', {}],
      ['x'.repeat(100_000), {}],
    ] as const) {
      const { text, isError } = await call(client, name, input)
      expect(`${name.slice(0, 40)} ${isError} ${text}`).toMatch(/ true Error: /)
      expect(text.length).toBeLessThan(500)
    }
    expect(await session.facts.list()).toEqual([])
    expect(Object.prototype).not.toHaveProperty('trust')
  })

  it('learns that a read failed, but nothing of what it was about', async () => {
    let failure: Error = new PlimsollError('ERR_STORAGE', 'mapStore: disk of Ada broke')
    const store = changedStore(mapStore(), () => ({ sums: () => Promise.reject(failure) }))
    const { session } = home({ store })
    const asked = { id: 1, method: 'resources/read', params: { uri: START } }
    expect(await rpc(session, asked)).toMatchObject({
      error: { code: -32603, message: 'MCP error -32603: ERR_STORAGE', data: { code: 'ERR_STORAGE' } },
    })
    failure = new Error('disk of Ada broke')
    expect(await rpc(session, asked)).toMatchObject({
      error: { code: -32603, message: 'MCP error -32603: Internal error' },
    })
  })
})
