import { PlimsollError } from '../../ports/errors.ts'
import { decrypt, encrypt } from './cipher.ts'
import type { Keys } from './keys.ts'

/**
 * One key that the app holds, for all users whom it opens data of: for example one that was
 * imported from a key service.
 *
 * @param id names it in what is stored
 * @param key for AES-GCM, with the usages `encrypt` and `decrypt`; it need not be extractable
 * @throws ERR_INVALID_ARGUMENT
 */
export function cryptoKeys(id: string, key: CryptoKey): Keys {
  const usages = ['encrypt', 'decrypt'] as const
  if (key?.algorithm?.name !== 'AES-GCM' || !usages.every((usage) => key.usages.includes(usage)))
    throw new PlimsollError(
      'ERR_INVALID_ARGUMENT',
      'cryptoKeys: key must be an AES-GCM key that can encrypt and decrypt',
      {
        argument: 'key',
      },
    )
  return {
    wraps: async (info) => info.id === id,
    wrap: async (_, raw, place) => ({ info: { id }, bytes: await encrypt(key, place, raw) }),
    unwrap: (_, { bytes }, place) => decrypt(key, place, bytes),
  }
}
