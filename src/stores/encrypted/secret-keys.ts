import { base64url } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { type Bytes, decrypt, encrypt, prefixed } from './cipher.ts'
import type { KeyOwner, Keys } from './keys.ts'

const LEAST_BYTES = 32
const ID_BYTES = 8
/** Users whose keys are kept in memory. */
const MOST_USERS = 64

const encoder = new TextEncoder()

/** Of HKDF, for a purpose. */
const hkdf = (fields: readonly (string | undefined)[]) => ({
  name: 'HKDF',
  hash: 'SHA-256',
  salt: new Uint8Array(),
  info: prefixed(['plimsoll', ...fields]),
})

/**
 * What names the key of {@link secretKeys} in all that it wraps: nobody can tell the secret from
 * it. For those who want to be sure that a secret is the one that it was before.
 *
 * @throws ERR_INVALID_ARGUMENT, as {@link secretKeys}
 */
export async function secretKeyId(secret: Uint8Array | string): Promise<string> {
  return idOf(await masterOf(bytesOf(secret)))
}

/**
 * A key for each tenant and user, derived from one secret by HKDF-SHA-256 (RFC 5869): for servers,
 * which keep secrets. Secret and data together let one read all of it; destroying the secret
 * makes all of it unreadable.
 *
 * @param secret 32 bytes or more that nobody can guess, for example `openssl rand -base64 32`:
 * bytes, or a text that is taken as it is
 * @throws ERR_INVALID_ARGUMENT: it is shorter
 */
export function secretKeys(secret: Uint8Array | string): Keys {
  const master = masterOf(bytesOf(secret))
  // The first use reports it.
  master.catch(() => {})
  let id: Promise<string> | undefined
  const known = new Map<string, Promise<CryptoKey>>()
  const derive = async ({ tenant, userId }: KeyOwner): Promise<CryptoKey> =>
    crypto.subtle.deriveKey(
      hkdf(['user key', tenant, userId]),
      await master,
      { name: 'AES-GCM', length: 256 },
      false,
      ['encrypt', 'decrypt'],
    )
  const keyOf = (owner: KeyOwner): Promise<CryptoKey> => {
    const name = JSON.stringify([owner.tenant ?? null, owner.userId])
    let key = known.get(name)
    if (!key) {
      if (known.size >= MOST_USERS) known.clear()
      key = derive(owner)
      known.set(name, key)
    }
    return key
  }
  const named = (): Promise<string> => {
    id ??= master.then(idOf)
    return id
  }
  return {
    wraps: async (info) => info.id === (await named()),
    wrap: async (owner, raw: Bytes, place) => {
      return { info: { id: await named() }, bytes: await encrypt(await keyOf(owner), place, raw) }
    },
    unwrap: async (owner, { bytes }, place) => decrypt(await keyOf(owner), place, bytes),
  }
}

function bytesOf(secret: Uint8Array | string): Bytes {
  const bytes = typeof secret === 'string' ? encoder.encode(secret) : Uint8Array.from(secret ?? [])
  if (bytes.length >= LEAST_BYTES) return bytes
  const reason = `secretKeys: secret must have ${LEAST_BYTES} bytes or more`
  throw new PlimsollError('ERR_INVALID_ARGUMENT', reason, { argument: 'secret' })
}

function masterOf(bytes: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits', 'deriveKey'])
}

async function idOf(master: CryptoKey): Promise<string> {
  const bits = await crypto.subtle.deriveBits(hkdf(['key id']), master, ID_BYTES * 8)
  return `hkdf.${base64url(new Uint8Array(bits))}`
}
