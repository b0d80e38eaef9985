/** Plays a history over HTTP in one world, and keeps what anybody could see of it. */
import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { onTestFinished, vi } from 'vitest'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import { RecentPulls } from '../../../src/edge/replica/recent-pulls.ts'
import {
  charsPerToken,
  compaction,
  type Model,
  type ModelEvent,
  type ModelRequest,
} from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'
import { HEADS } from '../../everywhere/pictures.ts'
import { randomFrom } from '../../everywhere/random.ts'
import { lineOf } from '../../twins/line.ts'
import type { Seen } from '../../twins/world.ts'
import { Caller, tokenOf, type User } from './caller.ts'
import { changeSessions, changeUsers, withFeatures } from './changed-settings.ts'
import type { History, Session, Step } from './twin-steps.ts'

const SESSIONS: readonly Session[] = ['trip', 'home']
const HOUR = 3_600_000
/** Far ahead, so that no alarm goes off by itself. */
const BEGIN = Date.UTC(2100, 0)
/** For how long alarms of others are put off, by the platform's clock. */
const LATER_MS = 30_000
/** How long what an alarm began may take, by the platform's clock. */
const BEGUN_MS = 500

/** What is injected into the edge: of all worlds, which are played one after the other. */
const host = { now: BEGIN, ids: 0, random: randomFrom(1), replies: 0, fails: false, behind: 0 }
let lines: string[] = []
/** Names of the worlds' objects. */
const own = new Set<string>()

/** Until the test ends, the edge has this clock, these ids, random numbers and models. */
export async function injectHost(): Promise<void> {
  const word = (): number => host.random() * 2 ** 32
  const id = (): string => `id-${String(++host.ids).padStart(6, '0')}`
  const secret = (): string =>
    Array.from({ length: 8 }, () => Math.trunc(word()).toString(16).padStart(8, '0')).join('')
  const spies = [
    vi.spyOn(webHost, 'now').mockImplementation(() => host.now),
    vi.spyOn(webHost, 'newId').mockImplementation(id),
    vi.spyOn(webHost, 'newSecret').mockImplementation(secret),
    vi.spyOn(crypto, 'randomUUID').mockImplementation(() => id() as ReturnType<typeof crypto.randomUUID>),
    vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
      const bytes = array as unknown as Uint8Array
      for (let at = 0; at < bytes.length; at++) bytes[at] = word()
      return array
    }),
    ...(['error', 'warn', 'log', 'info'] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation((...line) => void lines.push(line.map(String).join(' '))),
    ),
  ]
  // Hints to sessions go on after an answer.
  const { poke } = RecentPulls.prototype
  const poking = vi.spyOn(RecentPulls.prototype, 'poke').mockImplementation(async function (
    this: RecentPulls,
    ...given
  ) {
    host.behind++
    try {
      await poke.apply(this, given)
    } finally {
      host.behind--
    }
  })
  onTestFinished(() => {
    for (const spy of [...spies, poking]) spy.mockRestore()
  })
  const memory = { budget: 1_000, counter: charsPerToken(4), system: 'You help with trips.' }
  await changeSessions((settings) =>
    withFeatures(
      { ...settings, model: scripted, memory: { ...settings.memory, ...memory } },
      compaction({ model: summing }),
    ),
  )
  await changeUsers((settings) => ({ ...settings, memory: { ...settings.memory, ...memory } }))
}

/**
 * Puts off the alarms of objects that are no world's: all files share one runtime, where an alarm
 * that another test left behind would take an id in one world and none in another. Between tests,
 * too: what an alarm began there would go on in the next one's worlds.
 *
 * @returns what ends it
 */
export async function holdOthers(): Promise<() => void> {
  const waiting = [SessionObject.prototype, UserObject.prototype].map(othersWait)
  // What rang before has come to its end by then.
  await scheduler.wait(BEGUN_MS)
  return () => {
    for (const spy of waiting) spy.mockRestore()
  }
}

function othersWait(prototype: { alarm(): Promise<void> }) {
  const { alarm } = prototype
  return vi.spyOn(prototype, 'alarm').mockImplementation(async function (this: { alarm(): Promise<void> }) {
    const { id, storage } = (this as unknown as { readonly ctx: DurableObjectState }).ctx
    if (own.has(id.name ?? '')) await alarm.call(this)
    else await storage.setAlarm(Date.now() + LATER_MS)
  })
}

/** Calls by a token that the injected clock takes. */
export async function callerAt(user: User): Promise<Caller> {
  return new Caller(user, await tokenOf(user, new Date(BEGIN + 1_000 * HOUR)))
}

