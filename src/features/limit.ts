import { PlimsollError } from '../ports/errors.ts'
import { utf8Length } from '../kernel/text/utf8-length.ts'

/** @throws ERR_ENTRY_TOO_LARGE where a text has more than so many UTF-8 bytes */
export function checkSize(operation: string, argument: string, text: string, limit: number): void {
  const size = utf8Length(text)
  if (size > limit)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `${operation}: ${argument} has ${size} bytes, more than ${limit}`,
      { size, limit, argument },
    )
}

export function limitReached(operation: string, what: string, limit: number): PlimsollError {
  return new PlimsollError('ERR_LIMIT', `${operation}: there are ${limit} ${what} already`, { limit })
}
