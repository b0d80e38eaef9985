import { base64, fromBase64 } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { checkOptions, invalid } from '../../ports/options.ts'
import { decrypt, encrypt, randomBytes } from './cipher.ts'
import type { KeyInfo, Keys } from './keys.ts'

const OPERATION = 'passphraseKeys'
const SALT_BYTES = 16
/** OWASP Password Storage Cheat Sheet, for PBKDF2-HMAC-SHA-256. */
const LEAST_ITERATIONS = 600_000
const MOST_ITERATIONS = 10_000_000

export interface PassphraseOptions {
  /**
   * Of PBKDF2, 600 000 (the default) to 10 000 000: what is wrapped from now on. Older keys keep
   * theirs until `rewrap`.
   */
  readonly iterations?: number
}

/**
 * A user's key from a passphrase, by PBKDF2-SHA-256 with a random salt. Salt and iterations are
 * stored with each wrapped key; the passphrase and what comes of it never are. One derivation takes
 * some tenths of a second, once for each passphrase and salt. How safe it is depends on the
 * passphrase alone: an attacker with the data may try any number.
 *
 * @throws ERR_INVALID_ARGUMENT: it is empty, or the iterations are out of range
 */
export function passphraseKeys(passphrase: string, options: PassphraseOptions = {}): Keys {
  checkOptions(OPERATION, 'options', options, ['iterations'])
  const { iterations = LEAST_ITERATIONS } = options
  if (typeof passphrase !== 'string' || passphrase === '')
    throw invalid(OPERATION, 'passphrase', 'must be a text that is not empty')
  if (!Number.isInteger(iterations) || iterations < LEAST_ITERATIONS || iterations > MOST_ITERATIONS)
    throw invalid(
      OPERATION,
      'iterations',
      `must be a whole number from ${LEAST_ITERATIONS} to ${MOST_ITERATIONS}`,
    )
  // As text that is typed on another keyboard gives other code points for the same characters.
  const typed = new TextEncoder().encode(passphrase.normalize('NFKC'))
  const derived = new Map<string, Promise<CryptoKey>>()
  const keyOf = (info: KeyInfo): Promise<CryptoKey> => {
    let key = derived.get(info.id)
    if (!key) {
      key = derive(typed, info)
      derived.set(info.id, key)
      key.catch(() => derived.delete(info.id))
    }
    return key
  }
  return {
    keepsInfo: true,
    wrap: async (_, raw, place, kept) => {
      const info = kept && isOurs(kept) && kept.iterations === iterations ? kept : infoOf(iterations)
      return { info, bytes: await encrypt(await keyOf(info), place, raw) }
    },
    unwrap: async (_, { info, bytes }, place) => {
      if (!isOurs(info))
        throw new PlimsollError('ERR_DECRYPT', 'passphraseKeys: the key was not wrapped by a passphrase')
      return decrypt(await keyOf(info), place, bytes)
    },
  }
}

function infoOf(iterations: number): KeyInfo {
  const salt = base64(randomBytes(SALT_BYTES))
  return { id: `pbkdf2.${iterations}.${salt}`, salt, iterations }
}

/**
 * What is stored may have been changed: a count that is out of range would take for ever, or be no
 * protection.
 */
function isOurs({ id, salt, iterations = 0 }: KeyInfo): boolean {
  const isInRange = iterations >= LEAST_ITERATIONS && iterations <= MOST_ITERATIONS
  return isInRange && salt !== undefined && id === `pbkdf2.${iterations}.${salt}`
}

async function derive(
  typed: Uint8Array<ArrayBuffer>,
  { salt = '', iterations = 0 }: KeyInfo,
): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', typed, 'PBKDF2', false, ['deriveKey'])
  return crypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt: fromBase64(salt) ?? new Uint8Array(), iterations },
    base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}
