import type { Message } from '../../ports/message.ts'
import type { Op, SealedOp } from '../../ports/op.ts'
import { partsOf, sealMessage } from './message.ts'

/** Parts an op into what everyone may read (the envelope) and one body for each id. */
export function sealOp(op: Op, derived?: (message: Message) => string): SealedOp {
  const { opId, kind } = op
  switch (op.kind) {
    case 'append': {
      const { round, messages, contexts } = op
      const attachments = messages.flatMap(attachmentsIn)
      const ids = messages.map(({ id }) => id)
      return {
        envelope: {
          opId,
          kind,
          round,
          ids,
          ...(attachments.length > 0 && { attachments }),
          ...(contexts?.length && { contexts }),
        },
        bodies: messages.map(sealMessage),
        ...(derived && { derived: messages.map(derived) }),
      }
    }
    case 'mark': {
      const { entry, base, sources } = op
      const mark = { mark: entry.type, base, ...('lane' in entry && { lane: entry.lane }) }
      const envelope = { opId, kind, ids: [entry.id], ...mark, ...(sources?.length && { sources }) }
      return { envelope, bodies: [JSON.stringify(entry)] }
    }
    case 'put': {
      const { key, base, sources, index, value } = op
      const listed = { ...(sources?.length && { sources }), ...(index?.length && { index }) }
      return { envelope: { opId, kind, ids: [key], key, base, ...listed }, bodies: [JSON.stringify(value)] }
    }
    case 'delete':
      return { envelope: { opId, kind, ids: [], target: op.target }, bodies: [] }
    case 'erase':
      return { envelope: { opId, kind, ids: [] }, bodies: [] }
  }
}

/** Ids of the attachments that a message names. */
export function attachmentsIn(message: Pick<Message, 'content'>): string[] {
  return partsOf(message).flatMap((part) => (part.type === 'media' ? (part.ref ?? []) : []))
}
