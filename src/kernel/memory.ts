import type { Counter } from '../ports/counter.ts'
import type { Host } from '../ports/host.ts'
import type { Json } from '../ports/message.ts'
import type { Scope } from '../ports/op.ts'
import type { Store } from '../ports/store.ts'
import { type Feature, KERNEL, type KernelMemory, type KernelUser, type OnCut, providedIn } from './feature.ts'
import { createPolicy, type PolicyOptions } from './policy.ts'
import { openSession } from './session.ts'
import { checkId, checkOptions, checkText, invalid } from './text/json.ts'
import type { Memory, SessionOptions, UserScope } from '../ports/memory.ts'

/** The session of a scope that names none. */
const DEFAULT_SESSION = 'default'
const OPTIONS = ['store', 'system', 'budget', 'window', 'toolOutput', 'counter', 'host', 'use', 'onCut', 'development']
/** What a session has without any feature. */
const RESERVED = ['sessionId', 'append', 'commit', 'context', 'history', 'subscribe', 'getSnapshot', 'close']

export interface KernelOptions extends PolicyOptions {
  /** Where everything is kept, for example `mapStore()`. */
  readonly store: Store
  /** Instructions; the first thing in every context. A change starts an epoch. Default: none. */
  readonly system?: string
  /** What composes the memory: `[facts(), compaction({ model })]`. Their order means nothing. Default: nothing. */
  readonly use?: readonly Feature[]
  /** Told what leaves the window at each epoch change, for compaction of one's own. Default: nobody is. */
  readonly onCut?: OnCut
  /**
   * Checks laws 1, 2, 4 and 5 on every context, for development and tests: `context()` rejects with `ERR_LAW_BROKEN` where one is
   * broken. Costs a pass over the blocks. Default `false`.
   */
  readonly development?: boolean
  readonly counter: Counter
  readonly host: Host
}

/** The memory over injected storage, counter, clock and ids. @throws ERR_INVALID_ARGUMENT */
export function createKernel<F extends object>(options: KernelOptions): Memory<F> {
  checkOptions('createMemory', 'options', options, OPTIONS)
  const { store, system = '', counter, host, onCut, development = false, use = [], ...limits } = options
  if (typeof store?.open !== 'function') throw invalid('createMemory', 'store', 'must be a store, for example mapStore()')
  checkText('createMemory', 'system', system)
  if (onCut !== undefined && typeof onCut !== 'function')
    throw invalid('createMemory', 'onCut', 'must be a function')
  const features = checkUse(use)
  const lanes = (cap: number): { readonly [feature: string]: Json } =>
    Object.fromEntries(
      features.flatMap((feature) => {
        const lane = feature.lane?.({ cap })
        return lane === undefined ? [] : [[feature.name, lane]]
      }),
    )
  const policy = createPolicy(limits, counter, lanes)
  const shared = new Map<string, unknown>()
  const userOf = (scope: Scope): KernelUser => ({
    scope,
    memory: kernel,
    store: store.open(scope),
    session: (sessionId) => store.open({ ...scope, sessionId }),
  })
  const kernel: KernelMemory & { parts: KernelMemory['parts'] } = {
    host,
    store,
    policy,
    use: features,
    parts: [],
    user: userOf,
    shared: <Value>(key: string, make: () => Value): Value => {
      if (!shared.has(key)) shared.set(key, make())
      return shared.get(key) as Value
    },
    all: (slot) => providedIn(features.flatMap(({ provides = [] }) => provides), slot),
  }
  kernel.parts = features.flatMap((feature) => feature.memory?.(kernel) ?? [])
  return {
    [KERNEL]: kernel,
    session: (given: Scope, { project, ...unknown }: SessionOptions = {}) => {
      checkOptions('session', 'options', unknown, ['project'])
      const { sessionId = DEFAULT_SESSION, ...scope } = checkScope('session', given)
      return openSession({
        memory: kernel,
        user: userOf(scope),
        scope: { ...scope, sessionId },
        project: project === undefined ? undefined : checkId('session', 'project', project),
        store: store.open({ ...scope, sessionId }),
        system,
        onCut,
        development,
        limited: (other) => createPolicy({ ...limits, ...other }, counter, lanes, 'context'),
      })
    },
    user: (given: UserScope) => {
      const user = userOf(checkUser('user', given))
      return Object.fromEntries(
        features.flatMap((feature) => (feature.user ? [[feature.name, feature.user(user)]] : [])),
      )
    },
  } as unknown as Memory<F>
}

/** Features in the order of their names, in which they act. @throws ERR_INVALID_ARGUMENT */
function checkUse(use: readonly Feature[]): readonly Feature[] {
  if (!Array.isArray(use)) throw invalid('createMemory', 'use', 'must be a list of features')
  const names = new Set<string>()
  for (const feature of use as readonly Feature[]) {
    if (typeof feature?.name !== 'string') throw invalid('createMemory', 'use', 'must be a list of features')
    const { name } = feature
    if (RESERVED.includes(name)) throw invalid('createMemory', 'use', `has a feature that cannot be named ${name}`)
    if (names.has(name)) throw invalid('createMemory', 'use', `has ${name}() twice`)
    names.add(name)
  }
  for (const { name, needs = [] } of use as readonly Feature[])
    for (const other of needs)
      if (!names.has(other)) throw invalid('createMemory', 'use', `has ${name}(), which needs ${other}() in use`)
  return [...use].sort((one: Feature, other: Feature) => (one.name < other.name ? -1 : 1))
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkUser(operation: string, user: UserScope): Scope {
  const { sessionId: _, ...scope } = checkScope(operation, user)
  return scope
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkScope(operation: string, scope: Scope): Scope {
  checkOptions(operation, 'scope', scope, ['tenant', 'userId', 'sessionId'])
  const { tenant, userId, sessionId } = scope
  return {
    ...(tenant !== undefined && { tenant: checkId(operation, 'tenant', tenant) }),
    userId: checkId(operation, 'userId', userId),
    ...(sessionId !== undefined && { sessionId: checkId(operation, 'sessionId', sessionId) }),
  }
}
