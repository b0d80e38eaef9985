/** The edge's agent as one of several: devices that follow the session may answer too. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { expect, it, onTestFinished, vi } from 'vitest'
import { WorkTable } from '../../../src/edge/work/work-table.ts'
import {
  type AgentTool,
  createMemory,
  type LeaseOptions,
  lease,
  leaseOf,
  type Model,
  mapStore,
  runAgent,
  type ScriptedReply,
  type Session,
  scriptedModel,
} from '../../../src/index.ts'
import { httpTransport, type SyncedStore, sync } from '../../../src/sync/index.ts'
import { fetchWorker, tokenOf } from './caller.ts'
import { changeSessions } from './changed-settings.ts'
import { World } from './world.ts'

const ASKED = { id: 'm1', role: 'user', content: 'When is the next train?' } as const
const CALLS = { calls: [{ name: 'look', input: {}, id: 'c1' }] }
/** How long an answer may take that nobody is in the way of, the machine's load included. */
const PATIENCE = { timeout: 20_000, interval: 50 }

const look: AgentTool = { name: 'look', inputSchema: { type: 'object' }, execute: () => 'a train at 9:40' }

/** The edge's agent with a script of its own, and what it was asked. */
async function edgeSays(replies: readonly ScriptedReply[], tools = [look], afterMs = 200) {
  const model = scriptedModel(replies)
  await changeSessions((settings) => ({ ...settings, model, tools: () => tools, lease: { afterMs } }))
  return model
}

/** A device with an agent of its own that may follow the session. */
async function deviceOf(world: World): Promise<{ readonly store: SyncedStore; readonly session: Session }> {
  const token = await tokenOf(world.user)
  const transport = httpTransport({
    url: 'https://plimsoll.test',
    token,
    fetch: (url, init) => fetchWorker(new URL(url).pathname, init),
  })
  const store = sync({ store: mapStore(), transport, lock: false, channel: false, pollMs: 50 })
  onTestFinished(() => store.close())
  const session = createMemory({ store, budget: 16_000 }).session(world.scope())
  return { store, session }
}

const answering = (session: Session, model: Model, options: Partial<LeaseOptions> = {}) =>
  runAgent({ session, model, tools: [look], lease: lease({ holder: 'device', ...options }) })

const textsOf = async (session: Session): Promise<readonly string[]> =>
  (await session.history()).map(({ role, content }) =>
    typeof content === 'string' ? `${role}: ${content}` : `${role}: ${JSON.stringify(content)}`,
  )

async function chat(world: World, id: string, text: string): Promise<string> {
  const response = await world.caller.fetch('POST', '/v1/sessions/trip/chat', {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }] }),
  })
  return response.text()
}

const chunksIn = (stream: string) =>
  [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json as string))

/** What the object of the session does by a time. */
const dueIn = (world: World, time: number): Promise<readonly string[]> =>
  runInDurableObject(world.stub(), (_, { storage }) =>
    new WorkTable(storage).due(time, 10).map(({ kind }) => kind),
  )

it('answers a message that was written offline, once, where no device does', async () => {
  const model = await edgeSays(['At 9:40.'])
  const world = new World()
  const { store, session } = await deviceOf(world)
  store.pause()
  await session.append({ ...ASKED, id: 'm0', content: 'Hello.' })
  await session.append(ASKED)
  store.resume()
  await expect.poll(() => textsOf(session), PATIENCE).toContain('assistant: At 9:40.')
  // Sent once more, it is not answered once more.
  store.resume()
  await store.settled()
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect((await textsOf(session)).length).toBe(3)
  expect(model.requests).toHaveLength(1)
  expect(await leaseOf(session, 'm1')).toMatchObject({ holder: 'edge' })
})

it('answers the newest of several messages alone', async () => {
  const model = await edgeSays(['At 9:40.'], [look], 1_000)
  const { store, session } = await deviceOf(new World())
  await session.append({ ...ASKED, id: 'm0', content: 'Hello.' })
  await store.settled()
  await session.append(ASKED)
  await expect.poll(() => textsOf(session), PATIENCE).toHaveLength(3)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect((await textsOf(session)).at(-1)).toBe('assistant: At 9:40.')
  expect(model.requests).toHaveLength(1)
})

it('goes on with no run that was stopped on a device', async () => {
  const model = await edgeSays(['At 9:40.'])
  const world = new World()
  const { store, session } = await deviceOf(world)
  await session.append(ASKED)
  const controller = new AbortController()
  const hanging: AgentTool = { ...look, execute: () => new Promise(() => {}) }
  const run = runAgent({
    session,
    model: scriptedModel([CALLS]),
    tools: [hanging],
    lease: lease({ holder: 'device' }),
    signal: controller.signal,
  })
  await expect.poll(() => world.messages(), PATIENCE).toHaveLength(2)
  controller.abort()
  expect((await run).reason).toBe('aborted')
  await store.settled()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(model.requests).toEqual([])
})

