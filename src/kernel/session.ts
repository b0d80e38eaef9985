import type { Context } from '../ports/context.ts'
import type { Message, MessageInput } from '../ports/message.ts'
import type { Scope } from '../ports/op.ts'
import type {
  AppendOptions,
  AppendResult,
  ContextOptions,
  HistoryOptions,
  Limits,
  Snapshot,
} from '../ports/session.ts'
import type { ScopeStore } from '../ports/store.ts'
import { checkContextOptions } from './context/context-options.ts'
import { Lane } from './context/lane.ts'
import {
  type CutPart,
  KERNEL,
  type KernelMemory,
  type KernelSession,
  type KernelUser,
  type OnCut,
  providedIn,
  type SessionPart,
  type Slot,
} from './feature.ts'
import { messagesOf } from './log/fold.ts'
import { readHistory } from './log/history.ts'
import { addSession } from './log/session-list.ts'
import { hidingFor } from './log/rewinds.ts'
import { type Commit, type Committed, Writer } from './log/writer.ts'
import type { Policy } from './policy.ts'
import { checkOptions, invalid } from './text/json.ts'
import type { Session, SessionBase } from '../ports/memory.ts'

/** Lanes of other limits that a session keeps in memory. */
const MOST_LANES = 4

/** What a session needs from the memory that it belongs to. */
export interface SessionParts {
  readonly memory: KernelMemory
  readonly user: KernelUser
  readonly scope: Scope
  readonly sessionId: string
  readonly project: string | undefined
  readonly store: ScopeStore
  readonly system: string
  readonly onCut: OnCut | undefined
  readonly development: boolean
  /** The memory's policy with other limits. @throws ERR_INVALID_ARGUMENT */
  readonly limited: (limits: Limits) => Policy
}

type Options = { readonly [name: string]: unknown }

interface NamedPart {
  readonly name: string
  readonly part: SessionPart
}

/** What a session is made of: its queue, its features, its lanes. What is public of it is in {@link SessionFace}. */
class SessionKernel implements KernelSession {
  readonly sessionId: string
  readonly scope: Scope
  readonly project: string | undefined
  readonly store: ScopeStore
  readonly user: KernelUser
  readonly memory: KernelMemory
  readonly policy: Policy
  readonly lane: Lane
  readonly parts: readonly NamedPart[]
  readonly listeners = new Set<() => void>()
  snapshot: Snapshot = { loaded: false, messages: [], seq: 0 }
  readonly #given: SessionParts
  readonly #writer: Writer
  /** Lanes of other limits than the memory's, by their names; the one used last is last. */
  readonly #lanes = new Map<string, Lane>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(given: SessionParts) {
    this.#given = given
    this.memory = given.memory
    this.user = given.user
    this.scope = given.scope
    this.sessionId = given.sessionId
    this.project = given.project
    this.store = given.store
    this.policy = given.memory.policy
    this.parts = this.memory.use.flatMap((feature) => {
      const part = feature.open?.(this)
      return part ? [{ name: feature.name, part }] : []
    })
    this.lane = this.#laneWith(this.policy)
    this.#writer = new Writer({
      store: this.store,
      policy: this.policy,
      host: this.memory.host,
      view: this.lane.view,
      writes: this.parts.flatMap(({ name, part: { write } }) => (write ? [{ name, write }] : [])),
      use: this.memory.use,
      register: () => this.register(),
    })
  }

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(ignore)
    return result
  }

  async append(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    options: AppendOptions = {},
  ): Promise<AppendResult> {
    const { replaces } = options
    if (replaces !== undefined && [input].flat()[0]?.role !== 'user')
      throw invalid(operation, 'replaces', 'is for what begins with a message of the user')
    const result = await this.#writer.append(operation, input, options, async (opId) =>
      replaces === undefined ? [] : hidingFor(this, operation, opId, replaces),
    )
    await this.tell()
    return result
  }

  async commit(input: Commit, options: Options): Promise<Committed> {
    const result = await this.#writer.commit(input, options)
    await this.tell()
    return result
  }

  async context(options: ContextOptions & Options): Promise<Context> {
    this.check(options)
    const lane = this.laneOf(options.limits)
    const { context } = await lane.context(options)
    if (lane === this.lane) this.#see()
    return context
  }

  register(): Promise<void> {
    return addSession(this.user.store, this.memory.host, this.sessionId)
  }

  async look(): Promise<void> {
    await this.lane.view.refresh()
    this.#see()
  }

  async tell(): Promise<void> {
    if (this.listeners.size > 0) await this.look().catch(ignore)
  }

  check(options: ContextOptions): void {
    const shows = this.parts.flatMap(({ name, part: { show } }) => (show?.check ? [{ name, show }] : []))
    checkContextOptions(
      options,
      shows.map(({ name }) => name),
    )
    for (const { name, show } of shows) {
      const given = (options as { readonly [feature: string]: unknown })[name]
      if (given !== undefined) show.check?.('context', given)
    }
    this.laneOf(options.limits)
  }

  laneOf(limits: Limits | undefined): Lane {
    if (limits === undefined) return this.lane
    checkOptions('context', 'limits', limits, ['window', 'toolOutput'])
    const policy = this.#given.limited(limits)
    if (policy.lane === this.policy.lane) return this.lane
    const lane = this.#lanes.get(policy.lane) ?? this.#laneWith(policy)
    this.#lanes.delete(policy.lane)
    this.#lanes.set(policy.lane, lane)
    const [oldest = policy.lane] = this.#lanes.keys()
    if (this.#lanes.size > MOST_LANES) this.#lanes.delete(oldest)
    return lane
  }

  lanes(): readonly Lane[] {
    return [this.lane, ...this.#lanes.values()]
  }

  all<Value>(slot: Slot<Value>): readonly Value[] {
    const own = this.parts.flatMap(({ part: { provides = [] } }) => provides)
    return [...providedIn(own, slot), ...this.memory.all(slot)]
  }

  one<Value>(slot: Slot<Value>): Value | undefined {
    return this.all(slot)[0]
  }

  #laneWith(policy: Policy): Lane {
    const { system, onCut, development } = this.#given
    const cuts: CutPart[] = this.parts.flatMap(({ part }) => part.cut ?? [])
    if (onCut) cuts.push({ name: 'onCut', after: onCut })
    const [covering] = this.parts.flatMap(({ part: { cover } }) => cover ?? [])
    return new Lane({
      store: this.store,
      scope: this.scope,
      policy,
      system,
      user: this.user.store,
      shows: this.parts.flatMap(({ name, part: { show } }) => (show ? [{ name, show }] : [])),
      cuts,
      cover: covering,
      development,
    })
  }

  /** Takes over what the view holds. */
  #see(): void {
    const { view } = this.lane
    this.#writer.see()
    if (this.snapshot.loaded && view.head.seq === this.snapshot.seq) return
    if (this.listeners.size === 0) return
    this.snapshot = { loaded: true, messages: messagesOf(view.conversation.units), seq: view.head.seq }
    // An observer stops nothing: what it watches has happened.
    for (const listener of [...this.listeners])
      try {
        listener()
      } catch {}
  }
}

