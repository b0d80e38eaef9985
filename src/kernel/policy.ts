import type { Budget } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { Json } from '../ports/message.ts'
import type { Limits, ToolOutputOptions, WindowLimits, WindowOptions } from '../ports/session.ts'
import { type Check, checkShape, type Fields, optional } from '../text/fields.ts'
import { hashJson } from '../text/hash.ts'
import { checkCount, checkId, invalid } from '../text/json.ts'

/**
 * Version of the rules that turn entries into blocks. A change starts a new lane, so old epochs
 * stay as they were.
 */
export const RENDER_VERSION = 1
/** Held back when the counter is an estimate. */
const ESTIMATE_MARGIN = 0.12
/**
 * An output may at first fill the cap divided by this, so that a step of many parallel calls still
 * fits.
 */
const FIRST_OUTPUTS = 16
const OLD_OUTPUT = 800
/** Without one; and what sizes are shares of where the window alone says how much shows. */
const DEFAULT_BUDGET = 16_000

const checkSize: Check = (operation, argument, value) => checkCount(operation, argument, value, 1)
const checkShare: Check = (operation, argument, value) => {
  if (typeof value === 'number' && value >= 0 && value <= 0.5) return value
  throw invalid(operation, argument, 'must be between 0 and 0.5')
}
const BUDGET: Fields = { contextWindow: checkSize, maxOutputTokens: checkCount, margin: optional(checkShare) }
const OUTPUT: Fields = { first: optional(checkCount), old: optional(checkCount) }
const size = optional(checkSize)
const SIZES: Fields = { rounds: size, messages: size, tokens: size }
const checkSizes: Check = (operation, argument, value) => checkShape(operation, argument, value, SIZES)
const WINDOW: Fields = { max: optional(checkSizes), keep: optional(checkSizes), ...SIZES }

export interface PolicyOptions extends Limits {
  /**
   * The line. Default: none where `window` has a size or a `max`, which then says alone how much
   * shows; else 16 000.
   */
  readonly budget?: number | Budget
}

/** The settings of a lane, complete and in tokens of `counter`. */
export interface Policy {
  readonly lane: string
  readonly counter: Counter
  /** The line, and what sizes are shares of. */
  readonly cap: number
  /** There is no line: `cap` is for sizes alone. */
  readonly isOpen?: true
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
  { budget: given, window = {}, toolOutput = {} }: PolicyOptions,
  counter: Counter,
  lanes: (cap: number) => { readonly [feature: string]: Json },
  operation = 'createMemory',
): Policy {
  const band = bandOf(operation, window)
  const isOpen = given === undefined && Object.keys(band.max).length > 0
  const budget =
    typeof given === 'object' ? given : { contextWindow: given ?? DEFAULT_BUDGET, maxOutputTokens: 0 }
  const share = counter.kind === 'estimate' ? ESTIMATE_MARGIN : 0
  const {
    contextWindow,
    maxOutputTokens,
    margin = share,
  } = checkShape<Budget>(operation, 'budget', budget, BUDGET)
  if (maxOutputTokens >= contextWindow)
    throw invalid(operation, 'budget.maxOutputTokens', 'must be below contextWindow')
  const cap = contextWindow - maxOutputTokens
  const outputs = checkShape<ToolOutputOptions>(operation, 'toolOutput', toolOutput, OUTPUT)
  const { first = Math.floor(cap / FIRST_OUTPUTS), old = Math.min(OLD_OUTPUT, Math.floor(first / 2)) } =
    outputs
  const settings = {
    cap,
    reserved: maxOutputTokens,
    margin: isOpen ? 0 : Math.ceil(cap * margin),
    first,
    old,
    protect: Math.floor(cap / 4),
    ...band,
    ...(isOpen && { isOpen }),
  }
  const id = checkId(operation, 'counter.id', counter.id)
  const use = lanes(cap)
  const shown = Object.keys(use).length > 0 && { use }
  const lane = hashJson({ ...settings, ...shown, counter: id, v: RENDER_VERSION })
  return { ...settings, counter, lane: lane.slice(0, 16) }
}

type Sizes = { [unit: string]: number }

function bandOf(
  operation: string,
  window: WindowOptions,
): { readonly max: Sizes; readonly keep: Sizes; readonly sliding?: true } {
  const given = checkShape<{ max?: Sizes; keep?: Sizes }>(operation, 'window', window, WINDOW)
  const { max = {}, keep: lower, ...size } = given
  if (Object.keys(size).length > 0) {
    if (Object.keys(given).length > 1)
      throw invalid(operation, 'window', 'must be max and keep, or one of rounds, messages and tokens')
    return { max: size, keep: size, sliding: true }
  }
  const keep = { ...lower }
  for (const [unit, most] of Object.entries(max)) {
    keep[unit] ??= Math.ceil(most / 2)
    if (keep[unit] > most) throw invalid(operation, `window.keep.${unit}`, `must be at most max.${unit}`)
  }
  return { max, keep }
}
