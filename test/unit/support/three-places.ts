import { expect } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import {
  type Context,
  charsPerToken,
  isPlimsollError,
  lintRequest,
  type MessageInput,
  mapStore,
  type Store,
  toAnthropic,
  toOpenAI,
} from '../../../src/index.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { editMessage, rewind } from '../../../src/operations/rewind.ts'
import type { LogRow } from '../../../src/ports/store.ts'
import {
  homeStore,
  httpTransport,
  keepLocal,
  type SyncedStore,
  sync,
  syncServer,
} from '../../../src/sync/index.ts'
import { type FullMemoryOptions, type FullSession, memoryWith } from '../../contract/full-memory.ts'
import { readLog } from '../../contract/samples.ts'
import { content } from './compacting.ts'
import { undoIfAny } from './scene.ts'

/** Two devices, and the edge, which is their home. */
export const PLACES = ['one', 'two', 'edge'] as const
export type Place = (typeof PLACES)[number]

/** What happens at one of the places. Targets are fractions of what shows there. */
export type Happening = { readonly place: Place } & (
  | { readonly type: 'say' | 'answer'; readonly size: number }
  | { readonly type: 'write'; readonly message: MessageInput }
  | { readonly type: 'call'; readonly calls: number }
  /** To the newest call that waits there, of any writer; to none where none does. */
  | { readonly type: 'result'; readonly size: number }
  | { readonly type: 'rewind' | 'edit' | 'forget'; readonly target: number }
  | { readonly type: 'undo' | 'reopen' }
  | { readonly type: 'remember'; readonly size: number }
  | { readonly type: 'supersede' | 'drop'; readonly target: number }
  | { readonly type: 'context'; readonly recall: boolean; readonly preview: boolean }
  /** Sends and fetches all, and is offline again. */
  | { readonly type: 'sync' }
  /** What is written is sent, and what is new fetched, from here on, while others happen. */
  | { readonly type: 'online' }
  | { readonly type: 'offline' }
  /** All places come to the same log, and show the same. */
  | { readonly type: 'meet'; readonly recall: boolean }
)

const SCOPE = { userId: 'ada', sessionId: 'trip' }
const TAIL = 'It is noon.'

/** What of a fact another writer may have done before. */
const REFUSALS = ['ERR_NOT_FOUND', 'ERR_INVALID_ARGUMENT', 'ERR_CONFLICT', 'ERR_DUPLICATE_ID']

export interface PlacesOptions extends Omit<FullMemoryOptions, 'store'> {
  /** Of the two devices. Default: `mapStore()`. */
  readonly stores?: readonly [Store, Store]
  /** Whether the models of all places say the same. Default `true`. */
  readonly alike?: boolean
  /** Bytes that the second device keeps of the session. Default: all. */
  readonly keep?: number
}

/** Memories of one user at three places, over real stores and the real protocol. */
export class Places {
  readonly home: Store = mapStore()
  readonly bases: Readonly<Record<Place, Store>>
  readonly devices: readonly SyncedStore[]
  readonly sessions: Record<Place, FullSession>
  /** Contexts that were built, and how often all places were compared. */
  contexts = 0
  meetings = 0
  /** How often the second device had a part of the log then. */
  parts = 0
  /** Epochs and summaries that all places showed. */
  readonly epochs = new Set<string>()
  readonly summaries = new Set<string>()
  readonly #stores: Readonly<Record<Place, Store>>
  readonly #options: Omit<PlacesOptions, 'stores' | 'alike' | 'keep'>
  readonly #keep: number | undefined
  readonly #newId: Readonly<Record<Place, () => string>>
  readonly #isAlike: boolean
  #now = 20_779.5 * 86_400_000
  #calls = 0
  #words = 0
  #toks = 0

