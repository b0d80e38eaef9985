import type { Budget } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import { MOST_MS } from '../ports/host.ts'
import type { Model } from '../ports/model.ts'
import type { Scope } from '../ports/op.ts'
import type { Pin } from './carry.ts'
import { hashJson } from './hash.ts'
import { checkId, invalid, isPlainObject } from './json.ts'
import type { SectionSizes } from './long-term/remembered.ts'

/** Version of the rules that turn entries into blocks. A change starts a new lane, so old epochs stay as they were. */
export const RENDER_VERSION = 1
/** Held back when the counter is an estimate. */
const ESTIMATE_MARGIN = 0.12
/** An output may at first fill the cap divided by this, so that a step of many parallel calls still fits. */
const FIRST_OUTPUTS = 16
const OLD_OUTPUT = 800
/** A summary's text may fill the cap divided by this, or so many tokens; the names beside it the cap divided by that. */
const SUMMARIES = 32
const LEAST_SUMMARY = 64
const CARRIES = 10
/** Shares of the cap that the parts of long-term memory take at most. */
const SECTION_SHARES: SectionSizes = {
  profile: 1 / 8,
  pins: 1 / 16,
  skills: 1 / 32,
  loaded: 1 / 16,
  facts: 1 / 16,
  news: 1 / 32,
  recall: 1 / 16,
  checkpoint: 0,
}

/** Limits of the window beside the budget; any that is left out does not limit. */
export interface WindowLimits {
  /** Rounds that show. */
  readonly rounds?: number
  /** Messages that show, results included. */
  readonly messages?: number
  readonly tokens?: number
}

export interface WindowOptions {
  /** The window grows until one of these, or the room in the budget, is exceeded … */
  readonly max?: WindowLimits
  /** … and is then cut back to these in one step. Default: half of `max`, and half of the room. */
  readonly keep?: WindowLimits
}

export interface ToolOutputOptions {
  /** Most tokens of an output from its first call on. Default: a sixteenth of the cap. */
  readonly first?: number
  /** Most tokens of an output once an epoch change found it outside of the newest quarter of the cap. Default: 800, at most half of `first`. */
  readonly old?: number
}

/** How much of a conversation shows, beside the budget. */
export interface Limits {
  readonly window?: WindowOptions
  readonly toolOutput?: ToolOutputOptions
}

/** Sizes of what a compaction writes are a matter of the lane; the rest says how it is written. */
export interface CompactionOptions {
  /**
   * Writes the summaries. Default: none; then every summary is the deterministic extract, which costs nothing: first and last
   * sentence of each cut round.
   */
  readonly model?: Model
  /** What the model is asked for. Default `2 to 3 sentences`. */
  readonly length?: string
  /** Most tokens of a summary's text. Default: a thirty-second of the cap, at least 64. */
  readonly summaryTokens?: number
  /** Most tokens of names carried over beside the text. Default: a tenth of the cap. Pins are carried whatever they take. */
  readonly carryTokens?: number
  /** Most tokens of a request to the model. Default: the cap, at least 4 000. */
  readonly sourceTokens?: number
  /** Most tokens, input and output together, that the model may take in an hour in one session; then the extract. `Infinity`: no cap. Default 1 000 000. */
  readonly tokensPerHour?: number
  /** Most milliseconds for one answer of the model. Default 60 000. */
  readonly timeout?: number
  /** Share of the room from which on a summary is written ahead of need, off the hot path; `false`: never. Default 0.8. */
  readonly ahead?: number | false
  /** What must outlive every compaction word for word: constraints, open blockers, corrections. Asked each time. Default: none. */
  readonly pins?: (scope: Scope) => readonly Pin[] | Promise<readonly Pin[]>
}

export interface PolicyOptions extends Limits {
  readonly budget: number | Budget
  /** Most tokens of each part of long-term memory. */
  readonly sections?: Partial<SectionSizes>
  /** Summarises what leaves the window. `{}`: by the deterministic extract. Default: nothing is summarised. */
  readonly compaction?: CompactionOptions
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
  readonly sections: SectionSizes
  /** Most tokens of a summary's text, and of the names carried over beside it. */
  readonly compaction?: { readonly summary: number; readonly carry: number }
}

