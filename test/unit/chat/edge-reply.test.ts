import { expect, it } from 'vitest'
import { joinAtEdge, replyAtEdge } from '../../../src/chat/homes/edge-reply.ts'
import type { ChatRun } from '../../../src/client/chat.ts'
import { createMemory, type MessageInput, mapStore, PlimsollError } from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'

const ABORT = { type: 'abort' }
const aborted = async () => ({ isAborted: true })

/** A run that says a few words, and then ends. */
function begun(
  end: object,
  result: () => Promise<unknown>,
  meanwhile = (): void => {},
  ...more: readonly object[]
): ChatRun {
  return {
    run: 'r1',
    async *[Symbol.asyncIterator]() {
      yield { type: 'start' }
      yield { type: 'start-step' }
      yield { type: 'text-delta', id: '1', delta: 'Two trains ' }
      meanwhile()
      yield end
      yield* more
    },
    result,
  } as unknown as ChatRun
}

it('stops a reply at an edge that began only after it was told to stop', async () => {
  const stops: string[] = []
  let begin = (): void => {}
  const isBegun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const run = {
    run: 'r1',
    async *[Symbol.asyncIterator]() {
      await isBegun
      yield { type: 'start' }
      yield { type: 'abort' }
    },
    result: async () => ({ isAborted: true }),
  } as unknown as ChatRun
  const client = {
    resumeChat: () => run,
    async stopChat(id: string) {
      stops.push(id)
      if (stops.length === 1) throw new PlimsollError('ERR_NOT_FOUND', 'chat: there is no such run')
    },
  }
  const stop = new AbortController()
  const joining = joinAtEdge(
    { client: client as never, newest: async () => [], keep: async () => {} },
    { signal: stop.signal, leave: new AbortController().signal, tell: () => {} },
  )
  stop.abort()
  expect(stops).toEqual(['r1'])
  begin()
  await joining
  expect(stops).toEqual(['r1', 'r1'])
})

it('shows that a reply is waited for as soon as there is one, in a tab that follows it, too', async () => {
  const told: string[] = []
  let say = (): void => {}
  const isSaid = new Promise<void>((resolve) => {
    say = resolve
  })
  const run = {
    run: 'r1',
    async *[Symbol.asyncIterator]() {
      yield { type: 'start' }
      await isSaid
      yield { type: 'finish' }
    },
    result: async () => ({ isAborted: false }),
  } as unknown as ChatRun
  const { signal } = new AbortController()
  const joining = joinAtEdge(
    { client: { resumeChat: () => run } as never, newest: async () => [], keep: async () => {} },
    { signal, leave: signal, tell: ({ type }) => void told.push(type) },
  )
  await expect.poll(() => told).toEqual(['step'])
  say()
  await joining
  expect(told).toEqual(['step', 'recorded'])
})

it('keeps what had come of a reply that failed at an edge, where it is followed alone, too, and throws what it failed with', async () => {
  const asked = { id: 'm1', role: 'user', content: 'Which trains?', createdAt: 0, trust: 'user' } as const
  const failure = new PlimsollError('ERR_MODEL', 'chat: the model failed')
  const run = begun({ type: 'error', errorText: 'ERR_MODEL: the model failed' }, async () => {
    throw failure
  })
  const kept: (readonly [MessageInput, string])[] = []
  const session = {
    client: { chat: () => run, resumeChat: () => run } as never,
    newest: async () => [asked],
    keep: async (message: MessageInput, round: string) => void kept.push([message, round]),
  }
  const { signal } = new AbortController()
  const options = { signal, leave: signal, tell: () => {} }
  const metadata = { stopped: 'error' }
  const piece = [{ id: 'stopped/r1', role: 'assistant', content: 'Two trains ', metadata }, 'm1']
  // Who asked may have reloaded the page meanwhile.
  await expect(joinAtEdge(session, options)).rejects.toBe(failure)
  expect(kept).toEqual([piece])
  await expect(replyAtEdge(session, options)).rejects.toBe(failure)
  expect(kept).toEqual([piece, piece])
})

it.each([
  ['that was asked for here', replyAtEdge],
  ['that is only followed', joinAtEdge],
])(
  'keeps what had come of a reply %s with what it answers, though something else was said meanwhile',
  async (_, take) => {
    const said = (id: string) => ({ id, role: 'user', content: id, createdAt: 0, trust: 'user' }) as const
    let newest = said('m1')
    const run = begun(ABORT, aborted, () => {
      newest = said('m2')
    })
    const kept: string[] = []
    const session = {
      client: { chat: () => run, resumeChat: () => run } as never,
      newest: async () => [newest],
      keep: async (_: MessageInput, round: string) => void kept.push(round),
    }
    const { signal } = new AbortController()
    await take(session, { signal, leave: signal, tell: () => {} })
    expect(kept).toEqual(['m1'])
  },
)

it('keeps nothing of a reply that is stopped during a call: its text is recorded', async () => {
  const call = { type: 'tool-input-available', toolCallId: 'c1', toolName: 'find', input: {} }
  const run = begun(call, aborted, undefined, ABORT)
  const asked = { id: 'm1', role: 'user', content: 'Which trains?', createdAt: 0, trust: 'user' } as const
  const kept: MessageInput[] = []
  const session = {
    client: { chat: () => run, resumeChat: () => run } as never,
    newest: async () => [asked],
    keep: async (message: MessageInput) => void kept.push(message),
  }
  const { signal } = new AbortController()
  const options = { signal, leave: signal, tell: () => {} }
  await replyAtEdge(session, options)
  await joinAtEdge(session, options)
  expect(kept).toEqual([])
})

it('keeps what had come of a stopped reply once, however many tabs follow it', async () => {
  const log = createMemory({ store: mapStore(), budget: 4_000 }).session({ userId: 'ada', sessionId: 's' })
  const { messages: before } = await log.append({ id: 'm1', role: 'user', content: 'Which trains?' })
  const run = begun(ABORT, aborted)
  const session = {
    client: { chat: () => run, resumeChat: () => run } as never,
    // Each has looked before the other one wrote.
    newest: async () => before,
    // To an edge each request is another op.
    keep: (message: MessageInput, round: string) => log.append(message, { round, opId: webHost.newId() }),
  }
  const { signal } = new AbortController()
  const options = { signal, leave: signal, tell: () => {} }
  await Promise.all([
    replyAtEdge(session, options),
    joinAtEdge(session, options),
    joinAtEdge(session, options),
  ])
  const said = (await log.history()).map(({ role, content }) => `${role}: ${content}`)
  expect(said).toEqual(['user: Which trains?', 'assistant: Two trains '])
  // An edge refuses for other reasons, too.
  const moving = new PlimsollError('ERR_CONFLICT', 'session: it is being moved to another user')
  const refusing = { ...session, keep: () => Promise.reject(moving) }
  await expect(replyAtEdge(refusing, options)).rejects.toBe(moving)
})
