import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ModelParts, RunLine, SessionSettings } from '../../../src/edge/cloudflare.ts'
import { steadyModel } from '../../../src/edge/models/steady-model.ts'
import {
  type AnswerHead,
  answerFrame,
  headBytes,
  MOST_FRAME,
  RELAY_HEADER,
  readWorkerFrame,
  type WorkerFrame,
} from '../../../src/edge/relay/frames.ts'
import { accepted } from '../../../src/edge/replica/refusal.ts'
import type { Model } from '../../../src/ports/model.ts'
import { changeSessions } from './changed-settings.ts'
import { inObject } from './in-object.ts'
import { World } from './world.ts'

/** How the answer to the first request begins, as its Worker says it. */
const headFrame = (head: unknown, pieces: readonly Uint8Array[] = []): ArrayBuffer =>
  answerFrame(1, [headBytes(head as AnswerHead), ...pieces])
const begunWith = (...texts: readonly string[]): ArrayBuffer =>
  headFrame(
    { status: 200, headers: [] },
    texts.map((text) => new TextEncoder().encode(text)),
  )

/** A model over `fetch`: what it is answered, piece by piece, is its reply. */
const fetching = ({ fetch }: ModelParts): Model => ({
  id: 'fetching',
  async *complete({ signal }) {
    const answer = await fetch('https://model.example/', { signal: signal as AbortSignal })
    let content = ''
    for await (const piece of answer.body ?? []) {
      const text = new TextDecoder().decode(piece as Uint8Array)
      content += text
      yield { type: 'text', text }
    }
    yield { type: 'finish', reason: 'stop', message: { role: 'assistant', content } }
  },
})

/** Timers that were set since, and have neither run out nor been cleared. */
function timers(): ReadonlySet<unknown> {
  const pending = new Set<unknown>()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => {
    const timer = set(() => {
      pending.delete(timer)
      run()
    }, ms)
    pending.add(timer)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: number) => {
    pending.delete(timer)
    clear(timer)
  })
  return pending
}

/** A session whose model fetches: by the app’s Worker, unless the test has a relay of its own. */
async function opened(
  more: Partial<SessionSettings> = {},
): Promise<{ readonly world: World; readonly asked: () => number }> {
  await changeSessions((settings) => ({
    ...settings,
    model: (parts) => steadyModel(fetching(parts), parts),
    ...more,
  }))
  let asked = 0
  vi.stubGlobal('fetch', async () => {
    asked++
    return new Response('At nine forty.')
  })
  const world = new World()
  await world.create('trip')
  return { world, asked: () => asked }
}

const MESSAGE = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'When?' }] }

/** Begins a chat as a Worker does, and gives that one's end of the relay. */
async function begun(world: World) {
  const object = world.stub()
  const relay = crypto.randomUUID()
  const { webSocket } = await object.fetch('https://session/relay', {
    headers: { Upgrade: 'websocket', [RELAY_HEADER]: relay },
  })
  if (!webSocket) throw new Error('no socket')
  const frames: (string | ArrayBuffer)[] = []
  webSocket.binaryType = 'arraybuffer'
  webSocket.addEventListener('message', ({ data }) => void frames.push(data as string | ArrayBuffer))
  webSocket.accept()
  const { run } = accepted(await object.chat(world.scope(), { message: MESSAGE }, { messageId: 'm1', relay }))
  const told = (): WorkerFrame[] =>
    frames.flatMap((frame) => (typeof frame === 'string' ? [readWorkerFrame(frame).frame] : []))
  await vi.waitFor(() => expect(told()).toMatchObject([{ type: 'fetch', n: 1 }]))
  const read = (): string =>
    frames.map((frame) => (typeof frame === 'string' ? '' : new TextDecoder().decode(frame))).join('')
  return { run, webSocket, told, read }
}

const repliesIn = async (world: World): Promise<unknown[]> => {
  const { body } = await world.call<{ messages: { role: string; content: unknown }[] }>(
    'GET',
    '/v1/sessions/trip/messages',
  )
  return body.messages.map(({ role, content }) => [role, content])
}

const resumed = async (world: World, run: string): Promise<string> =>
  (await world.caller.fetch('GET', `/v1/sessions/trip/chat/${run}`)).text()

const TEXT = (content: string): unknown => [{ type: 'text', text: content }]

