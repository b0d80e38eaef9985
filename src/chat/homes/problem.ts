import { isPlimsollError, isUnreachable } from '../../ports/errors.ts'
import type { Problem } from '../ports.ts'

const RETRYABLE: ReadonlySet<string> = new Set([
  'ERR_CONFLICT',
  'ERR_INTERNAL',
  'ERR_INTERRUPTED',
  'ERR_MODEL',
  'ERR_OVERLOADED',
  'ERR_RATE_LIMIT',
  'ERR_STORAGE',
  'ERR_STORAGE_FULL',
  'ERR_TIMEOUT',
  'ERR_UNAUTHENTICATED',
])

/**
 * What went wrong, for the view.
 *
 * @param other what is no error of this library's. Default: it came from the model
 */
export function problemOf(error: unknown, other: Problem['code'] = 'ERR_MODEL'): Problem {
  if (!isPlimsollError(error))
    return {
      code: other,
      message: error instanceof Error ? error.message : String(error),
      retryable: true,
    }
  const { code, message, id } = error
  if (isUnreachable(error)) return { code: 'ERR_OFFLINE', message, retryable: true }
  return { code, message, retryable: RETRYABLE.has(code), id }
}
