import type { Message } from '../../ports/message.ts'
import type { Op, SealedOp } from '../../ports/op.ts'
import { sealMessage } from './message.ts'

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