export class HttpWorld {
  readonly #secret: string
  readonly #caller: Caller
  #words = 0
  #keys = 0
  #isForgotten = false
  #last: (() => Promise<unknown>) | undefined

  /** @param caller one of whom no other world knows */
  constructor(secret: string, caller: Caller) {
    this.#secret = secret
    this.#caller = caller
    for (const session of [...SESSIONS, undefined]) own.add(this.#object(session).name ?? '')
    Object.assign(host, { now: BEGIN, ids: 0, random: randomFrom(7), replies: 0, fails: false })
    lines = []
  }

  /**
   * Plays a history, forgets the secret over HTTP, and plays on. @returns what was seen from then
   * on
   */
  async play({ before, deletes, after }: History): Promise<readonly Seen[]> {
    for (const session of SESSIONS) await this.#create(session)
    for (const step of before) await this.#do(step)
    const seen: Seen[] = []
    const note = async (what: string, value: Promise<unknown>): Promise<void> => {
      seen.push({ what, value: await value })
    }
    lines = []
    await this.#purge(deletes, note)
    this.#isForgotten = true
    // A picture that no message ever named goes a day later; all else is gone at once.
    seen.push(...(await this.#stored()).filter(({ what }) => !/plimsoll_(attachment|part|unused)/.test(what)))
    host.now += 25 * HOUR
    await this.#work()
    await this.#work()
    seen.push(...(await this.#stored()))
    for (const step of after) await note(step.does, this.#do(step))
    await this.#end(note)
    seen.push(...(await this.#stored()))
    seen.push({ what: 'lines', value: lines.map((line) => line.replace(/"milliseconds":\d+,?/, '')) })
    return this.#unnamed(seen)
  }

  /** Plays a history without the secret while somebody else says it. */
  async playBeside({ before, after }: History, other: Caller): Promise<readonly Seen[]> {
    const seen: Seen[] = []
    const note = async (what: string, value: Promise<unknown>): Promise<void> => {
      seen.push({ what, value: await value })
    }
    for (const session of SESSIONS) await this.#create(session)
    const say = async (path: string, body: object): Promise<unknown> =>
      (await other.call('POST', path, body)).status
    await say('/v1/sessions', { session_id: 'trip' })
    for (const step of [...before, ...after]) {
      const ids = host.ids
      const random = host.random
      host.random = randomFrom(11)
      const content = `Line ${this.#words} says ${this.#secret}.`
      await say('/v1/sessions/trip/messages', { messages: [{ role: 'user', content }] })
      await say('/v1/me/facts', { kind: 'preference', text: content })
      await say('/v1/sessions/trip/context', {})
      await this.#settled()
      Object.assign(host, { ids, random })
      await note(step.does, this.#do('secret' in step ? { ...step, secret: false } : step))
    }
    await this.#end(note)
    seen.push(...(await this.#stored()))
    return this.#unnamed(seen)
  }

  #unnamed(seen: readonly Seen[]): readonly Seen[] {
    const { tenant = '' } = this.#caller.user
    return JSON.parse(JSON.stringify(seen).replaceAll(tenant, '<tenant>')) as readonly Seen[]
  }

  async #settled(): Promise<void> {
    do await scheduler.wait(0)
    while (host.behind > 0)
  }

  /** One request, and all of its answer. */
  async #ask(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const headers = { ...(text !== undefined && { 'Content-Type': 'application/json' }), ...more }
    const response = await this.#caller.fetch(method, path, {
      headers,
      ...(text !== undefined && { body: text }),
    })
    const answered = {
      status: response.status,
      headers: [...response.headers].filter(([name]) => name !== 'date'),
      body: await response.text(),
    }
    // Registers in it stand in the order of their names, some of which are made; and in that order
    // heads are deleted, one after the other.
    if (path.endsWith('/export')) {
      const body = answered.body
        .replace(/"seq":\d+,"opId":"[^"]+",(?="id":"register:head\/)/g, '')
        .replace(/(?<="key":"head\/[0-9a-f]+"),"version":"id-\d+"/g, '')
      Object.assign(answered, { body: body.split('\n') })
    }
    await this.#settled()
    return answered
  }

  /** The same, and it can be repeated. */
  #send(method: string, path: string, body?: unknown, key = false) {
    const headers = key ? { 'Idempotency-Key': `key-${++this.#keys}` } : {}
    const send = () => this.#ask(method, path, body, headers)
    // What holds the secret is not sent again once it was forgotten.
    if (key) this.#last = JSON.stringify(body ?? '').includes(this.#secret) ? undefined : send
    return send()
  }

  async #read<Body>(path: string): Promise<Body | undefined> {
    const { status, body } = await this.#ask('GET', path)
    return status === 200 ? (JSON.parse(body) as Body) : undefined
  }

  async #create(session: Session) {
    const answered = await this.#ask('POST', '/v1/sessions', { session_id: session, title: session })
    if (answered.status !== 201) throw new Error(`no session is made: ${answered.body}`)
    return answered
  }

  async #messages(session: Session): Promise<readonly string[]> {
    const page = await this.#read<{ messages: { id: string; role: string }[] }>(
      `/v1/sessions/${session}/messages`,
    )
    return page?.messages.filter(({ role }) => role !== 'tool').map(({ id }) => id) ?? []
  }

  /** In the order in which they were said: that of the list is also that of ids, which are made. */
  async #facts(session: Session): Promise<readonly { readonly id: string; readonly text: string }[]> {
    const page = await this.#read<{ facts: { id: string; text: string }[] }>(
      `/v1/sessions/${session}/facts?all=true`,
    )
    const numberOf = ({ text }: { readonly text: string }): number => Number(/\d+/.exec(text)?.[0])
    return (page?.facts ?? []).sort((one, other) => numberOf(one) - numberOf(other))
  }

  async #do(step: Step): Promise<unknown> {
    const session = 'in' in step && step.in === 'home' ? 'home' : 'trip'
    const at = `/v1/sessions/${session}`
    switch (step.does) {
      case 'say':
        return this.#say(step, at)
      case 'tool': {
        const id = `call-${++this.#words}`
        return this.#send('POST', `${at}/messages`, {
          messages: [
            {
              role: 'assistant',
              content: [{ type: 'tool-call', id, name: 'look', input: { for: this.#word(step.secret) } }],
            },
            {
              role: 'tool',
              content: [{ type: 'tool-result', call_id: id, output: this.#line(step.secret) }],
            },
          ],
        })
      }
      case 'remember': {
        const text = this.#line(step.secret)
        if (step.in === 'mcp')
          return this.#ask(
            'POST',
            '/v1/sessions/trip/mcp',
            {
              ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
              params: { name: 'memory_finding', arguments: { text } },
            },
            { Accept: 'application/json, text/event-stream' },
          )
        const body = { kind: step.kind, text }
        return this.#send('POST', step.in === 'me' ? '/v1/me/facts' : `${at}/facts`, body, step.key)
      }
      case 'context':
        return this.#send('POST', `${at}/context`, {
          on_pending: 'abandon',
          new_epoch: step.newEpoch,
          preview: step.preview,
        })
      case 'change': {
        const facts = await this.#facts(session)
        const fact = facts[step.at % Math.max(1, facts.length)]
        const body = { [step.to]: step.to === 'review' ? 'good' : true }
        return (
          fact && this.#send('PATCH', `${at}/facts/${encodeURIComponent(fact.id)}`, body, step.at % 2 === 0)
        )
      }
      case 'recall': {
        const query = step.secret ? this.#secret : 'seats in trains'
        return [
          await this.#ask('POST', '/v1/me/recall', { query, sessions: 'all' }),
          await this.#ask('GET', `${at}/start?query=${query}`),
          await this.#ask('POST', `${at}/context`, { recall: query, on_pending: 'abandon' }),
          await this.#ask('POST', `${at}/context`, {
            recall: { query, sessions: 'all' },
            on_pending: 'abandon',
          }),
        ]
      }
      case 'title':
        return this.#send('PATCH', at, { title: `${this.#word(step.secret)} ${step.value}` })
      case 'checkpoint':
        return this.#send('PUT', `${at}/checkpoint`, { value: { step: step.value } }, step.key)
      case 'profile':
        if (step.value % 4 === 3) return this.#send('DELETE', '/v1/me/profile/SOUL.md', undefined, step.key)
        return this.#send('PUT', '/v1/me/profile/SOUL.md', { text: `Speak in way ${step.value}.` }, step.key)
      case 'skill': {
        if (step.value % 4 === 3)
          return this.#send('DELETE', `/v1/me/skills/skill-${step.value - 1}`, undefined, step.key)
        const body = { description: `Skill ${step.value}.`, text: `Do ${step.value}.` }
        return this.#send('PUT', `/v1/me/skills/skill-${step.value}`, body, step.key)
      }
      case 'rewind':
      case 'forget': {
        const ids = await this.#messages(session)
        const id = ids[step.at % Math.max(1, ids.length)]
        if (id === undefined) return undefined
        if (step.does === 'forget')
          return this.#send('DELETE', `${at}/messages/${encodeURIComponent(`${id}`)}`)
        return this.#send('POST', `${at}/rewind`, { message: id })
      }
      case 'forgetFact': {
        const facts = await this.#facts(session)
        const fact = facts[step.at % Math.max(1, facts.length)]
        return fact && this.#send('DELETE', `${at}/facts/${encodeURIComponent(fact.id)}`)
      }
      case 'wrong':
        return this.#wrong(step, at)
      case 'compact':
        return this.#send('POST', `${at}/compact`, {})
      case 'undo':
        return this.#send('POST', `${at}/rewind`, { undo: true })
      case 'read':
        return this.#reads(session)
      case 'evict':
        return evictDurableObject(this.#object(session)).catch(() => undefined)
      case 'export':
        return this.#ask('GET', '/v1/me/export')
      case 'repeat':
        return this.#last?.()
      case 'work':
        host.now += 25 * HOUR
        return this.#work()
      case 'tick':
        host.now += HOUR
        return undefined
      case 'delete':
        await this.#send('DELETE', '/v1/sessions/home')
        return this.#create('home')
    }
  }

  #say({ way, role, secret, filler, key, fails }: Extract<Step, { does: 'say' }>, at: string) {
    const content = `${this.#line(secret)} ${'It rains in Turin. '.repeat(filler)}`
    host.fails = fails
    switch (way) {
      case 'messages':
        return this.#send('POST', `${at}/messages`, { messages: [{ role, content }] }, key)
      case 'context': {
        const body = { messages: [{ role, content }], on_pending: 'abandon' }
        return this.#send('POST', `${at}/context`, body, key)
      }
      case 'chat':
        return this.#send('POST', `${at}/chat`, { message: content }, key)
      case 'completion':
      case 'picture': {
        const bytes = `${HEADS['image/png']}picture ${++this.#words} of ${this.#word(secret)}`
        const url = `data:image/png;base64,${btoa(bytes)}`
        const parts = [
          { type: 'text', text: content },
          ...(way === 'picture' ? [{ type: 'image_url', image_url: { url } }] : []),
        ]
        const body = { model: 'plimsoll', messages: [{ role: 'user', content: parts }], stream: fails }
        return this.#send('POST', `${at}/openai/chat/completions`, body, key)
      }
    }
  }

  #wrong({ secret, at: which }: Extract<Step, { does: 'wrong' }>, at: string) {
    const word = this.#word(secret)
    const wrong: readonly (() => Promise<unknown>)[] = [
      () => this.#ask('POST', `${at}/messages`, { messages: [{ role: word, content: word }] }),
      () => this.#ask('POST', `${at}/messages`, { [word]: word }),
      () => this.#ask('POST', `${at}/messages`, `{"messages":"${word}`),
      () => this.#ask('PUT', `${at}/checkpoint`, { value: word }, { 'If-Match': `"${word}"` }),
      () => this.#ask('POST', `${at}/facts`, { kind: word, text: word }),
      () => this.#ask('POST', `${at}/chat`, { message: { [word]: 1 } }),
      () =>
        this.#ask('POST', `${at}/openai/chat/completions`, { model: 'plimsoll', messages: [{ role: word }] }),
      () => this.#ask('GET', `${at}/messages?${word}=1`),
      () =>
        this.#ask('POST', `${at}/context`, { messages: [{ role: 'user', content: word }], preview: true }),
      () => this.#ask('POST', '/v1/me/recall', { query: word, sessions: [word] }),
    ]
    return wrong[which % wrong.length]?.()
  }

  /** Forgets all that holds the secret, by the routes that are there for it. */
  async #purge(
    deletes: boolean,
    note: (what: string, value: Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    if (deletes) {
      await note('delete', this.#ask('DELETE', '/v1/sessions/home'))
      await note('create', this.#create('home'))
    }
    for (const session of SESSIONS) {
      const at = `/v1/sessions/${session}`
      await note('title', this.#ask('PATCH', at, { title: session }))
      // Those too that no route shows any more, since they were rewound.
      const { plimsoll_log: log = [] } = await this.#rows(session)
      const held = log.filter((row) => JSON.stringify(row).includes(this.#secret))
      for (const { id } of held)
        await note('forget', this.#ask('DELETE', `${at}/messages/${encodeURIComponent(`${id}`)}`))
      for (const fact of await this.#facts(session))
        if (JSON.stringify(fact).includes(this.#secret))
          await note('forget fact', this.#ask('DELETE', `${at}/facts/${encodeURIComponent(fact.id)}`))
    }
  }

  /** Every answer that only reads. */
  async #reads(session: Session): Promise<unknown> {
    const at = `/v1/sessions/${session}`
    const [first = 'none'] = await this.#messages(session)
    const seen: unknown[] = []
    for (const path of [
      ...[at, `${at}/messages`, `${at}/branches`, `${at}/checkpoint`, `${at}/facts?all=true`],
      ...[`${at}/start`, `${at}/explain`, `${at}/context/${encodeURIComponent(first)}`, `${at}/chat/current`],
    ])
      seen.push([path, await this.#ask('GET', path)])
    return seen
  }

  async #end(note: (what: string, value: Promise<unknown>) => Promise<void>): Promise<void> {
    for (const session of SESSIONS) {
      await note('reads', this.#reads(session))
      const body = { on_pending: 'abandon', recall: 'train' }
      await note('context', this.#ask('POST', `/v1/sessions/${session}/context`, body))
    }
    const secret = this.#isForgotten ? { query: 'ticket', sessions: 'all' } : { query: 'ticket' }
    await note('recall', this.#ask('POST', '/v1/me/recall', secret))
    for (const path of ['sessions', 'me/facts?all=true', 'me/profile', 'me/skills', 'me/audit', 'me/export'])
      await note(path, this.#ask('GET', `/v1/${path}`))
  }

  #object(session?: Session): DurableObjectStub {
    const { user } = this.#caller
    return session === undefined
      ? env.USERS.getByName(objectName(user))
      : env.SESSIONS.getByName(objectName({ ...user, sessionId: session }))
  }

  /** What the objects owe by now. */
  async #work(): Promise<void> {
    for (const session of [...SESSIONS, undefined]) await runDurableObjectAlarm(this.#object(session))
    await this.#settled()
  }

  async #stored(): Promise<readonly Seen[]> {
    const seen: Seen[] = []
    for (const session of [undefined, ...SESSIONS]) {
      for (const [table, value] of Object.entries(await this.#rows(session))) {
        const kind =
          { plimsoll_log: 'log', plimsoll_register: 'registers of it' }[table] ?? `rows of ${table}`
        seen.push({ what: `${kind} in ${session ?? 'ada'}`, value })
      }
    }
    return seen
  }

  /** All rows of an object, by their tables. */
  #rows(session?: Session): Promise<Readonly<Record<string, readonly Record<string, unknown>[]>>> {
    return runInDurableObject(this.#object(session), (_, { storage: { sql } }) =>
      Object.fromEntries(
        sql
          .exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'plimsoll%' ORDER BY name`)
          .toArray()
          .map(({ name }) => [name, sql.exec(`SELECT * FROM ${name}`).toArray().map(shown)]),
      ),
    )
  }

  #word(secret: boolean): string {
    return secret ? this.#secret : 'something'
  }

  #line(secret: boolean): string {
    return lineOf(++this.#words, this.#word(secret))
  }
}

/** Bytes as text, in which a word can be found. */
function shown(given: Record<string, SqlStorageValue>): Record<string, unknown> {
  // Heads are deleted one after the other, in the order of their names, which are made.
  const isHead = given.body === null && /^head\//.test(`${given.sort}`)
  const row = isHead ? { ...given, version: null, seq: null } : given
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof ArrayBuffer ? String.fromCharCode(...new Uint8Array(value)) : value,
    ]),
  )
}

/** Repeats what was said last; where it fails, it says what it was asked. */
const scripted: Model = {
  id: 'scripted',
  async *complete({ context }: ModelRequest): AsyncGenerator<ModelEvent> {
    if (host.fails) throw new Error(`cannot answer ${JSON.stringify(context.blocks.at(-1))}`)
    const [, word = 'nothing'] = /.*says (\w+) about/s.exec(JSON.stringify(context.blocks)) ?? []
    const content = `Reply ${++host.replies} repeats ${word}.`
    for (const text of content.split(/(?= )/)) yield { type: 'text', text }
    yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
  },
}

/** Words of what it is to sum up, as a model would give them. */
const summing: Model = {
  id: 'summing',
  async *complete({ context }: ModelRequest): AsyncGenerator<ModelEvent> {
    const said = JSON.stringify(context.blocks).match(/Line \d+ of [^.]*\./g) ?? []
    const content = `They said: ${said.slice(-3).join(' ')} And more of that.`
    yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
  },
}
