import { fromBase64 } from './base64.ts'
import { invalid } from './options.ts'

/** How files of the types begin that all providers take, by the formats' own specifications. */
const BEGINNINGS: { readonly [mediaType: string]: (head: string) => boolean } = {
  'image/jpeg': (head) => head.startsWith('\xff\xd8\xff'),
  'image/png': (head) => head.startsWith('\x89PNG\r\n\x1a\n'),
  'image/gif': (head) => /^GIF8[79]a/.test(head),
  'image/webp': (head) => /^RIFF.{4}WEBP/s.test(head),
}

/** Whether all providers take pictures of that type. */
export function isPictureType(mediaType: string): boolean {
  return beginningOf(mediaType) !== undefined
}

/** Whether bytes are a picture of that type, which all providers take. */
export function isPicture(mediaType: string, bytes: Uint8Array): boolean {
  return beginningOf(mediaType)?.(String.fromCharCode(...bytes.subarray(0, 12))) ?? false
}

/** Whether the data of a `data:` URL are a picture of its type, which all providers take. */
export function isPictureUrl(url: string): boolean {
  const [, mediaType = ''] = /^data:([^,]*);base64,/i.exec(url) ?? []
  const bytes = isPictureType(mediaType) ? fromBase64(url.slice(url.indexOf(',') + 1)) : undefined
  return bytes !== undefined && isPicture(mediaType, bytes)
}

/**
 * A provider refuses a request with a picture that is none, and each one after it.
 *
 * @throws ERR_INVALID_ARGUMENT: bytes are not of their type, which is one that all providers take
 */
export function checkPicture(
  operation: string,
  argument: string,
  mediaType: string,
  bytes: Uint8Array,
): void {
  if (isPictureType(mediaType) && !isPicture(mediaType, bytes))
    throw invalid(operation, argument, `must be of the type that they are said to be, ${mediaType}`)
}

function beginningOf(mediaType: string): ((head: string) => boolean) | undefined {
  const [type = ''] = mediaType.toLowerCase().split(';')
  return BEGINNINGS[type.trim()]
}
