import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Json } from '../../ports/message.ts'
import { canonical } from './json.ts'

/** SHA-256 of a text's UTF-8 bytes, in hex. */
export function hashText(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)))
}

/** SHA-256 over canonical JSON, in hex. */
export function hashJson(value: Json): string {
  return hashText(canonical(value))
}
