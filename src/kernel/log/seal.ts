import { defined } from '../../ports/defined.ts'
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
        envelope: defined({
          opId,
          kind,
          round,
          ids,
          attachments: filled(attachments),
          contexts: filled(contexts),
        }),
        bodies: messages.map(sealMessage),
        ...(derived && { derived: messages.map(derived) }),
      }
    }
    case 'mark': {
      const { entry, base, sources } = op
      const lane = 'lane' in entry ? entry.lane : undefined
      const mark = { opId, kind, ids: [entry.id], mark: entry.type, base, lane, sources: filled(sources) }
      return { envelope: defined(mark), bodies: [JSON.stringify(entry)] }
    }
    case 'put': {
      const { key, base, sources, index, value } = op
      const put = { opId, kind, ids: [key], key, base, sources: filled(sources), index: filled(index) }
      return { envelope: defined(put), bodies: [JSON.stringify(value)] }
    }
    case 'delete':
      return { envelope: { opId, kind, ids: [], target: op.target }, bodies: [] }
    case 'erase':
      return { envelope: { opId, kind, ids: [] }, bodies: [] }
  }
}

/** What is empty is left out. */
function filled<List extends readonly unknown[]>(list: List | undefined): List | undefined {
  return list?.length ? list : undefined
}

/** Ids of the attachments that a message names. */
export function attachmentsIn(message: Pick<Message, 'content'>): string[] {
  return partsOf(message).flatMap((part) => (part.type === 'media' ? (part.ref ?? []) : []))
}
