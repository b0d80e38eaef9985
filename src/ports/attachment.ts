import { invalid } from './options.ts'
import type { Attachment } from './store.ts'

/** RFC 6838, section 4.2, with parameters. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(;[ -~]{0,256})?$/

/** @throws ERR_INVALID_ARGUMENT */
export function checkMediaType(operation: string, value: unknown): string {
  if (typeof value === 'string' && MEDIA_TYPE.test(value)) return value
  throw invalid(operation, 'mediaType', 'must be like image/png')
}

/** Whether two are the same, their ids aside. */
export function sameAttachment(one: Attachment, other: Attachment): boolean {
  const isSized = one.mediaType === other.mediaType && one.bytes.length === other.bytes.length
  return isSized && one.bytes.every((byte, index) => byte === other.bytes[index])
}
