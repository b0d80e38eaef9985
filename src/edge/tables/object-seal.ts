import { gcm } from '@noble/ciphers/aes.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { prefixed, randomBytes } from '../../encrypted/cipher.ts'
import { base64, fromBase64 } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'

/** Begins what is sealed. Streams and JSON texts, cut anywhere, begin with no control character. */
const MARK = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** Encrypts what an object keeps beside its memory for a while: streams of chats, long messages on their way. All of it is synchronous. */
export interface ObjectSeal {
  /** Bytes that a seal adds. */
  readonly overhead: number
  /** @param place where it is stored: it opens nowhere else */
  seal(bytes: Uint8Array, place: string): Uint8Array
  /** What was not sealed is given back as it is. @throws ERR_DECRYPT */
  open(bytes: Uint8Array, place: string): Uint8Array
}

/** Keeps everything in the clear. */
export const NO_SEAL: ObjectSeal = { overhead: 0, seal: (bytes) => bytes, open: (bytes) => bytes }

/**
 * AES-256-GCM under a key for one scope, by HKDF-SHA-256 of a secret; a random nonce each time.
 *
 * @param secrets the newest first, which seals; the others open what was sealed before
 */
export function objectSeal(secrets: readonly string[], { tenant, userId, sessionId }: Scope): ObjectSeal {
  const encoder = new TextEncoder()
  const info = prefixed(['plimsoll', 'object', tenant, userId, sessionId])
  const keys = secrets.map((secret) => hkdf(sha256, encoder.encode(secret), undefined, info, KEY_BYTES))
  return {
    overhead: 1 + NONCE_BYTES + TAG_BYTES,
    seal: (bytes, place) => {
      const nonce = randomBytes(NONCE_BYTES)
      const sealed = gcm(keys[0] as Uint8Array, nonce, encoder.encode(place)).encrypt(bytes)
      const all = new Uint8Array(1 + NONCE_BYTES + sealed.length)
      all[0] = MARK
      all.set(nonce, 1)
      all.set(sealed, 1 + NONCE_BYTES)
      return all
    },
    open: (bytes, place) => {
      if (bytes[0] !== MARK) return bytes
      const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
      for (const key of keys)
        try {
          return gcm(key, nonce, encoder.encode(place)).decrypt(bytes.subarray(1 + NONCE_BYTES))
        } catch {
          // Perhaps an older one opens it.
        }
      throw new PlimsollError('ERR_DECRYPT', `objectSeal: ${place} cannot be decrypted`)
    },
  }
}

/** As {@link ObjectSeal.seal}, for a text. */
export function sealText({ seal, overhead }: ObjectSeal, text: string, place: string): string {
  if (overhead === 0) return text
  return String.fromCharCode(MARK) + base64(seal(new TextEncoder().encode(text), place))
}

/** As {@link ObjectSeal.open}, for a text. @throws ERR_DECRYPT */
export function openText({ open, overhead }: ObjectSeal, text: string, place: string): string {
  if (overhead === 0 || text.charCodeAt(0) !== MARK) return text
  const bytes = open(fromBase64(text.slice(1)) ?? Uint8Array.of(MARK), place)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}