  constructor({ stores = [mapStore(), mapStore()], alike = true, keep, ...options }: PlacesOptions) {
    this.#keep = keep
    this.#options = options
    this.#isAlike = alike
    const answer = syncServer({
      store: this.home,
      authenticate: async () => ({ userId: 'ada' }),
      newTok: () => this.#newTok(),
    })
    const transport = httpTransport({
      url: 'https://home.test',
      token: 'token',
      fetch: (url, init) => answer(new Request(url, init)),
    })
    const [one, two] = stores
    this.bases = { one, two, edge: this.home }
    this.devices = stores.map((store, index) =>
      sync({
        store,
        transport,
        lock: false,
        channel: false,
        delayMs: 0,
        baseMs: 1,
        random: () => 0.5,
        ...(index === 1 && keep !== undefined && { keep: keepLocal({ bytes: keep }) }),
      }),
    )
    for (const device of this.devices) device.pause()
    this.#stores = {
      one: this.devices[0] as SyncedStore,
      two: this.devices[1] as SyncedStore,
      edge: homeStore(this.home, { newTok: () => this.#newTok() }),
    }
    this.#newId = { one: counted('one'), two: counted('two'), edge: counted('edge') }
    this.sessions = { one: this.open('one'), two: this.open('two'), edge: this.open('edge') }
  }

  /** A session with nothing in memory. What is random differs between the places. */
  open(place: Place): FullSession {
    return memoryWith(['profile', 'facts', 'recall', 'compaction'], {
      counter: charsPerToken(4),
      clock: () => this.#now,
      laws: lawChecker,
      recall: {},
      system: 'You are a travel agent.',
      ...this.#options,
      compaction: {
        ahead: false,
        model: content(this.#isAlike ? 'They planned a trip.' : `They planned at ${place}.`),
        ...this.#options.compaction,
      },
      newId: this.#newId[place],
      newSecret: () => SECRETS[place].repeat(32),
      store: this.#stores[place],
    }).session(SCOPE)
  }

  async close(): Promise<void> {
    for (const place of PLACES) await this.sessions[place].close()
    for (const device of this.devices) await device.close()
  }

  async play(happenings: readonly Happening[]): Promise<void> {
    for (const happening of happenings) {
      this.#now += 1_000
      await this.#happen(happening).catch((error: unknown) => {
        // What is at home alone cannot be had offline.
        const isPart = this.#keep !== undefined && happening.place === 'two'
        if (!isPart || !isPlimsollError(error, 'ERR_OFFLINE')) throw error
      })
    }
    await this.meet(false)
    await this.meet(true)
  }

  /** Lets all places come to the same log. */
  async settle(): Promise<void> {
    for (const place of PLACES) await this.sessions[place].compaction.settled()
    // What the second one sends, the first one fetches after it.
    for (const device of [...this.devices, ...this.devices]) {
      device.resume()
      const { state } = await device.settled()
      expect(['current', 'conflict']).toContain(state)
    }
    for (const device of this.devices) device.pause()
  }

