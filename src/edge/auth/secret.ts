import { PlimsollError } from '../../ports/errors.ts'

/** RFC 7518, section 3.2: a key of HS256 has at least as many bits as its hash. */
const LEAST_BYTES = 32

/**
 * The bytes of a secret; those of a text are its UTF-8. @throws ERR_NOT_CONFIGURED where they are
 * fewer than 32
 */
export function secretBytes(name: string, secret: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(typeof secret === 'string' ? new TextEncoder().encode(secret) : secret)
  if (bytes.length < LEAST_BYTES)
    throw new PlimsollError('ERR_NOT_CONFIGURED', `authenticate: ${name} has fewer than ${LEAST_BYTES} bytes`)
  return bytes
}
