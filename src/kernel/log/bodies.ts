import { PlimsollError } from '../../ports/errors.ts'
import type { Json, Message } from '../../ports/message.ts'
import type { Mark } from '../../ports/op.ts'
import type { LogRow, RegisterRow } from '../../ports/store.ts'
import { parseBody } from '../../text/json.ts'
import { openMessage } from './message.ts'

/** The message in a row of kind `message`, unless it was forgotten. */
export function messageIn(row: LogRow): Message | undefined {
  return row.body === null ? undefined : openMessage(row.id, row.body)
}

/** The mark in a row of kind `epoch`, `summary` or `rewind`, unless it was forgotten. */
export function markIn(row: LogRow): Mark | undefined {
  return parseBody(row.id, row.body) as Mark | undefined
}

export function valueIn({ key, body }: Pick<RegisterRow, 'key' | 'body'>): Json | undefined {
  return parseBody(key, body) as Json | undefined
}

/**
 * A register that nobody can read must not be taken for one that is not there, and written over.
 * @throws ERR_DECRYPT
 */
export function checkReadable(row: RegisterRow | undefined): RegisterRow | undefined {
  if (!row?.unreadable) return row
  throw new PlimsollError('ERR_DECRYPT', `register: ${row.key} cannot be decrypted`, { id: row.key })
}
