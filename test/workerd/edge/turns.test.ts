import { abortAllDurableObjects, env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../../src/agent/scripted-model.ts'
import { durableObjectMemory } from '../../../src/durable-object.ts'
import { NO_SEAL, newSealKey, type ObjectSeal, openSeal } from '../../../src/edge/rows/object-seal.ts'
import { parseChatRequest } from '../../../src/edge/turn/chat-request.ts'
import { Turns } from '../../../src/edge/turn/turns.ts'
import { webHost } from '../../../src/platform/web.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import type { Model } from '../../../src/ports/model.ts'
import { newObject } from './in-object.ts'

const request = (text: string) =>
  parseChatRequest({ message: text }, { protocol: 'ui', newId: webHost.newId })

/** The chats of an object, made again as often as it is. */
const made = new WeakMap<DurableObjectState, Turns>()

function chatsUnder<Result>(
  seal: () => ObjectSeal,
  stub: DurableObjectStub,
  model: Model,
  work: (chats: Turns, state: DurableObjectState) => Promise<Result>,
): Promise<Result> {
  return runInDurableObject(stub, (_, state) => {
    const session = durableObjectMemory(state, { budget: 16_000 }).session({
      userId: 'ada',
      sessionId: 'trip',
    })
    const chats =
      made.get(state) ??
      new Turns({
        session: () => session,
        model: () => model,
        storage: state.storage,
        seal,
      })
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

async function textOf(stream: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream ?? []) text += decoder.decode(bytes, { stream: true })
  return text
}

const SECRET = 'a-secret-of-these-tests-of-32-bytes-or-more'
const TRIP = { userId: 'ada', sessionId: 'trip' }

describe.each([
  ['in the clear', NO_SEAL],
  ['encrypted', openSeal([SECRET], TRIP, newSealKey(SECRET, TRIP))],
])('chats in a Durable Object, %s', (_, seal) => {
  const chatsIn = <Result>(
    stub: DurableObjectStub,
    model: Model,
    work: (chats: Turns, state: DurableObjectState) => Promise<Result>,
  ): Promise<Result> => chatsUnder(() => seal, stub, model, work)

  it('stream a reply, and give it again from its tables', async () => {
    const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId())
    const big = 'word '.repeat(100_000)
    const text = await chatsIn(stub, scriptedModel([{ deltas: [big, 'end.'] }]), async (chats) => {
      const { run, stream } = await chats.start(request('Hello'))
      const first = await textOf(stream)
      expect(await textOf(chats.resume(run)?.stream)).toBe(first)
      return first
    })
    expect(text.length).toBeGreaterThan(big.length)
    expect(text).toContain('"finish"')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('outlive the call that began them, and end as interrupted where the object is reset', async () => {
    const id = env.SESSIONS.newUniqueId()
    const run = await chatsIn(env.SESSIONS.get(id), silent, async (chats) => {
      const { run } = await chats.start(request('Hello'))
      return run
    })
    await chatsIn(env.SESSIONS.get(id), silent, async (chats) => {
      expect(chats.current).toBe(run)
      // What is gathered for a row is written when the object is woken.
      chats.runDueWork()
    })
    await abortAllDurableObjects()
    await chatsIn(env.SESSIONS.get(id), scriptedModel(['Hi.']), async (chats) => {
      expect(chats.current).toBeUndefined()
      const text = await textOf(chats.resume('current')?.stream)
      expect(text).toContain('Well')
      expect(text).toContain('ERR_INTERRUPTED')
      expect(await textOf((await chats.start(request('Again'))).stream)).toContain('Hi.')
      expect(chats.resume('current')).toBeUndefined()
    })
  })

  it('keep no hash of what was said that could be tried, and know it again', async () => {
    const asked = request('Hello')
    const { fingerprint = '' } = asked.key ?? {}
    await chatsIn(newObject(), scriptedModel(['Hi.', 'Hi.']), async (chats, { storage }) => {
      const { run, stream } = await chats.start(asked)
      await textOf(stream)
      expect((await chats.start(asked)).run).toBe(run)
      const rows = JSON.stringify(storage.sql.exec('SELECT * FROM plimsoll_edge_run').toArray())
      expect(rows).not.toContain(fingerprint)
      expect(rows).not.toContain(asked.key?.key)
      const secrets = (): unknown[] => storage.sql.exec('SELECT * FROM plimsoll_edge_run_secret').toArray()
      const before = secrets()
      expect(before).toHaveLength(1)
      chats.clear()
      expect(secrets()).toEqual([])
      await textOf((await chats.start(request('Hello again'))).stream)
      expect(secrets()).toHaveLength(1)
      expect(secrets()).not.toEqual(before)
    })
  })

  it('are cleared without what sealed them, also where one was cut off', async () => {
    const stub = newObject()
    await chatsIn(stub, silent, async (chats) => void (await chats.start(request('Hello'))))
    await abortAllDurableObjects()
    const locked = (): never => {
      throw new PlimsollError('ERR_DECRYPT', 'the secret is another one')
    }
    await chatsUnder(locked, env.SESSIONS.get(stub.id), silent, async (chats, { storage }) => {
      chats.clear()
      for (const table of ['plimsoll_edge_run', 'plimsoll_edge_chunk'])
        expect(storage.sql.exec(`SELECT * FROM ${table}`).toArray()).toEqual([])
    })
  })
})
