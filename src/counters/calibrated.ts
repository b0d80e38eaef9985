import type { Context } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Usage } from '../ports/model.ts'
import { invalid } from '../ports/options.ts'

/**
 * Reports that are remembered: enough for a change of content to show, few enough to forget another
 * model's.
 */
const REPORTS = 8
/**
 * Smaller contexts, as a share of the cap, say little: what a provider adds to every request weighs
 * too much in them.
 */
const LEAST_SHARE = 1 / 8
/**
 * A factor further off than this is a mistake, not a measurement; it is taken as if it were this
 * far off.
 */
const FURTHEST = 4

/**
 * Input tokens of one call: a number, a {@link Usage}, or the usage of a reply as OpenAI
 * (`prompt_tokens`, `input_tokens`) or Anthropic give it, whose `input_tokens` leaves out what was
 * read from or written to the cache: that is added. Where a library sums up for you, give the
 * number of all tokens that were read, cached ones included.
 */
export type ReportedUsage =
  | number
  | Usage
  | { readonly prompt_tokens?: number | null }
  | {
      readonly input_tokens?: number | null
      readonly cache_read_input_tokens?: number | null
      readonly cache_creation_input_tokens?: number | null
    }

export interface CalibratedCounter extends Counter {
  /**
   * Tells what the provider counted for a context that this counter measured. Cheap; changes
   * nothing until an epoch begins. Passed over: a usage without a count of input tokens, and a
   * context that filled less than an eighth of its cap.
   *
   * @throws ERR_INVALID_ARGUMENT where the count is not above 0
   */
  report(context: Context, usage: ReportedUsage | null | undefined): void
  calibration(): number | undefined
}

/**
 * A counter that learns from the usage which a provider reports. Within an epoch nothing changes,
 * so that the prefix holds; when the next one begins, its counts are multiplied by the ratio of
 * reported to counted tokens of the last 8 reports together, which the epoch records, so that
 * a later reader of the log counts the same. Where a report shows that the request would be over
 * the line, the next call begins that epoch at once, with cause `budget`. Where nothing could be
 * built under the new ratio, the epoch's own stays.
 *
 * Until the first report it counts as `counter` does. It is an estimate whatever `counter` is, so a
 * margin is held back. One counter is for one model; reports are kept in memory only, epochs in the
 * log. Limits of the window and of outputs in tokens are in calibrated tokens. The ratio is held
 * between a quarter and four.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example
 * ```ts
 * import { calibrated, defaultCounter, toOpenAI } from 'plimsoll'
 *
 * const counter = calibrated(defaultCounter)
 * const context = await session.context()
 * const { usage } = await openai.chat.completions.create({ model: 'gpt-4.1', ...toOpenAI(context) })
 * if (usage) counter.report(context, usage)
 * ```
 */
export function calibrated(counter: Counter): CalibratedCounter {
  if (typeof counter?.count !== 'function') throw invalid('calibrated', 'counter', 'must be a counter')
  const reports: { readonly counted: number; readonly reported: number }[] = []
  return {
    id: `calibrated/${counter.id}`,
    kind: 'estimate',
    ...(counter.family !== undefined && { family: counter.family }),
    count: (text) => counter.count(text),
    ...(counter.message && { message: (message) => counter.message?.(message) ?? 0 }),
    ...(counter.perRequest !== undefined && { perRequest: counter.perRequest }),
    report: ({ receipt }, usage) => {
      const reported = inputTokens(usage)
      if (reported === undefined) return
      if (!(reported > 0 && Number.isFinite(reported)))
        throw new PlimsollError(
          'ERR_INVALID_ARGUMENT',
          `report: usage must have more than 0 input tokens, not ${reported}`,
          {
            argument: 'usage',
          },
        )
      if (receipt.used < (receipt.cap ?? 0) * LEAST_SHARE) return
      reports.push({ counted: receipt.used / (receipt.calibration ?? 1), reported })
      if (reports.length > REPORTS) reports.shift()
    },
    calibration: () => {
      if (reports.length === 0) return undefined
      const sum = (of: 'counted' | 'reported'): number =>
        reports.reduce((total, report) => total + report[of], 0)
      const ratio = Math.min(Math.max(sum('reported') / sum('counted'), 1 / FURTHEST), FURTHEST)
      // Rounded up, so that an epoch's record is short and errs high.
      return Math.ceil(ratio * 1_000) / 1_000
    },
  }
}

function inputTokens(usage: ReportedUsage | null | undefined): number | undefined {
  if (typeof usage === 'number') return usage
  if (!usage) return undefined
  if ('inputTokens' in usage) return usage.inputTokens
  if ('prompt_tokens' in usage) return usage.prompt_tokens ?? undefined
  if (!('input_tokens' in usage) || typeof usage.input_tokens !== 'number') return undefined
  return usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
}
