import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { decide } from '../../kernel/log/decide.ts'
import { base64, base64url, fromBase64 } from '../../ports/base64.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Scope, SealedOp } from '../../ports/op.ts'
import { isEntry, type LogRow, type RegisterRow, type ScopeStore } from '../../ports/store.ts'
import { type Bytes, importKey, KEY_BYTES, newKey, prefixed, randomBytes } from './cipher.ts'
import { isNotTheKey, type KeyInfo, type KeyOwner, type Keys } from './keys.ts'
import type { Seen } from './order.ts'
import { type DataKey, FORMAT, keyOf } from './sealed.ts'

/** What is written over a wrapped key is made of this alone. */
const BLANK = 'A'

/** The register that holds a scope's wrapped data keys. Hidden from readers of the scope. */
export const KEY_REGISTER = 'encryption/keys'
/**
 * Begins the registers that hold wrapped data keys, one each, where the scope follows a home: two
 * devices may make one at the same time. Hidden as well.
 */
export const SHARED_KEYS = 'sealed/keys/'
/** Bytes that name a data key, or a version of the register. */
const ID_BYTES = 8
/** Characters of a name that stands for another one: 128 bits and more. */
const HIDDEN_LENGTH = 22
/** How often keys are read for one that is not among them. */
const READS = 3

/** A data key as it is stored. */
interface StoredKey {
  readonly id: string
  readonly info: KeyInfo
  /** Base64. */
  readonly wrapped: string
  /** Seq of the scope when it was made: how much was written under it. */
  readonly from: number
}

/**
 * A data key that is in memory. What is wrapped of it is the key, and after it the key of hidden
 * names.
 */
interface OpenKey extends DataKey {
  readonly raw: Bytes
}

/** Stands for names that are looked up, so that they are not stored as they are. */
export type Hide = (name: string) => string

/**
 * The keys of a scope as they were at one time. Never changed: who seals goes by one of them from
 * beginning to end.
 */
export interface KeyState {
  /** Version of the register that holds them; `null`: there is none. */
  readonly version: string | null
  /** Seq of the scope up to which it is known that they are these. */
  readonly seq: number
  readonly stored: readonly StoredKey[]
  /** Whether the scope holds something that was written before anything was encrypted. */
  readonly isPlain: boolean
}

export interface KeyRingParts {
  readonly scope: Scope
  /** The store below, which sees ciphertext alone. */
  readonly store: ScopeStore
  readonly keys: Keys
  /**
   * Info of the newest key of the user's own scope, which the user's key has opened; undefined:
   * this is that scope, or nothing is to be kept.
   */
  readonly kept: () => Promise<KeyInfo | undefined>
}

/** A data key that is to be written together with what it encrypts. */
export interface Renewal {
  readonly key: DataKey
  readonly hide: Hide
  /** It alone, as an op under a name of its own, for a scope that follows a home. */
  readonly op: SealedOp
  /**
   * The register with it: beside the keys that were there, or alone, where all that they encrypted
   * is erased by the same commit.
   */
  row(alone: boolean, seq: number): RegisterRow
  /** The keys once the row is written. */
  state(alone: boolean, seq: number): KeyState
}

/**
 * The data keys of a scope: 256 random bits each, wrapped by the user's key. The last one encrypts;
 * the others are kept for what was written before. They are in a register of the scope itself, so
 * that an erase destroys them, first, with all that they encrypted.
 */
export class KeyRing {
  readonly #parts: KeyRingParts
  #state: KeyState | undefined
  /**
   * Number of the last reading or commit that began, and of that which the state is of: an older
   * one must not take the place of a newer.
   */
  #begun = 0
  #learnt = 0
  readonly #open = new Map<string, Promise<OpenKey>>()
  /** The newest entry that was seen while the keys had that version. */
  #seen: { readonly version: string | null; readonly entry: Seen } | undefined

  constructor(parts: KeyRingParts) {
    this.#parts = parts
  }

  /**
   * The keys as they were known last, read if they are not. @throws ERR_DECRYPT: what holds them is
   * damaged
   */
  async known(): Promise<KeyState> {
    return this.#state ?? this.load()
  }

