import type { Counter } from '../ports/counter.ts'
import type { Host } from '../ports/host.ts'
import type { Memory, SessionOptions, UserScope } from '../ports/memory.ts'
import type { Scope } from '../ports/op.ts'
import type { Limits } from '../ports/session.ts'
import type { Store } from '../ports/store.ts'
import { checkList } from '../text/check-value.ts'
import { checkShape, optional } from '../text/fields.ts'
import { checkId, checkOptions, invalid } from '../text/json.ts'
import { CONTEXT_OPTIONS } from './context/context-options.ts'
import type { LawCheck } from './context/lane.ts'
import { type Feature, KERNEL, type KernelMemory, type OnCut } from './feature.ts'
import { createPolicy, type Policy, type PolicyOptions } from './policy.ts'
import { openSession, type SessionParts } from './session.ts'
import { providedIn } from './slot.ts'

const OPERATION = 'createMemory'
/** The session of a scope that names none. */
const DEFAULT_SESSION = 'default'
const SCOPE = { tenant: optional(checkId), userId: checkId, sessionId: optional(checkId) }
const PARTS = ['name', 'shape', 'needs', 'lane', 'registers', 'provides', 'memory', 'user', 'open']
/** A word: what a session has under the name, and options of `commit` and `context`. */
const NAME = /^[A-Za-z][\w-]{0,63}$/
/** What a session, options of its calls and their outcomes have without any feature. */
const RESERVED = [
  ...['sessionId', 'append', 'commit', 'context', 'history', 'subscribe', 'getSnapshot', 'close', 'then'],
  ...['messages', 'opId', 'round', 'repeated', 'mismatch'],
  ...CONTEXT_OPTIONS,
]

export interface KernelOptions extends PolicyOptions {
  /** Where everything is kept, for example `mapStore()`. */
  readonly store: Store
  /** Instructions; the first thing in every context. A change starts an epoch. Default: none. */
  readonly system?: string
  /**
   * What composes the memory: `[facts(), compaction({ model })]`. Their order means nothing.
   * Default: nothing.
   */
  readonly use?: readonly Feature[]
  /**
   * Told what leaves the window at each epoch change, for compaction of one's own. Default: nobody
   * is.
   */
  readonly onCut?: OnCut
  /** Checks each context of a lane, for development: `lawChecker`. Default: none does. */
  readonly laws?: () => LawCheck
  readonly counter: Counter
  readonly host: Host
  /** Before a session's first call: finishes what an earlier process left. */
  readonly settle: SessionParts['settle']
}

/**
 * The memory over injected storage, counter, clock and ids. Who takes options of apps has checked
 * them, but for `use` and what makes the policy.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function createKernel<F extends object>(options: KernelOptions): Memory<F> {
  const { store, system = '', counter, host, settle, onCut, laws, use: given = [], ...limits } = options
  const use = checkUse(given)
  const lanes = (cap: number) => {
    // Whatever has a part in a session may show something; so that it is there is a setting too.
    const shown = use.filter(({ open, lane }) => lane ?? open)
    return Object.fromEntries(shown.map(({ name, lane }) => [name, lane ? lane({ cap }) : null]))
  }
  const limited = (other: Limits): Policy => createPolicy({ ...limits, ...other }, counter, lanes, 'context')
  const provided = use.flatMap(({ provides = [] }) => provides)
  const shared = new Map<string, unknown>()
  const memory: KernelMemory & { parts: KernelMemory['parts'] } = {
    host,
    store,
    policy: createPolicy(limits, counter, lanes),
    system,
    use,
    parts: [],
    user: (scope) => ({
      scope,
      memory,
      store: store.open(scope),
      session: (sessionId) => store.open({ ...scope, sessionId }),
    }),
    shared: <Value>(key: string, make: () => Value): Value => {
      if (!shared.has(key)) shared.set(key, make())
      return shared.get(key) as Value
    },
    all: (slot) => providedIn(provided, slot),
  }
  memory.parts = use.flatMap((feature) => feature.memory?.(memory) ?? [])
  const face: Memory & { readonly [KERNEL]: KernelMemory } = {
    [KERNEL]: memory,
    session: (given, options = {}) => {
      const { project } = checkShape<SessionOptions>('session', 'options', options, {
        project: optional(checkId),
      })
      const { sessionId = DEFAULT_SESSION, ...rest } = checkScope('session', given)
      const scope = { ...rest, sessionId }
      const own = { memory, user: memory.user(rest), scope, store: store.open(scope), project }
      return openSession({ ...own, system, settle, onCut, laws, limited })
    },
    user: (given) => {
      const user = memory.user(checkUser('user', given))
      return Object.fromEntries(use.flatMap((one) => (one.user ? [[one.name, one.user(user)]] : [])))
    },
  }
  return face as unknown as Memory<F>
}

/** Features in the order of their names, in which they act. @throws ERR_INVALID_ARGUMENT */
function checkUse(use: readonly Feature[]): readonly Feature[] {
  const refused = (reason: string) => invalid(OPERATION, 'use', reason)
  checkList(OPERATION, 'use', use)
  const names = use.map((feature: Feature | null) => feature?.name)
  for (const [index, name] of names.entries()) {
    const feature = use[index] as Feature
    if (typeof feature === 'function') throw refused(`has ${name}, which is to be called: ${name}()`)
    if (typeof name !== 'string') throw refused('must be a list of features')
    checkOptions(OPERATION, 'use', feature, PARTS)
    if (RESERVED.includes(name) || name in {} || !NAME.test(name))
      throw refused(`has a feature that cannot be named ${name}`)
    if (names.indexOf(name) < index) throw refused(`has ${name}() twice`)
    const missing = feature.needs?.find((other) => !names.includes(other))
    if (missing !== undefined) throw refused(`has ${name}(), which needs ${missing}() in use`)
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
  return checkShape(operation, 'scope', scope, SCOPE, '')
}
