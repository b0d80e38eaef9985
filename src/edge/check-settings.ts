import { PlimsollError } from '../ports/errors.ts'
import { checkOptions } from '../text/json.ts'

/**
 * Settings with none but these keys: what is wrong with them is the edge's fault, not a caller's.
 * @throws ERR_NOT_CONFIGURED
 */
export function checkSettings(operation: string, settings: unknown, known: readonly string[]): void {
  try {
    checkOptions(operation, 'options', settings, known)
  } catch (cause) {
    throw new PlimsollError('ERR_NOT_CONFIGURED', (cause as Error).message, { cause })
  }
}
