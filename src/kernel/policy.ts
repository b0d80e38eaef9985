import type { Budget } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { Json } from '../ports/message.ts'
import type { Limits, WindowLimits, WindowOptions } from '../ports/session.ts'
import { hashJson } from './text/hash.ts'
import { checkId, checkOptions, invalid } from './text/json.ts'

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
}

/**
 * Completes and checks an app's options.
 *
 * @param lanes what features add to the lane, by the cap
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
  const contextWindow = tokens(operation, 'budget.contextWindow', budget.contextWindow, 1)
  const maxOutputTokens = tokens(operation, 'budget.maxOutputTokens', budget.maxOutputTokens, 0)
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
    first: tokens(operation, 'toolOutput.first', first, 0),
    old: tokens(operation, 'toolOutput.old', old, 0),
    protect: Math.floor(cap / 4),
    ...limits(operation, window),
  }
  const id = checkId(operation, 'counter.id', counter.id)
  const lane = hashJson({ ...settings, ...lanes(cap), counter: id, v: RENDER_VERSION })
  return { ...settings, counter, lane: lane.slice(0, 16) }
}

function limits(
  operation: string,
  window: WindowOptions = {},
): { readonly max: Record<string, number>; readonly keep: Record<string, number> } {
  checkOptions(operation, 'window', window, ['max', 'keep'])
  const { max = {}, keep = {} } = window
  checkOptions(operation, 'window.max', max, LIMITS)
  checkOptions(operation, 'window.keep', keep, LIMITS)
  const most: Record<string, number> = {}
  const kept: Record<string, number> = {}
  for (const unit of LIMITS) {
    const upper = max[unit]
    if (upper !== undefined) most[unit] = tokens(operation, `window.max.${unit}`, upper, 1)
    const lower = keep[unit] ?? (upper === undefined ? undefined : Math.ceil(upper / 2))
    if (lower === undefined) continue
    kept[unit] = tokens(operation, `window.keep.${unit}`, lower, 1)
    if (upper !== undefined && lower > upper)
      throw invalid(operation, `window.keep.${unit}`, `must be at most max.${unit}`)
  }
  return { max: most, keep: kept }
}

/** A whole number of tokens, or `ERR_INVALID_ARGUMENT`. */
export function tokens(operation: string, argument: string, value: unknown, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw invalid(operation, argument, `must be a whole number, ${least} or more`)
  return value as number
}
