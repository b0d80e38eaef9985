import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ObjectLine } from '../../../src/edge/cloudflare.ts'
import { authenticatorOf, createApp } from '../../../src/edge/hono.ts'
import { DEPLOYMENT } from '../../../src/edge/objects/deployment-name.ts'
import { WorkQueue } from '../../../src/edge/work/work-queue.ts'
import { PlimsollError } from '../../../src/index.ts'
import type { Model } from '../../../src/ports/model.ts'
import { Caller, fetchWorker, ORIGIN } from './caller.ts'
import { changeSessions } from './changed-settings.ts'
import { sessionObject } from './rows.ts'

const deployment = () => (env.DEPLOYMENT as NonNullable<typeof env.DEPLOYMENT>).getByName(DEPLOYMENT)
const MINUTE = 60_000
const SECRET_TEXT = 'Two seats to Turin.'

interface Ready {
  readonly status: string
  readonly parts: { readonly [part: string]: { readonly status: string; readonly code?: string } }
}

let lines: ObjectLine[]

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  lines = []
  vi.spyOn(console, 'error').mockImplementation((text: unknown) => {
    const line = typeof text === 'string' && text.startsWith('{') ? JSON.parse(text) : {}
    if ('part' in line) lines.push(line as ObjectLine)
  })
  await runInDurableObject(deployment(), (_, { storage }) => {
    storage.sql.exec('DROP TABLE IF EXISTS plimsoll_edge_health')
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

async function ready(): Promise<{ readonly status: number; readonly body: Ready }> {
  // An answer holds for two seconds.
  later(2_001)
  const response = await fetchWorker('/health/ready')
  return { status: response.status, body: (await response.json()) as Ready }
}

/** A model that fails while it is told to. */
function failing(error: unknown): { readonly model: Model; fails: boolean } {
  const state = {
    fails: true,
    model: {
      id: 'failing',
      async *complete() {
        if (state.fails) throw error
        yield {
          type: 'finish' as const,
          reason: 'stop' as const,
          message: { role: 'assistant' as const, content: 'Yes.' },
        }
      },
    } satisfies Model,
  }
  return state
}

async function chatting() {
  const caller = new Caller()
  const session = await caller.session()
  const say = async (message = SECRET_TEXT): Promise<string> => {
    const response = await caller.fetch('POST', `/v1/sessions/${session}/chat`, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message }),
    })
    return response.text()
  }
  return { caller, session, say, object: sessionObject(caller.user, session) }
}

describe('GET /health/ready', () => {
  it('says that all of it works, to anybody', async () => {
    const ok = { status: 'ok' }
    expect(await ready()).toEqual({
      status: 200,
      body: { status: 'ready', parts: { settings: ok, objects: ok, model: ok, alarm: ok, queue: ok } },
    })
  })

  it('shows a model that fails, which leaves a line, until it answers again', async () => {
    const state = failing(new Error(`no answer to: ${SECRET_TEXT}`))
    await changeSessions((settings) => ({ ...settings, model: state.model }))
    const { say, object } = await chatting()
    expect(await say()).toContain('ERR_MODEL')
    await say('Again.')
    expect(lines.map(({ error: _, ...line }) => line)).toEqual([
      ...[1, 2].map(() => ({
        object: 'session',
        id: object.id.toString(),
        part: 'model',
        code: 'ERR_MODEL',
      })),
    ])
    expect(lines[0]?.error).toMatch(/^Error\n +at /)
    expect(JSON.stringify(lines)).not.toContain('Turin')
    await expect.poll(ready).toMatchObject({
      status: 503,
      body: { status: 'failing', parts: { model: { status: 'failing', code: 'ERR_MODEL' } } },
    })
    state.fails = false
    expect(await say('Once more.')).toContain('Yes.')
    await expect.poll(() => deployment().health()).toMatchObject({ model: { status: 'ok' } })
    expect((await ready()).status).toBe(200)
  })

  it('does not show what the caller of a model ended, nor a request that was too large for it', async () => {
    const state = failing(new PlimsollError('ERR_CONTEXT_TOO_LARGE', 'model: too large'))
    await changeSessions((settings) => ({ ...settings, model: state.model }))
    const { say } = await chatting()
    expect(await say()).toContain('ERR_CONTEXT_TOO_LARGE')
    expect([lines, (await ready()).status]).toEqual([[], 200])
  })

  it('shows an alarm that fails, which leaves a line, and forgets it after five minutes', async () => {
    const { object } = await chatting()
    await runInDurableObject(object, (_, { storage }) => storage.setAlarm(Date.now() + 3_600_000))
    vi.spyOn(WorkQueue.prototype, 'run').mockRejectedValueOnce(
      new PlimsollError('ERR_STORAGE', `sql: ${SECRET_TEXT}`),
    )
    await expect(runDurableObjectAlarm(object)).rejects.toThrow()
    expect(lines).toMatchObject([{ object: 'session', part: 'alarm', code: 'ERR_STORAGE' }])
    expect(JSON.stringify(lines)).not.toContain('Turin')
    await expect.poll(async () => (await ready()).body.parts.alarm?.status).toBe('failing')
    await evictDurableObject(deployment())
    expect((await ready()).status).toBe(503)
    later(5 * MINUTE)
    expect((await ready()).status).toBe(200)
  })

  it('shows work that fails, by its kind, and that it was given up', async () => {
    const { object } = await chatting()
    await runInDurableObject(object, async (_, { storage }) => {
      storage.sql.exec(
        `CREATE TABLE IF NOT EXISTS plimsoll_edge_work (kind TEXT NOT NULL, key TEXT NOT NULL, due INTEGER, again INTEGER,
          attempts INTEGER NOT NULL DEFAULT 0, payload TEXT, failed INTEGER, error TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID`,
      )
      storage.sql.exec(
        `INSERT INTO plimsoll_edge_work (kind, key, due, attempts) VALUES ('parts', 'Turin', 0, 5)`,
      )
      await storage.setAlarm(Date.now() + 3_600_000)
    })
    await runDurableObjectAlarm(object)
    expect(lines).toMatchObject([
      { object: 'session', part: 'queue', kind: 'parts', code: 'ERR_INTERRUPTED', isQuarantined: true },
    ])
    expect(JSON.stringify(lines)).not.toContain('Turin')
    await expect.poll(async () => (await ready()).body.parts.queue?.status).toBe('failing')
  })

  it('says that nobody can be let in', async () => {
    const app = createApp(() => ({ objects: env, ...authenticatorOf({ JWT_SECRET: 'short' }) }))
    const response = await app.fetch(new Request(`${ORIGIN}/health/ready`), {})
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      parts: { settings: { status: 'failing', code: 'ERR_NOT_CONFIGURED' }, model: { status: 'ok' } },
    })
  })

  it('says of its settings alone where no object of the deployment is bound', async () => {
    const { DEPLOYMENT: _, ...objects } = env
    const app = createApp(() => ({ objects, authenticate: async () => undefined }))
    const response = await app.fetch(new Request(`${ORIGIN}/health/ready`), {})
    expect(await response.json()).toEqual({ status: 'ready', parts: { settings: { status: 'ok' } } })
  })

  it('asks the object once in two seconds, however many ask', async () => {
    await ready()
    const asked = vi.spyOn(Object.getPrototypeOf(env.DEPLOYMENT), 'getByName')
    for (let n = 0; n < 5; n++) await (await fetchWorker('/health/ready')).text()
    expect(asked).not.toHaveBeenCalled()
  })
})
