import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import { scopeName } from '../../ports/scope-name.ts'
import type { ScopeStore, Store } from '../../ports/store.ts'
import { durableObjectStore } from '../../stores/durable-object.ts'
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
}

/** Variables and secrets of a Worker. An empty one counts as absent. */
export interface EncryptionVariables {
  /** Encrypts what the objects store: at least 32 bytes, without white space. */
  readonly MEMORY_KEY?: string | undefined
  /** Those that came before it, parted by white space. */
  readonly MEMORY_KEY_PREVIOUS?: string | undefined
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
}: EncryptionVariables): EncryptionSettings | undefined {
  const older = MEMORY_KEY_PREVIOUS.split(/\s+/).filter((secret) => secret !== '')
  if (MEMORY_KEY === '') {
    if (older.length > 0) throw notConfigured('MEMORY_KEY_PREVIOUS needs a MEMORY_KEY')
    return undefined
  }
  checkSecret('MEMORY_KEY', MEMORY_KEY)
  for (const secret of older) checkSecret('MEMORY_KEY_PREVIOUS', secret)
  return { secret: MEMORY_KEY, older }
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
export type ObjectStore = Store & Pick<EncryptedStore, 'unlock'>

/**
 * The store in the SQLite of an object. What was written before there was a secret stays in the
 * clear. Without a secret, what was encrypted is not written over and not taken for text.
 */
export function objectStore(
  storage: SqlStorageLike,
  encryption: EncryptionSettings | undefined,
): ObjectStore {
  const store = madeByWrites(storage, durableObjectStore(storage))
  const [newest, ...older] = secretsOf(encryption).map(secretKeys)
  if (!newest) return keylessStore(store)
  return encryptedStore(store, eachOf(newest, ...older), { plain: 'keep' })
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
