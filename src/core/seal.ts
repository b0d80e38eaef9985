import { PlimsollError } from '../ports/errors.ts'
import type { Json, Message } from '../ports/message.ts'
import type { Mark, Op, SealedOp } from '../ports/op.ts'
import type { LogRow, RegisterRow } from '../ports/store.ts'
import { parseBody } from './json.ts'
import { openMessage, sealMessage } from './message.ts'

/** Parts an op into what everyone may read (the envelope) and one body for each id. */
export function sealOp(op: Op, derived?: (message: Message) => string): SealedOp {
  const { opId, kind } = op
  switch (op.kind) {
    case 'append': {
      const attachments = op.messages.flatMap(attachmentsIn)
      return {
        envelope: {
          opId,
          kind,
          round: op.round,
          ids: op.messages.map((message) => message.id),
          ...(attachments.length > 0 && { attachments }),
        },
        bodies: op.messages.map(sealMessage),
        ...(derived && { derived: op.messages.map(derived) }),
      }
    }
    case 'mark':
      return {
        envelope: {
          opId,
          kind,
          ids: [op.entry.id],
          mark: op.entry.type,
          base: op.base,
          ...('lane' in op.entry && { lane: op.entry.lane }),
          ...(op.sources?.length && { sources: op.sources }),
        },
        bodies: [JSON.stringify(op.entry)],
      }
    case 'put':
      return {
        envelope: {
          opId,
          kind,
          ids: [op.key],
          key: op.key,
          base: op.base,
          ...(op.sources?.length && { sources: op.sources }),
          ...(op.index?.length && { index: op.index }),
        },
        bodies: [JSON.stringify(op.value)],
      }
    case 'delete':
      return { envelope: { opId, kind, ids: [], target: op.target }, bodies: [] }
    case 'erase':
      return { envelope: { opId, kind, ids: [] }, bodies: [] }
  }
}

/** Ids of the attachments that a message names. */
export function attachmentsIn({ content }: Pick<Message, 'content'>): string[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) => (part.type === 'media' ? (part.ref ?? []) : []))
}

/** Whether a row holds a body, be it one that nobody can read: then it was not forgotten. */
export function hasBody({ body, unreadable }: Pick<LogRow, 'body' | 'unreadable'>): boolean {
  return body !== null || unreadable === true
}

/** The message in a row of kind `message`, unless it was forgotten. */
export function messageIn(row: LogRow): Message | undefined {
  return row.body === null ? undefined : openMessage(row.id, row.body)
}

/** The mark in a row of kind `epoch`, `summary` or `rewind`, unless it was forgotten. */
export function markIn(row: LogRow): Mark | undefined {
  return row.body === null ? undefined : (parseBody(row.id, row.body) as Mark)
}

export function valueIn({ key, body }: Pick<RegisterRow, 'key' | 'body'>): Json | undefined {
  return body === null ? undefined : (parseBody(key, body) as Json)
}

/** A register that nobody can read must not be taken for one that is not there, and written over. @throws ERR_DECRYPT */
export function checkReadable(row: RegisterRow | undefined): RegisterRow | undefined {
  if (!row?.unreadable) return row
  throw new PlimsollError('ERR_DECRYPT', `register: ${row.key} cannot be decrypted`, { id: row.key })
}
