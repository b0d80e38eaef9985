import type { Context } from '../ports/context.ts'
import { invalid } from '../ports/options.ts'

/** What `context()` gave, and not the promise of it. @throws ERR_INVALID_ARGUMENT */
export function checkBuilt(operation: string, context: Pick<Context, 'blocks'>, argument = 'context'): void {
  if (!Array.isArray(context?.blocks))
    throw invalid(operation, argument, 'must be what context() resolves to')
}
