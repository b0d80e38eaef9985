import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import deploy from '../../../docs/deploy.md?raw'
import { objectName } from '../../../src/edge/cloudflare.ts'
import type { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { webHost } from '../../../src/platform/web.ts'
import { dollarsOf, requestsOf } from '../../everywhere/prices.ts'
import { Caller, newUser, tokenOf } from './caller.ts'

/** What the platform bills of one call, over all of the objects that it reached. */
interface Cost {
  readonly written: number
  readonly read: number
  /** Requests to objects; frames of sockets are a twentieth of one. */
  readonly objects: number
}

/**
 * What is asked of some objects in this isolate, each known by its name and its storage: all others
 * share the isolate, and their alarms ring whenever they are due.
 */
class Meter {
  readonly #undo: (() => void)[] = []
  readonly #counts = new Map<SqlStorage, { read: number; written: number; frames: number }>()
  /** Names of those whose requests count. */
  #names: ReadonlySet<string> = new Set()
  #objects = 0
  /** Requests to them that have no answer yet. */
  #asked = 0

  constructor(storage: DurableObjectStorage, namespace: DurableObjectNamespace, object: Listening) {
    const meter = this
    this.replace(
      Object.getPrototypeOf(storage.sql) as SqlStorage,
      'exec',
      (exec) =>
        function (this: SqlStorage, query, ...bindings) {
          const cursor = exec.call(this, query, ...bindings)
          // Here and no later, since a cursor can be asked in its own object alone; by then it was
          // read.
          queueMicrotask(() => {
            meter.#count(this, 'read', cursor.rowsRead)
            meter.#count(this, 'written', cursor.rowsWritten)
          })
          return cursor as never
        },
    )
    // An alarm that is set is billed as a row written.
    this.replace(
      Object.getPrototypeOf(storage) as DurableObjectStorage,
      'setAlarm',
      (setAlarm) =>
        function (this: DurableObjectStorage, time, options) {
          meter.#count(this.sql, 'written')
          return setAlarm.call(this, time, options)
        },
    )
    this.replace(
      Object.getPrototypeOf(namespace) as DurableObjectNamespace,
      'getByName',
      (getByName) =>
        function (this: DurableObjectNamespace, name, options) {
          return meter.#counted(name, getByName.call(this, name, options))
        },
    )
    this.replace(
      whoHas(object, 'webSocketMessage'),
      'webSocketMessage',
      (webSocketMessage) =>
        function (this: Listening, socket, frame) {
          meter.#count((this as unknown as Settled).ctx.storage.sql, 'frames')
          return webSocketMessage.call(this, socket, frame)
        },
    )
  }

  /** A stub of which each call is a request. */
  #counted<Stub extends object>(called: string, stub: Stub): Stub {
    return new Proxy(stub, {
      get: (target, name) => {
        const found: unknown = Reflect.get(target, name)
        if (typeof found !== 'function' || name === 'constructor') return found
        return (...given: unknown[]) => {
          // Of what a call over a stub gives, any property would be one more call.
          const answer: unknown = Reflect.apply(found, target, given)
          if (!this.#names.has(called)) return answer
          this.#objects++
          this.#asked++
          const end = (): void => void this.#asked--
          Promise.resolve(answer).then(end, end)
          return answer
        }
      },
    })
  }

  /** @param objects those that count: the caller's own */
  async of(objects: readonly DurableObjectStub[], call: () => Promise<unknown>): Promise<Cost> {
    this.#counts.clear()
    this.#names = new Set(objects.map(({ name = '' }) => name))
    this.#objects = 0
    await call()
    const stores = new Set<SqlStorage>()
    let own = 0
    for (const object of objects) {
      await runInDurableObject(object, (_, { storage }) => {
        stores.add(storage.sql)
      })
      own++
    }
    const sum = (field: Counted): number =>
      [...stores].reduce((total, store) => total + (this.#counts.get(store)?.[field] ?? 0), 0)
    const isRinging = async (): Promise<boolean> => {
      const alarms = objects.map((object) =>
        runInDurableObject(object, (_, { storage }) => storage.getAlarm()),
      )
      own += alarms.length
      return (await Promise.all(alarms)).some((alarm) => (alarm ?? Infinity) <= Date.now())
    }
    // What goes on behind the answer belongs to the call too, however long a loaded machine takes.
    for (
      let before = -1;
      before !== sum('read') + sum('written') || this.#asked > 0 || (await isRinging());
    ) {
      before = sum('read') + sum('written')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const requests = requestsOf({ objectRequests: this.#objects - own, frames: sum('frames') })
    return { written: sum('written'), read: sum('read'), objects: requests }
  }

  #count(store: SqlStorage, field: Counted, more = 1): void {
    const counts = this.#counts.get(store) ?? { read: 0, written: 0, frames: 0 }
    counts[field] += more
    this.#counts.set(store, counts)
  }

  end(): void {
    for (const undo of this.#undo) undo()
  }

  replace<Target extends object, Name extends keyof Target>(
    target: Target,
    name: Name,
    make: (original: Target[Name]) => Target[Name],
  ): void {
    const original = target[name]
    target[name] = make(original)
    this.#undo.push(() => {
      target[name] = original
    })
  }
}

type Counted = 'read' | 'written' | 'frames'

type Listening = Required<Pick<DurableObject, 'webSocketMessage'>>

/** What an object has for itself alone. */
interface Settled {
  readonly ctx: DurableObjectState
  settings(): object
}

/** What of an object and its prototypes has a method of its own. */
function whoHas<Target extends object>(object: Target, name: string): Target {
  return Object.hasOwn(object, name) ? object : whoHas(Object.getPrototypeOf(object) as Target, name)
}

const MODEL = {
  MODEL_BASE_URL: 'https://model.example/v1',
  MODEL_ID: 'm',
  // Budgets that sessions share write rows of their own.
  GUEST_MODEL_TOKENS_PER_DAY: 'off',
  USER_MODEL_TOKENS_PER_DAY: 'off',
  DEPLOYMENT_MODEL_TOKENS_PER_DAY: 'off',
}

/** Names of the sessions' objects that have the model. */
const withModel = new Set<string>()

/** What the model streams: words, after as many calls of a tool as it is asked for. */
async function streamed(_: unknown, { body }: RequestInit = {}): Promise<Response> {
  const { messages } = JSON.parse(String(body)) as { messages: readonly { role: string; content: unknown }[] }
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const steps = messages.slice(asked).filter(({ role }) => role === 'assistant').length
  const wanted = JSON.stringify(messages[asked]).includes('three steps') ? 2 : 0
  const call = { name: 'memory_recall', arguments: JSON.stringify({ query: 'train' }) }
  const deltas =
    steps < wanted
      ? [{ tool_calls: [{ index: 0, id: `c${steps}`, type: 'function', function: call }] }]
      : ['Turin', ' is', ' at', ' nine.'].map((content) => ({ content }))
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const end = chunk({}, steps < wanted ? 'tool_calls' : 'stop')
  const text = [...deltas.map((delta) => chunk(delta, null)), end, 'data: [DONE]\n\n'].join('')
  return new Response(text, { headers: { 'Content-Type': 'text/event-stream' } })
}

let meter: Meter

beforeAll(async () => {
  const stub = env.SESSIONS.getByName('meter')
  await runInDurableObject(stub, (object, { storage }) => {
    meter = new Meter(
      storage,
      env.SESSIONS as unknown as DurableObjectNamespace,
      object as unknown as Listening,
    )
    // Of each that wakes: one that nobody calls for ten seconds, on a busy machine, is another one
    // afterwards.
    meter.replace(
      whoHas(object as unknown as Settled, 'settings'),
      'settings',
      (settings) =>
        function (this: Settled) {
          const { name = '' } = this.ctx.id
          if (withModel.has(name)) Object.assign(this, { env: { ...env, ...MODEL } })
          return settings.call(this)
        },
    )
  })
  vi.stubGlobal('fetch', streamed)
})
afterAll(() => {
  vi.unstubAllGlobals()
  meter.end()
})

/** Calls of a session that come before those that count, and those. */
const BEFORE = 27
const CALLS = 7
const RESTS = 7
const PACED = 48
const DAY = 86_400_000
const median = (costs: readonly Cost[], field: keyof Cost): number =>
  costs.map((cost) => cost[field]).toSorted((one, other) => one - other)[costs.length >> 1] ?? 0

/** The median of what `CALLS` calls cost, in a session that has had `BEFORE`. */
async function costOf(
  run: (caller: Caller, path: string, index: number) => Promise<{ status: number }>,
  sessionAt: (index: number) => string = () => 'trip',
) {
  const caller = new Caller()
  const session = 'trip'
  const sessionObject = (sessionId: string) =>
    env.SESSIONS.getByName(objectName({ ...caller.user, sessionId }))
  withModel.add(objectName({ ...caller.user, sessionId: session }))
  await caller.call('POST', '/v1/sessions', { session_id: session })
  const path = `/v1/sessions/${session}`
  const costs: Cost[] = []
  for (let index = 0; index < BEFORE + CALLS; index++) {
    const call = async (): Promise<void> => {
      const { status } = await run(caller, path, index)
      expect(status).toBeLessThan(300)
    }
    if (index < BEFORE - 1) {
      await call()
      continue
    }
    const objects = [sessionObject(sessionAt(index)), env.USERS.getByName(objectName(caller.user))]
    // The last of those before is followed to its end too: it left work that counts for none.
    const cost = await meter.of(objects, call)
    if (index >= BEFORE) costs.push(cost)
  }
  return { written: median(costs, 'written'), read: median(costs, 'read'), objects: median(costs, 'objects') }
}

/** What a session costs that rests, beside what was said in it before: the median of some times. */
async function costOfRest() {
  let passed = 0
  vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + passed)
  const user = newUser()
  const caller = new Caller(user, await tokenOf(user, '30d'))
  const stub = env.SESSIONS.getByName(objectName({ ...caller.user, sessionId: 'trip' }))
  const objects = [stub, env.USERS.getByName(objectName(caller.user))]
  await caller.call('POST', '/v1/sessions', { session_id: 'trip' })
  const costs: Cost[] = []
  for (let index = 0; index < RESTS; index++) {
    const append = async () =>
      expect(
        (await caller.call('POST', '/v1/sessions/trip/messages', { messages: round(index) })).status,
      ).toBe(200)
    // The first sets the alarm.
    const [first, second] = [await meter.of(objects, append), await meter.of(objects, append)]
    passed += 1.1 * DAY
    const alarm = await meter.of(objects, () =>
      runInDurableObject(stub, (object) => (object as SessionObject).alarm()),
    )
    costs.push({
      written: first.written - second.written + alarm.written,
      read: first.read - second.read + alarm.read,
      // The alarm is one of its own.
      objects: first.objects - second.objects + alarm.objects + 1,
    })
  }
  vi.mocked(webHost.now).mockRestore()
  return { written: median(costs, 'written'), objects: median(costs, 'objects') }
}

/** What it costs that an alarm notes facts of a session with its user: the median of some times. */
async function costOfNotes(facts: number) {
  let passed = 0
  vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + passed)
  const caller = new Caller()
  const stub = env.SESSIONS.getByName(objectName({ ...caller.user, sessionId: 'trip' }))
  const objects = [stub, env.USERS.getByName(objectName(caller.user))]
  await caller.call('POST', '/v1/sessions', { session_id: 'trip' })
  const costs: Cost[] = []
  for (let index = 0; index < RESTS; index++) {
    const texts = [
      `The train to town ${index} leaves at noon.`,
      `Museum ${index} is shut on Mondays.`,
      `A lift beside gate ${index} was repaired.`,
      `Guests of room ${index} want vegetarian breakfast.`,
    ]
    const kept: Cost[] = []
    for (const text of texts.slice(0, facts))
      kept.push(
        await meter.of(objects, async () => {
          const { status } = await caller.call('POST', '/v1/sessions/trip/facts', { kind: 'finding', text })
          expect(status).toBe(200)
        }),
      )
    passed += 6_000
    const alarm = await meter.of(objects, () =>
      runInDurableObject(stub, (object) => (object as SessionObject).alarm()),
    )
    // The first sets the alarm, for which the call of this test stands.
    const [{ written = 0 } = {}, second] = kept
    costs.push({ ...alarm, written: written - (second?.written ?? 0) + alarm.written })
  }
  vi.mocked(webHost.now).mockRestore()
  return { written: median(costs, 'written'), objects: median(costs, 'objects') }
}

const chat =
  (words: string) =>
  async (caller: Caller, path: string, index: number): Promise<Response> => {
    const response = await caller.fetch('POST', `${path}/chat`, {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: `Question ${index}: when does the train leave? ${words}` }),
    })
    expect(await response.text()).toContain('nine.')
    return response
  }

