/** Plays a history in one world, and keeps what anybody could see of it. */

import { charsPerToken } from '../../src/index.ts'
import { attach } from '../../src/operations/attachments.ts'
import { readAudit } from '../../src/operations/audit.ts'
import { readBranches } from '../../src/operations/branches.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { clearLog } from '../../src/operations/forget/clear-log.ts'
import { forget, forgetFact } from '../../src/operations/forget/forget.ts'
import { rewind, undo } from '../../src/operations/rewind.ts'
import { listSessions, titleSession } from '../../src/operations/sessions.ts'
import { start as startSession } from '../../src/operations/start/start.ts'
import { exportFrom } from '../../src/operations/transfer/export.ts'
import { importInto } from '../../src/operations/transfer/import.ts'
import { nextWorkAt, runDueWork } from '../../src/operations/upkeep.ts'
import type { Context } from '../../src/ports/context.ts'
import { isPlimsollError } from '../../src/ports/errors.ts'
import type { Fact, Remembered } from '../../src/ports/fact.ts'
import type { Part } from '../../src/ports/message.ts'
import type { ModelEvent, ModelRequest } from '../../src/ports/model.ts'
import type { Scope } from '../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../src/ports/store.ts'
import { hashText } from '../../src/text/hash.ts'
import { type FullMemory, type FullSession, fullMemory } from '../contract/full-memory.ts'
import { notingEmbedder, vectorsBy } from '../everywhere/embedder.ts'
import { lineOf } from './line.ts'
import type { History, Session, Step } from './steps.ts'

export const ADA = { userId: 'ada' }
const SESSIONS: readonly Session[] = ['trip', 'home']
const DAY = 86_400_000
const DOCUMENTS = ['SOUL.md', 'MEMORY.md', 'TASKS.md', 'NOTES.md']

/** What was seen, in order: of a step, of the end, or of what is stored. */
export interface Seen {
  readonly what: string
  readonly value: unknown
}

/** What two worlds differ in. */
export interface Difference {
  /** A word, of one length in both. */
  readonly secret: string
}

/** Two devices and their home: the handles of a world are the devices'. */
export interface Devices {
  /** All that is stored, by where it is. */
  readonly places: Readonly<Record<string, Store>>
  /** Lets one send and fetch all, or else both, until all hold the same. */
  sync(device?: 0 | 1): Promise<void>
  /** What the home refused is kept aside until it is looked at. */
  discard(user: Scope): Promise<void>
}

export class World {
  readonly #handles: readonly Store[]
  readonly #secret: string
  readonly #devices: Devices | undefined
  /** The one at hand. */
  #device: 0 | 1 = 0
  #ids = 0
  #secrets = 0
  #now = 20_000 * DAY
  /** Calls of the store until the process ends; undefined: it does not. */
  #left: number | undefined
  #tabs!: readonly FullMemory[]
  #opened = new Map<string, FullSession>()
  #words = 0
  readonly #pictures: (readonly [session: Session, id: string])[] = []
  /** Ids of facts that were remembered with the secret; undefined: a call did not say which. */
  #said: Set<string> | undefined = new Set()
  /** Documents and skills that ever held the secret: heads may show them as they were then. */
  readonly #wrote = new Map<string, Removed>()
  /** Exports since all was forgotten: what was taken elsewhere before has it yet. */
  #exported: string[][] | undefined

  /** @param handles of one database, for each tab; one that is missing is the first */
  constructor(handles: readonly Store[], { secret }: Difference, devices?: Devices) {
    this.#handles = handles
    this.#secret = secret
    this.#devices = devices
    this.#open()
  }

