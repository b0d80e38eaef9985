import type { ToolSet } from 'ai'
import { checkAsked } from '../../operations/check-asked.ts'
import type { Session } from '../../ports/memory.ts'
import { checkObject } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { checkBoolean } from '../../text/check-value.ts'

/** What is asked of contexts: as `session.context()`, with the tools as the SDK takes them. */
export interface AskedOptions extends Omit<ContextOptions, 'tools' | 'preview' | 'newEpoch'> {
  /** The tools that `streamText` is given: the budget counts all of them. Default: none. */
  readonly tools?: ToolSet
}

/** Checked before anything is written. @throws ERR_INVALID_ARGUMENT */
export function askedOf(operation: string, session: Session, options: AskedOptions): ContextOptions {
  const { tools = {}, ...asked } = options
  checkObject(operation, 'tools', tools)
  checkAsked(operation, session, asked, ['preview', 'newEpoch'])
  return asked
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkCache(operation: string, cache: unknown): void {
  if (cache !== undefined) checkBoolean(operation, 'cache', cache)
}