it('leaves a message to the device that has the lease, whose reply everybody gets', async () => {
  const model = await edgeSays([])
  const world = new World()
  const { session } = await deviceOf(world)
  await session.append(ASKED)
  const slow: AgentTool = { ...look, execute: () => new Promise((done) => setTimeout(done, 2_500, 'late')) }
  const run = runAgent({
    session,
    model: scriptedModel([CALLS, 'At 9:40.']),
    tools: [slow],
    lease: lease({ holder: 'device' }),
  })
  await expect.poll(() => world.messages(), PATIENCE).toHaveLength(2)
  const stream = await chat(world, ASKED.id, ASKED.content)
  expect((await run).answer).toBe('At 9:40.')
  expect(model.requests).toEqual([])
  const chunks = chunksIn(stream)
  const replies = (await session.history()).filter(({ role }) => role === 'assistant')
  expect(chunks[0]).toMatchObject({ type: 'start', messageId: replies[0]?.id })
  expect(chunks.flatMap(({ delta }) => delta ?? []).join('')).toBe('At 9:40.')
  const toolCallId = chunks.find(({ type }) => type === 'tool-input-available').toolCallId
  expect(chunks).toContainEqual({ type: 'tool-output-available', toolCallId, output: 'late' })
  expect(chunks.at(-1)).toMatchObject({ type: 'finish' })
})

it('goes on where a device ended, within two seconds of its lease', async () => {
  const model = await edgeSays(['At 9:40.'])
  const world = new World()
  const { store, session } = await deviceOf(world)
  await session.append(ASKED)
  const hanging: AgentTool = { ...look, execute: () => new Promise(() => {}) }
  void runAgent({
    session,
    model: scriptedModel([CALLS]),
    tools: [hanging],
    lease: lease({ holder: 'device' }),
  })
  await expect.poll(() => world.messages(), PATIENCE).toHaveLength(2)
  // The object is not kept awake by what the device does.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect((await world.caller.fetch('GET', '/v1/sessions/trip/chat/current')).status).toBe(204)
  // It looks again by then, and once more after each renewal.
  const heldUntil = async () => (await leaseOf(session, 'm1'))?.until ?? 0
  await expect.poll(async () => dueIn(world, (await heldUntil()) + 2_000), PATIENCE).toContain('pushed')
  // As if its tab were closed.
  store.pause()
  await expect.poll(() => world.messages(), PATIENCE).toHaveLength(4)
  const other = await deviceOf(world)
  await other.session.history()
  await other.store.settled()
  expect((await leaseOf(other.session, 'm1'))?.holder).toBe('edge')
  expect(model.requests).toHaveLength(1)
  expect((await textsOf(other.session)).at(-1)).toBe('assistant: At 9:40.')
})

it('holds the lease while it answers a chat, so that a device waits and shows that reply', async () => {
  const slow: AgentTool = { ...look, execute: () => new Promise((done) => setTimeout(done, 2_500, 'late')) }
  await edgeSays([CALLS, 'At 9:40.'], [slow])
  const world = new World()
  await world.create()
  const { session } = await deviceOf(world)
  const streamed = chat(world, ASKED.id, ASKED.content)
  await expect.poll(() => leaseOf(session, 'm1'), PATIENCE).toMatchObject({ holder: 'edge' })
  const own = scriptedModel([])
  expect((await answering(session, own)).answer).toBe('At 9:40.')
  expect(own.requests).toEqual([])
  const chunks = chunksIn(await streamed)
  const [, reply] = await session.history()
  expect(chunks[0]).toEqual({ type: 'start', messageId: reply?.id })
})

it('shows the other reply in its stream where it lost its own', async () => {
  let answerNow = (): void => {}
  const said = new Promise<void>((resolve) => {
    answerNow = resolve
  })
  const model: Model = {
    id: 'late',
    async *complete() {
      yield { type: 'text', text: 'At ten.' }
      await said
      const reply = { role: 'assistant', content: 'At ten.' } as const
      yield { type: 'finish', message: reply, reason: 'stop' }
    },
  }
  await changeSessions((settings) => ({ ...settings, model, lease: {} }))
  const world = new World()
  await world.create()
  const { session } = await deviceOf(world)
  const streamed = chat(world, ASKED.id, ASKED.content)
  await expect.poll(() => leaseOf(session, 'm1'), PATIENCE).toMatchObject({ holder: 'edge' })
  // A device whose clock is wrong by more than it knows.
  const clock = { earliest: () => Date.now() + 60_000, latest: () => Date.now() + 60_000 }
  await answering(session, scriptedModel(['At 9:40.']), { clock })
  answerNow()
  const chunks = chunksIn(await streamed)
  const last = chunks.findLastIndex(({ type }) => type === 'reset-step' || type === 'start-step')
  expect(chunks.slice(last).flatMap(({ delta }) => delta ?? [])).toEqual(['At 9:40.'])
  expect(await world.messages()).toHaveLength(2)
})

it('asks a model that fails once for a pushed message, and leaves it to who asks next', async () => {
  const model = await edgeSays([])
  const world = new World()
  const { session } = await deviceOf(world)
  await session.append(ASKED)
  await expect.poll(() => model.requests.length, PATIENCE).toBe(1)
  // The alarm looks once more when the run should be over.
  await expect.poll(() => leaseOf(session, 'm1'), PATIENCE).toMatchObject({ until: 0 })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect(await runDurableObjectAlarm(world.stub())).toBe(true)
  vi.useRealTimers()
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(model.requests).toHaveLength(1)
  expect((await answering(session, scriptedModel(['At 9:40.']))).answer).toBe('At 9:40.')
})

it('answers nothing that is pushed, and writes no lease, where none is set', async () => {
  const model = scriptedModel(['At 9:40.'])
  await changeSessions((settings) => ({ ...settings, model }))
  const world = new World()
  const { session, store } = await deviceOf(world)
  await session.append(ASKED)
  await store.settled()
  expect(await dueIn(world, Date.now() + 60_000)).not.toContain('pushed')
  expect(model.requests).toEqual([])
  await chat(world, 'm2', 'And now?')
  expect(await leaseOf(session, 'm2')).toBeUndefined()
  expect(model.requests).toHaveLength(1)
})
