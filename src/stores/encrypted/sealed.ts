import { fromNativeBase64, nativeBase64 } from '../../platform/native-base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { type Bytes, decrypt, encrypt, prefixed } from './cipher.ts'

/** Begins all that is encrypted, and is part of what it is bound to. */
export const FORMAT = 'p1'
/** Characters of a data key's id. */
export const KEY_ID_LENGTH = 11
const HEAD_LENGTH = FORMAT.length + KEY_ID_LENGTH + 2

const NOTHING = new Uint8Array()
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Where something is stored: moved to another place, it does not decrypt. */
export interface Place {
  readonly scope: Scope
  readonly kind: LogRow['kind'] | 'attachment' | 'derived'
  /** Of the op that wrote it; empty where none did. */
  readonly opId: string
  /** Of the entry, the register, the attachment, the derived row. */
  readonly id: string
  /** Which column of it. */
  readonly field: 'body' | 'bytes'
  /** What else its row says that was known when it was sealed: {@link restOf}. */
  readonly rest?: string
}

/** What a row says of itself in the clear, and may not say otherwise. */
export function restOf(
  at: number,
  { round, lane, base, sources }: Pick<LogRow, 'round' | 'lane' | 'base' | 'sources'>,
): string {
  return JSON.stringify([at, round ?? null, lane ?? null, base ?? null, sources ?? null])
}

/** A key under which a scope is encrypted. */
export interface DataKey {
  /** 11 characters of base64url. */
  readonly id: string
  readonly key: CryptoKey
}

/** A text in its place: `p1.<id of the key>.<base64>`. */
export async function sealText({ id, key }: DataKey, place: Place, text: string): Promise<string> {
  return `${FORMAT}.${id}.${nativeBase64(await encrypt(key, bound(id, place), encoder.encode(text) as Bytes))}`
}

/** Id of the key of a sealed text; undefined: it is not sealed. */
export function keyOf(text: string): string | undefined {
  const isSealed = text.startsWith(`${FORMAT}.`) && text[HEAD_LENGTH - 1] === '.'
  return isSealed ? text.slice(FORMAT.length + 1, HEAD_LENGTH - 1) : undefined
}

/** @throws ERR_DECRYPT */
export async function openText({ id, key }: DataKey, place: Place, text: string): Promise<string> {
  try {
    const sealed = fromNativeBase64(text.slice(HEAD_LENGTH)) ?? NOTHING
    return decoder.decode(await decrypt(key, bound(id, place), sealed))
  } catch (cause) {
    throw undecryptable(place, cause)
  }
}

/** Bytes in their place: `p1.<id of the key>.`, then nonce, ciphertext and tag. */
export async function sealBytes({ id, key }: DataKey, place: Place, plain: Bytes): Promise<Bytes> {
  const sealed = await encrypt(key, bound(id, place), plain)
  const bytes = new Uint8Array(HEAD_LENGTH + sealed.length)
  bytes.set(encoder.encode(`${FORMAT}.${id}.`))
  bytes.set(sealed, HEAD_LENGTH)
  return bytes
}

/** As {@link keyOf}. */
export function keyOfBytes(bytes: Bytes): string | undefined {
  return keyOf(String.fromCharCode(...bytes.subarray(0, HEAD_LENGTH)))
}

/** @throws ERR_DECRYPT */
export async function openBytes({ id, key }: DataKey, place: Place, bytes: Bytes): Promise<Bytes> {
  try {
    return await decrypt(key, bound(id, place), bytes.slice(HEAD_LENGTH))
  } catch (cause) {
    throw undecryptable(place, cause)
  }
}

export function undecryptable({ kind, id }: Pick<Place, 'kind' | 'id'>, cause?: unknown): PlimsollError {
  return new PlimsollError('ERR_DECRYPT', `encryptedStore: ${kind} ${id} cannot be decrypted`, { id, cause })
}

function bound(keyId: string, { scope, kind, opId, id, field, rest }: Place): Bytes {
  const { tenant, userId, sessionId } = scope
  return prefixed([FORMAT, keyId, tenant, userId, sessionId, kind, opId, id, field, rest])
}
