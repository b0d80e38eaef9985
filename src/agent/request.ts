import type { Context } from '../ports/context.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Proposed } from './compose.ts'
import type { RunState } from './run-state.ts'
import type { ContextRequest } from './transcript.ts'

/**
 * Builds the context of one step. What the middleware proposed gives way where the core refuses it:
 * limits that are invalid, a tail that does not fit.
 *
 * @throws as `session.context`
 */
export async function buildContext(run: RunState, { tail, limits, last }: Proposed): Promise<Context> {
  const { transcript, toolbox, options } = run
  const own = options.limits
  let request: ContextRequest = {
    system: options.system,
    tools: last ? [] : toolbox.specs,
    tail,
    limits: limits ? { ...own, ...limits } : own,
  }
  for (;;) {
    try {
      return await transcript.context(request)
    } catch (error) {
      const without = lighter(request, own, error)
      if (!without) throw error
      run.emit({
        type: 'middleware-failure',
        by: without.tail === request.tail ? 'limits' : 'tail',
        kind: 'enricher',
        hook: 'beforeModelCall',
        error,
      })
      request = without
    }
  }
}

/** The request without what was refused, if that was a proposal. */
function lighter(
  request: ContextRequest,
  own: ContextRequest['limits'],
  error: unknown,
): ContextRequest | undefined {
  if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') && request.tail.length > 0)
    return { ...request, tail: [] }
  if (isPlimsollError(error, 'ERR_INVALID_ARGUMENT') && request.limits !== own)
    return { ...request, limits: own }
  return undefined
}
