import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { fromNativeBase64, nativeBase64 } from '../../platform/native-base64.ts'
import { base64url } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import { prefixed, randomBytes } from '../../stores/encrypted/cipher.ts'

const KEY_BYTES = 32
/** Random, of 192 bits: however much one key seals, none repeats. */
const NONCE_BYTES = 24
const TAG_BYTES = 16

/**
 * Encrypts what an object keeps beside its memory: streams of chats, long messages on their way.
 * All of it is synchronous, as their writes are.
 */
export interface ObjectSeal {
  /** Bytes that a seal adds. */
  readonly overhead: number
  /** @param place where it is stored: it opens nowhere else */
  seal(bytes: Uint8Array, place: string): Uint8Array<ArrayBuffer>
  /** @throws ERR_DECRYPT */
  open(bytes: Uint8Array, place: string): Uint8Array<ArrayBuffer>
  /** What stands for a name that is only compared. */
  hide(name: string): string
}

/** Keeps everything in the clear. */
export const NO_SEAL: ObjectSeal = {
  overhead: 0,
  seal: (bytes) => Uint8Array.from(bytes),
  open: (bytes) => Uint8Array.from(bytes),
  hide: (name) => name,
}

/**
 * A new key, wrapped for one scope: `openSeal` takes it. Destroying it destroys what was
 * sealed by it.
 *
 * @param secret 32 bytes or more; by HKDF-SHA-256 each scope has a key of its own that wraps
 */
export function newSealKey(secret: string, scope: Scope): string {
  return nativeBase64(seal(wrapping(secret, scope), randomBytes(2 * KEY_BYTES), 'key'))
}

/**
 * XChaCha20-Poly1305 under a key of {@link newSealKey}.
 *
 * @param secrets any of them may have wrapped it
 * @throws ERR_DECRYPT: none of them did, or not for this scope
 */
export function openSeal(secrets: readonly string[], scope: Scope, wrapped: string): ObjectSeal {
  const bytes = fromNativeBase64(wrapped) ?? new Uint8Array()
  for (const secret of secrets) {
    const raw = unsealed(wrapping(secret, scope), bytes, 'key')
    if (raw) return sealBy(raw.subarray(0, KEY_BYTES), raw.subarray(KEY_BYTES))
  }
  throw undecryptable('the key')
}

/**
 * The same key, wrapped by the first of the secrets; undefined: it is. @throws ERR_DECRYPT: none of
 * them opens it
 */
export function rewrapSealKey(
  [newest = '', ...older]: readonly string[],
  scope: Scope,
  wrapped: string,
): string | undefined {
  const bytes = fromNativeBase64(wrapped) ?? new Uint8Array()
  if (unsealed(wrapping(newest, scope), bytes, 'key')) return undefined
  for (const secret of older) {
    const raw = unsealed(wrapping(secret, scope), bytes, 'key')
    if (raw) return nativeBase64(seal(wrapping(newest, scope), raw, 'key'))
  }
  throw undecryptable('the key')
}

/** As {@link ObjectSeal.seal}, for a text: base64. */
export function sealText(by: ObjectSeal, text: string, place: string): string {
  return by === NO_SEAL ? text : nativeBase64(by.seal(utf8ToBytes(text), place))
}

/** As {@link ObjectSeal.open}, for a text. @throws ERR_DECRYPT */
export function openText(by: ObjectSeal, text: string, place: string): string {
  if (by === NO_SEAL) return text
  const bytes = by.open(fromNativeBase64(text) ?? new Uint8Array(), place)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

function sealBy(key: Uint8Array, hiding: Uint8Array): ObjectSeal {
  return {
    overhead: NONCE_BYTES + TAG_BYTES,
    seal: (bytes, place) => seal(key, bytes, place),
    open: (bytes, place) => {
      const opened = unsealed(key, bytes, place)
      if (!opened) throw undecryptable(place)
      return opened
    },
    hide: (name) => base64url(hmac(sha256, hiding, utf8ToBytes(name))),
  }
}

function seal(key: Uint8Array, bytes: Uint8Array, place: string): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES)
  const sealed = new Uint8Array(NONCE_BYTES + bytes.length + TAG_BYTES)
  sealed.set(nonce)
  xchacha20poly1305(key, nonce, utf8ToBytes(place)).encrypt(bytes, sealed.subarray(NONCE_BYTES))
  return sealed
}

function unsealed(key: Uint8Array, sealed: Uint8Array, place: string): Uint8Array<ArrayBuffer> | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = sealed.subarray(0, NONCE_BYTES)
  try {
    return Uint8Array.from(
      xchacha20poly1305(key, nonce, utf8ToBytes(place)).decrypt(sealed.subarray(NONCE_BYTES)),
    )
  } catch {
    return undefined
  }
}

function wrapping(secret: string, { tenant, userId, sessionId }: Scope): Uint8Array {
  const info = prefixed(['plimsoll', 'object key', tenant, userId, sessionId])
  return hkdf(sha256, utf8ToBytes(secret), undefined, info, KEY_BYTES)
}

function undecryptable(what: string): PlimsollError {
  return new PlimsollError('ERR_DECRYPT', `objectSeal: ${what} cannot be decrypted`)
}
