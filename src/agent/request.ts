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
export async function buildContext(
  run: RunState,
  { tail, limits, messages, last }: Proposed,
): Promise<Context> {
  const { transcript, toolbox, options, past } = run
  const own = past ? { ...options.limits, window: past.window } : options.limits
  let request: ContextRequest = {
    system: options.system,
    tools: last ? [] : toolbox.specs,
    tail,
    limits: limits ? { ...own, ...limits } : own,
    ...(messages && { messages }),
    ...(past && past.epoch === undefined && { newEpoch: true }),
  }
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
