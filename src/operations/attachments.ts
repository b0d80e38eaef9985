import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { MediaPart } from '../ports/message.ts'
import type { Attachment, ScopeStore, Store } from '../ports/store.ts'
import { checkCount, checkId, checkText, invalid, isPlainObject } from '../kernel/text/json.ts'
import { MAX_ENTRY_BYTES } from '../kernel/log/message.ts'

/** How long an attachment is kept that no message has named, in milliseconds: a day. */
const UNUSED_MS = 24 * 60 * 60 * 1000

export interface AttachmentInput {
  /** For example `image/png`. */
  readonly mediaType: string
  /** At most 8 MiB. */
  readonly bytes: Uint8Array | ArrayBuffer
  /** Default: a fresh UUIDv7. Repeating the call under one id is a no-op. */
  readonly id?: string
  /** What the provider charges for it, in tokens. Default 1 600. */
  readonly tokens?: number
}

/** @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID (other bytes under that id), ERR_NOT_FOUND (deleted) */
export async function attach(store: ScopeStore, input: AttachmentInput, host: Host): Promise<MediaPart> {
  const { attachment, part } = checkAttachment(input, host)
  const { id, mediaType } = attachment
  const outcome = await store.attach(attachment, host.now())
  if (outcome === 'deleted') throw new PlimsollError('ERR_NOT_FOUND', `attach: ${id} was deleted`, { id })
  const there = outcome === 'kept' ? await store.attachment(id) : undefined
  if (there && (there.mediaType !== mediaType || !sameBytes(there.bytes, attachment.bytes)))
    throw new PlimsollError('ERR_DUPLICATE_ID', `attach: id ${id} names another attachment already`, { id })
  return part
}

/** @throws ERR_NOT_FOUND */
export async function readAttachment(store: ScopeStore, ref: string): Promise<Attachment> {
  const id = checkId('attachment', 'ref', ref)
  const found = await store.attachment(id)
  if (!found) throw new PlimsollError('ERR_NOT_FOUND', `attachment: nothing is attached under ${id}`, { id })
  return found
}

/** When the next attachment is due that no message has named. */
export async function nextWorkAt(store: Store): Promise<number | undefined> {
  const oldest = await store.oldestUnused()
  return oldest === undefined ? undefined : oldest + UNUSED_MS
}

/** Removes the attachments that are due, as many as one call may. */
export async function runDueWork(store: Store, host: Host): Promise<number | undefined> {
  await store.removeUnused(host.now() - UNUSED_MS)
  return nextWorkAt(store)
}

function checkAttachment(
  input: AttachmentInput,
  host: Host,
): { readonly attachment: Attachment; readonly part: MediaPart } {
  if (!isPlainObject(input)) throw invalid('attach', 'attachment', 'must be an object')
  const { bytes, tokens } = input as AttachmentInput
  const mediaType = checkMediaType('attach', input.mediaType)
  if (!(bytes instanceof Uint8Array || bytes instanceof ArrayBuffer))
    throw invalid('attach', 'bytes', 'must be a Uint8Array or an ArrayBuffer')
  const size = bytes.byteLength
  if (size > MAX_ENTRY_BYTES)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `attach: the attachment has ${size} bytes, more than ${MAX_ENTRY_BYTES}`,
      { size, limit: MAX_ENTRY_BYTES },
    )
  const id = input.id === undefined ? host.newId() : checkId('attach', 'id', input.id)
  return {
    // A copy: whoever gave the bytes may go on to change them.
    attachment: {
      id,
      mediaType,
      bytes: new Uint8Array(bytes instanceof ArrayBuffer ? bytes.slice(0) : bytes),
    },
    part: {
      type: 'media',
      mediaType,
      ref: id,
      ...(tokens !== undefined && { tokens: checkCount('attach', 'tokens', tokens) }),
    },
  }
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkMediaType(operation: string, value: unknown): string {
  const mediaType = checkText(operation, 'mediaType', value)
  if (!MEDIA_TYPE.test(mediaType)) throw invalid(operation, 'mediaType', 'must be like image/png')
  return mediaType
}

/** RFC 6838, section 4.2, with parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(;[ -~]{0,256})?$/

/** Whether two hold the same. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
