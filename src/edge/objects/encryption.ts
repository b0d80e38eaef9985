import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base64url } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import { scopeName } from '../../ports/scope-name.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import { durableObjectStore } from '../../stores/durable-object.ts'
import { prefixed } from '../../stores/encrypted/cipher.ts'
import { type EncryptedStore, encryptedStore } from '../../stores/encrypted/encrypted-store.ts'
import { KEY_REGISTER } from '../../stores/encrypted/key-ring.ts'
import { eachOf, type Keys } from '../../stores/encrypted/keys.ts'
import { secretKeys } from '../../stores/encrypted/secret-keys.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { madeByWrites } from './first-write.ts'
import { lazyScope } from './lazy-scope.ts'

/** What an object encrypts by. All objects of a Worker need the same. */
export interface EncryptionSettings {
  /**
   * 32 bytes or more that nobody can guess: each user's key follows from it. What is stored cannot
   * be read without it.
   */
  readonly secret: string
  /**
   * Secrets that were used before: what is under them stays readable for as long as they are here.
   * Default: none.
   */
  readonly older?: readonly string[]
  /**
   * What `secretKeyId` says of the secret, if it is to be no other: a new user whose data nobody
   * could compare it with is refused then. Default: any secret is taken.
   */
  readonly keyId?: string
  /**
   * What becomes of what was stored before there was a secret: `refuse` (the default), or `keep`:
   * it stays in the clear, and readable. Anybody who can write the database can then put texts in
   * the place of what is encrypted.
   */
  readonly plain?: 'refuse' | 'keep'
}

/** Variables and secrets of a Worker. An empty one counts as absent. */
export interface EncryptionVariables {
  /** Encrypts what the objects store: at least 32 bytes, without white space. */
  readonly MEMORY_KEY?: string | undefined
  /** Those that came before it, parted by white space. */
  readonly MEMORY_KEY_PREVIOUS?: string | undefined
  /** What `secretKeyId` says of `MEMORY_KEY`: under another one nothing is answered. */
  readonly MEMORY_KEY_ID?: string | undefined
  /** `keep`: what was stored before there was a key stays in the clear. Default: it is refused. */
  readonly MEMORY_PLAIN?: string | undefined
}

/** RFC 5869 wants as much as the key that is derived; the same as for tokens. */
const LEAST_BYTES = 32
/**
 * Random digits of base 16 have more than these, but for one text in a million: fewer are a key
 * that somebody held down.
 */
const LEAST_CHARACTERS = 8

/**
 * By what a Worker's objects encrypt, as its variables say. Undefined: they do not.
 *
 * @throws ERR_NOT_CONFIGURED: a secret is too short, too regular or has white space in it, or there
 * are only previous ones
 */
export function encryptionOf({
  MEMORY_KEY = '',
  MEMORY_KEY_PREVIOUS = '',
  MEMORY_KEY_ID = '',
  MEMORY_PLAIN = '',
}: EncryptionVariables): EncryptionSettings | undefined {
  const older = MEMORY_KEY_PREVIOUS.split(/\s+/).filter((secret) => secret !== '')
  if (MEMORY_KEY === '') {
    if (older.length > 0) throw notConfigured('MEMORY_KEY_PREVIOUS needs a MEMORY_KEY')
    // A secret that was forgotten must not mean that nothing is encrypted.
    if (MEMORY_KEY_ID !== '') throw notPinned()
    return undefined
  }
  if (!['', 'keep', 'refuse'].includes(MEMORY_PLAIN))
    throw notConfigured('MEMORY_PLAIN must be keep or refuse')
  checkSecret('MEMORY_KEY', MEMORY_KEY)
  for (const secret of older) checkSecret('MEMORY_KEY_PREVIOUS', secret)
  const settings: EncryptionSettings = {
    secret: MEMORY_KEY,
    older,
    ...(MEMORY_KEY_ID !== '' && { keyId: MEMORY_KEY_ID }),
    ...(MEMORY_PLAIN === 'keep' && { plain: 'keep' }),
  }
  checkPinned(settings)
  return settings
}

