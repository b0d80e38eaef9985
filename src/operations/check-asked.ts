import type { Session } from '../ports/memory.ts'
import type { ContextOptions } from '../ports/session.ts'
import { invalid } from '../text/json.ts'
import { checkContext } from './check-context.ts'

/**
 * Checks what an app asks of a loop's contexts, before anything is written.
 *
 * @param own names of what the bridge says itself
 * @throws ERR_INVALID_ARGUMENT
 */
export function checkAsked(
  operation: string,
  session: Session,
  asked: ContextOptions,
  own: readonly string[],
): void {
  for (const name of own) if (name in asked) throw invalid(operation, name, 'is not for the app to say here')
  checkContext(session, asked)
}
