import type { Context } from '../ports/context.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { Scope } from '../ports/op.ts'
import type { ContextOptions, Limits, Snapshot } from '../ports/session.ts'
import type { Head } from '../ports/store.ts'
import { checkFunction } from '../text/check-value.ts'
import { checkOptions, invalid } from '../text/json.ts'
import { checkContextOptions } from './context/context-options.ts'
import { Lane, type LaneParts } from './context/lane.ts'
import { Secret } from './context/secret.ts'
import { type CutPart, KERNEL, type KernelSession, type NamedPart, type OnCut } from './feature.ts'
import { addSession } from './log/add-session.ts'
import { messagesOf } from './log/fold.ts'
import { readHistory } from './log/history.ts'
import { type Commit, type Committed, Writer } from './log/writer.ts'
import type { Policy } from './policy.ts'
import { named, providedIn } from './slot.ts'

/** Lanes of other limits that a session keeps in memory. */
const MOST_LANES = 4

/** What a session needs from the memory that it belongs to. */
export interface SessionParts
  extends Pick<KernelSession, 'memory' | 'user' | 'project' | 'store'>,
    Pick<LaneParts, 'system' | 'laws'> {
  readonly scope: Scope & { readonly sessionId: string }
  readonly onCut: OnCut | undefined
  /** Awaited before anything of the session is read; it is tried again where it fails. */
  readonly settle: (session: KernelSession) => Promise<void>
  /** The memory's policy with other limits. @throws ERR_INVALID_ARGUMENT */
  readonly limited: (limits: Limits) => Policy
}

type Options = { readonly [name: string]: unknown }

/** Opens a session; nothing is read. What its features add stands beside what each session has. */
export function openSession(given: SessionParts): SessionBase {
  const { memory, user, scope, store, onCut, limited } = given
  const { policy } = memory
  const { sessionId } = scope
  const secret = new Secret(memory.host)
  const listeners = new Set<() => void>()
  /** Lanes of other limits than the memory's, by their names; the one used last is last. */
  const lanes = new Map<string, Lane>()
  let snapshot: Snapshot = { loaded: false, messages: [], seq: 0 }
  let shown: Partial<Head> = {}
  let queue: Promise<unknown> = Promise.resolve()
  let unwatch: (() => void) | undefined
  let isSettled = false
  const settle = async (): Promise<void> => {
    if (isSettled) return
    await given.settle(kernel)
    isSettled = true
  }

  const kernel: KernelSession & { parts: readonly NamedPart[] } = {
    ...given,
    sessionId,
    secret,
    policy,
    parts: [],
    get lane() {
      return own
    },
    run: (work) => {
      const result = queue.then(() => settle().catch(ignore)).then(work)
      queue = result.catch(ignore)
      return result
    },
    append: async (operation, input, options = {}, beside) => {
      const result = await writer.append(operation, input, options, beside)
      await kernel.tell()
      return result
    },
    register: () => addSession(user.store, memory.host, sessionId, given),
    look: async () => {
      await own.view.refresh()
      see()
    },
    tell: async () => {
      if (listeners.size > 0) await kernel.look().catch(ignore)
    },
    check: (options: ContextOptions & Options) => {
      const takers = shows.filter(({ show }) => show.check)
      checkContextOptions(
        options,
        takers.map(({ name }) => name),
      )
      for (const { name, show } of takers)
        if (options[name] !== undefined) show.check?.('context', options[name])
      kernel.laneOf(options.limits)
    },
    laneOf: (limits) => {
      if (limits === undefined) return own
      checkOptions('context', 'limits', limits, ['window', 'toolOutput'])
      const policy = limited(limits)
      if (policy.lane === own.policy.lane) return own
      const lane = lanes.get(policy.lane) ?? laneBy(policy)
      lanes.delete(policy.lane)
      lanes.set(policy.lane, lane)
      const [oldest = ''] = lanes.keys()
      if (lanes.size > MOST_LANES) lanes.delete(oldest)
      return lane
    },
    lanes: () => [own, ...lanes.values()],
    all: (slot) => {
      const provided = named(kernel.parts, 'provides').flatMap(({ provides }) => provides)
      return [...providedIn(provided, slot), ...memory.all(slot)]
    },
    one: (slot) => kernel.all(slot)[0],
  }
  kernel.parts = memory.use.flatMap((feature) => {
    const part = feature.open?.(kernel)
    return part ? [{ name: feature.name, part }] : []
  })
  const { parts } = kernel
  const shows = named(parts, 'show')
  const covers = named(parts, 'cover')
  if (covers.length > 1) {
    const names = covers.map(({ name }) => `${name}()`).join(' and ')
    throw invalid('session', 'use', `has ${names}: only one of them can stand for messages`)
  }
  const laneBy = (policy: Policy): Lane => {
    const own: CutPart[] = onCut ? [{ name: 'onCut', after: onCut }] : []
    const cuts = [...named(parts, 'cut').map(({ cut }) => cut), ...own]
    const { register } = kernel
    const cover = covers[0]?.cover
    return new Lane({ ...given, secret, user: user.store, register, policy, shows, cuts, cover })
  }
  const own = laneBy(policy)
  const writer = new Writer(kernel)

  /** Takes over what the view holds. */
  const see = (): void => {
    const { head, conversation } = own.view
    writer.see()
    const { seq, rebased, confirmed } = head
    const isSame = seq === shown.seq && rebased === shown.rebased && confirmed === shown.confirmed
    if (listeners.size === 0 || isSame) return
    shown = head
    snapshot = { loaded: true, messages: messagesOf(conversation.units, confirmed), seq }
    // An observer stops nothing: what it watches has happened.
    for (const listener of [...listeners])
      try {
        listener()
      } catch {}
  }
  const commit = async (input: Commit, options: Options): Promise<Committed> => {
    const result = await writer.commit(input, options)
    await kernel.tell()
    return result
  }
  const context = async (options: ContextOptions & Options): Promise<Context> => {
    kernel.check(options)
    const lane = kernel.laneOf(options.limits)
    const { context, handedOut } = await lane.context(options)
    if (lane === own) see()
    if (!options.preview) for (const one of handedOut) writer.note(one)
    return context
  }
  const end = (): void => {
    unwatch?.()
    unwatch = undefined
  }
  const session: SessionBase & { readonly [KERNEL]: KernelSession } = {
    [KERNEL]: kernel,
    sessionId,
    append: (input, options) => kernel.run(() => kernel.append('append', input, options)),
    commit: (input, options = {}) => kernel.run(() => commit(input, options)),
    context: (options = {}) => kernel.run(() => context(options as Options)),
    history: (options = {}) => kernel.run(() => readHistory(store, options)),
    subscribe: (listener) => {
      checkFunction('subscribe', 'listener', listener)
      listeners.add(listener)
      const look = (): void => void kernel.run(kernel.look).catch(ignore)
      unwatch ??= store.watch?.(look) ?? ignore
      // Nobody looked while nobody listened.
      if (listeners.size === 1) look()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
    getSnapshot: () => snapshot,
    close: async () => {
      await kernel.run(async () => {})
      end()
      listeners.clear()
      await store.close()
    },
  }
  return Object.assign(session, ...named(parts, 'api').map(({ name, api }) => ({ [name]: api })))
}

function ignore(): void {}