  /** Plays a step. What it came to is told; a process that ends is followed by another one. */
  async play(step: Step): Promise<Seen> {
    const value = await this.#try(() => this.#do(step))
    // What is said again may hold it too.
    if (step.does === 'again' || ('secret' in step && step.secret)) this.#noteSaid(value)
    if ((step.does === 'profile' || step.does === 'skill') && step.secret)
      this.#wrote.set(`${step.does} ${step.value}`, { of: step.does, value: step.value })
    if (this.#left !== undefined && this.#left < 0) this.#open()
    return { what: step.does, value }
  }

  /** What another tenant's user of the same name says. */
  async sayBeside(): Promise<void> {
    const session = this.#tab.session({ ...ADA, tenant: 'other', sessionId: 'trip' })
    await this.#try(async () => {
      await session.append({ role: 'user', content: `It is ${this.#secret}.` })
      await session.facts.remember({ kind: 'preference', text: `Likes ${this.#secret}.` })
      return session.context()
    })
  }

  /**
   * Forgets all that was said with the secret, wherever it is: what took it over from there goes
   * with it. @returns the certificates
   */
  async purge(): Promise<readonly Seen[]> {
    this.#exported = []
    this.#open()
    const seen: Seen[] = []
    const note = async (what: string, call: () => Promise<unknown>): Promise<void> => {
      seen.push({ what, value: await this.#try(call) })
    }
    const isMeant = ({ id, text }: Fact): boolean =>
      text.includes(this.#secret) && (this.#said?.has(id) ?? true)
    for (const id of SESSIONS) {
      const session = this.#session(id)
      const { rows } = await this.#inner
        .open({ ...ADA, sessionId: id })
        .entries({ first: 512, kinds: ['message'] })
      for (const row of rows)
        if (row.body?.includes(this.#secret))
          await note('purge', () => forget(session, row.id, { kind: 'message' }))
      for (const fact of (await this.#facts(id)).filter(isMeant))
        await note('purge', () => forget(session, fact.id, { kind: 'fact' }))
    }
    for (const fact of (await this.#tab.user(ADA).facts.list({ all: true })).filter(isMeant))
      await note('purge', () => forgetFact(this.#tab, ADA, fact.id))
    for (const written of this.#wrote.values()) await note('purge', () => this.#remove(written))
    // What was uploaded, and named by no message, goes after a day.
    this.#now += 2 * DAY
    for (const tab of this.#devices ? this.#tabs : [this.#tab]) await note('work', () => runDueWork(tab))
    return seen
  }

  /** All that anybody can see in the end. */
  async end(sessions = SESSIONS): Promise<readonly Seen[]> {
    this.#left = undefined
    this.#open()
    const seen: Seen[] = []
    const see = async (what: string, call: () => Promise<unknown>): Promise<void> => {
      seen.push({ what, value: await this.#try(call) })
    }
    for (const id of sessions) {
      const session = this.#session(id)
      await see('history', () => session.history({ messages: 512 }))
      await see('context', () => session.context({ onPending: 'abandon' }))
      await see('context', () => session.context({ onPending: 'abandon', recall: 'trains and seats' }))
      await see('facts', () => session.facts.list({ all: true }))
      await see('recall', () => session.recall.find('trains seats weather'))
      await see('start', () => startSession(session))
      await see('start', () => startSession(session, { query: 'trains seats weather' }))
      await see('start', () => startSession(session, { sessions: 'own', budgetTokens: 400 }))
      await see('branches', () => readBranches(session))
      const [last] = (await session.history({ messages: 1 })).slice(-1)
      if (last) await see('contextAt', () => contextAt(session, last.id))
    }
    await see('sessions', () => listSessions(this.#tab, ADA))
    await see('audit', () => readAudit(this.#tab, ADA))
    await see('nextWorkAt', () => nextWorkAt(this.#tab))
    if (sessions === SESSIONS) await see('export', () => this.#export())
    return seen
  }

  /** All rows of all scopes: of each the log first, whose order no name decides. */
  async stored(): Promise<readonly Seen[]> {
    const seen: Seen[] = []
    for (const [place, store] of Object.entries(this.#devices?.places ?? { '': this.#inner })) {
      for (let after: Scope | undefined; ; ) {
        const page = await store.scopes(after)
        for (const scope of page.filter(({ tenant }) => tenant === undefined))
          for (const [what, value] of await rowsOf(store.open(scope)))
            seen.push({ what: `${what} of ${scope.sessionId ?? 'the user'}${place}`, value })
        after = page.at(-1)
        if (after === undefined) break
      }
      for (const [sessionId, id] of this.#pictures) {
        const { mediaType, bytes } = (await store.open({ ...ADA, sessionId }).attachment(id)) ?? {}
        const text = bytes && String.fromCharCode(...bytes)
        seen.push({ what: `picture of ${sessionId}${place}`, value: { id, mediaType, text } })
      }
    }
    return seen
  }

  /** All devices and their home hold the same from now on. */
  async meet(): Promise<void> {
    this.#left = undefined
    await this.#devices?.sync()
    await this.#devices?.discard(ADA)
    await this.#devices?.sync()
  }

  /** Goes to one of the devices. */
  move(device: 0 | 1): void {
    this.#device = device
  }

  get #inner(): Store {
    return this.#handles[this.#device] as Store
  }

  get #tab(): FullMemory {
    return this.#tabs[this.#device] as FullMemory
  }

  #noteSaid(value: unknown): void {
    const { ok, failed } = value as {
      readonly ok?: { readonly fact?: Fact; readonly facts?: readonly Remembered[] }
      readonly failed?: unknown
    }
    if (failed !== undefined) this.#said = undefined
    for (const fact of [ok?.fact, ...(ok?.facts ?? []).map((one) => one.fact)])
      if (fact) this.#said?.add(fact.id)
  }

  /** Another process over the same store. */
  #open(): void {
    this.#left = undefined
    this.#opened = new Map()
    this.#tabs = [0, 1].map((tab) =>
      fullMemory({
        store: this.#mortal(this.#handles[tab] ?? (this.#handles[0] as Store)),
        budget: 800,
        counter: charsPerToken(4),
        system: 'You help with trips.',
        compaction: {
          ahead: false,
          model: { id: 'scripted', complete: summaryOf },
          // One of them reads all that shows, and what the head shows.
          ...(tab === 1 && { ask: 'continuation', when: 'always' }),
        },
        recall: { vectors: vectorsBy(notingEmbedder()) },
        checkpoint: { excerptTokens: 50 },
        clock: () => this.#now,
        newId: () => `id-${String(++this.#ids).padStart(6, '0')}`,
        newSecret: () => hashText(`secret ${++this.#secrets}`),
      }),
    )
  }

  /** A store that ends with the process. */
  #mortal(inner: Store): Store {
    const pass = (): void => {
      if (this.#left !== undefined && this.#left-- <= 0) throw new Error('the process has ended')
    }
    return {
      oldestUnused: () => inner.oldestUnused(),
      removeUnused: (until) => inner.removeUnused(until),
      scopes: (after) => inner.scopes(after),
      open: (scope) =>
        new Proxy(inner.open(scope), {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key)
            if (typeof value !== 'function' || key === 'snapshot' || key === 'watch') return undefined
            return async (...args: unknown[]) => {
              pass()
              return value.apply(target, args)
            }
          },
        }),
    }
  }

  #session(id: Session, tab = this.#device): FullSession {
    const name = `${tab} ${id}`
    const session =
      this.#opened.get(name) ?? (this.#tabs[tab] as FullMemory).session({ ...ADA, sessionId: id })
    this.#opened.set(name, session)
    return session
  }

  async #try(call: () => Promise<unknown>): Promise<unknown> {
    try {
      return { ok: await call() }
    } catch (error) {
      return { failed: isPlimsollError(error) ? { ...error, code: error.code } : String(error) }
    }
  }

  async #facts(id: Session) {
    return this.#session(id).facts.list({ all: true })
  }

  async #do(step: Step): Promise<unknown> {
    const session =
      'in' in step && typeof step.in === 'string' ? this.#session(step.in) : this.#session('trip')
    switch (step.does) {
      case 'say': {
        const text = `${this.#line(step.secret)} ${'It rains in Turin. '.repeat(step.filler)}`
        const content: Part[] = [{ type: 'text', text }]
        if (step.picture) {
          const bytes = Uint8Array.from(this.#word(step.secret), (letter) => letter.charCodeAt(0))
          const picture = await attach(session, { mediaType: 'image/png', bytes, tokens: 9 })
          this.#pictures.push([step.in, picture.ref ?? ''])
          content.push(picture)
        }
        return session.append({ role: step.role, content })
      }
      case 'tool': {
        const id = `call-${++this.#words}`
        const call = { type: 'tool-call', id, name: 'look', input: { for: this.#word(step.secret) } } as const
        const result = { type: 'tool-result', callId: id, output: this.#line(step.secret) } as const
        return session.append([
          { role: 'assistant', content: [call] },
          { role: 'tool', content: [result], ...(step.web && { trust: 'web' as const }) },
        ])
      }
      case 'remember': {
        const messages = await session.history({ messages: 30 })
        const source = messages[step.of]?.id
        const text = this.#line(step.secret)
        return session.facts.remember({
          kind: step.kind,
          text,
          ...(source !== undefined && { sources: [source] }),
        })
      }
      case 'again': {
        // What is near to it is merged with it, then or when it is promoted.
        const facts = await session.facts.list()
        const fact = facts[step.at % Math.max(1, facts.length)]
        if (!fact) return undefined
        const said = { kind: fact.kind, text: `${fact.text} ${this.#word(step.secret)}` }
        const trust = step.promotes ? 'tool' : fact.trust
        const again = await session.facts.remember({ ...said, trust })
        if (step.promotes) await session.facts.promote(again.fact.id)
        return again
      }
      case 'commit':
        return session.commit({
          messages: { role: 'assistant', content: this.#line(step.secret) },
          facts: [{ kind: 'preference', text: this.#line(step.secret) }],
          checkpoint: { step: this.#words },
        })
      case 'context':
        return this.#session(step.in, this.#devices ? this.#device : step.tab).context({
          onPending: 'abandon',
          newEpoch: step.newEpoch || step.resume > 0,
          preview: step.preview,
          ...(step.system !== '' && { system: step.system }),
          ...(step.resume > 0 && {
            limits: { window: { max: { messages: 1_000 }, keep: { messages: step.resume } } },
          }),
        })
      case 'compact':
        return session.compaction.run()
      case 'undo':
        return undo(session)
      case 'start':
        return startSession(session, {
          ...(step.own && { sessions: 'own' }),
          ...(step.asks && { query: step.secret ? this.#secret : 'seats in trains' }),
        })
      case 'history':
        return session.history()
      case 'recall':
        return session.recall.find(step.secret ? this.#secret : 'seats in trains')
      case 'checkpoint':
        return session.checkpoint.set({ step: step.value })
      case 'keepNone':
        return session.checkpoint.delete()
      case 'clear':
        return clearLog(session)
      case 'profile':
        return this.#tab
          .user(ADA)
          .profile.set(
            nameOf('profile', step.value),
            `Speak in way ${step.value} of ${this.#word(step.secret)}. ${'It rains in Turin. '.repeat(step.filler)}`,
          )
      case 'skill':
        return this.#tab.user(ADA).skills.set({
          name: nameOf('skill', step.value),
          description: `Skill ${step.value} of ${this.#word(step.secret)}. ${'For trips. '.repeat(step.filler)}`,
          text: `Do ${step.value} with ${this.#word(step.secret)}.`,
        })
      case 'remove':
        return this.#remove(step)
      case 'title':
        return titleSession(this.#tab, ADA, 'trip', `Title ${step.value}`)
      case 'tick':
        this.#now += (step.value * DAY) / 3
        return undefined
      case 'rewind': {
        const shown = (await session.history({ messages: 30 })).filter(({ role }) => role !== 'tool')
        const at = shown[step.at % Math.max(1, shown.length)]
        return at && rewind(session, at.id)
      }
      case 'promote': {
        const facts = await session.facts.list()
        const fact = facts[step.at % Math.max(1, facts.length)]
        return fact && session.facts.promote(fact.id, { pinned: step.at % 2 === 0 })
      }
      case 'forget':
        return this.#forget(step, session)
      case 'together':
        return Promise.all([
          this.#try(() => this.#session(step.in, 0).context({ onPending: 'abandon' })),
          this.#try(() => this.#session(step.in, 1).append({ role: 'user', content: this.#line(false) })),
          this.#try(() => this.#forget({ of: 'message', at: 0 }, this.#session(step.in, 1))),
        ])
      case 'crash':
        this.#left = step.in
        return undefined
      case 'sync':
        await this.#devices?.sync(step.device)
        return undefined
      case 'move':
        this.move(this.#device === 0 ? 1 : 0)
        return undefined
      case 'export':
        return this.#export()
      case 'import': {
        const lines = this.#exported?.at(-1)
        return lines && importInto(this.#tab, { userId: 'bob' }, lines)
      }
      case 'reopen':
        return this.#open()
      case 'work':
        return runDueWork(this.#tab)
      case 'delete': {
        // What it shared stays, and goes with nothing of it any more.
        const shared = await this.#tab.user(ADA).facts.list({ all: true })
        for (const { id, sources } of shared)
          if (sources.some((source) => this.#said?.has(source.replace('fact/', '')))) this.#said?.add(id)
        return deleteSession(this.#tab, ADA, 'home')
      }
    }
  }

  async #forget(
    { of, at }: { readonly of: string; readonly at: number },
    session: FullSession,
  ): Promise<unknown> {
    const pick = (ids: readonly { readonly id: string }[]): string | undefined =>
      ids[at % Math.max(1, ids.length)]?.id
    if (of === 'fact') {
      const id = pick(await session.facts.list({ all: true }))
      return id === undefined ? id : forget(session, id, { kind: 'fact' })
    }
    const kinds = of === 'summary' ? (['summary'] as const) : (['message'] as const)
    const { rows } = await this.#inner
      .open({ ...ADA, sessionId: session.sessionId })
      .entries({ first: 64, kinds })
    const id = pick(rows.filter(({ body }) => body !== null))
    return id === undefined ? id : forget(session, id)
  }

  #remove({ of, value }: Removed): Promise<void> {
    const { profile, skills } = this.#tab.user(ADA)
    return (of === 'profile' ? profile : skills).delete(nameOf(of, value))
  }

  async #export(): Promise<readonly string[]> {
    const lines: string[] = []
    for await (const line of exportFrom(this.#tab, ADA)) lines.push(line)
    this.#exported?.push(lines)
    return lines
  }

  #word(secret: boolean): string {
    return secret ? this.#secret : 'something'
  }

  #line(secret: boolean): string {
    return lineOf(++this.#words, this.#word(secret))
  }
}

type Removed = Pick<Extract<Step, { readonly does: 'remove' }>, 'of' | 'value'>

function nameOf(of: Removed['of'], value: number): string {
  return of === 'profile' ? (DOCUMENTS[value] ?? '') : `skill-${value}`
}

/** Words of what it is to sum up, as a model would give them. */
async function* summaryOf({ context }: ModelRequest): AsyncGenerator<ModelEvent> {
  const lines = JSON.stringify(context.blocks).match(/Line \d+ of [^.]*\./g) ?? []
  const content = `They said: ${lines.slice(-3).join(' ')} And more of that.`
  yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
}

/** A row with its fields by name: a row that is cached has them in another order. */
function inOrder(row: object): object {
  return Object.fromEntries(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
}

async function rowsOf(scope: ScopeStore): Promise<readonly (readonly [what: string, value: unknown])[]> {
  const log: unknown[] = []
  for (let seq = 0, more = true; more; ) {
    const page = await scope.changesSince(seq)
    log.push(...page.rows.map(inOrder))
    more = page.more
    seq = page.rows.at(-1)?.seq ?? seq
  }
  const registers: unknown[] = []
  for (let after: string | undefined; ; ) {
    const page = await scope.registers('', after)
    registers.push(...page.map(inOrder))
    after = page.at(-1)?.key
    if (after === undefined) break
  }
  const derived: unknown[] = []
  for (let after: string | undefined; ; ) {
    const page = await scope.derived('', after)
    derived.push(...page.map(({ key, bytes }) => ({ key, bytes: String.fromCharCode(...bytes) })))
    after = page.at(-1)?.key
    if (after === undefined) break
  }
  // In how many pages a replica is told of others' writes is a matter of time.
  const { marks, rebased: _, ...head } = await scope.head()
  return [
    ['log', log],
    ['registers', registers],
    ['derived', derived],
    ['head', { ...head, marks: [...marks.values()] }],
    ['outbox', ((await scope.outbox?.(0)) ?? []).map(withoutPlaces)],
  ]
}

/** How far a home knows its replicas to be is a matter of time. */
function withoutPlaces<Row extends { readonly value: string }>(row: Row): Row {
  const { replicas, ...state } = JSON.parse(row.value) as { readonly replicas?: readonly { name: string }[] }
  if (!replicas) return row
  return { ...row, value: JSON.stringify({ ...state, replicas: replicas.map(({ name }) => name) }) }
}

/** Plays a history, forgets the secret, and plays on. @returns what was seen from then on */
export async function playedForgetting(history: History, world: World): Promise<readonly Seen[]> {
  for (const step of history.before) await world.play(step)
  const seen = [...(await world.purge())]
  seen.push(...(await world.stored()))
  for (const step of history.after) seen.push(await world.play(step))
  seen.push(...(await world.end()), ...(await world.stored()))
  return seen
}

/**
 * Plays a history on two devices. The second one forgets the secret while the first one is still to
 * tell what it made of it, and then what that said itself.
 */
export async function playedOnDevices(history: History, world: World): Promise<readonly Seen[]> {
  for (const step of history.before) await world.play(step)
  world.move(1)
  await world.play({ does: 'sync', device: 1 })
  const seen = [...(await world.purge())]
  for (let again = 0; again < 2; again++) {
    await world.meet()
    seen.push(...(await world.purge()))
  }
  await world.meet()
  seen.push(...(await world.stored()))
  for (const step of history.after) seen.push(await world.play(step))
  await world.meet()
  for (const device of [0, 1] as const) {
    world.move(device)
    seen.push(...(await world.end()))
    await world.meet()
  }
  seen.push(...(await world.stored()))
  return seen
}

/**
 * Plays a history in which tools and the web say the secret in one session, and nobody else does.
 *
 * @returns what must not depend on it: system texts there, and all of the other session and of the
 * user
 */
export async function playedUntrusted(history: History, world: World): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  for (const step of [...history.before, ...history.after]) {
    const isHome = 'in' in step && step.in === 'home'
    const does = 'secret' in step ? { ...step, secret: step.does === 'tool' && !isHome } : step
    const one = await world.play(does)
    if (does.does === 'context' && !isHome) seen.push({ what: 'system', value: systemIn(one.value) })
    else if (isHome || OF_USER.includes(does.does)) seen.push(one)
  }
  seen.push(...(await world.end(['home'])))
  seen.push(...(await world.stored()).filter(({ what }) => !what.endsWith(' of trip')))
  return seen
}

/** Plays a history while another tenant's user of the same name says the secret. */
export async function playedBeside(history: History, world: World): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  for (const step of [...history.before, ...history.after]) {
    await world.sayBeside()
    seen.push(await world.play('secret' in step ? { ...step, secret: false } : step))
  }
  seen.push(...(await world.end()), ...(await world.stored()))
  return seen
}

const OF_USER = ['profile', 'skill', 'remove', 'title', 'tick']

function systemIn(value: unknown): unknown {
  const { ok } = value as { readonly ok?: Context }
  return ok && [ok.blocks.filter(({ section }) => section === 'system'), ok.tools]
}