/** What is public of a session, without what its features add. */
class SessionFace implements SessionBase {
  readonly #kernel: SessionKernel
  #unwatch: (() => void) | undefined

  constructor(kernel: SessionKernel) {
    this.#kernel = kernel
    for (const { name, part } of kernel.parts)
      if (part.api) Object.defineProperty(this, name, { value: part.api, enumerable: true })
  }

  get [KERNEL](): KernelSession {
    return this.#kernel
  }

  get sessionId(): string {
    return this.#kernel.sessionId
  }

  append(input: MessageInput | readonly MessageInput[], options?: AppendOptions): Promise<AppendResult> {
    return this.#kernel.run(() => this.#kernel.append('append', input, options))
  }

  commit(input: Commit, options: Options = {}): Promise<Committed> {
    return this.#kernel.run(() => this.#kernel.commit(input, options))
  }

  context(options: ContextOptions & Options = {}): Promise<Context> {
    return this.#kernel.run(() => this.#kernel.context(options))
  }

  history(options: HistoryOptions = {}): Promise<readonly Message[]> {
    return this.#kernel.run(() => readHistory(this.#kernel.store, options))
  }

  subscribe(listener: () => void): () => void {
    const { listeners, store } = this.#kernel
    listeners.add(listener)
    const look = (): void => void this.#kernel.run(() => this.#kernel.look()).catch(ignore)
    this.#unwatch ??= store.watch?.(look) ?? ignore
    // Nobody looked while nobody listened.
    if (listeners.size === 1) look()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#end()
    }
  }

  getSnapshot(): Snapshot {
    return this.#kernel.snapshot
  }

  async close(): Promise<void> {
    await this.#kernel.run(async () => {})
    this.#end()
    this.#kernel.listeners.clear()
    await this.#kernel.store.close()
  }

  #end(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }
}

/** Opens a session; nothing is read. */
export function openSession<F extends object>(given: SessionParts): Session<F> {
  return new SessionFace(new SessionKernel(given)) as unknown as Session<F>
}

function ignore(): void {}
