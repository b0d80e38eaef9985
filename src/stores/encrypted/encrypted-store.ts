import type { Scope } from '../../ports/op.ts'
import { checkOptions, invalid } from '../../ports/options.ts'
import { scopeName } from '../../ports/scope-name.ts'
import type { Store } from '../../ports/store.ts'
import { checkMethod } from '../../text/check-value.ts'
import { EncryptedScope } from './encrypted-scope.ts'
import { KeyRing } from './key-ring.ts'
import type { KeyInfo, KeyOwner, Keys } from './keys.ts'
import { OpenedTexts } from './opened-texts.ts'
import type { Place } from './sealed.ts'

const OPERATION = 'encryptedStore'
/** Scopes whose keys are kept in memory. */
const MOST_RINGS = 256
/** Rows that are reported once. */
const MOST_TOLD = 1_000
/** NIST SP 800-38D allows 2^32 random nonces under one key: a thousand for each op. */
const OPS_PER_KEY = 2 ** 22

/** Something that cannot be decrypted. */
export interface Unreadable {
  readonly scope: Scope
  /** `message`, `epoch`, `summary`, `rewind`, `put` (a register) or `attachment`. */
  readonly kind: Place['kind']
  /** Of the entry or the attachment, or the key of the register. */
  readonly id: string
}

export interface EncryptedStoreOptions {
  /**
   * Told of each row that cannot be decrypted, once: another key wrote it, it was moved here from
   * elsewhere, or its bytes changed. Messages are left out of contexts then, with the reason
   * `unreadable`; a register rejects with `ERR_DECRYPT` where it is asked for by name. The rest
   * stays readable.
   */
  readonly onUnreadable?: (row: Unreadable) => void
  /**
   * What becomes of scopes that were written before anything was encrypted. `refuse` (the default):
   * their calls reject with `ERR_DECRYPT`. `keep`: they stay in the clear until they are erased,
   * and new ones are encrypted.
   */
  readonly plain?: 'refuse' | 'keep'
  /** Ops after which a scope gets another data key, 1 or more. Default 2^22. */
  readonly opsPerKey?: number
}

export interface EncryptedStore extends Store {
  /**
   * Whether the keys open what is stored of a user, before anything else is read. `new`: nothing is
   * encrypted in the user's own scope yet, so that nothing can be said. What an older key wrapped
   * there, the newest wraps again. Idempotent.
   *
   * @throws ERR_DECRYPT: they do not, for example since the passphrase is another one; or it is
   * stored in the clear, and must not be
   */
  unlock(user: KeyOwner): Promise<'opened' | 'new'>
  /**
   * Whether an older key than the newest wrapped a data key of a scope. @throws ERR_DECRYPT: what
   * holds them is damaged
   */
  isStale(scope: Scope): Promise<boolean>
  /**
   * What is written to a scope from now on is encrypted under another data key; what is there stays
   * as it is, and readable.
   */
  rotate(scope: Scope): Promise<void>
  /**
   * Wraps the data keys of scopes by the newest of the store's keys: no row is written again. For a
   * new passphrase open the store with `eachOf(newer, older)`, everywhere; rewrap; then open it
   * with the newer alone. Idempotent: repeat it after a failure. Name the user's own scope first.
   *
   * @throws ERR_DECRYPT: one of the scopes does not open; those before it are done
   */
  rewrap(scopes: Iterable<Scope> | AsyncIterable<Scope>): Promise<void>
}

/**
 * A store over another one, which then holds ciphertext: texts of messages, summaries, facts,
 * profile and skills, checkpoints, attachments, and what is derived from them, under AES-256-GCM.
 * Each scope has data keys of its own, which the user's key wraps; each row is bound to its place.
 * It gives what `Store` asks for but `snapshot`. Around `sync` the home holds ciphertext, too.
 *
 * What still shows: ids, times in ids, keys of registers (names of profile documents and skills),
 * sizes, counts, order, who wrote which op, and places in lists. Names of lists are stored as
 * hashes.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function encryptedStore(
  store: Store,
  keys: Keys,
  options: EncryptedStoreOptions = {},
): EncryptedStore {
  checkMethod(OPERATION, 'store', store, 'open')
  checkMethod(OPERATION, 'keys', keys, 'wrap', 'must be keys, for example secretKeys(secret)')
  checkOptions(OPERATION, 'options', options, ['onUnreadable', 'plain', 'opsPerKey'])
  const { onUnreadable, plain = 'refuse', opsPerKey = OPS_PER_KEY } = options
  if (plain !== 'refuse' && plain !== 'keep') throw invalid(OPERATION, 'plain', 'must be refuse or keep')
  if (!Number.isInteger(opsPerKey) || opsPerKey < 1 || opsPerKey > OPS_PER_KEY)
    throw invalid(OPERATION, 'opsPerKey', `must be a whole number from 1 to ${OPS_PER_KEY}`)
  const rings = new Map<string, KeyRing>()
  const told = new Set<string>()
  const texts = new OpenedTexts()

  const ringOf = (scope: Scope): KeyRing => {
    const name = scopeName(scope)
    let ring = rings.get(name)
    const { sessionId, ...user } = scope
    const kept = async (): Promise<KeyInfo | undefined> =>
      sessionId === undefined ? undefined : infoOf(user)
    ring ??= new KeyRing({ scope, store: store.open(scope), keys, kept })
    // The one that was used last is last.
    rings.delete(name)
    if (rings.size >= MOST_RINGS) rings.delete(rings.keys().next().value as string)
    rings.set(name, ring)
    return ring
  }

  const tell = (scope: Scope, { kind, id }: Pick<Place, 'kind' | 'id'>): void => {
    const name = JSON.stringify([scopeName(scope), kind, id])
    if (!onUnreadable || told.has(name)) return
    if (told.size >= MOST_TOLD) told.clear()
    told.add(name)
    try {
      onUnreadable({ scope, kind, id })
    } catch {
      // One that throws is no reason to keep what can be read from the caller.
    }
  }

  const open = (scope: Scope): EncryptedScope =>
    new EncryptedScope({
      scope,
      store: store.open(scope),
      ring: ringOf(scope),
      opsPerKey,
      keepsPlain: plain === 'keep',
      texts,
      unlock: async (state) => {
        const { sessionId, ...user } = scope
        if ((await ringOf(scope).newest(state)) || sessionId === undefined) return
        const ring = ringOf(user)
        await ring.newest(await ring.known())
      },
      onUnreadable: (row) => tell(scope, row),
    })

  /**
   * Info of the user's own scope, which the user's key must open: nothing is written under a wrong
   * one.
   */
  const infoOf = async (user: KeyOwner): Promise<KeyInfo | undefined> => {
    const ring = ringOf(user)
    if (keys.keepsInfo) await open(user).ensureKey()
    const state = await ring.known()
    await ring.newest(state)
    return keys.keepsInfo ? state.stored.at(-1)?.info : undefined
  }

  return {
    open,
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
    unlock: async (user) => {
      const scope = open(user)
      const state = await scope.loaded()
      const ring = ringOf(user)
      if (!(await ring.newest(state))) return 'new'
      if (await ring.isStale(state)) await scope.rewrap(undefined)
      return 'opened'
    },
    isStale: async (scope) => {
      const ring = ringOf(scope)
      return ring.isStale(await ring.load())
    },
    rotate: (scope) => open(scope).rotate(),
    rewrap: async (scopes) => {
      let kept: KeyInfo | undefined
      for await (const scope of scopes) {
        const info = await open(scope).rewrap(kept)
        if (keys.keepsInfo) kept ??= info
      }
    },
  }
}