const said = (text: string, role = 'user') => ({ role, content: text })
const round = (index: number) => [
  said(`Question ${index}: when does the train to town ${index} leave, and from where?`),
  said(`Answer ${index}: at ${index} past nine, from platform ${index}.`, 'assistant'),
]

const pushed = (index: number) => {
  const [{ role, content } = said('')] = round(index)
  return { id: `m${index}`, body: { role, content, createdAt: 0, trust: 'user' } }
}

/** The mean of a chat every five minutes, with all that its alarms do, once streams are removed. */
async function costOfPace(): Promise<Cost> {
  let passed = 0
  vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + passed)
  const user = newUser()
  const caller = new Caller(user, await tokenOf(user, '30d'))
  const stub = env.SESSIONS.getByName(objectName({ ...user, sessionId: 'trip' }))
  const objects = [stub, env.USERS.getByName(objectName(user))]
  withModel.add(objectName({ ...user, sessionId: 'trip' }))
  await caller.call('POST', '/v1/sessions', { session_id: 'trip' })
  const run = chat('')
  const sum = { written: 0, read: 0, objects: 0 }
  for (let index = 0; index < PACED; index++) {
    let alarms = 0
    const cost = await meter.of(objects, async () => {
      await run(caller, '/v1/sessions/trip', index)
      await runInDurableObject(stub, async (object, { storage }) => {
        for (const until = passed + 300_000; passed < until; ) {
          passed += 10_000
          if (((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY) > webHost.now()) continue
          alarms++
          await (object as SessionObject).alarm()
        }
      })
    })
    if (index < PACED / 2) continue
    sum.written += cost.written
    sum.read += cost.read
    // This test called it once more.
    sum.objects += cost.objects - 1 + alarms
  }
  vi.mocked(webHost.now).mockRestore()
  const count = PACED / 2
  return { written: sum.written / count, read: sum.read / count, objects: sum.objects / count }
}

