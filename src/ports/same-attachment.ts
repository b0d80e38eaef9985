import type { Attachment } from './store.ts'

interface Bytes extends Pick<Attachment, 'mediaType'> {
  readonly bytes: Uint8Array
}

/** Whether two are the same, their ids aside. */
export function sameAttachment(one: Bytes, other: Bytes): boolean {
  const isSized = one.mediaType === other.mediaType && one.bytes.length === other.bytes.length
  return isSized && one.bytes.every((byte, index) => byte === other.bytes[index])
}
