import type { Scope } from '../../ports/op.ts'
import { checkFunction } from '../../text/check-value.ts'
import { checkOptions, invalid } from '../../text/json.ts'

/** For how long a part is kept. */
export interface KeptFor {
  /** Days of 24 hours: a whole number, 1 to 36 500. */
  readonly days: number
}

/** For how long each part of a memory is kept. What is left out is kept until it is removed. */
export interface RetentionOptions {
  /**
   * Rounds, by their newest message: they are forgotten as a whole, as by `session.forget`, with
   * all that derives from them, facts included. The newest round of a session stays.
   */
  readonly log?: KeptFor
  /** Facts, by their `createdAt`. Those that are pinned stay. */
  readonly facts?: KeptFor
  /** A session's checkpoint, by its last write. */
  readonly checkpoint?: KeptFor
  /**
   * Told of what stays since it cannot be decrypted, so that nobody can tell how old it is: once a
   * pass over all scopes. What it throws is ignored. A later pass judges it, where it can be read
   * by then.
   */
  readonly onUnreadable?: (left: UnreadableLeft) => void
}

/** What retention could not judge. */
export interface UnreadableLeft {
  readonly scope: Scope
  readonly part: 'log' | 'facts' | 'checkpoint'
  /** Of the message, or the key of the register. */
  readonly id: string
}

export const MOST_DAYS = 36_500

/** @throws ERR_INVALID_ARGUMENT */
export function checkRetention(operation: string, retention: RetentionOptions): RetentionOptions {
  checkOptions(operation, 'options', retention, ['log', 'facts', 'checkpoint', 'onUnreadable'])
  const kept = Object.entries(retention).filter(([, value]) => value !== undefined)
  for (const [name, value] of kept) {
    if (name === 'onUnreadable') {
      checkFunction(operation, name, value)
      continue
    }
    checkOptions(operation, name, value, ['days'])
    const { days } = value as unknown as KeptFor
    if (!Number.isSafeInteger(days) || days < 1 || days > MOST_DAYS)
      throw invalid(operation, `${name}.days`, `must be a whole number, 1 to ${MOST_DAYS}`)
  }
  if (!kept.some(([name]) => name !== 'onUnreadable'))
    throw invalid(operation, 'options', 'must say how long log, facts or checkpoint are kept')
  return Object.fromEntries(kept)
}
