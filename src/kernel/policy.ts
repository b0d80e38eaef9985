import type { Budget } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { Json } from '../ports/message.ts'
import type { Limits, WindowBand, WindowLimits, WindowOptions } from '../ports/session.ts'
import { hashJson } from './text/hash.ts'
import { checkCount, checkId, checkOptions, invalid } from './text/json.ts'

/** Version of the rules that turn entries into blocks. A change starts a new lane, so old epochs stay as they were. */
export const RENDER_VERSION = 1
/** Held back when the counter is an estimate. */
const ESTIMATE_MARGIN = 0.12
/** An output may at first fill the cap divided by this, so that a step of many parallel calls still fits. */
const FIRST_OUTPUTS = 16
const OLD_OUTPUT = 800
const LIMITS = ['rounds', 'messages', 'tokens'] as const

export interface PolicyOptions extends Limits {
  readonly budget: number | Budget
}

/** The settings of a lane, complete and in tokens of `counter`. */
export interface Policy {
  readonly lane: string
  readonly counter: Counter
  readonly cap: number
  readonly reserved: number
  readonly margin: number
  readonly first: number
  readonly old: number
  /** The newest so many tokens stay as they are at an epoch change. */
  readonly protect: number
  readonly max: WindowLimits
  readonly keep: WindowLimits
  /** Whether the window was given as one size: then `max` and `keep` are that size. */
  readonly sliding?: true
}

/**
 * Completes and checks an app's options.
 *
 * @param lanes what features add to the lane, by their names, for the cap
 * @throws ERR_INVALID_ARGUMENT
 */
export function createPolicy(
  { budget: given, window, toolOutput = {} }: PolicyOptions,
  counter: Counter,
  lanes: (cap: number) => { readonly [feature: string]: Json },
  operation = 'createMemory',
): Policy {
  const budget: Budget = typeof given === 'number' ? { contextWindow: given, maxOutputTokens: 0 } : given
  checkOptions(operation, 'budget', budget, ['contextWindow', 'maxOutputTokens', 'margin'])
  checkOptions(operation, 'toolOutput', toolOutput, ['first', 'old'])
  const contextWindow = checkCount(operation, 'budget.contextWindow', budget.contextWindow, 1)
  const maxOutputTokens = checkCount(operation, 'budget.maxOutputTokens', budget.maxOutputTokens, 0)
  if (maxOutputTokens >= contextWindow)
    throw invalid(operation, 'budget.maxOutputTokens', 'must be below contextWindow')
  const share = budget.margin ?? (counter.kind === 'estimate' ? ESTIMATE_MARGIN : 0)
  if (!(share >= 0 && share <= 0.5)) throw invalid(operation, 'budget.margin', 'must be between 0 and 0.5')
  const cap = contextWindow - maxOutputTokens
  const first = toolOutput.first ?? Math.floor(cap / FIRST_OUTPUTS)
  const old = toolOutput.old ?? Math.min(OLD_OUTPUT, Math.floor(first / 2))
  const settings = {
    cap,
    reserved: maxOutputTokens,
    margin: Math.ceil(cap * share),
    first: checkCount(operation, 'toolOutput.first', first, 0),
    old: checkCount(operation, 'toolOutput.old', old, 0),
    protect: Math.floor(cap / 4),
    ...limits(operation, window),
  }
  const id = checkId(operation, 'counter.id', counter.id)
  const use = lanes(cap)
  const shown = Object.keys(use).length > 0 && { use }
  const lane = hashJson({ ...settings, ...shown, counter: id, v: RENDER_VERSION })
  return { ...settings, counter, lane: lane.slice(0, 16) }
}

type Sizes = { readonly [unit: string]: number }

function limits(
  operation: string,
  window: WindowOptions = {},
): { readonly max: Sizes; readonly keep: Sizes; readonly sliding?: true } {
  checkOptions(operation, 'window', window, ['max', 'keep', ...LIMITS])
  const sizes = LIMITS.filter((unit) => unit in window)
  if (sizes.length > 0 && Object.keys(window).length > 1)
    throw invalid(operation, 'window', 'must be max and keep, or one of rounds, messages and tokens')
  if (sizes.length > 0) {
    const size = limitsOf(operation, 'window', window as WindowLimits)
    return { max: size, keep: size, sliding: true }
  }
  const { max: upper = {}, keep: lower = {} } = window as WindowBand
  const max = limitsOf(operation, 'window.max', upper)
  const halves = Object.entries(max).map(([unit, size]) => [unit, Math.ceil(size / 2)])
  const keep: Sizes = { ...Object.fromEntries(halves), ...limitsOf(operation, 'window.keep', lower) }
  for (const unit of LIMITS)
    if ((keep[unit] ?? 0) > (max[unit] ?? Infinity))
      throw invalid(operation, `window.keep.${unit}`, `must be at most max.${unit}`)
  return { max, keep }
}

function limitsOf(operation: string, argument: string, limits: WindowLimits): Sizes {
  checkOptions(operation, argument, limits, LIMITS)
  const given = LIMITS.flatMap((unit) => {
    const size = limits[unit]
    return size === undefined ? [] : [[unit, checkCount(operation, `${argument}.${unit}`, size, 1)]]
  })
  return Object.fromEntries(given)
}
