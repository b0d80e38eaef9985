import type { Context } from '../ports/context.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { MessageInput } from '../ports/message.ts'
import type { Op, Scope } from '../ports/op.ts'
import type { AppendOptions, AppendResult, ContextOptions, Limits, Snapshot } from '../ports/session.ts'
import type { ScopeStore } from '../ports/store.ts'
import { checkContextOptions } from './context/context-options.ts'
import { Lane, type LaneParts } from './context/lane.ts'
import type { NamedShow } from './context/shows.ts'
import type { CutPart, NamedPart, OnCut, Slot } from './feature.ts'
import { KERNEL, type KernelMemory, type KernelSession, type KernelUser, providedIn } from './feature.ts'
import { messagesOf } from './log/fold.ts'
import { readHistory } from './log/history.ts'
import { addSession } from './log/session-list.ts'
import { type Commit, type Committed, Writer } from './log/writer.ts'
import type { Policy } from './policy.ts'
import { checkOptions, invalid } from './text/json.ts'

/** Lanes of other limits that a session keeps in memory. */
const MOST_LANES = 4

/** What a session needs from the memory that it belongs to. */
export interface SessionParts
  extends Pick<KernelSession, 'memory' | 'user' | 'project' | 'store'>,
    Pick<LaneParts, 'system' | 'laws'> {
  readonly scope: Scope & { readonly sessionId: string }
  readonly onCut: OnCut | undefined
  /** The memory's policy with other limits. @throws ERR_INVALID_ARGUMENT */
  readonly limited: (limits: Limits) => Policy
}

type Options = { readonly [name: string]: unknown }

/** What a session is made of: its queue, its features, its lanes. */
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
    this.sessionId = given.scope.sessionId
    this.project = given.project
    this.store = given.store
    this.policy = given.memory.policy
    this.parts = this.memory.use.flatMap((feature) => {
      const part = feature.open?.(this)
      return part ? [{ name: feature.name, part }] : []
    })
    const covers = this.parts.filter(({ part }) => part.cover).map(({ name }) => `${name}()`)
    if (covers.length > 1)
      throw invalid('session', 'use', `has ${covers.join(' and ')}, of which only one can stand for messages`)
    this.lane = this.#laneWith(this.policy)
    this.#writer = new Writer(this)
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
    beside?: (opId: string) => Promise<readonly Op[]>,
  ): Promise<AppendResult> {
    const result = await this.#writer.append(operation, input, options, beside)
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

  check(options: ContextOptions & Options): void {
    const takers = this.#shows.filter(({ show }) => show.check)
    const names = takers.map(({ name }) => name)
    checkContextOptions(options, names)
    for (const { name, show } of takers)
      if (options[name] !== undefined) show.check?.('context', options[name])
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

  get #shows(): readonly NamedShow[] {
    return this.parts.flatMap(({ name, part: { show } }) => (show ? [{ name, show }] : []))
  }

  #laneWith(policy: Policy): Lane {
    const { store, scope, system, onCut, laws } = this.#given
    const cuts: readonly CutPart[] = this.parts.flatMap(({ part: { cut } }) => cut ?? [])
    return new Lane({
      store,
      scope,
      policy,
      system,
      laws,
      user: this.user.store,
      shows: this.#shows,
      cuts: onCut ? [...cuts, { name: 'onCut', after: onCut }] : cuts,
      cover: this.parts.find(({ part }) => part.cover)?.part.cover,
    })
  }

  /** Takes over what the view holds. */
  #see(): void {
    const { view } = this.lane
    this.#writer.see()
    if (this.listeners.size === 0 || (this.snapshot.loaded && view.head.seq === this.snapshot.seq)) return
    this.snapshot = { loaded: true, messages: messagesOf(view.conversation.units), seq: view.head.seq }
    // An observer stops nothing: what it watches has happened.
    for (const listener of [...this.listeners])
      try {
        listener()
      } catch {}
  }
}

/** Opens a session; nothing is read. What its features add stands beside what each session has. */
export function openSession(given: SessionParts): SessionBase {
  const kernel = new SessionKernel(given)
  const { sessionId, store, listeners, parts } = kernel
  let unwatch: (() => void) | undefined
  const end = (): void => {
    unwatch?.()
    unwatch = undefined
  }
  const session: SessionBase & { readonly [KERNEL]: KernelSession } = {
    [KERNEL]: kernel,
    sessionId,
    append: (input, options) => kernel.run(() => kernel.append('append', input, options)),
    commit: (input, options = {}) => kernel.run(() => kernel.commit(input, options)),
    context: (options = {}) => kernel.run(() => kernel.context(options as Options)),
    history: (options = {}) => kernel.run(() => readHistory(store, options)),
    subscribe: (listener) => {
      listeners.add(listener)
      const look = (): void => void kernel.run(() => kernel.look()).catch(ignore)
      unwatch ??= store.watch?.(look) ?? ignore
      // Nobody looked while nobody listened.
      if (listeners.size === 1) look()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
    getSnapshot: () => kernel.snapshot,
    close: async () => {
      await kernel.run(async () => {})
      end()
      listeners.clear()
      await store.close()
    },
  }
  const apis = parts.flatMap(({ name, part: { api } }) => (api ? [[name, api]] : []))
  return Object.assign(session, Object.fromEntries(apis))
}

function ignore(): void {}
