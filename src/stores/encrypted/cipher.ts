/** Bytes in memory of their own, which the engine's cryptography takes. */
export type Bytes = Uint8Array<ArrayBuffer>

/**
 * NIST SP 800-38D, section 8.2.2: 96 random bits. Never a counter: two tabs, or a backup that was
 * restored, would repeat it.
 */
const NONCE_BYTES = 12
export const KEY_BYTES = 32
/** Says that a field of {@link prefixed} is absent, rather than empty. */
const ABSENT = 0xffff_ffff
const ASCII = /^[\0-\x7f]*$/

const encoder = new TextEncoder()

export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length))
}

/** 256 random bits. */
export function newKey(): Bytes {
  return randomBytes(KEY_BYTES)
}

/** A key that encrypts and decrypts, and cannot be read. */
export function importKey(raw: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/**
 * AES-256-GCM (NIST SP 800-38D).
 *
 * @param bound what is authenticated beside it: {@link decrypt} must be given the same
 * @returns nonce, ciphertext, and a tag of 128 bits
 */
export async function encrypt(key: CryptoKey, bound: Bytes, plain: Bytes): Promise<Bytes> {
  const iv = randomBytes(NONCE_BYTES)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: bound }, key, plain)
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength)
  bytes.set(iv)
  bytes.set(new Uint8Array(sealed), NONCE_BYTES)
  return bytes
}

/** Rejects with the engine's own error where key, place or bytes are others. */
export async function decrypt(key: CryptoKey, bound: Bytes, sealed: Bytes): Promise<Bytes> {
  const iv = sealed.subarray(0, NONCE_BYTES)
  const algorithm = { name: 'AES-GCM', iv, additionalData: bound }
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, sealed.subarray(NONCE_BYTES)))
}

/** Fields, each with its length before it: no two lists give the same bytes. */
export function prefixed(fields: readonly (string | undefined)[]): Bytes {
  // Most are short and of ASCII, for which a call of the engine's encoder takes longer.
  const encoded = ASCII.test(fields.join(''))
    ? fields
    : fields.map((field) => (field === undefined ? field : encoder.encode(field)))
  const bytes = new Uint8Array(encoded.reduce((size, field) => size + 4 + (field?.length ?? 0), 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const field of encoded) {
    view.setUint32(at, field?.length ?? ABSENT)
    at += 4
    if (typeof field === 'string')
      for (let unit = 0; unit < field.length; unit++) bytes[at + unit] = field.charCodeAt(unit)
    else if (field) bytes.set(field, at)
    at += field?.length ?? 0
  }
  return bytes
}