describe('a chat whose model fetches', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  it('is answered by what the Worker fetched, and reads the same for who resumes it', async () => {
    const { world, asked } = await opened()
    const response = await world.caller.fetch('POST', '/v1/sessions/trip/chat', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: MESSAGE }),
    })
    const text = await response.text()
    expect(text).toContain('At nine forty.')
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(await resumed(world, response.headers.get('Plimsoll-Run') ?? '')).toBe(text)
    expect(asked()).toBe(1)
  })

  it('is not asked for by its object as long as its Worker is there', async () => {
    const { world, asked } = await opened()
    const pending = timers()
    const { run, webSocket, told, read } = await begun(world)
    // With one the object could not hibernate.
    await vi.waitFor(() => expect([...pending]).toEqual([]))
    webSocket.send(JSON.stringify({ type: 'beat' }))
    webSocket.send(begunWith('From the', ' Worker.'))
    webSocket.send(JSON.stringify({ type: 'end', n: 1 }))
    await vi.waitFor(() => expect(told().at(-1)).toEqual({ type: 'end' }))
    expect(read()).toBe(await resumed(world, run))
    expect(read()).toContain('From the Worker.')
    expect(asked()).toBe(0)
    expect(await repliesIn(world)).toEqual([
      ['user', TEXT('When?')],
      ['assistant', 'From the Worker.'],
    ])
    webSocket.close(1000, 'done')
  })

  it.each([
    ['before the answer began', false],
    ['in the middle of the answer', true],
  ])('is finished by its object, once, where its Worker goes %s', async (_, isBegun) => {
    const { world, asked } = await opened()
    const { run, webSocket } = await begun(world)
    if (isBegun) {
      webSocket.send(begunWith('From the'))
    }
    webSocket.close(1000, 'gone')
    await vi.waitFor(async () => expect(await resumed(world, run)).toContain('[DONE]'))
    expect(asked()).toBe(1)
    expect(await repliesIn(world)).toEqual([
      ['user', TEXT('When?')],
      ['assistant', 'At nine forty.'],
    ])
    const text = await resumed(world, run)
    expect(text).toContain('At nine forty.')
    // What was streamed of the first reply is taken back.
    expect(text.includes('reset-step')).toBe(isBegun)
  })

  it('costs what both calls took that were made, where its Worker goes in the middle of the answer', async () => {
    const ended: RunLine[] = []
    const { world } = await opened({
      budgets: { modelTokensPerHour: 10_000 },
      onRun: (line) => void ended.push(line),
    })
    const { webSocket, read } = await begun(world)
    webSocket.send(begunWith('x'.repeat(4_000)))
    await vi.waitFor(() => expect(read()).toContain('xxx'))
    webSocket.close(1000, 'gone')
    await vi.waitFor(() => expect(ended).toMatchObject([{ status: 'done', calls: 2, unreported: 2 }]))
    const { tokens = 0 } = ended[0] ?? {}
    const [row] = await inObject(
      ({ sql }) => sql.exec('SELECT state FROM plimsoll_edge_bucket').toArray(),
      world.stub(),
    )
    const { modelTokens } = JSON.parse(row?.state as string) as { readonly modelTokens: { left: number } }
    // Four characters a token; some come back while it goes on.
    const took = 10_000 - modelTokens.left
    expect(took).toBeGreaterThan(2 * tokens + 900)
    expect(took).toBeLessThanOrEqual(2 * tokens + 1_004)
  })

  it.each<[string, readonly (string | ArrayBuffer)[]]>([
    ['is not JSON', ['{']],
    ['is no object', ['null']],
    ['is of no known type', ['{"type":"fetch","n":1}']],
    ['is of no request', ['{"type":"end"}']],
    ['has a number that none has', ['{"type":"end","n":1.5}']],
    ['has a status that none has', [headFrame({ status: '200', headers: [] })]],
    ['has a status out of bounds', [headFrame({ status: 42, headers: [] })]],
    ['has headers that are none', [headFrame({ status: 200, headers: [['a']] })]],
    ['has a header that no answer can have', [headFrame({ status: 200, headers: [['a b', 'c']] })]],
    ['has a head that is no object', [headFrame(null)]],
    ['has less than the head that it says', [headFrame({ status: 200, headers: [] }).slice(0, -1)]],
    ['ends an answer that has not begun', ['{"type":"end","n":1}']],
    ['has no room for a number', [new ArrayBuffer(3)]],
    ['is of an answer that has not begun', [answerFrame(1, [new Uint8Array(1)])]],
    ['begins an answer with bytes that are no head', [answerFrame(1, [new Uint8Array([0, 0, 0, 1, 123])])]],
    ['is too long', ['x'.repeat(MOST_FRAME + 1)]],
    ['has too many bytes', [new ArrayBuffer(MOST_FRAME + 5)]],
  ])('closes a socket whose frame %s, and that alone', async (_, poison) => {
    const { world, asked } = await opened()
    const { run, webSocket } = await begun(world)
    const upgraded = await world.stub().fetch('https://session/relay', {
      headers: { Upgrade: 'websocket', [RELAY_HEADER]: crypto.randomUUID() },
    })
    const other = upgraded.webSocket as WebSocket
    const closed: number[] = []
    for (const socket of [webSocket, other])
      socket.addEventListener('close', ({ code }) => void closed.push(code))
    other.accept()
    for (const frame of poison) webSocket.send(frame)
    await vi.waitFor(() => expect(closed).toEqual([4400]))
    // The object makes the request in its place, and the chat comes to its end.
    await vi.waitFor(async () => expect(await resumed(world, run)).toContain('[DONE]'))
    expect(asked()).toBe(1)
    expect(await repliesIn(world)).toEqual([
      ['user', TEXT('When?')],
      ['assistant', 'At nine forty.'],
    ])
    other.send(JSON.stringify({ type: 'beat' }))
    expect(await world.messages()).toHaveLength(2)
    expect(closed).toEqual([4400])
    other.close(1000, 'done')
  })

  it('of which nobody waits any more, says what it likes', async () => {
    const { world } = await opened()
    const { webSocket, told } = await begun(world)
    for (const frame of [answerFrame(7, [new Uint8Array(1)]), JSON.stringify({ type: 'end', n: 7 })])
      webSocket.send(frame)
    webSocket.send(begunWith('Yes.'))
    webSocket.send(JSON.stringify({ type: 'end', n: 1 }))
    await vi.waitFor(() => expect(told().at(-1)).toEqual({ type: 'end' }))
    expect(await repliesIn(world)).toEqual([
      ['user', TEXT('When?')],
      ['assistant', 'Yes.'],
    ])
    webSocket.close(1000, 'done')
  })

  it('tells its Worker where it is stopped', async () => {
    const { world, asked } = await opened()
    const { run, told, webSocket } = await begun(world)
    await world.call('DELETE', `/v1/sessions/trip/chat/${run}`)
    await vi.waitFor(() => expect(told()).toContainEqual({ type: 'abort', n: 1 }))
    expect(asked()).toBe(0)
    webSocket.close(1000, 'done')
  })
})
