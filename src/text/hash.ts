import { Sha256 } from '../hashes/sha256.ts'
import type { Json } from '../ports/message.ts'
import { canonical } from './json.ts'

/**
 * SHA-256 of a text's UTF-8 bytes, in hex. Of what can be forgotten it needs a key: else anybody
 * who has the hash can try what it was made from.
 *
 * @param key of a {@link Secret}: then it is HMAC-SHA-256
 */
export function hashText(text: string, key?: string): string {
  return new Sha256(key).hex(text)
}

/** The same over canonical JSON. */
export function hashJson(value: Json, key?: string): string {
  return hashText(canonical(value), key)
}
