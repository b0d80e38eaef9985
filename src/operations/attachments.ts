import { MAX_ENTRY_BYTES } from '../kernel/log/message.ts'
import { checkMediaType } from '../ports/attachment.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { MediaPart } from '../ports/message.ts'
import { sameAttachment } from '../ports/same-attachment.ts'
import type { Attachment, ScopeStore } from '../ports/store.ts'
import { checkCount, checkId, checkOptions, invalid } from '../text/json.ts'
import { kernelOf } from './kernel-of.ts'

export interface AttachmentInput {
  /** For example `image/png`. */
  readonly mediaType: string
  /** Of its file, which the part names: 256 bytes at most. The attachment itself has none. */
  readonly name?: string
  /** At most 8 MiB. */
  readonly bytes: Uint8Array | ArrayBuffer
  /** Default: a fresh UUIDv7. Repeating the call under one id is a no-op. */
  readonly id?: string
  /** What the provider charges for it, in tokens. Default 1 600. */
  readonly tokens?: number
}

/**
 * Keeps bytes outside of the log, and returns the part by which a message names them: attach first,
 * then append. Durable when it resolves. What no message has named within a day is removed:
 * {@link runDueWork}.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (above 8 MiB), ERR_DUPLICATE_ID (other bytes
 * under that id), ERR_NOT_FOUND (the id was deleted); nothing is written
 * @example
 * ```ts
 * import { attach } from 'plimsoll'
 *
 * const picture = await attach(session, { mediaType: file.type, bytes: await file.arrayBuffer() })
 * await session.append({ role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] })
 * ```
 */
export async function attach(session: SessionBase, input: AttachmentInput): Promise<MediaPart> {
  const { store, memory } = kernelOf('attach', session)
  const { attachment, part } = checkAttachment(input, memory.host)
  const { id } = attachment
  const outcome = await store.attach(attachment, memory.host.now())
  if (outcome === 'deleted') throw new PlimsollError('ERR_NOT_FOUND', `attach: ${id} was deleted`, { id })
  const there = outcome === 'kept' ? await store.attachment(id) : undefined
  if (there && !sameAttachment(there, attachment))
    throw new PlimsollError('ERR_DUPLICATE_ID', `attach: id ${id} names another attachment already`, { id })
  return part
}

/** The bytes that a media part names by its `ref`. @throws ERR_NOT_FOUND */
export async function readAttachment(session: SessionBase, ref: string): Promise<Attachment> {
  return attachmentIn(kernelOf('readAttachment', session).store, ref)
}

/** @throws ERR_NOT_FOUND */
export async function attachmentIn(store: ScopeStore, ref: string): Promise<Attachment> {
  const id = checkId('readAttachment', 'ref', ref)
  const found = await store.attachment(id)
  if (found) return found
  throw new PlimsollError('ERR_NOT_FOUND', `readAttachment: nothing is attached under ${id}`, { id })
}

function checkAttachment(
  input: AttachmentInput,
  host: Host,
): { readonly attachment: Attachment; readonly part: MediaPart } {
  checkOptions('attach', 'attachment', input, ['mediaType', 'name', 'bytes', 'id', 'tokens'])
  const { bytes, tokens } = input
  const name = input.name === undefined ? undefined : checkId('attach', 'name', input.name)
  const mediaType = checkMediaType('attach', input.mediaType)
  if (!(bytes instanceof Uint8Array || bytes instanceof ArrayBuffer))
    throw invalid('attach', 'bytes', 'must be a Uint8Array or an ArrayBuffer')
  const size = bytes.byteLength
  if (size > MAX_ENTRY_BYTES)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `attach: ${name ?? 'the attachment'} has ${size} bytes, more than ${MAX_ENTRY_BYTES}`,
      { size, limit: MAX_ENTRY_BYTES, ...(name !== undefined && { id: name }) },
    )
  const id = input.id === undefined ? host.newId() : checkId('attach', 'id', input.id)
  return {
    // A copy: its owner may go on to change it.
    attachment: {
      id,
      mediaType,
      bytes: new Uint8Array(bytes instanceof ArrayBuffer ? bytes.slice(0) : bytes),
    },
    part: {
      type: 'media',
      mediaType,
      ...(name !== undefined && { name }),
      ref: id,
      ...(tokens !== undefined && { tokens: checkCount('attach', 'tokens', tokens) }),
    },
  }
}
