import { abortAllDurableObjects, env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'
import { durableObjectMemory } from '../../../src/durable-object.ts'
import { parseChatRequest } from '../../../src/edge/chat/chat-request.ts'
import { ChatRuns } from '../../../src/edge/chat/runs.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Model } from '../../../src/ports/model.ts'

const request = (text: string) => parseChatRequest({ message: text }, { newId: webHost.newId })

/** The chats of an object, made anew as often as it is. */
const made = new WeakMap<DurableObjectState, ChatRuns>()

function chatsIn<Result>(
  stub: DurableObjectStub,
  model: Model,
  work: (chats: ChatRuns, state: DurableObjectState) => Promise<Result>,
): Promise<Result> {
  return runInDurableObject(stub, (_, state) => {
    const session = durableObjectMemory(state, { budget: 16_000 }).session({
      userId: 'ada',
      sessionId: 'trip',
    })
    const chats =
      made.get(state) ?? new ChatRuns({ session: () => session, model: () => model, storage: state.storage })
    made.set(state, chats)
    return work(chats, state)
  })
}

/** A model that says one word and then nothing for ever. */
const silent: Model = {
  id: 'silent',
  async *complete() {
    yield { type: 'text', text: 'Well' }
    await new Promise(() => {})
  },
}

const textOf = (stream: ReadableStream | undefined): Promise<string> => new Response(stream ?? null).text()

describe('chats in a Durable Object', () => {
  it('stream a reply, and give it again from its tables', async () => {
    const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId())
    const big = 'word '.repeat(100_000)
    const text = await chatsIn(stub, scriptedModel([{ deltas: [big, 'end.'] }]), async (chats) => {
      const { run, stream } = await chats.start(request('Hello'))
      const first = await textOf(stream)
      expect(await textOf(chats.resume(run))).toBe(first)
      return first
    })
    expect(text.length).toBeGreaterThan(big.length)
    expect(text).toContain('"finish"')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('outlive the call that began them, and end as interrupted where the object is reset', async () => {
    const id = env.SESSIONS.newUniqueId()
    const run = await chatsIn(env.SESSIONS.get(id), silent, async (chats) => {
      const begun = await chats.start(request('Hello'))
      await begun.stream.cancel()
      return begun.run
    })
    await chatsIn(env.SESSIONS.get(id), silent, async (chats) => expect(chats.current).toBe(run))
    // What is gathered for a row is written after a quarter of a second.
    await new Promise((resolve) => setTimeout(resolve, 500))
    await abortAllDurableObjects()
    await chatsIn(env.SESSIONS.get(id), scriptedModel(['Hi.']), async (chats) => {
      expect(chats.current).toBeUndefined()
      const text = await textOf(chats.resume('current'))
      expect(text).toContain('Well')
      expect(text).toContain('ERR_INTERRUPTED')
      expect(await textOf((await chats.start(request('Again'))).stream)).toContain('Hi.')
      expect(chats.resume('current')).toBeUndefined()
    })
  })
})
