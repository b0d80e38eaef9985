import type { ToolSet } from 'ai'
import { invalid } from '../../kernel/text/json.ts'
import { checkContext } from '../../operations/context-at.ts'
import type { Session } from '../../ports/memory.ts'
import type { ContextOptions } from '../../ports/session.ts'

/** What is asked of contexts: as `session.context()`, with the tools as the SDK takes them. */
export interface AskedOptions extends Omit<ContextOptions, 'tools' | 'preview' | 'newEpoch'> {
  /** The tools that `streamText` is given: the budget counts all of them. Default: none. */
  readonly tools?: ToolSet
}

/** Checked before anything is written. @throws ERR_INVALID_ARGUMENT */
export function askedOf(operation: string, session: Session, options: AskedOptions): ContextOptions {
  const { tools: _, ...asked }: AskedOptions = { ...options }
  checkContext(session, options && asked)
  for (const name of ['preview', 'newEpoch'])
    if (name in asked) throw invalid(operation, name, 'is not for the app to say here')
  return asked
}
