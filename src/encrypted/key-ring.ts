import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base64, base64url, fromBase64 } from '../platform/web.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Scope } from '../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'
import { type Bytes, importKey, KEY_BYTES, newKey, prefixed, randomBytes } from './cipher.ts'
import type { KeyInfo, KeyOwner, Keys } from './keys.ts'
import { type DataKey, FORMAT } from './sealed.ts'

/** The register that holds a scope's wrapped data keys. Hidden from whoever reads the scope. */
export const KEY_REGISTER = 'encryption/keys'
/** Bytes that name a data key, or a version of the register. */
const ID_BYTES = 8
/** Characters of a name that stands for another one: 128 bits and more. */
const HIDDEN_LENGTH = 22

/** A data key as it is stored. */
interface StoredKey {
  readonly id: string
  readonly info: KeyInfo
  /** Base64. */
  readonly wrapped: string
  /** Seq of the scope when it was made: how much was written under it. */
  readonly from: number
}

/** A data key that is in memory. What is wrapped of it is the key, and after it the key of hidden names. */
interface OpenKey extends DataKey {
  readonly raw: Bytes
}

/** Stands for names that are looked up, so that they are not stored as they are. */
export type Hide = (name: string) => string

export interface KeyRingParts {
  readonly scope: Scope
  /** The store below, which sees ciphertext alone. */
  readonly store: ScopeStore
  readonly keys: Keys
  /** What is stored with the newest key of the user's own scope; undefined: this is that scope, or nothing is. */
  readonly kept: () => Promise<KeyInfo | undefined>
}

/** A data key that is to be written together with what it encrypts. */
export interface Renewal {
  readonly key: DataKey
  readonly hide: Hide
  /** The register with it: beside the keys that are there, or alone, where all that they encrypted is erased by the same commit. */
  row(alone: boolean, seq: number): RegisterRow
  /** Goes on with it, once the row is written. */
  adopt(alone: boolean): void
}

/**
 * The data keys of a scope: 256 random bits each, wrapped by the user's key. The last one encrypts; the others are kept for what was written
 * before. They are in a register of the scope itself, so that an erase destroys them with all that they encrypted.
 */
export class KeyRing {
  readonly #parts: KeyRingParts
  #loading: Promise<void> | undefined
  /** Seq up to which nobody else has written since the keys were read. */
  seq = -1
  #version: string | null = null
  #stored: readonly StoredKey[] = []
  #isPlain = false
  readonly #open = new Map<string, Promise<OpenKey>>()
  #hide: Hide | undefined

  constructor(parts: KeyRingParts) {
    this.#parts = parts
  }

  /** Version of the register that holds them; `null`: there are none. */
  get version(): string | null {
    return this.#version
  }

  /** Whether the scope was written to before anything was encrypted. */
  get isPlain(): boolean {
    return this.#isPlain
  }

  /** Info of the newest key. */
  get info(): KeyInfo | undefined {
    return this.#stored.at(-1)?.info
  }

