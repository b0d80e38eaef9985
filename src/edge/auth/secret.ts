import { PlimsollError } from '../../ports/errors.ts'

/** RFC 7518, section 3.2: a key of HS256 has at least as many bits as its hash. */
const LEAST_BYTES = 32
/** Digits of base 16 have more than these, but for one key in a million. */
const LEAST_DIFFERENT = 8
const ADVICE = 'set one that nobody can guess, for example from: openssl rand -base64 48'

/**
 * The bytes of a secret; those of a text are its UTF-8. @throws ERR_NOT_CONFIGURED where they are
 * fewer than 32, of fewer than 8 kinds, or a few of them again and again
 */
export function secretBytes(name: string, secret: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(typeof secret === 'string' ? new TextEncoder().encode(secret) : secret)
  const weakness =
    bytes.length < LEAST_BYTES
      ? `has fewer than ${LEAST_BYTES} bytes`
      : new Set(bytes).size < LEAST_DIFFERENT
        ? `has fewer than ${LEAST_DIFFERENT} different characters`
        : isRepeated(bytes) && 'repeats itself'
  if (weakness) throw new PlimsollError('ERR_NOT_CONFIGURED', `authenticate: ${name} ${weakness}; ${ADVICE}`)
  return bytes
}

/** Whether all of it is its beginning again and again. */
function isRepeated(bytes: Uint8Array): boolean {
  const most = Math.floor(bytes.length / 2)
  for (let period = LEAST_DIFFERENT; period <= most; period++)
    if (bytes.every((byte, at) => byte === bytes[at % period])) return true
  return false
}
