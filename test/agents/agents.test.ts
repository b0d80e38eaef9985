import { abortAllDurableObjects, env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { Context, MessageInput } from '../../src/index.ts'
import { describeStore } from '../contract/index.ts'
import { ObjectStore } from '../workerd/object-store.ts'
import type { Chat, Planner } from './worker.ts'

const newPlanner = (): DurableObjectStub<Planner> => env.PLANNERS.getByName(crypto.randomUUID())
const newChat = (): DurableObjectStub<Chat> => env.CHATS.getByName(crypto.randomUUID())

const inAgent = (): ObjectStore => new ObjectStore(newPlanner())
describeStore('Agent’s Durable Object', inAgent, {
  reopen: async (store) => {
    const { stub } = store as ObjectStore
    await evictDurableObject(stub)
    return new ObjectStore(stub)
  },
})

const said = (id: string, content: string, role: 'user' | 'assistant' = 'user'): MessageInput => ({
  id,
  role,
  content,
  createdAt: 0,
})

async function contextOf(agent: DurableObjectStub<Planner> | DurableObjectStub<Chat>): Promise<Context> {
  return JSON.parse(await agent.context()) as Context
}

/** Ids of the messages that a model would be given. */
async function shown(agent: DurableObjectStub<Planner> | DurableObjectStub<Chat>): Promise<string[]> {
  return (await contextOf(agent)).blocks.flatMap(({ from }) => from)
}

/** All that an object has stored: what the memory made, and everything else. */
function dump({ sql, kv }: DurableObjectStorage) {
  const made = sql.exec(`SELECT name, tbl_name, sql FROM sqlite_master ORDER BY name`).toArray()
  const ours = ({ tbl_name }: Record<string, SqlStorageValue>) => `${tbl_name}`.startsWith('plimsoll_')
  const parts = [made.filter(ours), made.filter((row) => !ours(row))].map((schema) => ({
    schema,
    rows: schema
      // The engine's own tables are not to be read; what they hold is in `kv`.
      .filter(({ name, tbl_name }) => name === tbl_name && !`${name}`.startsWith('_cf_'))
      .map(({ name }) => [name, sql.exec(`SELECT * FROM "${name}"`).toArray()]),
  }))
  return { memory: parts[0], rest: { ...parts[1], kv: [...kv.list()] } }
}

const stored = (agent: DurableObjectStub<Planner> | DurableObjectStub<Chat>) =>
  runInDurableObject(agent as DurableObjectStub, (_, { storage }) => dump(storage))

describe('a memory inside an Agent', () => {
  it('stores messages and builds contexts, called by RPC, by a request and by a schedule', async () => {
    const planner = newPlanner()
    await planner.append(said('m1', 'Two seats to Turin.'))
    const response = await planner.fetch('https://plimsoll.test/', { method: 'POST', body: 'At 9:40.' })
    const { blocks } = (await response.json()) as Context
    expect(blocks.map(({ parts }) => parts[0])).toEqual(
      ['You are a travel agent.', 'Two seats to Turin.', 'At 9:40.'].map((text) => ({ type: 'text', text })),
    )
    await runInDurableObject(planner, (agent) => agent.schedule(0, 'remind', 'It is time to leave.'))
    const last = async () => (await contextOf(planner)).blocks.at(-1)?.parts
    await expect.poll(last, { timeout: 5_000 }).toEqual([{ type: 'text', text: 'It is time to leave.' }])
  })

  it('leaves its state, tables, keys, schedules and alarm as they were', async () => {
    const planner = newPlanner()
    const before = await runInDurableObject(planner, async (agent, { storage }) => {
      agent.setState({ seats: 2 })
      agent.sql`CREATE TABLE own (text TEXT)`
      agent.sql`INSERT INTO own VALUES (${'kept'})`
      await agent.schedule(3_600, 'remind', 'Check in.')
      return { ...dump(storage), alarm: await storage.getAlarm() }
    })
    expect(before.memory).toEqual({ schema: [], rows: [] })
    expect(before.alarm).not.toBeNull()
    await planner.append([said('m1', 'Hi.'), said('m2', 'x'.repeat(200_000), 'assistant')])
    await planner.append(said('m3', 'Two seats to Turin.'))
    expect(await shown(planner)).toContain('m3')
    const after = await runInDurableObject(planner, async (agent, { storage }) => ({
      ...dump(storage),
      alarm: await storage.getAlarm(),
      state: agent.state,
      own: agent.sql`SELECT text FROM own`,
      schedules: (await agent.listSchedules()).map(({ callback, payload }) => [callback, payload]),
    }))
    expect(after.rest).toEqual(before.rest)
    expect(after.alarm).toBe(before.alarm)
    expect(after.memory?.schema.length).toBeGreaterThan(5)
    expect(after).toMatchObject({
      state: { seats: 2 },
      own: [{ text: 'kept' }],
      schedules: [['remind', 'Check in.']],
    })
  })

  it('is left as it was by what the Agent stores and schedules', async () => {
    const planner = newPlanner()
    await planner.append(said('m1', 'Two seats to Turin.'))
    const context = await contextOf(planner)
    const { memory } = await stored(planner)
    await runInDurableObject(planner, async (agent) => {
      agent.setState({ seats: 3 })
      agent.sql`CREATE TABLE own (text TEXT)`
      const { id } = await agent.schedule(3_600, 'remind', 'Check in.')
      await agent.cancelSchedule(id)
    })
    expect((await stored(planner)).memory).toEqual(memory)
    expect(await contextOf(planner)).toEqual(context)
  })

  it('is the same after an eviction, and so is the Agent’s state', async () => {
    const planner = newPlanner()
    await runInDurableObject(planner, (agent) => agent.setState({ seats: 2 }))
    await planner.append([said('m1', 'Hi.'), said('m2', 'Hello.', 'assistant'), said('m3', 'To Turin.')])
    const before = { context: await contextOf(planner), stored: await stored(planner) }
    await evictDurableObject(planner)
    expect({ context: await contextOf(planner), stored: await stored(planner) }).toEqual(before)
    expect(await runInDurableObject(planner, (agent) => agent.state)).toEqual({ seats: 2 })
  })

  it('has what was acknowledged when the object is aborted right after the answer', async () => {
    const planner = newPlanner()
    await planner.append(said('m1', 'Two seats to Turin.'))
    await planner.fetch('https://plimsoll.test/', { method: 'POST', body: 'At 9:40.' })
    const { name } = planner.id
    await abortAllDurableObjects()
    expect(
      (await contextOf(env.PLANNERS.getByName(name as string))).blocks.flatMap(({ parts }) => parts),
    ).toEqual(
      ['You are a travel agent.', 'Two seats to Turin.', 'At 9:40.'].map((text) => ({ type: 'text', text })),
    )
  })

  it('can be added to one that has run without', async () => {
    const planner = newPlanner()
    await runInDurableObject(planner, async (agent) => {
      agent.setState({ seats: 2 })
      await agent.schedule(3_600, 'remind', 'Check in.')
    })
    await evictDurableObject(planner)
    const { memory, rest } = await stored(planner)
    expect(memory?.schema).toEqual([])
    await planner.append(said('m1', 'Two seats to Turin.'))
    expect(await shown(planner)).toEqual(['m1'])
    expect((await stored(planner)).rest).toEqual(rest)
  })

  it('opens no socket, and sends nothing to those of the Agent', async () => {
    const planner = newPlanner()
    const { webSocket } = await planner.fetch('https://plimsoll.test/', { headers: { Upgrade: 'websocket' } })
    const received: unknown[] = []
    webSocket?.addEventListener('message', ({ data }) => {
      received.push(data)
    })
    webSocket?.accept()
    await runInDurableObject(planner, (agent) => agent.setState({ seats: 1 }))
    await expect.poll(() => received.at(-1)).toContain('"seats":1')
    const count = received.length
    await planner.append(said('m1', 'Two seats to Turin.'))
    await contextOf(planner)
    expect(await runInDurableObject(planner, (_, state) => state.getWebSockets().length)).toBe(1)
    await runInDurableObject(planner, (agent) => agent.setState({ seats: 2 }))
    await expect.poll(() => received.at(-1)).toContain('"seats":2')
    expect(received.length).toBe(count + 1)
    webSocket?.close()
  })

  it('is there in onStart, before the first call, and in a class that extends an Agent of the app’s', async () => {
    const guide = env.GUIDES.getByName(crypto.randomUUID())
    await guide.append(said('m1', 'Two seats to Turin.'))
    expect(await shown(guide)).toEqual(['greeting', 'm1'])
    await evictDurableObject(guide)
    expect(await shown(guide)).toEqual(['greeting', 'm1'])
  })
})

describe('a memory inside an AIChatAgent', () => {
  const asked = (id: string, text: string) => ({
    id,
    role: 'user' as const,
    parts: [{ type: 'text' as const, text }],
  })
  const texts = (chat: DurableObjectStub<Chat>) =>
    runInDurableObject(chat, ({ messages }) =>
      messages.map(({ role, parts }) => [role, parts.flatMap((part) => ('text' in part ? part.text : []))]),
    )

  it('gives the model its context, turn by turn, while the chat keeps its own messages', async () => {
    const chat = newChat()
    for (const [id, text] of [
      ['u1', 'Hi.'],
      ['u2', 'Two seats to Turin.'],
    ] as const)
      await runInDurableObject(chat, async (agent) => {
        const { status } = await agent.saveMessages((before) => [...before, asked(id, text)])
        expect(status).toBe('completed')
      })
    expect(await texts(chat)).toEqual([
      ['user', ['Hi.']],
      ['assistant', ['I see 1.']],
      ['user', ['Two seats to Turin.']],
      ['assistant', ['I see 3.']],
    ])
    expect((await shown(chat)).filter((id) => id.startsWith('u'))).toEqual(['u1', 'u2'])
  })

  it('leaves messages, tables, keys and alarm of the chat as they were, and they leave it', async () => {
    const chat = newChat()
    await runInDurableObject(chat, (agent) => agent.persistMessages([asked('u1', 'Hi.')]))
    const before = await stored(chat)
    const alarm = () => runInDurableObject(chat, (_, { storage }) => storage.getAlarm())
    const armed = await alarm()
    await chat.append([said('m1', 'Hi.'), said('m2', 'x'.repeat(200_000), 'assistant')])
    await chat.append(said('m3', 'Two seats to Turin.'))
    expect(await shown(chat)).toContain('m3')
    const after = await stored(chat)
    expect(after.rest).toEqual(before.rest)
    expect(await alarm()).toBe(armed)
    expect(after.memory?.schema.length).toBeGreaterThan(5)
    await runInDurableObject(chat, (agent) =>
      agent.persistMessages([...agent.messages, asked('u2', 'To Turin.')]),
    )
    expect(await texts(chat)).toEqual([
      ['user', ['Hi.']],
      ['user', ['To Turin.']],
    ])
    expect((await stored(chat)).memory).toEqual(after.memory)
  })

  it('is the same after an eviction, and so are the chat’s messages', async () => {
    const chat = newChat()
    await runInDurableObject(chat, (agent) => agent.saveMessages([asked('u1', 'Hi.')]))
    const before = { context: await contextOf(chat), texts: await texts(chat) }
    await evictDurableObject(chat)
    expect({ context: await contextOf(chat), texts: await texts(chat) }).toEqual(before)
  })
})