/** @throws ERR_NOT_CONFIGURED: the secret is not the one that is pinned */
export function checkPinned({ secret, keyId }: EncryptionSettings): void {
  if (keyId !== undefined && keyIdOf(secret) !== keyId) throw notPinned()
}

let named: { readonly secret: string; readonly id: string } | undefined

/** As `secretKeyId`, at once. */
export function keyIdOf(secret: string): string {
  if (named?.secret !== secret) {
    const bits = hkdf(sha256, utf8ToBytes(secret), undefined, prefixed(['plimsoll', 'key id']), 8)
    named = { secret, id: `hkdf.${base64url(bits)}` }
  }
  return named.id
}

function notPinned(): PlimsollError {
  return notConfigured('MEMORY_KEY is not the one that MEMORY_KEY_ID names')
}

function checkSecret(name: string, secret: string): void {
  if (/\s/.test(secret)) throw notConfigured(`${name} has white space in it`)
  if (new TextEncoder().encode(secret).length < LEAST_BYTES)
    throw notConfigured(`${name} has fewer than ${LEAST_BYTES} bytes`)
  if (new Set(secret).size < LEAST_CHARACTERS)
    throw notConfigured(`${name} has fewer than ${LEAST_CHARACTERS} different characters`)
}

function notConfigured(reason: string): PlimsollError {
  return new PlimsollError('ERR_NOT_CONFIGURED', `encryption: ${reason}`)
}

/** All secrets, the newest first. */
export function secretsOf({ secret, older = [] }: Partial<EncryptionSettings> = {}): readonly string[] {
  return secret === undefined ? [] : [secret, ...older]
}

/** The store of an object. */
export type ObjectStore = Store & Pick<EncryptedStore, 'unlock' | 'isStale' | 'rewrap'>

/**
 * The store in the SQLite of an object. What was written before there was a secret is refused,
 * unless it is to be kept. Without a secret, what was encrypted is not written over and not taken
 * for text.
 *
 * @throws ERR_NOT_CONFIGURED: the secret is not the one that is pinned
 */
export function objectStore(
  storage: SqlStorageLike,
  encryption: EncryptionSettings | undefined,
): ObjectStore {
  const store = madeByWrites(storage, durableObjectStore(storage))
  if (encryption) checkPinned(encryption)
  const [newest, ...older] = secretsOf(encryption).map((secret) => secretKeys(secret))
  if (!newest) return keylessStore(store)
  const sealed = encryptedStore(store, eachOf(newest, ...older), { plain: encryption?.plain ?? 'refuse' })
  return { ...sealed, open: (scope) => withOutbox(sealed.open(scope), store.open(scope)) }
}

/** What a home keeps there of itself says nothing of what is in the log, and is in the clear. */
function withOutbox(sealed: ScopeStore, { outbox }: ScopeStore): ScopeStore {
  return Object.assign(sealed, outbox && { outbox })
}

const NO_KEYS: Keys = { wrap: refuse, unwrap: refuse }

async function refuse(): Promise<never> {
  throw new PlimsollError('ERR_DECRYPT', 'encryption: there is no secret')
}

/**
 * A store without a key. Scopes that are encrypted are as under a key that opens nothing: so they
 * can be erased, and nothing else.
 */
function keylessStore(store: Store): ObjectStore {
  const sealed = encryptedStore(store, NO_KEYS, { plain: 'keep' })
  /** Scopes that are in the clear: nobody here can encrypt them meanwhile. */
  const plain = new Set<string>()
  const open = (scope: Scope): ScopeStore => {
    const inner = store.open(scope)
    const name = scopeName(scope)
    if (plain.has(name)) return inner
    return lazyScope(inner, async () => {
      if (plain.has(name)) return inner
      if (await inner.register(KEY_REGISTER)) return sealed.open(scope)
      plain.add(name)
      return inner
    })
  }
  return { ...sealed, open }
}
