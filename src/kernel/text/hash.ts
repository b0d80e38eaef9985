import { Sha256 } from '../../hashes/sha256.ts'
import type { Json } from '../../ports/message.ts'
import { canonical } from './json.ts'

/** SHA-256 of a text's UTF-8 bytes, in hex. */
export function hashText(text: string): string {
  return new Sha256().hex(text)
}

/** SHA-256 over canonical JSON, in hex. */
export function hashJson(value: Json): string {
  return hashText(canonical(value))
}
