import type { Context } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import { PlimsollError } from '../ports/errors.ts'

/** Reports that are remembered: enough for a change of content to show, few enough to forget another model's. */
const REPORTS = 8
/** A report further off than this is a mistake, not a measurement; it is taken as if it were this far off. */
const FURTHEST = 10

/**
 * Input tokens of one call: a number, or the usage of a reply as OpenAI (`prompt_tokens`, `input_tokens`), Anthropic (where
 * `input_tokens` leaves out what was read from or written to the cache, which is added) or the AI SDK (`inputTokens`) give it.
 */
export type Usage =
  | number
  | { readonly prompt_tokens: number }
  | {
      readonly input_tokens: number
      readonly cache_read_input_tokens?: number | null
      readonly cache_creation_input_tokens?: number | null
    }
  | { readonly inputTokens?: number | undefined }

export interface CalibratedCounter extends Counter {
  /**
   * Tells what the provider counted for a context that this counter measured. Cheap; changes nothing until an epoch begins. A
   * usage without a count of input tokens is passed over.
   *
   * @throws ERR_INVALID_ARGUMENT where the count is not above 0
   */
  report(context: Context, usage: Usage): void
  calibration(): number | undefined
}

/**
 * A counter that learns from the usage which a provider reports. Within an epoch nothing changes, so that the prefix holds; when
 * the next one begins, its counts are multiplied by the largest ratio of reported to counted tokens among the last 8 reports,
 * which the epoch records, so that whoever reads the log later counts the same. Where a report shows that the request would be
 * over the line, the next call begins that epoch at once, with cause `budget`.
 *
 * Until the first report it counts as `counter` does. It is an estimate whatever `counter` is, so a margin is held back. One
 * counter is for one model; reports are kept in memory only, epochs in the log.
 *
 * @example
 * ```ts
 * const counter = calibrated(defaultCounter)
 * const context = await session.context()
 * const reply = await client.chat.completions.create({ model, ...toOpenAI(context) })
 * if (reply.usage) counter.report(context, reply.usage)
 * ```
 */
export function calibrated(counter: Counter): CalibratedCounter {
  const ratios: number[] = []
  return {
    ...counter,
    id: `calibrated/${counter.id}`,
    kind: 'estimate',
    report: ({ receipt }, usage) => {
      const tokens = inputTokens(usage)
      if (tokens === undefined) return
      if (!(tokens > 0 && Number.isFinite(tokens)))
        throw new PlimsollError('ERR_INVALID_ARGUMENT', `report: usage has ${tokens} input tokens`, {
          argument: 'usage',
        })
      const ratio = (tokens * (receipt.calibration ?? 1)) / receipt.used
      ratios.push(Math.min(Math.max(ratio, 1 / FURTHEST), FURTHEST))
      if (ratios.length > REPORTS) ratios.shift()
    },
    // Rounded up, so that an epoch's record is short and errs high.
    calibration: () => (ratios.length === 0 ? undefined : Math.ceil(Math.max(...ratios) * 1_000) / 1_000),
  }
}

function inputTokens(usage: Usage): number | undefined {
  if (typeof usage === 'number') return usage
  if ('prompt_tokens' in usage) return usage.prompt_tokens
  if ('input_tokens' in usage)
    return (
      usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
    )
  return usage.inputTokens
}