  /** All places settle, and show the same to the byte, whatever they hold in memory. */
  async meet(recall: boolean): Promise<void> {
    this.meetings++
    await this.settle()
    const logs = await this.#each((place) => this.#log(place))
    const { seq: first = 1 } = logs[1]?.[0] ?? {}
    if (first > 1) this.parts++
    expectSame(
      logs.map((rows) => rows.filter(({ seq }) => seq >= first)),
      'log',
    )
    // From here on it fetches what is not here.
    if (this.#keep !== undefined) this.devices[1]?.resume()
    // What a preview needs and the log has not is asked of the place's own model.
    const previews = !this.#isAlike
      ? []
      : await this.#each((place) => this.#context(place, { recall, preview: true }))
    expectSame(
      previews.map((context) => context && rendered(context)),
      'preview',
    )
    const writer = PLACES[this.meetings % PLACES.length] as Place
    await this.#context(writer, { recall, preview: false })
    await this.settle()
    if (this.#keep !== undefined) this.devices[1]?.resume()
    const contexts = await this.#each((place) => this.#context(place, { recall, preview: false }))
    expectSame(
      contexts.map((context) => context && { ...context, ...rendered(context) }),
      'context',
    )
    const fresh = await this.#each((place) => {
      const session = this.open(place)
      return this.#context(place, { recall, preview: false }, session).finally(() => session.close())
    })
    expectSame([contexts[0], ...fresh], 'context of a session with nothing in memory')
    const histories = await this.#each((place) => this.sessions[place].history({ messages: 10_000 }))
    expectSame(
      histories.map((messages) => messages.map(({ delivery: _, ...message }) => message)),
      'history',
    )
    expect(histories.flat().filter(({ delivery }) => delivery === 'local')).toEqual([])
    expectSame(await this.#each((place) => this.sessions[place].facts.list()), 'facts')
    const [context] = contexts
    if (!context) return
    this.epochs.add(context.epoch)
    if (context.receipt.summary) this.summaries.add(context.receipt.summary.id)
  }

  async #happen(happening: Happening): Promise<void> {
    const { place } = happening
    const session = this.sessions[place]
    const device = this.devices[PLACES.indexOf(place)]
    switch (happening.type) {
      case 'say':
        await session.append({ role: 'user', content: this.#text(happening.size) })
        return
      case 'answer':
        await session.append({ role: 'assistant', content: this.#text(happening.size) })
        return
      case 'write':
        await session.append(happening.message)
        return
      case 'call':
        await session.append({
          role: 'assistant',
          content: Array.from({ length: happening.calls }, () => ({
            type: 'tool-call' as const,
            id: `call-${++this.#calls}`,
            name: 'find',
            input: { query: this.#text(2) },
          })),
        })
        return
      case 'result': {
        const callId = await waitingCall(session)
        if (callId === undefined) return
        const output = this.#text(happening.size)
        await session.append({ role: 'tool', content: [{ type: 'tool-result', callId, output }] })
        return
      }
      case 'rewind':
      case 'edit':
      case 'forget': {
        const shown = await session.history({ messages: 20 })
        const message = shown[Math.floor(happening.target * shown.length)]
        if (!message) return
        if (happening.type === 'rewind') await rewind(session, message.id)
        else if (happening.type === 'forget') await forget(session, message.id)
        else if (message.role === 'user')
          await editMessage(session, message.id, { role: 'user', content: this.#text(5) })
        return
      }
      case 'undo':
        await undoIfAny(session)
        return
      case 'reopen':
        await session.compaction.settled()
        await session.close()
        this.sessions[place] = this.open(place)
        return
      case 'remember':
        await session.facts.remember({ kind: 'preference', text: this.#text(happening.size) })
        return
      case 'supersede':
      case 'drop': {
        const facts = await session.facts.list()
        const fact = facts[Math.floor(happening.target * facts.length)]
        if (!fact) return
        const done =
          happening.type === 'drop'
            ? forget(session, fact.id, { kind: 'fact' })
            : session.facts.supersede(fact.id, { kind: 'preference', text: this.#text(3) })
        await Promise.resolve(done).catch((error: unknown) => {
          if (!isPlimsollError(error) || !REFUSALS.includes(error.code)) throw error
        })
        return
      }
      case 'context':
        await this.#context(place, happening)
        return
      case 'sync':
        if (!device) return
        device.resume()
        await device.settled()
        device.pause()
        return
      case 'online':
        device?.resume()
        return
      case 'offline':
        device?.pause()
        return
      case 'meet':
        await this.meet(happening.recall)
    }
  }

  /** A context, which holds the laws; nothing, where the least of it is too large. */
  async #context(
    place: Place,
    { recall, preview }: { readonly recall: boolean; readonly preview: boolean },
    session = this.sessions[place],
  ): Promise<Context | undefined> {
    try {
      const context = await session.context({
        onPending: 'abandon',
        preview,
        tail: TAIL,
        ...(recall && { recall: true }),
      })
      const { used, margin, cap } = context.receipt
      expect(used + margin).toBeLessThanOrEqual(cap ?? Infinity)
      expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
      expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
      this.contexts++
      return context
    } catch (error) {
      if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) return undefined
      throw error
    }
  }

  #each<Result>(work: (place: Place) => Promise<Result>): Promise<Result[]> {
    return PLACES.reduce<Promise<Result[]>>(
      async (before, place) => [...(await before), await work(place)],
      Promise.resolve([]),
    )
  }

  /**
   * The log without what differs between a home and its replicas: these may keep fewer hashes of
   * what was handed out.
   */
  async #log(place: Place): Promise<readonly Pick<LogRow, 'seq'>[]> {
    const scope = this.bases[place].open(SCOPE)
    const rows = await readLog(scope)
    await scope.close()
    return rows.map(({ tok: _, derived: __, contexts: ___, ...row }) => row)
  }

  /** A text with a word of its own. */
  #text(size: number): string {
    const word = `w${++this.#words}`
    return `${word} ${'the train to the coast '.repeat(size)}${word}`
  }

  #newTok(): string {
    return `tok${++this.#toks}`
  }
}

const SECRETS: Readonly<Record<Place, string>> = { one: 'a5', two: 'b6', edge: 'c7' }

function counted(place: Place): () => string {
  let ids = 0
  return () => `${place}-${String(++ids).padStart(5, '0')}`
}

/** The newest call without a result among what shows. */
async function waitingCall(session: FullSession): Promise<string | undefined> {
  const shown = await session.history({ messages: 50 })
  const parts = shown.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? part.callId : [])))
  const calls = parts.flatMap((part) => (part.type === 'tool-call' && !answered.has(part.id) ? part.id : []))
  return calls.at(-1)
}

/** What is sent to the providers. */
function rendered(context: Context): { readonly openai: string; readonly anthropic: string } {
  return {
    openai: JSON.stringify(toOpenAI(context)),
    anthropic: JSON.stringify(toAnthropic(context)),
  }
}

function expectSame(all: readonly unknown[], what: string): void {
  for (const other of all.slice(1)) expect(other, what).toEqual(all[0])
}
