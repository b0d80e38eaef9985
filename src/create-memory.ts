import type { Compose, Fault, Flat } from './compose.ts'
import { defaultCounter } from './counters/default.ts'
import { settleOwed } from './forgetting/owed.ts'
import type { Feature } from './kernel/feature.ts'
import { createKernel, type KernelOptions } from './kernel/memory.ts'
import { webHost } from './platform/web.ts'
import type { Counter } from './ports/counter.ts'
import type { Memory } from './ports/memory.ts'
import { checkFunction, checkMethod } from './text/check-value.ts'
import { type Check, checkShape, type Fields, optional } from './text/fields.ts'
import { checkText } from './text/json.ts'

/** What makes the policy and what is in use is checked where it is used. */
const given: Check = (_operation, _argument, value) => value
const run = optional(checkFunction)
const OPTIONS: Fields = {
  store: (...given) => checkMethod(...given, 'open', 'must be a store, for example mapStore()'),
  budget: given,
  system: optional(checkText),
  window: given,
  toolOutput: given,
  counter: optional((...given) => checkMethod(...given, 'count')),
  use: given,
  onCut: run,
  laws: run,
  clock: run,
  newId: run,
  newSecret: run,
}

export interface MemoryOptions extends Omit<KernelOptions, 'counter' | 'host' | 'settle' | 'use'> {
  /**
   * Counts tokens. Default `defaultCounter`, an estimate: the budget then holds back a margin of 12
   * %.
   */
  readonly counter?: Counter
  /** Unix milliseconds, for display only. Default `Date.now`. */
  readonly clock?: () => number
  /** Fresh ids. Default UUIDv7. */
  readonly newId?: () => string
  /**
   * What hashes of a session are keyed by: 64 hexadecimal digits that nobody can guess. For tests
   * whose runs are to be equal. Default: 256 random bits.
   */
  readonly newSecret?: () => string
}

/**
 * Options of `createMemory` with what is in use. What cannot be in use together is a compile error
 * that says why.
 */
export type CreateMemoryOptions<Use extends readonly Feature[] = readonly []> = MemoryOptions & {
  /**
   * What composes the memory, for example `[...standard(), recall()]`. Their order means nothing.
   * Default: nothing.
   */
  readonly use?: Use & ([Fault<Use>] extends [never] ? unknown : Fault<Use>)
}

/**
 * Creates a memory: log, window, epochs and receipts, and whatever is in `use`.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 * @example
 * ```ts
 * import { createMemory, facts, mapStore } from 'plimsoll'
 *
 * const memory = createMemory({ store: mapStore(), system: 'You are a travel agent.', budget: 16_000, use: [facts()] })
 * const session = memory.session({ userId: 'ada', sessionId: 'trip' })
 * await session.append({ role: 'user', content: 'Book the 9:40 to Turin.' })
 * await session.facts.remember({ kind: 'preference', text: 'window seat' })
 * const context = await session.context()
 * ```
 */
export function createMemory<const Use extends readonly Feature[] = readonly []>(
  options: CreateMemoryOptions<Use>,
): Memory<Flat<Compose<Use>>> {
  const {
    counter = defaultCounter,
    clock = webHost.now,
    newId = webHost.newId,
    newSecret = webHost.newSecret,
    ...rest
  } = checkShape<MemoryOptions & KernelOptions>('createMemory', 'options', options, OPTIONS)
  const host = { ...webHost, now: clock, newId, newSecret }
  return createKernel({ ...rest, counter, host, settle: settleOwed })
}