  /** Rows that may have been written under the newest key. */
  get used(): number {
    return this.seq - (this.#stored.at(-1)?.from ?? this.seq)
  }

  /** Reads the keys, unless they are known. */
  async ready(): Promise<void> {
    if (this.seq < 0) await this.load()
  }

  /** Reads the keys. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** The key to encrypt with; undefined: none was made yet. @throws ERR_DECRYPT: the user's key does not open it */
  async current(): Promise<DataKey | undefined> {
    const newest = this.#stored.at(-1)
    return newest && this.#opened(newest)
  }

  /** The key of that id, which another writer may have made since. Undefined: there is none, or it does not open. */
  async find(id: string): Promise<DataKey | undefined> {
    if (!this.#stored.some((key) => key.id === id)) await this.load()
    const stored = this.#stored.find((key) => key.id === id)
    return stored && this.#opened(stored).catch(() => undefined)
  }

  /** What stands for a name that is looked up. @throws ERR_DECRYPT */
  async hiding(): Promise<Hide> {
    const newest = this.#stored.at(-1)
    if (!newest) return (name) => name
    this.#hide ??= hiderOf((await this.#opened(newest)).raw)
    return this.#hide
  }

  /** A further key. Where there are any, they must open. @throws ERR_DECRYPT */
  async renewal(): Promise<Renewal> {
    const newest = this.#stored.at(-1)
    const { scope, keys, kept } = this.#parts
    const raw = new Uint8Array(2 * KEY_BYTES)
    raw.set(newKey())
    // Names stay the same, also where the same commit erases what is there: what comes after an erase in it is looked up too.
    raw.set(newest ? (await this.#opened(newest)).raw.subarray(KEY_BYTES) : newKey(), KEY_BYTES)
    const id = base64url(randomBytes(ID_BYTES))
    const { info, bytes } = await keys.wrap(
      ownerOf(scope),
      raw,
      placeOf(scope, id),
      this.info ?? (await kept()),
    )
    const open = await openKey(id, raw)
    const version = base64url(randomBytes(ID_BYTES))
    const stored: StoredKey = { id, info, wrapped: base64(bytes), from: Math.max(0, this.seq) }
    const all = (alone: boolean): readonly StoredKey[] => (alone ? [stored] : [...this.#stored, stored])
    return {
      key: open,
      hide: newest ? await this.hiding() : hiderOf(raw),
      row: (alone, seq) => rowOf(all(alone), version, seq),
      adopt: (alone) => {
        this.#take(all(alone), version)
        this.#open.set(id, Promise.resolve(open))
      },
    }
  }

  /** The register with all keys wrapped by others. @throws ERR_DECRYPT: one of them does not open */
  async rewrapped(
    to: Keys,
    kept: KeyInfo | undefined,
  ): Promise<{
    readonly row: (seq: number) => RegisterRow
    readonly adopt: () => void
    readonly info: KeyInfo | undefined
  }> {
    const { scope } = this.#parts
    const wrapped: StoredKey[] = []
    let info = kept
    for (const stored of this.#stored) {
      const { raw } = await this.#opened(stored)
      const { info: given, bytes } = await to.wrap(ownerOf(scope), raw, placeOf(scope, stored.id), info)
      info = given
      wrapped.push({ ...stored, info: given, wrapped: base64(bytes) })
    }
    const version = base64url(randomBytes(ID_BYTES))
    return {
      row: (seq) => rowOf(wrapped, version, seq),
      adopt: () => this.#take(wrapped, version),
      info,
    }
  }

  /** Forgets all keys: what they encrypted is erased. */
  destroy(): void {
    this.#take([], null)
  }

  async #load(): Promise<void> {
    const { store } = this.#parts
    // In this order: who writes in between makes the head another one than is known here.
    const { seq } = await store.head()
    const row = await store.register(KEY_REGISTER)
    const body = row?.body ?? null
    this.#take(body === null ? [] : (JSON.parse(body) as readonly StoredKey[]), row?.version ?? null)
    this.#isPlain = body === null && seq > 0 && !(await isErased(store))
    this.seq = seq
  }

  #take(stored: readonly StoredKey[], version: string | null): void {
    if (stored.at(-1)?.id !== this.#stored.at(-1)?.id) this.#hide = undefined
    for (const id of this.#open.keys()) if (!stored.some((key) => key.id === id)) this.#open.delete(id)
    this.#stored = stored
    this.#version = version
  }

  #opened(stored: StoredKey): Promise<OpenKey> {
    let key = this.#open.get(stored.id)
    if (!key) {
      key = this.#unwrap(stored)
      this.#open.set(stored.id, key)
      key.catch(() => this.#open.delete(stored.id))
    }
    return key
  }

  async #unwrap({ id, info, wrapped }: StoredKey): Promise<OpenKey> {
    const { scope, keys } = this.#parts
    try {
      const bytes = fromBase64(wrapped) ?? new Uint8Array()
      const raw = await keys.unwrap(ownerOf(scope), { info, bytes }, placeOf(scope, id))
      if (raw.length !== 2 * KEY_BYTES) throw new Error('of another size')
      return await openKey(id, raw)
    } catch (cause) {
      throw new PlimsollError('ERR_DECRYPT', `encryptedStore: the key does not open data key ${id}`, {
        id,
        cause,
      })
    }
  }
}

/** Whether nothing was written since an erase, or nothing but what has no text. */
async function isErased(store: ScopeStore): Promise<boolean> {
  const { rows, more } = await store.changesSince(0)
  return !more && rows.every(({ kind }) => kind === 'erase' || kind === 'delete')
}

function ownerOf({ tenant, userId }: Scope): KeyOwner {
  return tenant === undefined ? { userId } : { tenant, userId }
}

function placeOf({ tenant, userId, sessionId }: Scope, id: string): Bytes {
  return prefixed([FORMAT, 'data-key', tenant, userId, sessionId, id])
}

function rowOf(stored: readonly StoredKey[], version: string, seq: number): RegisterRow {
  return { key: KEY_REGISTER, version, seq, body: JSON.stringify(stored) }
}

async function openKey(id: string, raw: Bytes): Promise<OpenKey> {
  return { id, raw, key: await importKey(raw.slice(0, KEY_BYTES)) }
}

/** HMAC-SHA-256 (RFC 2104). */
function hiderOf(raw: Bytes): Hide {
  const key = raw.slice(KEY_BYTES)
  return (name) => base64url(hmac(sha256, key, utf8ToBytes(name))).slice(0, HIDDEN_LENGTH)
}
