import { nothingWritten } from '../kernel/log/decide.ts'
import { MAX_ENTRY_BYTES } from '../kernel/log/message.ts'
import { PlimsollError } from '../ports/errors.ts'
import { sameAttachment } from '../ports/same-attachment.ts'
import type { Attachment, ScopeStore } from '../ports/store.ts'
import type { AttachmentRequest, PushRequest, Transport } from '../ports/sync.ts'
import { readState } from './home-state.ts'
import { NO_GENERATION } from './state.ts'

/** Most bytes of one: those of an entry, and what encrypts them. */
export const MOST_ATTACHED = MAX_ENTRY_BYTES + 4096

/** How the bytes of one are answered: no page is to run them. */
export function headersOf({ mediaType }: Attachment): Record<string, string> {
  return {
    'Content-Type': mediaType,
    'Content-Disposition': 'attachment',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  }
}

/** Attachments that an op of a push names, and that the home does not have. */
export async function lacking(
  scope: ScopeStore,
  { ops, without = [] }: PushRequest,
): Promise<ReadonlySet<string>> {
  const named = new Set(ops.flatMap(({ envelope }) => envelope.attachments ?? []))
  for (const id of without) named.delete(id)
  if (named.size > 0) for (const id of await scope.attached([...named])) named.delete(id)
  return named
}

/**
 * Keeps what the next push names. Idempotent.
 *
 * @param now Unix milliseconds
 * @throws ERR_DUPLICATE_ID: other bytes are under that id
 */
export async function takeAttachment(
  scope: ScopeStore,
  { generation, id }: Omit<AttachmentRequest, 'sessionId'>,
  attachment: Attachment,
  now: number,
): ReturnType<Transport['attach']> {
  if (!(await isOf(scope, generation))) return 'deleted'
  const outcome = await scope.attach(attachment, now)
  const there = outcome === 'kept' ? await scope.attachment(id) : undefined
  if (there && !sameAttachment(there, attachment))
    throw new PlimsollError('ERR_DUPLICATE_ID', `attach: id ${id} names another attachment already`, { id })
  if (outcome !== 'stored' || (await isOf(scope, generation))) return outcome
  // Erased meanwhile: it was written behind that.
  await scope.commit([], (_, { replica = '' }) => ({
    ...nothingWritten([]),
    emptied: [`attachment:${id}`],
    replica: { state: replica },
  }))
  return 'deleted'
}

/** What an op of that log names, if it is here. @throws ERR_CONFLICT: the log is another one */
export async function giveAttachment(
  scope: ScopeStore,
  { generation, id }: Omit<AttachmentRequest, 'sessionId'>,
): Promise<Attachment | undefined> {
  if (await isOf(scope, generation)) return scope.attachment(id)
  if ((await readState(scope))?.erased.includes(generation)) return undefined
  throw new PlimsollError('ERR_CONFLICT', `attachment: ${id} is not of the log that is here`, { id })
}

/** Whether a log is the one of that generation, or nothing was written yet. None: it is any. */
async function isOf(scope: ScopeStore, generation: string): Promise<boolean> {
  if (generation === NO_GENERATION) return true
  const known = (await readState(scope))?.generation ?? NO_GENERATION
  return known === NO_GENERATION || known === generation
}
