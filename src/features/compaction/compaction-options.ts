import { MOST_MS } from '../../ports/host.ts'
import type { Model } from '../../ports/model.ts'
import type { Scope } from '../../ports/op.ts'
import { checkFunction, checkMethod, checkOneOf } from '../../text/check-value.ts'
import { type Check, checkShape, type Fields, optional } from '../../text/fields.ts'
import { checkCount, checkId, invalid } from '../../text/json.ts'
import type { Pin } from './carry.ts'

export interface CompactionOptions {
  /**
   * Writes the summaries. Default: none; then every summary is the deterministic extract, which
   * costs nothing: first and last sentence of each cut round.
   */
  readonly model?: Model
  /**
   * How the model is asked. `continuation`: by one more user turn after a request that the agent
   * sent it in this epoch, so that the provider reads all but that turn from its cache; for the
   * model that the agent calls. Where no such request shows all that is cut, or has room for the
   * question and its answer, it is asked apart. `apart`: by a request of its own, which holds what
   * is cut and nothing else; for a cheaper model. Default: the cheaper of the two for the same
   * model, and `apart` for another one, or where the newest reply does not say which model wrote it
   * (`metadata.usage.model`, as `runAgent` notes it).
   */
  readonly ask?: Ask
  /**
   * The tool choice of the agent's own calls, for `continuation`: with another one, providers read
   * less from the cache. One that forces a call is refused. Default: not set.
   */
  readonly toolChoice?: 'auto' | 'none'
  /**
   * `pays`: a summary is written only where it costs no more than it saves, by what calls since the
   * last cut say of those until the next one; else the window is cut as without compaction, and the
   * receipt's `omitted` lists what left. Default: `pays` where it is asked by a continuation, also
   * where `ask` is left out, and then before the first request and reply too; else `always`.
   */
  readonly when?: 'pays' | 'always'
  /** What the model is asked for. Default `2 to 3 sentences`. */
  readonly length?: string
  /**
   * Most tokens of a summary's text. Default: a thirty-second of the cap, at least 64, of a small
   * cap a third.
   */
  readonly summaryTokens?: number
  /**
   * Most tokens of names carried over beside the text. Default: a tenth of the cap, a sixth with
   * `ask: 'continuation'`. Pins are carried whatever they take.
   */
  readonly carryTokens?: number
  /** Most tokens of a request to the model. Default: the cap, at least 4 000. */
  readonly sourceTokens?: number
  /**
   * Most tokens, input and output together, that the model may take in an hour in one session; then
   * the extract. `Infinity`: no cap. Default 1 000 000.
   */
  readonly tokensPerHour?: number
  /** Most milliseconds for one answer of the model. Default 60 000. */
  readonly timeout?: number
  /**
   * Share of the room from which on a summary is written ahead of need, off the hot path; `false`:
   * never. Default 0.8.
   */
  readonly ahead?: number | false
  /**
   * What must outlive every compaction word for word: constraints, open blockers, corrections.
   * Asked each time. Default: none.
   */
  readonly pins?: (scope: Scope) => readonly Pin[] | Promise<readonly Pin[]>
}

/** How a model is asked for a summary. */
export type Ask = 'continuation' | 'apart'

/**
 * Most tokens of a summary's text, and of the names carried over beside it: a matter of the lane.
 */
export interface SummarySizes {
  readonly summary: number
  readonly carry: number
}

/**
 * A summary's text may fill the cap divided by this, or so many tokens, or at least this share; the
 * names beside it the cap divided by that.
 */
const SUMMARIES = 32
const LEAST_SUMMARY = 64
/** The share of all room that a summary's text has where there is little. */
export const MOST_SHARE = 1 / 3
const CARRIES = 10
/** Where less of the window is kept. */
const MORE_CARRIES = 6
const checkModel: Check = (operation, argument, model) => {
  checkMethod(operation, argument, model, 'complete', 'must be a model')
  checkId(operation, `${argument}.id`, (model as Model).id)
}
const checkAhead: Check = (operation, argument, ahead) => {
  if (ahead !== false && !(typeof ahead === 'number' && ahead > 0 && ahead <= 1))
    throw invalid(operation, argument, 'must be above 0 and at most 1, or false')
}
const checkTimeout: Check = (operation, argument, ms) => {
  if (checkCount(operation, argument, ms, 1) > MOST_MS)
    throw invalid(operation, argument, `must be at most ${MOST_MS}`)
}
const size = optional((...of) => checkCount(...of, 1))
const OPTIONS: Fields = {
  model: optional(checkModel),
  ask: optional((...of) => checkOneOf(...of, ['continuation', 'apart'])),
  when: optional((...of) => checkOneOf(...of, ['pays', 'always'])),
  toolChoice: optional((...of) => checkOneOf(...of, ['auto', 'none'])),
  length: optional(checkId),
  pins: optional(checkFunction),
  ahead: optional(checkAhead),
  sourceTokens: size,
  tokensPerHour: optional((...of) => of[2] === Infinity || checkCount(...of)),
  timeout: optional(checkTimeout),
  summaryTokens: size,
  carryTokens: optional(checkCount),
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkCompaction(options: CompactionOptions): void {
  checkShape('compaction', 'options', options, OPTIONS)
  const { model, ask, toolChoice } = options
  if (ask !== undefined && !model) throw invalid('compaction', 'ask', 'needs a model')
  if (toolChoice !== undefined && (!model || ask === 'apart'))
    throw invalid('compaction', 'toolChoice', 'needs a model that is asked by continuation')
}

export function sizesOf({ ask, summaryTokens, carryTokens }: CompactionOptions, cap: number): SummarySizes {
  return {
    summary:
      summaryTokens ??
      Math.max(Math.min(LEAST_SUMMARY, Math.floor(cap * MOST_SHARE)), Math.floor(cap / SUMMARIES)),
    carry: carryTokens ?? Math.floor(cap / (ask === 'continuation' ? MORE_CARRIES : CARRIES)),
  }
}
