import { checkReadable, messageIn } from '../kernel/log/bodies.ts'
import { attachmentsIn } from '../kernel/log/seal.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Envelope, MarkKind, Name } from '../ports/op.ts'
import type { LogRow, RegisterRow } from '../ports/store.ts'
import type { SyncOp } from '../ports/sync.ts'
import { namesIn } from './tok.ts'

/** The rows of each op. */
export function opsIn(rows: readonly LogRow[]): readonly (readonly LogRow[])[] {
  const ops: LogRow[][] = []
  for (const row of rows) {
    const last = ops.at(-1)
    if (last?.[0]?.seq === row.seq) last.push(row)
    else ops.push([row])
  }
  return ops
}

/**
 * An op as it is told to others, from what the log holds of it.
 *
 * @param rows all of the op
 * @param since see `HomeState.since`
 * @param register of a put, the register that it wrote, as it is now
 * @param secret the register of that key, as it is now
 * @throws ERR_DECRYPT: what cannot be read must not be taken for what was forgotten
 */
export function pulledOp(
  rows: readonly LogRow[],
  since: number,
  register: RegisterRow | undefined,
  secret: RegisterRow | undefined,
): SyncOp {
  const [{ kind, id, opId, ...row }] = rows as readonly [LogRow, ...LogRow[]]
  checkReadable(secret)
  const isBeside = secret?.version === opId && !(kind === 'put' && id === secret.key)
  const beside =
    isBeside && secret.body !== null ? { beside: [{ key: secret.key, body: secret.body }] } : undefined
  const op = (envelope: Envelope, bodies: SyncOp['bodies']): SyncOp => ({ envelope, bodies, ...beside })
  if (kind === 'delete') return op({ opId, kind: 'delete', ids: [], target: id as Name }, [])
  if (kind === 'put') {
    checkReadable(register)
    const put = { opId, kind: 'put', ids: [id], key: id } as const
    const isCurrent = register?.version === opId && register.body !== null
    const { index, body } = isCurrent ? register : { body: null }
    const sources = isCurrent ? register.sources : (namesIn(row) as readonly Name[] | undefined)
    return op({ ...put, ...(sources && { sources }), ...(index && { index }) }, [body])
  }
  return op(entryEnvelope(rows, since), rows.map(readable))
}

/**
 * The envelope of an op that wrote entries.
 *
 * @param rows all of the op
 * @param since see `HomeState.since`
 */
export function entryEnvelope(rows: readonly LogRow[], since: number): Envelope {
  const [{ kind, opId, ...row }] = rows as readonly [LogRow, ...LogRow[]]
  const ids = rows.map(({ id }) => id)
  if (kind !== 'message') {
    const { lane, base = null, sources } = row
    const listed = { ...(lane !== undefined && { lane }), ...(sources && { sources }) }
    return { opId, kind: 'mark', ids, mark: kind as MarkKind, base, ...listed }
  }
  const { round, contexts = [], seq } = row
  // Of what was forgotten nothing is to be fetched.
  const attachments = new Set(rows.flatMap((one) => namesIn(one) ?? attachmentsOf(one) ?? []))
  return {
    opId,
    kind: 'append',
    ids,
    ...(round !== undefined && { round }),
    ...(attachments.size > 0 && { attachments: [...attachments] }),
    ...(contexts.length > 0 && { contexts: contexts.map((hash) => ({ hash, seq: seq - since })) }),
  }
}

function readable({ id, body, unreadable }: LogRow): string | null {
  if (unreadable) throw new PlimsollError('ERR_DECRYPT', `pull: ${id} cannot be decrypted`, { id })
  return body
}

/** Attachments that a message names; nothing, where it cannot be read here. */
export function attachmentsOf(row: LogRow): readonly string[] | undefined {
  try {
    const message = messageIn(row)
    return message ? attachmentsIn(message) : []
  } catch {
    return undefined
  }
}
