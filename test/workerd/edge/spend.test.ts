import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DeploymentSettings, SessionSettings, UserSettings } from '../../../src/edge/cloudflare.ts'
import { DEPLOYMENT } from '../../../src/edge/objects/deployment-name.ts'
import { DeploymentObject } from '../../../src/edge/objects/deployment-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import { accepted } from '../../../src/edge/replica/refusal.ts'
import { TokenLease } from '../../../src/edge/rows/token-lease.ts'
import { PlimsollError } from '../../../src/index.ts'
import type { Model } from '../../../src/ports/model.ts'
import { Caller } from './caller.ts'
import { changeDeployment, changeSessions, changeUsers } from './changed-settings.ts'
import { inObject } from './in-object.ts'
import { sessionObject, userObject } from './rows.ts'
import { World } from './world.ts'

const HOUR = 3_600_000
const HI = { role: 'user', content: 'Hi.' }
/** What the model says that each of its calls took. */
const CALL = 1_000

const spending = (tokens: number): Model => ({
  id: 'spending',
  async *complete({ context }) {
    const inputTokens = context.receipt.used
    yield {
      type: 'finish',
      reason: 'stop',
      message: { role: 'assistant', content: 'Yes.' },
      usage: { inputTokens, outputTokens: tokens - inputTokens },
    }
  },
})
const model = spending(CALL)

const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms)

async function say(world: World, session = 'trip'): Promise<Response> {
  const response = await world.caller.fetch('POST', `/v1/sessions/${session}/chat`, {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: `Hi ${crypto.randomUUID()}.` }),
  })
  const text = await response.text()
  if (response.status === 200) expect(text).toContain('Yes.')
  return new Response(text, response)
}

/** Says something until it is refused. @returns how often it was answered, and the refusal */
async function spent(world: World, sessions = ['trip']): Promise<readonly [number, Response]> {
  for (const session of sessions) await world.create(session)
  for (let n = 0; n < 40; n++) {
    const response = await say(world, sessions[n % sessions.length])
    if (response.status !== 200) return [n, response]
  }
  throw new Error('nothing refuses')
}

