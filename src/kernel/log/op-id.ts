import { checkId, invalid } from '../../text/json.ts'

/**
 * An id that an app gives an op: not the name of an entry, which is for the op that begins with it.
 */
export function checkOpId(operation: string, argument: string, value: unknown): string {
  const id = checkId(operation, argument, value)
  if (id.startsWith('entry:')) throw invalid(operation, argument, 'must not begin with entry:')
  return id
}
