import type { Limits, ToolOutputOptions, WindowOptions } from '../ports/session.ts'
import { checkOptions, invalid } from '../text/json.ts'
import type { Middleware } from './middleware.ts'

/** What a request may hold, beside the memory's own limits. */
export interface ContextFilter {
  /** Rounds that show: the window grows to this many, and is then cut back. */
  readonly rounds?: number
  /** Rounds that it is cut back to; as many as `rounds`, and it slides. Default: half of them. */
  readonly keep?: number
  readonly toolOutput?: ToolOutputOptions
}

/**
 * Contract: the limits of one step. Each set of them is a lane of its own, so give the same ones as
 * long as possible.
 */
export type ContextFilterOptions =
  | ContextFilter
  | ((step: number) => ContextFilter | undefined | Promise<ContextFilter | undefined>)

/**
 * Proposes narrower limits for the contexts of a run, with a session and without. Order 15; where
 * it fails, or the core refuses what it proposes, the core's own window holds, never the whole log.
 * Without options it does nothing.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function contextFilter(options: ContextFilterOptions = {}): Middleware {
  if (typeof options !== 'function') checkFilter(options)
  return {
    name: 'context-filter',
    order: 15,
    kind: 'enricher',
    start: () => ({
      beforeModelCall: async ({ step }) => {
        const filter = typeof options === 'function' ? await options(step) : options
        if (filter !== undefined) checkFilter(filter)
        const limits: Limits = {
          ...(filter?.rounds !== undefined && { window: windowOf(filter.rounds, filter.keep) }),
          ...(filter?.toolOutput && { toolOutput: filter.toolOutput }),
        }
        return Object.keys(limits).length > 0 ? { limits } : undefined
      },
    }),
  }
}

function checkFilter(filter: ContextFilter): void {
  checkOptions('contextFilter', 'options', filter, ['rounds', 'keep', 'toolOutput'])
  if (filter.keep !== undefined && filter.rounds === undefined)
    throw invalid('contextFilter', 'keep', 'needs rounds')
}

function windowOf(rounds: number, keep: number | undefined): WindowOptions {
  return { max: { rounds }, ...(keep !== undefined && { keep: { rounds: keep } }) }
}