  /**
   * The keys as they are while this is called, or later. @throws ERR_DECRYPT: what holds them is
   * damaged
   */
  async load(): Promise<KeyState> {
    const number = ++this.#begun
    // Somebody else wrote, or what was written was undone: what was seen may not be there.
    this.#seen = undefined
    const state = await this.#read()
    if (this.#state && this.#learnt > number) return this.#state
    this.#take(state, number)
    return state
  }

  /** The keys, where nobody wrote to the scope since they were read; else they are read again. */
  async current(): Promise<KeyState> {
    const state = await this.known()
    const { seq } = await this.#parts.store.head()
    return seq === state.seq ? state : this.load()
  }

  /** Takes keys for those of now, as a commit of one's own left them. */
  learn(state: KeyState): void {
    this.#take(state, ++this.#begun)
  }

  /**
   * Notes how far the scope has come without that its keys changed, unless something else was
   * learnt meanwhile.
   */
  advance(state: KeyState, seq: number): void {
    if (this.#state?.version !== state.version) return
    this.#state = { ...this.#state, seq: Math.max(this.#state.seq, seq) }
  }

  /** Version of the keys as they were known last. */
  get version(): string | null | undefined {
    return this.#state?.version
  }

  /** The newest entry that is known to be in the log, if any is. */
  seen({ version }: KeyState): Seen | undefined {
    return this.#seen?.version === version ? this.#seen.entry : undefined
  }

  /**
   * Notes the newest of some rows, seen while the keys had that version: an erase destroys them, so
   * nothing of before it is taken for what is there.
   */
  see(version: string | null | undefined, rows: readonly LogRow[]): void {
    const newest = rows.findLast(isEntry)
    if (!newest || version === undefined || version !== this.#state?.version) return
    const { seq, opId } = newest
    if (this.#seen?.version === version && this.#seen.entry.seq >= seq) return
    this.#seen = { version, entry: { seq, opId } }
  }

  /**
   * The key to encrypt with; undefined: none was made yet. @throws ERR_DECRYPT: the user's key does
   * not open it
   */
  async newest({ stored }: KeyState): Promise<DataKey | undefined> {
    return this.#newest(stored)
  }

  /** Where the scope has a home, a device may have made one under another key of the user's. */
  async #newest(stored: readonly StoredKey[]): Promise<OpenKey | undefined> {
    const newest = stored.at(-1)
    if (!newest || !this.#parts.store.isReplica) return newest && this.#opened(newest)
    for (const key of stored.toReversed()) {
      const opened = await this.#opened(key).catch(notTheKey)
      if (opened) return opened
    }
    return this.#opened(newest)
  }

  /**
   * The key of that id, which another writer may have made since. Undefined: there is none.
   *
   * @throws ERR_DECRYPT: the user's key does not open it, and what it encrypted is not lost;
   * ERR_STORAGE
   */
  async find(id: string): Promise<DataKey | undefined> {
    const named = ({ stored }: KeyState): StoredKey | undefined => stored.find((key) => key.id === id)
    let stored = named(await this.known())
    for (let read = 0; !stored && read < READS; read++) stored = named(await this.load())
    if (!stored || !this.#parts.store.isReplica) return stored && this.#opened(stored)
    // Of a key that nobody here has, where there is one that opens, the texts alone are lost.
    const opened = await this.#opened(stored).catch(notTheKey)
    if (!opened) await this.newest(await this.known())
    return opened
  }

  /** Whether an older key than the one that wraps now has wrapped any. */
  async isStale({ stored }: KeyState): Promise<boolean> {
    const { keys } = this.#parts
    for (const { info } of stored) if ((await keys.wraps?.(info)) === false) return true
    return false
  }

  /** What stands for a name that is written. @throws ERR_DECRYPT */
  async hiding({ stored }: KeyState): Promise<Hide> {
    const newest = await this.#newest(stored)
    return newest ? hiderOf(newest.raw) : (name) => name
  }

  /**
   * What may stand for a name that is looked up: more than one where devices made their first keys
   * at the same time. @throws ERR_DECRYPT
   */
  async allHiding({ stored }: KeyState): Promise<readonly Hide[]> {
    const opened = await Promise.all(stored.map((key) => this.#opened(key).catch(notTheKey)))
    const keys = new Map(opened.flatMap((key) => (key ? [[base64(key.raw.slice(KEY_BYTES)), key.raw]] : [])))
    return keys.size === 0 ? [(name) => name] : [...keys.values()].map(hiderOf)
  }

  /** A further key beside those of a state, which must open. @throws ERR_DECRYPT */
  async renewal(state: KeyState): Promise<Renewal> {
    const newest = state.stored.at(-1)
    const { scope, keys, kept } = this.#parts
    const raw = new Uint8Array(2 * KEY_BYTES)
    raw.set(newKey())
    // Names stay the same, also where the same commit erases what is there: what comes after an
    // erase in it is looked up too.
    raw.set((await this.#newest(state.stored))?.raw.subarray(KEY_BYTES) ?? newKey(), KEY_BYTES)
    const id = base64url(randomBytes(ID_BYTES))
    const { info, bytes } = await keys.wrap(
      ownerOf(scope),
      raw,
      placeOf(scope, id),
      newest?.info ?? (await kept()),
    )
    const open = await openKey(id, raw)
    const version = base64url(randomBytes(ID_BYTES))
    const stored: StoredKey = { id, info, wrapped: base64(bytes), from: Math.max(0, state.seq) }
    const all = (alone: boolean): readonly StoredKey[] => (alone ? [stored] : [...state.stored, stored])
    return {
      key: open,
      hide: hiderOf(raw),
      op: keyOp(stored),
      row: (alone, seq) => rowOf(all(alone), version, seq),
      state: (alone, seq) => {
        this.#open.set(id, Promise.resolve(open))
        return { version, seq, stored: all(alone), isPlain: false }
      },
    }
  }

  /** All keys of a state, wrapped again. @throws ERR_DECRYPT: one of them does not open */
  async rewrapped(
    state: KeyState,
    kept: KeyInfo | undefined,
  ): Promise<{
    readonly row: (seq: number) => RegisterRow
    readonly state: KeyState
    readonly info: KeyInfo | undefined
  }> {
    const { scope, keys } = this.#parts
    const stored: StoredKey[] = []
    let info = kept
    for (const key of state.stored) {
      const { raw } = await this.#opened(key)
      const wrapped = await keys.wrap(ownerOf(scope), raw, placeOf(scope, key.id), info)
      info = wrapped.info
      stored.push({ ...key, info, wrapped: base64(wrapped.bytes) })
    }
    const version = base64url(randomBytes(ID_BYTES))
    return { row: (seq) => rowOf(stored, version, seq), state: { ...state, version, stored }, info }
  }

  #take(state: KeyState, number: number): void {
    this.#learnt = number
    this.#state = state
    for (const id of this.#open.keys()) if (!state.stored.some((key) => key.id === id)) this.#open.delete(id)
  }

  async #read(): Promise<KeyState> {
    const { store } = this.#parts
    for (;;) {
      // First: who writes in between makes the head another one than is known here.
      const { seq } = await store.head()
      const state = await this.#readAt(seq)
      if (state !== 'missing') return state
      // After an erase others may have made keys, and written, between two of these reads.
      if ((await store.head()).seq === seq)
        throw new PlimsollError('ERR_DECRYPT', 'encryptedStore: the data keys are missing')
    }
  }

  /** @returns `missing`: no keys were found, and then something that is encrypted */
  async #readAt(seq: number): Promise<KeyState | 'missing'> {
    const { store } = this.#parts
    const row = await store.register(KEY_REGISTER)
    const body = row?.body ?? null
    const own = body === null ? [] : storedIn(body)
    // A store that followed a home has its keys there, too.
    const shared = store.isReplica || (!row && seq > 0) ? await this.#readShared(own) : []
    const rows = [...(row ? [row] : []), ...(store.isReplica ? shared : [])]
    const stored = [...own, ...shared.flatMap((one) => storedIn(one.body ?? '[]'))]
    const isKeyless = stored.length === 0 && body === null && seq > 0
    const found = isKeyless ? await firstBody(store) : null
    if (found !== null && keyOf(found) !== undefined) return 'missing'
    return {
      version: rows.length === 0 ? null : rows.map(({ version }) => version).join(),
      seq,
      stored: [...new Map(stored.map((key) => [key.id, key])).values()],
      isPlain: found !== null,
    }
  }

  /**
   * Registers of a key each, in the order of the log.
   *
   * @param own keys that were made before the scope had a home: they go there from now on
   */
  async #readShared(own: readonly StoredKey[]): Promise<readonly RegisterRow[]> {
    const { store } = this.#parts
    const read = async (): Promise<readonly RegisterRow[]> => {
      const rows = await store.registers(SHARED_KEYS)
      return rows.toSorted((one, other) => one.seq - other.seq)
    }
    const rows = await read()
    const missing = own.filter(({ id }) => !rows.some(({ key }) => key === SHARED_KEYS + id))
    if (missing.length === 0) return rows
    await store.commit(missing.map(keyOp), decide)
    return read()
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
      const bytes = fromBase64(wrapped)
      if (!bytes) throw damaged()
      const raw = await keys.unwrap(ownerOf(scope), { info, bytes }, placeOf(scope, id))
      if (raw.length !== 2 * KEY_BYTES) throw damaged()
      return await openKey(id, raw)
    } catch (cause) {
      const [code, reason] = isNotTheKey(cause)
        ? (['ERR_DECRYPT', 'the key does not open'] as const)
        : (['ERR_STORAGE', 'the keys failed to open'] as const)
      throw new PlimsollError(code, `encryptedStore: ${reason} data key ${id}`, { id, cause })
    }
  }
}

/** Some body of a scope, of a register or else an entry; `null`: it has none. */
async function firstBody(store: ScopeStore): Promise<string | null> {
  const registers = await store.registers('')
  const register = registers.find(({ key, body }) => !isKeyRegister(key) && body !== null)
  if (register) return register.body
  for (let after: string | undefined; ; ) {
    const { rows, more } = await store.entries({
      first: Number.MAX_SAFE_INTEGER,
      ...(after !== undefined && { after }),
    })
    const entry = rows.find(({ body }) => body !== null)
    if (entry) return entry.body
    after = rows.at(-1)?.id
    if (!more || after === undefined) return null
  }
}

/**
 * The register of the keys with each of them written over, at the same length: so that a database
 * which changes it in place holds none of their bytes. What they encrypted is lost.
 */
export function blanked({ body, ...row }: RegisterRow): RegisterRow {
  const keys = JSON.parse(body ?? '[]') as readonly StoredKey[]
  const blank = keys.map((key) => ({ ...key, wrapped: BLANK.repeat(key.wrapped.length) }))
  return { ...row, version: base64url(randomBytes(ID_BYTES)), body: JSON.stringify(blank) }
}

/**
 * Keys that were not written over. @throws ERR_DECRYPT: it is not what was written; nothing may be
 * written in its place
 */
function storedIn(body: string): readonly StoredKey[] {
  let stored: unknown
  try {
    stored = JSON.parse(body)
  } catch {
    throw damaged()
  }
  if (!Array.isArray(stored) || stored.length === 0 || !stored.every(isStoredKey)) throw damaged()
  return stored.filter(({ wrapped }) => wrapped !== BLANK.repeat(wrapped.length))
}

function isStoredKey(value: unknown): value is StoredKey {
  const { id, info, wrapped, from } = (value ?? {}) as Partial<StoredKey>
  return (
    typeof id === 'string' &&
    typeof info?.id === 'string' &&
    typeof wrapped === 'string' &&
    typeof from === 'number'
  )
}

/** @throws what does not say that the key is another one */
function notTheKey(error: unknown): undefined {
  if (!isPlimsollError(error, 'ERR_DECRYPT')) throw error
}

function damaged(): PlimsollError {
  return new PlimsollError('ERR_DECRYPT', 'encryptedStore: the data keys are damaged')
}

function ownerOf({ tenant, userId }: Scope): KeyOwner {
  return tenant === undefined ? { userId } : { tenant, userId }
}

function placeOf({ tenant, userId, sessionId }: Scope, id: string): Bytes {
  return prefixed([FORMAT, 'data-key', tenant, userId, sessionId, id])
}

/** Whether a register holds keys, and no text of anybody's. */
export function isKeyRegister(key: string): boolean {
  return key === KEY_REGISTER || key.startsWith(SHARED_KEYS)
}

/** An op that puts a key under a name of its own. */
export function keyOp(stored: StoredKey): SealedOp {
  const key = SHARED_KEYS + stored.id
  return {
    envelope: { opId: key, kind: 'put', ids: [key], key, base: null },
    bodies: [JSON.stringify([stored])],
  }
}

function rowOf(stored: readonly StoredKey[], version: string, seq: number): RegisterRow {
  return { key: KEY_REGISTER, version, seq, body: JSON.stringify(stored) }
}

async function openKey(id: string, raw: Bytes): Promise<OpenKey> {
  return { id, raw, key: await importKey(raw.slice(0, KEY_BYTES)) }
}

const hiders = new WeakMap<Bytes, Hide>()

/** HMAC-SHA-256 (RFC 2104), of which the key is hashed once. */
function hiderOf(raw: Bytes): Hide {
  const found = hiders.get(raw)
  if (found) return found
  const keyed = hmac.create(sha256, raw.slice(KEY_BYTES))
  const hide: Hide = (name) =>
    base64url(keyed.clone().update(utf8ToBytes(name)).digest()).slice(0, HIDDEN_LENGTH)
  hiders.set(raw, hide)
  return hide
}
