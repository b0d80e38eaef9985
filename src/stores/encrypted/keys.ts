import { isPlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import type { Bytes } from './cipher.ts'

/** Who a key belongs to: a scope without its session. */
export type KeyOwner = Pick<Scope, 'tenant' | 'userId'>

/**
 * What is stored beside a wrapped data key, in the clear, so that the key which wrapped it can be
 * found or derived again.
 */
export interface KeyInfo {
  /** Names the key that wrapped it. */
  readonly id: string
  /** Of a key that is derived from a passphrase: base64 of 16 bytes. */
  readonly salt?: string
  /** Of PBKDF2. */
  readonly iterations?: number
}

export interface WrappedKey {
  readonly info: KeyInfo
  readonly bytes: Bytes
}

/**
 * Where the keys of users come from. A user's key wraps the data keys under which the user's scopes
 * are encrypted, so that it can change without a row being written again. Ready-made: `secretKeys`,
 * `passphraseKeys`, `cryptoKeys`; an app may ask a key service instead.
 */
export interface Keys {
  /**
   * Contract: wraps a data key for its user.
   *
   * @param place what the wrapped key is bound to: {@link Keys.unwrap} is given the same
   * @param kept what was stored with the key of the user's own scope, if {@link Keys.keepsInfo}
   */
  wrap(owner: KeyOwner, raw: Bytes, place: Bytes, kept: KeyInfo | undefined): Promise<WrappedKey>
  /**
   * Contract: gives back what was wrapped. Where this is not its key or its place, it rejects with
   * WebCrypto's `OperationError` or with `ERR_DECRYPT`; whatever else it rejects with is passed on
   * as `ERR_STORAGE`, and the call may be repeated.
   */
  unwrap(owner: KeyOwner, wrapped: WrappedKey, place: Bytes): Promise<Bytes>
  /**
   * Contract: whether it is this key that wraps what has that info, or would do so again. Default:
   * nobody can tell, and nothing counts as wrapped by an older one.
   */
  wraps?(info: KeyInfo): Promise<boolean>
  /**
   * Whether all data keys of a user have the info of the first one, so that a slow derivation is
   * done once. Default: false.
   */
  readonly keepsInfo?: boolean
}

/**
 * Wraps by the first, and unwraps by whichever can: for as long as data keys under an older key are
 * left.
 */
export function eachOf(newest: Keys, ...older: readonly Keys[]): Keys {
  return {
    keepsInfo: newest.keepsInfo ?? false,
    wraps: async (info) => (await newest.wraps?.(info)) ?? true,
    wrap: (owner, raw, place, kept) => newest.wrap(owner, raw, place, kept),
    unwrap: async (owner, wrapped, place) => {
      const failures: unknown[] = []
      for (const keys of [newest, ...older])
        try {
          return await keys.unwrap(owner, wrapped, place)
        } catch (error) {
          failures.push(error)
        }
      // One that could not be asked may be the right one.
      throw failures.find((error) => !isNotTheKey(error)) ?? failures[0]
    },
  }
}

/** Whether keys said that they do not open something, rather than that they failed. */
export function isNotTheKey(error: unknown): boolean {
  return (
    isPlimsollError(error, 'ERR_DECRYPT') || (error as { name?: unknown } | null)?.name === 'OperationError'
  )
}