/** Tokens that an object has left of a budget; undefined: none were ever taken. */
const leftOf = (object: DurableObjectStub, name = 'userModelTokens'): Promise<unknown> =>
  runInDurableObject(object, (_, { storage }) => {
    const made = storage.sql.exec(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_edge_bucket'`)
    if (made.toArray().length === 0) return undefined
    const [row] = storage.sql.exec('SELECT state FROM plimsoll_edge_bucket').toArray()
    return (JSON.parse(row?.state as string) as Record<string, { left: number }>)[name]?.left
  })

describe('tokens of the model', () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    await changeSessions((settings) => ({ ...settings, model, budgets: { sharedModelTokens: CALL } }))
    const deployment = (env.DEPLOYMENT as NonNullable<typeof env.DEPLOYMENT>).getByName(DEPLOYMENT)
    await runInDurableObject(deployment, (_, { storage }) => {
      storage.sql.exec('DROP TABLE IF EXISTS plimsoll_edge_bucket')
    })
    await evictDurableObject(deployment)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it('are counted over all sessions of a user, and come back in time', async () => {
    await changeUsers((settings) => ({ ...settings, budgets: { modelTokensPerDay: 10 * CALL } }))
    const [ada, bob] = [new World(), new World()]
    const [answered, refusal] = await spent(ada, ['trip', 'home', 'work'])
    // What a session took in advance and did not use is not for the others.
    expect(answered).toBeGreaterThan(6)
    expect(answered).toBeLessThanOrEqual(13)
    expect(await refusal.json()).toMatchObject({
      status: 429,
      code: 'ERR_RATE_LIMIT',
      detail: expect.stringContaining('userModelTokens'),
    })
    await bob.create()
    expect((await say(bob)).status).toBe(200)
    await evictDurableObject(userObject(ada.user))
    await evictDurableObject(sessionObject(ada.user, 'trip'))
    expect((await say(ada)).status).toBe(429)
    later(24 * HOUR)
    // The token has ended meanwhile.
    expect((await say(new World(new Caller(ada.user)))).status).toBe(200)
  })

  it('of replies are counted though no session sees a second one', async () => {
    await changeSessions((settings) => ({ ...settings, model: spending(5 * CALL) }))
    await changeUsers((settings) => ({ ...settings, budgets: { modelTokensPerDay: 20 * CALL } }))
    await changeDeployment(() => ({ budgets: { modelTokensPerDay: 100 * CALL } }))
    const sessions = Array.from({ length: 20 }, (_, n) => `trip-${n}`)
    const [answered, refusal] = await spent(new World(), sessions)
    expect(answered).toBe(4)
    expect(await refusal.json()).toMatchObject({ detail: expect.stringContaining('userModelTokens') })
    const deployment = (env.DEPLOYMENT as NonNullable<typeof env.DEPLOYMENT>).getByName(DEPLOYMENT)
    expect(await leftOf(deployment, 'deploymentModelTokens')).toBeLessThanOrEqual(80 * CALL)
  })

  it.each([
    ['/chat', '/chat/current'],
    ['/chat', ''],
    ['/openai/chat/completions', ''],
    ['/openai/chat/completions', '/messages'],
  ])('of a reply at …%s that DELETE …%s ends are counted by what came of it', async (door, ended) => {
    const word = 'word '.repeat(8_000)
    const endless: Model = {
      id: 'endless',
      async *complete({ signal }) {
        yield { type: 'text', text: word }
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    await changeSessions((settings) => ({ ...settings, model: endless }))
    await changeUsers((settings) => ({ ...settings, budgets: { modelTokensPerDay: 100 * CALL } }))
    const ada = new World()
    await ada.create()
    const asked = door === '/chat' ? { message: 'Hi.' } : { model: 'plimsoll', stream: true, messages: [HI] }
    const response = await ada.caller.fetch('POST', `/v1/sessions/trip${door}`, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(asked),
    })
    await ada.call('DELETE', `/v1/sessions/trip${ended}`)
    expect(await response.text()).toContain('word')
    expect(await leftOf(userObject(ada.user))).toBeLessThanOrEqual(100 * CALL - word.length / 4)
  })

  it('are fewer for a guest', async () => {
    await changeUsers((settings) => ({
      ...settings,
      budgets: { modelTokensPerDay: 100 * CALL },
      guestBudgets: { modelTokensPerDay: 3 * CALL },
    }))
    const [answered] = await spent(await World.guest())
    expect(answered).toBeLessThanOrEqual(5)
    const ada = new World()
    await ada.create()
    for (let n = 0; n < 8; n++) expect((await say(ada)).status).toBe(200)
  })

  it('are bounded for a guest by default, and not for a user', async () => {
    await changeUsers((settings) => ({ memory: settings.memory }))
    await changeSessions((settings) => ({ ...settings, budgets: {} }))
    const guest = await World.guest()
    await guest.create()
    await say(guest)
    expect(await leftOf(userObject(guest.user))).toBe(100_000 - 16_000)
    const ada = new World()
    await ada.create()
    await say(ada)
    expect(await leftOf(userObject(ada.user))).toBe(undefined)
  })

  it('are counted over the whole deployment, and rarely asked for there', async () => {
    await changeUsers((settings) => ({ ...settings, budgets: {} }))
    await changeDeployment(() => ({ budgets: { modelTokensPerDay: 20 * CALL } }))
    const asked = vi.spyOn(DeploymentObject.prototype, 'lease')
    const [ada, bob] = [new World(), new World()]
    const [first] = await spent(ada)
    expect(first).toBeGreaterThan(10)
    expect(first).toBeLessThanOrEqual(22)
    expect(asked.mock.calls.length).toBeLessThan(first)
    const [second, refusal] = await spent(bob)
    expect(first + second).toBeLessThanOrEqual(24)
    expect(await refusal.json()).toMatchObject({ detail: expect.stringContaining('deploymentModelTokens') })
  })

  it('are counted over all users of a tenant, and of no other one', async () => {
    const budgets = { modelTokensPerDay: 20 * CALL }
    const acme = crypto.randomUUID()
    await changeUsers((settings) => ({
      ...settings,
      budgets: {},
      tenantBudgets: (tenant) => (tenant === acme ? budgets : undefined),
    }))
    const of = (tenant: string) => new World(new Caller({ tenant, userId: `user-${crypto.randomUUID()}` }))
    const [first] = await spent(of(acme))
    const [second, refusal] = await spent(of(acme))
    expect(first).toBeGreaterThan(10)
    expect(first + second).toBeLessThanOrEqual(24)
    expect(await refusal.json()).toMatchObject({
      status: 429,
      detail: expect.stringContaining('tenantModelTokens'),
    })
    const bob = of(`not ${acme}`)
    await bob.create()
    expect((await say(bob)).status).toBe(200)
  })

  it('of a tenant are the deployment’s too', async () => {
    await changeUsers((settings) => ({
      ...settings,
      budgets: {},
      tenantBudgets: () => ({ modelTokensPerDay: 1_000 * CALL }),
    }))
    await changeDeployment(() => ({ budgets: { modelTokensPerDay: 20 * CALL } }))
    const [first] = await spent(new World(new Caller({ tenant: crypto.randomUUID(), userId: 'ada' })))
    const [second, refusal] = await spent(
      new World(new Caller({ tenant: crypto.randomUUID(), userId: 'ada' })),
    )
    expect(first).toBeGreaterThan(10)
    expect(first + second).toBeLessThanOrEqual(24)
    expect(await refusal.json()).toMatchObject({ detail: expect.stringContaining('deploymentModelTokens') })
  })

  it('are asked for once in several calls', async () => {
    await changeUsers((settings) => ({ ...settings, budgets: { modelTokensPerDay: 1_000 * CALL } }))
    await changeSessions((settings) => ({ ...settings, budgets: { sharedModelTokens: 8 * CALL } }))
    const asked = vi.spyOn(UserObject.prototype, 'lease')
    const ada = new World()
    await ada.create()
    for (let n = 0; n < 7; n++) await say(ada)
    expect(asked).toHaveBeenCalledTimes(1)
    await evictDurableObject(sessionObject(ada.user, 'trip'))
    await say(ada)
    expect(asked.mock.calls.length).toBeLessThanOrEqual(2)
  })

  it('are not spent where nobody can say whether they may be', async () => {
    await changeUsers((settings) => ({ ...settings, budgets: { modelTokensPerDay: 100 * CALL } }))
    vi.spyOn(console, 'error').mockReturnValue(undefined)
    const ada = new World()
    const failing = vi
      .spyOn(DeploymentObject.prototype, 'lease')
      .mockRejectedValueOnce(new PlimsollError('ERR_STORAGE', 'sql: it failed'))
    await changeSessions((settings) => ({
      ...settings,
      budgets: { sharedModelTokens: CALL, modelTokensPerHour: 100 * CALL },
    }))
    await ada.create()
    expect((await say(ada)).status).toBe(500)
    failing.mockRestore()
    // And they are given back.
    expect(await leftOf(userObject(ada.user))).toBe(100 * CALL)
    expect(await leftOf(sessionObject(ada.user, 'trip'), 'modelTokens')).toBe(100 * CALL)
    expect((await say(ada)).status).toBe(200)
  })
})

describe('sessions of a tenant', () => {
  it('are counted exactly over its users, and one that is refused costs its user none', async () => {
    await changeUsers((settings) => ({
      ...settings,
      budgets: { sessionsPerHour: 2 },
      tenantBudgets: () => ({ sessionsPerHour: 3 }),
    }))
    const tenant = crypto.randomUUID()
    const [ada, bob] = ['ada', 'bob'].map((userId) => new World(new Caller({ tenant, userId })))
    const made = [await ada?.create('a'), await ada?.create('b'), await bob?.create('a')]
    expect(made.map((answered) => answered?.status)).toEqual([201, 201, 201])
    const refused = await bob?.create('b')
    expect([refused?.status, refused?.body]).toMatchObject([
      429,
      { detail: expect.stringContaining('tenantSessions') },
    ])
    expect(await leftOf(userObject({ tenant, userId: 'bob' }), 'sessions')).toBeGreaterThanOrEqual(1)
    expect(await bob?.listed()).toEqual(['a'])
  })

  it('are refused where nothing keeps their count', async () => {
    await changeUsers((settings) => ({ ...settings, tenantBudgets: () => ({ sessionsPerHour: 3 }) }))
    const made = await runInDurableObject(userObject({ tenant: 'acme', userId: 'eve' }), async (instance) => {
      const object = instance as unknown as { env: object; admit(scope: object): Promise<unknown> }
      const { env: bound } = object
      object.env = { ...bound, DEPLOYMENT: undefined }
      try {
        return await object.admit({ tenant: 'acme', userId: 'eve' })
      } finally {
        object.env = bound
      }
    })
      .then(accepted)
      .catch((error: unknown) => error)
    expect(made).toMatchObject({ code: 'ERR_NOT_CONFIGURED' })
  })
})

describe('what is taken in advance', () => {
  it('is never more than was granted, no matter who takes at once', async () => {
    await inObject(async (storage) => {
      let given = 0
      const lease = new TokenLease(storage, 100, async ({ least, wanted }) => {
        expect([least > 0, wanted >= least]).toEqual([true, true])
        await scheduler.wait(1)
        given += wanted
        return wanted
      })
      await Promise.all(Array.from({ length: 20 }, () => lease.take(30)))
      expect(given).toBeGreaterThanOrEqual(600)
    })
  })

  it('and was not enough is counted once, at once or with what is taken next', async () => {
    await inObject(async (storage) => {
      let owedInAll = 0
      let isThere = true
      const lease = new TokenLease(storage, 100, async ({ wanted, owed = 0 }) => {
        await scheduler.wait(1)
        if (!isThere) throw new PlimsollError('ERR_STORAGE', 'the object could not be reached')
        owedInAll += owed
        return wanted
      })
      await lease.take(30)
      await Promise.all([lease.settle(50), lease.settle(50)])
      expect(owedInAll).toBe(30)
      isThere = false
      await lease.settle(1_000)
      expect(owedInAll).toBe(30)
      isThere = true
      await lease.take(30)
      expect(owedInAll).toBe(1_030)
    })
  })

  it('is nothing where it is refused', async () => {
    await inObject(async (storage) => {
      const lease = new TokenLease(storage, 100, async () => {
        throw new PlimsollError('ERR_RATE_LIMIT', 'budget: used up', { retryAfter: 1 })
      })
      await expect(lease.take(1)).rejects.toMatchObject({ code: 'ERR_RATE_LIMIT' })
      expect(storage.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([])
    })
  })
})

describe('the deployed worker', () => {
  type Named = { settings(): SessionSettings & UserSettings & DeploymentSettings }
  /** The settings of the three classes, in another environment. */
  const settingsIn = async (more: object) => {
    const stubs = [env.SESSIONS, env.USERS, env.DEPLOYMENT] as unknown as DurableObjectNamespace[]
    return Promise.all(
      stubs.map((namespace) =>
        runInDurableObject(namespace.get(namespace.newUniqueId()), (instance) => {
          const { settings } = Object.getPrototypeOf(instance) as Named
          const { budgets, guestBudgets } = settings.call({ env: { ...env, ...more } } as never)
          return [budgets, guestBudgets]
        }),
      ),
    )
  }
  const MODEL = { MODEL_BASE_URL: 'http://localhost/v1', MODEL_ID: 'm' }

  it('has budgets of tokens by itself where a model and guests meet', async () => {
    expect(await settingsIn(MODEL)).toEqual([
      [{ sharedModelTokens: 16_000 }, undefined],
      [{ modelTokensPerDay: 1_000_000 }, { modelTokensPerDay: 100_000 }],
      [{ modelTokensPerDay: 10_000_000 }, undefined],
    ])
    const off = { modelTokensPerDay: false }
    const none = [
      [{ sharedModelTokens: false }, undefined],
      [off, off],
      [off, undefined],
    ]
    expect(await settingsIn({})).toEqual(none)
    expect(await settingsIn({ ...MODEL, GUEST_SECRET: '' })).toEqual(none)
  })

  it('has those that are set, and none where that is said', async () => {
    const set = { GUEST_MODEL_TOKENS_PER_DAY: '5', USER_MODEL_TOKENS_PER_DAY: 'off' }
    expect(await settingsIn({ ...MODEL, ...set })).toEqual([
      [{ sharedModelTokens: 16_000 }, undefined],
      [{ modelTokensPerDay: false }, { modelTokensPerDay: 5 }],
      [{ modelTokensPerDay: 10_000_000 }, undefined],
    ])
    await expect(settingsIn({ GUEST_MODEL_TOKENS_PER_DAY: 'many' })).rejects.toMatchObject({
      code: 'ERR_NOT_CONFIGURED',
    })
  })

  it('has budgets of tenants where users have one, and else refuses them', async () => {
    const users = env.USERS as unknown as DurableObjectNamespace
    const budgetsIn = (more: object) =>
      runInDurableObject(users.get(users.newUniqueId()), (instance) => {
        const { settings } = Object.getPrototypeOf(instance) as Named
        return settings.call({ env: { ...env, ...more } } as never).tenantBudgets?.('acme')
      })
    expect(await budgetsIn({})).toBeUndefined()
    expect(await budgetsIn({ TENANT_SESSIONS_PER_HOUR: '5', TENANT_MODEL_TOKENS_PER_DAY: '7' })).toEqual({
      sessionsPerHour: 5,
      modelTokensPerDay: 7,
    })
    for (const wrong of [
      { TENANT_SESSIONS_PER_HOUR: '5', JWT_TENANT_CLAIM: '' },
      { TENANT_MODEL_TOKENS_PER_DAY: 'many' },
    ])
      await expect(budgetsIn(wrong)).rejects.toMatchObject({ code: 'ERR_NOT_CONFIGURED' })
  })
})
