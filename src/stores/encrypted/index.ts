/** Encryption at rest: `plimsoll/encrypted`. */
export { cryptoKeys } from './crypto-keys.ts'
export {
  type EncryptedStore,
  type EncryptedStoreOptions,
  encryptedStore,
  type Unreadable,
} from './encrypted-store.ts'
export { destroyKeptKeys, type KeptKeysOptions, keptKeys } from './kept-keys.ts'
export { eachOf, type KeyInfo, type KeyOwner, type Keys, type WrappedKey } from './keys.ts'
export { type PassphraseOptions, passphraseKeys } from './passphrase-keys.ts'
export { secretKeyId, secretKeys } from './secret-keys.ts'