/** Completes and checks an app's options. @throws ERR_INVALID_ARGUMENT */
export function createPolicy(options: PolicyOptions, counter: Counter, operation = 'createMemory'): Policy {
  const budget: Budget =
    typeof options.budget === 'number'
      ? { contextWindow: options.budget, maxOutputTokens: 0 }
      : options.budget
  if (typeof budget !== 'object' || budget === null)
    throw invalid(operation, 'budget', 'must be a number or an object')
  const contextWindow = tokens(operation, 'budget.contextWindow', budget.contextWindow, 1)
  const maxOutputTokens = tokens(operation, 'budget.maxOutputTokens', budget.maxOutputTokens, 0)
  if (maxOutputTokens >= contextWindow)
    throw invalid(operation, 'budget.maxOutputTokens', 'must be below contextWindow')
  const share = budget.margin ?? (counter.kind === 'estimate' ? ESTIMATE_MARGIN : 0)
  if (!(share >= 0 && share <= 0.5)) throw invalid(operation, 'budget.margin', 'must be between 0 and 0.5')
  const cap = contextWindow - maxOutputTokens
  const first = options.toolOutput?.first ?? Math.floor(cap / FIRST_OUTPUTS)
  const settings = {
    cap,
    reserved: maxOutputTokens,
    margin: Math.ceil(cap * share),
    first: tokens(operation, 'toolOutput.first', first, 0),
    old: tokens(
      operation,
      'toolOutput.old',
      options.toolOutput?.old ?? Math.min(OLD_OUTPUT, Math.floor(first / 2)),
      0,
    ),
    protect: Math.floor(cap / 4),
    ...limits(operation, options.window),
    ...(options.compaction !== undefined && { compaction: sizes(operation, options.compaction, cap) }),
  }
  const sections = sectionSizes(operation, options.sections, cap)
  const lane = hashJson({
    ...settings,
    ...(options.sections !== undefined && { sections: { ...sections } }),
    counter: checkId(operation, 'counter.id', counter.id),
    v: RENDER_VERSION,
  })
  return { ...settings, sections, counter, lane: lane.slice(0, 16) }
}

function sectionSizes(operation: string, given: Partial<SectionSizes> = {}, cap: number): SectionSizes {
  if (!isPlainObject(given)) throw invalid(operation, 'sections', 'must be an object')
  const entries = Object.entries(SECTION_SHARES).map(([name, share]) => {
    const size = given[name as keyof SectionSizes] ?? Math.floor(cap * share)
    return [name, tokens(operation, `sections.${name}`, size, 0)]
  })
  return Object.fromEntries(entries) as SectionSizes
}

function sizes(
  operation: string,
  options: CompactionOptions,
  cap: number,
): { readonly summary: number; readonly carry: number } {
  if (typeof options !== 'object' || options === null)
    throw invalid(operation, 'compaction', 'must be an object')
  const {
    summaryTokens,
    carryTokens,
    sourceTokens = 1,
    tokensPerHour = 0,
    timeout = 1,
    ahead = false,
  } = options
  const { model, length = '-', pins } = options
  if (model !== undefined && typeof model?.complete !== 'function')
    throw invalid(operation, 'compaction.model', 'must be a model')
  if (model) checkId(operation, 'compaction.model.id', model.id)
  checkId(operation, 'compaction.length', length)
  if (pins !== undefined && typeof pins !== 'function')
    throw invalid(operation, 'compaction.pins', 'must be a function')
  if (ahead !== false && !(typeof ahead === 'number' && ahead > 0 && ahead <= 1))
    throw invalid(operation, 'compaction.ahead', 'must be above 0 and at most 1, or false')
  tokens(operation, 'compaction.sourceTokens', sourceTokens, 1)
  if (tokensPerHour !== Infinity) tokens(operation, 'compaction.tokensPerHour', tokensPerHour, 0)
  if (tokens(operation, 'compaction.timeout', timeout, 1) > MOST_MS)
    throw invalid(operation, 'compaction.timeout', `must be at most ${MOST_MS}`)
  const summary = summaryTokens ?? Math.max(LEAST_SUMMARY, Math.floor(cap / SUMMARIES))
  const carry = carryTokens ?? Math.floor(cap / CARRIES)
  return {
    summary: tokens(operation, 'compaction.summaryTokens', summary, 1),
    carry: tokens(operation, 'compaction.carryTokens', carry, 0),
  }
}

const LIMITS = ['rounds', 'messages', 'tokens'] as const

function limits(
  operation: string,
  { max = {}, keep = {} }: WindowOptions = {},
): {
  max: Record<string, number>
  keep: Record<string, number>
} {
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

function tokens(operation: string, argument: string, value: unknown, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw invalid(operation, argument, `must be a whole number, ${least} or more`)
  return value as number
}