describe('a call through the whole edge, in rows written and read and in requests to objects', () => {
  it('is counted without what others ask at the same time', async () => {
    const callers = [new Caller(), new Caller()] as const
    const objectsOf = ({ user }: Caller) => [
      env.SESSIONS.getByName(objectName({ ...user, sessionId: 'trip' })),
      env.USERS.getByName(objectName(user)),
    ]
    const talk = (one: Caller, index: number): Promise<unknown> => chat('')(one, '/v1/sessions/trip', index)
    for (const one of callers) {
      withModel.add(objectName({ ...one.user, sessionId: 'trip' }))
      await one.call('POST', '/v1/sessions', { session_id: 'trip' })
    }
    const [caller, other] = callers
    for (let index = 0; index < 2; index++) await talk(caller, index)
    const { written, objects } = await meter.of(objectsOf(caller), () => talk(caller, 2))
    const beside = (): Promise<unknown> => Promise.all([talk(caller, 3), talk(other, 0), other.session()])
    expect(await meter.of(objectsOf(caller), beside)).toMatchObject({ written, objects })
  })

  it('costs the figures of docs/deploy.md at the median', async () => {
    const figures = {
      'create a session': await costOf(
        (caller, _, index) => caller.call('POST', '/v1/sessions', { session_id: `new-${index}` }),
        (index) => `new-${index}`,
      ),
      'append one message': await costOf((caller, path, index) =>
        caller.call('POST', `${path}/messages`, { messages: round(index).slice(0, 1) }),
      ),
      'append one message under a key': await costOf((caller, path, index) =>
        caller.call(
          'POST',
          `${path}/messages`,
          { messages: round(index).slice(0, 1) },
          { 'Idempotency-Key': `k${index}` },
        ),
      ),
      'append two messages': await costOf((caller, path, index) =>
        caller.call('POST', `${path}/messages`, { messages: round(index) }),
      ),
      'append two, and a context': await costOf((caller, path, index) =>
        caller.call('POST', `${path}/context`, { messages: round(index) }),
      ),
      'a context': await costOf((caller, path) => caller.call('POST', `${path}/context`, {})),
      'a chat of one step': await costOf(chat('')),
      'a chat of three steps': await costOf(chat('In three steps.')),
      'a fact of the session': await costOf((caller, path, index) =>
        caller.call('POST', `${path}/facts`, { kind: 'finding', text: `Town ${index} has a station.` }),
      ),
      'a fact of the user': await costOf((caller, path, index) =>
        caller.call('POST', `${path}/facts`, { kind: 'preference', text: `A window seat to town ${index}.` }),
      ),
      'push one message': await costOf((caller, _, index) =>
        caller.call('POST', '/v1/sync/push', {
          proto: 1,
          scopes: [{ session: 'trip', generation: '', ops: [pushed(index)] }],
        }),
      ),
      'pull 32 messages': await costOf(async (caller, _, index) => {
        const ops = Array.from({ length: 32 }, (_, n) => pushed(n))
        const of = (more: object) => ({ proto: 1, scopes: [{ session: 'trip', ...more }] })
        if (index === 0) await caller.call('POST', '/v1/sync/push', of({ generation: '', ops }))
        return caller.call('POST', '/v1/sync/pull', of({ cursor: 0 }))
      }),
      'read messages': await costOf((caller, path) => caller.call('GET', `${path}/messages`)),
      'keep a checkpoint': await costOf((caller, path, index) =>
        caller.call('PUT', `${path}/checkpoint`, { value: { step: index } }),
      ),
    }
    const { written, objects } = await costOfPace()
    expect(/it writes [^,]+ to objects,/.exec(deploy.replaceAll(/\s+/g, ' '))?.[0]).toBe(
      `it writes ${written} rows and makes ${objects.toFixed(1)} requests to objects,`,
    )
    const rest = await costOfRest()
    expect(/That costs [^,]+ to objects,/.exec(deploy.replaceAll(/\s+/g, ' '))?.[0]).toBe(
      `That costs ${rest.written} rows written and ${rest.objects} requests to objects,`,
    )
    const [two, four] = [await costOfNotes(2), await costOfNotes(4)]
    const each = (four.written - two.written) / 2
    expect(/noted together [^.]+ fact\./.exec(deploy.replaceAll(/\s+/g, ' '))?.[0]).toBe(
      `noted together by an alarm: ${two.objects} requests to objects and ${two.written - 2 * each} rows, and ${each} rows for each fact.`,
    )
    const rows = Object.entries(figures).map(([call, { written, read, objects }]) => {
      const dollars = dollarsOf({
        rowsWritten: written,
        rowsRead: read,
        objectRequests: objects,
        frames: 0,
      })
      return `| ${call} | ${written} | ${read} | ${objects} | $${dollars.toFixed(2)} |`
    })
    expect(deploy.split('\n').filter((line) => / \| \$\d+\.\d\d \|$/.test(line))).toEqual(rows)
  }, 240_000)
})
