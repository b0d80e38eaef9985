import type { Context } from '../ports/context.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Limits } from '../ports/session.ts'
import type { Proposed } from './compose.ts'
import type { RunState } from './run-state.ts'
import type { ContextRequest } from './transcript.ts'

/**
 * Builds the context of one step. What the middleware proposed gives way where the core refuses it:
 * limits that are invalid, a tail that does not fit.
 *
 * @throws as `session.context`
 */
export async function buildContext(run: RunState, proposed: Proposed): Promise<Context> {
  const { transcript } = run
  const own = limitsOf(run)
  let request = requestOf(run, own, proposed)
  for (;;) {
    try {
      return await grown(run, request, await transcript.context(request))
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

/** What the next context shows without any tail, and writes nothing. */
export function previewContext(run: RunState, limits: Limits | undefined): Promise<Context> {
  const request = requestOf(run, limitsOf(run), { tail: [], nudges: [], ...(limits && { limits }) })
  return run.transcript.context({ ...request, preview: true })
}

function requestOf(
  { toolbox, options, past }: RunState,
  own: Limits | undefined,
  { tail, limits, messages, last }: Proposed,
): ContextRequest {
  return {
    system: options.system,
    tools: last ? [] : toolbox.specs,
    tail,
    limits: limits ? { ...own, ...limits } : own,
    ...(messages && { messages }),
    ...(past && past.epoch === undefined && { newEpoch: true }),
  }
}

/** The run's own, but for its past. */
function limitsOf({ options, past }: RunState): Limits | undefined {
  return past ? { ...options.limits, window: past.window } : options.limits
}

/**
 * A context in which all that a resumed run has said shows: its steps are no past, though another
 * head begins an epoch in the middle of it.
 */
async function grown(
  { transcript, past }: RunState,
  request: ContextRequest,
  context: Context,
): Promise<Context> {
  if (!past) return context
  const { epoch, receipt } = context
  const isOther = past.epoch !== undefined && past.epoch !== epoch
  past.epoch = epoch
  const isCut = isOther && typeof receipt.epoch === 'object' && receipt.epoch.cause === 'head'
  if (!isCut || request.limits?.window !== past.window) return context
  past.window = { keep: { messages: past.window.keep.messages + past.added } }
  past.added = 0
  const limits = { ...request.limits, window: past.window }
  const whole = await transcript.context({ ...request, limits, newEpoch: true })
  past.epoch = whole.epoch
  return whole
}

/** The request without what was refused, if that was a proposal. @param own limits of the run */
function lighter(
  request: ContextRequest,
  own: Limits | undefined,
  error: unknown,
): ContextRequest | undefined {
  if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') && request.tail.length > 0)
    return { ...request, tail: [] }
  if (isPlimsollError(error, 'ERR_INVALID_ARGUMENT') && request.limits !== own)
    return { ...request, limits: own }
  return undefined
}
