import type { Receipt } from '../../ports/context.ts'
import { type ErrorCode, isPlimsollError } from '../../ports/errors.ts'

/** What failed open on the way to a context. */
export type Failure = Receipt['failures'][number]

export function failure(part: string, error: unknown, code?: ErrorCode): Failure {
  return {
    part,
    code: code ?? (isPlimsollError(error) ? error.code : 'ERR_STORAGE'),
    message: error instanceof Error ? error.message : String(error),
  }
}
