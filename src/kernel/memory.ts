import type { Counter } from '../ports/counter.ts'
import type { Host } from '../ports/host.ts'
import type { Memory, SessionOptions, UserScope } from '../ports/memory.ts'
import type { Json } from '../ports/message.ts'
import type { Scope } from '../ports/op.ts'
import type { Limits } from '../ports/session.ts'
import type { ScopeStore, Store } from '../ports/store.ts'
import type { LawCheck } from './context/lane.ts'
import {
  type Feature,
  KERNEL,
  type KernelMemory,
  type KernelUser,
  type OnCut,
  providedIn,
} from './feature.ts'
import { createPolicy, type Policy, type PolicyOptions } from './policy.ts'
import { openSession } from './session.ts'
import { checkId, checkOptions, checkText, invalid } from './text/json.ts'

const OPERATION = 'createMemory'
/** The session of a scope that names none. */
const DEFAULT_SESSION = 'default'
const PARTS = ['name', 'shape', 'needs', 'lane', 'derive', 'registers', 'provides', 'memory', 'user', 'open']
/** What an app gives, and the kernel takes as it is. */
export const OPTIONS = [
  'store',
  'budget',
  'system',
  'window',
  'toolOutput',
  'counter',
  'use',
  'onCut',
  'laws',
] as const
/** A word: what a session has under the name, and options of `commit` and `context`. */
const NAME = /^[A-Za-z][\w-]{0,63}$/
/** What a session, options of its calls and their outcomes have without any feature. */
const RESERVED = [
  ...['sessionId', 'append', 'commit', 'context', 'history', 'subscribe', 'getSnapshot', 'close', 'then'],
  ...['messages', 'opId', 'round', 'repeated', 'mismatch'],
  ...['tools', 'tail', 'preview', 'onPending', 'limits', 'newEpoch'],
]

export interface KernelOptions extends PolicyOptions {
  /** Where everything is kept, for example `mapStore()`. */
  readonly store: Store
  /** Instructions; the first thing in every context. A change starts an epoch. Default: none. */
  readonly system?: string
  /** What composes the memory: `[facts(), compaction({ model })]`. Their order means nothing. Default: nothing. */
  readonly use?: readonly Feature[]
  /** Told what leaves the window at each epoch change, for compaction of one's own. Default: nobody is. */
  readonly onCut?: OnCut
  /** Checks each context of a lane, for development: `lawChecker`. Default: none does. */
  readonly laws?: () => LawCheck
  readonly counter: Counter
  readonly host: Host
}

/** The memory over injected storage, counter, clock and ids. @throws ERR_INVALID_ARGUMENT */
export function createKernel<F extends object>(options: KernelOptions): Memory<F> {
  checkOptions(OPERATION, 'options', options, [...OPTIONS, 'host'])
  const { store, system = '', counter, host, onCut, laws, use: given = [], ...limits } = options
  if (typeof store?.open !== 'function')
    throw invalid(OPERATION, 'store', 'must be a store, for example mapStore()')
  checkText(OPERATION, 'system', system)
  for (const [name, value] of Object.entries({ onCut, laws }))
    if (value !== undefined && typeof value !== 'function')
      throw invalid(OPERATION, name, 'must be a function')
  const use = checkUse(given)
  const lanes = (cap: number) => {
    // Whatever has a part in a session may show something; so that it is there is a setting too.
    const shown = use.filter(({ open, lane }) => open ?? lane)
    return Object.fromEntries(shown.map(({ name, lane }) => [name, (lane?.({ cap }) ?? null) as Json]))
  }
  const policy = createPolicy(limits, counter, lanes)
  const limited = (other: Limits): Policy => createPolicy({ ...limits, ...other }, counter, lanes, 'context')
  const provided = use.flatMap(({ provides = [] }) => provides)
  const shared = new Map<string, unknown>()
  const user = (scope: Scope): KernelUser => {
    const session = (sessionId: string): ScopeStore => store.open({ ...scope, sessionId })
    return { scope, memory, store: store.open(scope), session }
  }
  const memory: KernelMemory & { parts: KernelMemory['parts'] } = {
    host,
    store,
    policy,
    use,
    parts: [],
    user,
    shared: <Value>(key: string, make: () => Value): Value => {
      if (!shared.has(key)) shared.set(key, make())
      return shared.get(key) as Value
    },
    all: (slot) => providedIn(provided, slot),
  }
  memory.parts = use.flatMap((feature) => feature.memory?.(memory) ?? [])
  const face: Memory & { readonly [KERNEL]: KernelMemory } = {
    [KERNEL]: memory,
    session: (given, options: SessionOptions = {}) => {
      checkOptions('session', 'options', options, ['project'])
      const { project } = options
      if (project !== undefined) checkId('session', 'project', project)
      const { sessionId = DEFAULT_SESSION, ...rest } = checkScope('session', given)
      const scope = { ...rest, sessionId }
      const own = { memory, user: user(rest), scope, store: store.open(scope), project }
      return openSession({ ...own, system, onCut, laws, limited })
    },
    user: (given) => {
      const asked = user(checkUser('user', given))
      return Object.fromEntries(use.flatMap((one) => (one.user ? [[one.name, one.user(asked)]] : [])))
    },
  }
  return face as unknown as Memory<F>
}

/** Features in the order of their names, in which they act. @throws ERR_INVALID_ARGUMENT */
function checkUse(use: readonly Feature[]): readonly Feature[] {
  if (!Array.isArray(use)) throw invalid(OPERATION, 'use', 'must be a list of features')
  for (const feature of use as readonly unknown[]) {
    if (typeof feature === 'function')
      throw invalid(OPERATION, 'use', `has ${feature.name}, which is to be called: ${feature.name}()`)
    if (typeof (feature as Feature | null)?.name !== 'string')
      throw invalid(OPERATION, 'use', 'must be a list of features')
    checkOptions(OPERATION, 'use', feature, PARTS)
  }
  const names = use.map(({ name }) => name)
  for (const [index, { name, needs = [] }] of use.entries()) {
    if (RESERVED.includes(name) || name in {} || !NAME.test(name))
      throw invalid(OPERATION, 'use', `has a feature that cannot be named ${name}`)
    if (names.indexOf(name) < index) throw invalid(OPERATION, 'use', `has ${name}() twice`)
    const missing = needs.find((other: string) => !names.includes(other))
    if (missing !== undefined)
      throw invalid(OPERATION, 'use', `has ${name}(), which needs ${missing}() in use`)
  }
  return [...use].sort((one, other) => (one.name < other.name ? -1 : 1))
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
