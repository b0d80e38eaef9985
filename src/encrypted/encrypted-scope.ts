import { nothingWritten } from '../core/all-or-none.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { IndexEntry, OpResult, Scope, SealedOp } from '../ports/op.ts'
import type {
  Attachment,
  Changes,
  Decide,
  Decision,
  DerivedRow,
  EntriesQuery,
  Head,
  IndexQuery,
  LogRow,
  Page,
  RegisterRow,
  Rows,
  ScopeStore,
  Sum,
} from '../ports/store.ts'
import type { Bytes } from './cipher.ts'
import { type Hide, KEY_REGISTER, type KeyRing } from './key-ring.ts'
import type { Keys } from './keys.ts'
import {
  type DataKey,
  keyOf,
  keyOfBytes,
  openBytes,
  openText,
  type Place,
  sealBytes,
  sealText,
  undecryptable,
} from './sealed.ts'

/** How often a write is tried again, where others wrote at the same time. */
const TRIES = 16
/** Writes that others came before until the store is asked for the keys in the same transaction. */
const UNASKED = 1

/** Makes a store read the register of the keys in the transaction of a commit. It is never written. */
const ASK: SealedOp = {
  envelope: { opId: KEY_REGISTER, kind: 'put', ids: [], key: KEY_REGISTER },
  bodies: [],
}

export interface EncryptedScopeParts {
  readonly scope: Scope
  readonly store: ScopeStore
  readonly ring: KeyRing
  /** Rows under one data key. */
  readonly rowsPerKey: number
  /** Whether a scope that was written in the clear may stay so. */
  readonly keepsPlain: boolean
  /** Told of each row that cannot be read. */
  readonly onUnreadable: (row: Pick<Place, 'kind' | 'id'>) => void
}

/** A scope of which the store below holds ciphertext. Encrypts before a transaction, and decrypts after it. */
export class EncryptedScope implements ScopeStore {
  readonly #parts: EncryptedScopeParts
  readonly #store: ScopeStore
  readonly #ring: KeyRing
  readonly watch?: NonNullable<ScopeStore['watch']>

  constructor(parts: EncryptedScopeParts) {
    this.#parts = parts
    this.#store = parts.store
    this.#ring = parts.ring
    const { store } = parts
    if (store.watch) this.watch = (listener) => store.watch?.(listener) ?? (() => {})
  }

  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    for (const { envelope } of ops) checkKey(envelope.key ?? envelope.target)
    return this.#commit(ops, decide)
  }

  async entries(query?: EntriesQuery): Promise<Page> {
    const page = await this.#store.entries(query)
    return { ...page, rows: await this.#openRows(page.rows) }
  }

  head(): Promise<Head> {
    return this.#store.head()
  }

  async register(key: string): Promise<RegisterRow | undefined> {
    if (key === KEY_REGISTER) return undefined
    const row = await this.#store.register(key)
    return row && this.#openRegister(row)
  }

  async registers(prefix: string, after?: string): Promise<readonly RegisterRow[]> {
    return this.#openRegisters(await this.#store.registers(prefix, after))
  }

  async indexed(group: string, query?: IndexQuery): Promise<readonly RegisterRow[]> {
    await this.#ready()
    const hide = await this.#ring.hiding()
    return this.#openRegisters(await this.#store.indexed(hide(group), query))
  }

  async sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    await this.#ready()
    const hide = await this.#ring.hiding()
    const found = await this.#store.sums(groups.map(hide))
    return new Map(
      groups.flatMap((group) => {
        const sum = found.get(hide(group))
        return sum ? [[group, sum] as const] : []
      }),
    )
  }

  async changesSince(seq: number): Promise<Changes> {
    const changes = await this.#store.changesSince(seq)
    return { ...changes, rows: await this.#openRows(changes.rows) }
  }

  async attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    const key = await this.#writingKey()
    const { version } = this.#ring
    const bytes = key
      ? await sealBytes(key, this.#placeOfAttachment(attachment), own(attachment.bytes))
      : attachment.bytes
    const result = await this.#store.attach({ ...attachment, bytes }, at)
    // An erase in between took the key with it.
    await this.#ring.load()
    if (result === 'stored' && this.#ring.version !== version && key && !(await this.#ring.find(key.id)))
      throw new PlimsollError(
        'ERR_CONFLICT',
        `attach: the session of ${attachment.id} was erased meanwhile`,
        {
          id: attachment.id,
        },
      )
    return result
  }

  /** @throws ERR_DECRYPT */
  async attachment(id: string): Promise<Attachment | undefined> {
    const found = await this.#store.attachment(id)
    await this.#ready()
    if (!found || this.#ring.isPlain) return found
    const place = this.#placeOfAttachment(found)
    try {
      return { ...found, bytes: await this.#openBytes(place, own(found.bytes)) }
    } catch (error) {
      this.#parts.onUnreadable(place)
      throw error
    }
  }

  async derive({ key: name, bytes }: DerivedRow, seq: number): Promise<boolean> {
    const key = await this.#writingKey()
    const sealed = key ? await sealBytes(key, this.#placeOfDerived(name), bytes) : bytes
    return this.#store.derive({ key: name, bytes: sealed }, seq)
  }

  /** What cannot be read is left out: it is made anew from the log. */
  async derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    const rows = await this.#store.derived(prefix, after)
    await this.#ready()
    if (this.#ring.isPlain) return rows
    const opened: DerivedRow[] = []
    for (const { key, bytes } of rows) {
      try {
        opened.push({ key, bytes: await this.#openBytes(this.#placeOfDerived(key), bytes) })
      } catch {
        break
      }
    }
    return opened
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** Makes a data key, if there is none yet. */
  async ensureKey(): Promise<void> {
    await this.#ready()
    if (this.#ring.version === null) await this.#renew()
  }

  /** What is written from now on is encrypted under another data key. */
  async rotate(): Promise<void> {
    await this.#ready()
    if (this.#ring.version !== null) await this.#renew()
  }

  /** Wraps the data keys by other keys. No row changes. */
  async rewrap(
    to: Keys,
    kept: Parameters<KeyRing['rewrapped']>[1],
  ): Promise<ReturnType<KeyRing['rewrapped']>> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      await this.#ring.load()
      const rewrapped = await this.#ring.rewrapped(to, kept)
      if (this.#ring.version === null) return rewrapped
      let isMoved = false
      await this.#store.commit([ASK], (_, rows) => {
        isMoved = versionIn(rows) !== this.#ring.version
        return isMoved
          ? nothingWritten([])
          : { ...nothingWritten([]), registers: [rewrapped.row(rows.head.seq)] }
      })
      if (isMoved) continue
      rewrapped.adopt()
      return rewrapped
    }
    throw outrun()
  }

  async #renew(): Promise<void> {
    await this.#commit([], () => nothingWritten([]), true)
  }

  /** Encrypts, and commits if the key is the scope's newest then; else again. */
  async #commit(ops: readonly SealedOp[], decide: Decide, renews = false): Promise<readonly OpResult[]> {
    // What a decision erases without being asked to, takes the keys with it under which its own rows are sealed.
    let erases = false
    for (let attempt = 0; attempt < TRIES; attempt++) {
      await this.#ready()
      const ring = this.#ring
      if (ring.isPlain) return this.#store.commit(ops, decide)
      const renewal =
        renews || erases || (ops.some(({ bodies }) => bodies.length > 0) && (await this.#needsKey(ops)))
          ? await ring.renewal()
          : undefined
      const key = renewal?.key ?? (await ring.current())
      const hide = renewal?.hide ?? (await ring.hiding())
      const sealed = key ? await Promise.all(ops.map((op) => this.#seal(op, key, hide))) : ops
      const asks = renewal !== undefined || attempt > UNASKED
      const { version, seq } = ring
      let isMoved = false
      let isErased = false
      let isRenewed = false
      let end = seq
      const results = await this.#store.commit(asks ? [ASK, ...sealed] : sealed, (given, rows) => {
        isMoved = asks ? versionIn(rows) !== version : rows.head.seq !== seq
        if (isMoved) return nothingWritten([])
        const decision = decide(asks ? given.slice(1) : given, rows)
        checkSealed(decision, sealed)
        erases = !renewal && decision.erase && holdsBody(decision)
        isMoved = erases
        if (isMoved) return nothingWritten([])
        end = decision.log.at(-1)?.seq ?? rows.head.seq
        isErased = decision.erase
        isRenewed = renewal !== undefined && (renews || writes(decision))
        if (!renewal || !isRenewed) return decision
        return { ...decision, registers: [...decision.registers, renewal.row(isErased, end)] }
      })
      if (!isMoved) {
        // A write in between, of this very scope, may have learnt more.
        ring.seq = isErased ? end : Math.max(ring.seq, end)
        if (renewal && isRenewed) renewal.adopt(isErased)
        else if (isErased) ring.destroy()
        return results
      }
      await ring.load()
    }
    throw outrun()
  }

  /** Whether a key must be made: there is none, it has encrypted enough, or all that it encrypted is to be erased. */
  async #needsKey(ops: readonly SealedOp[]): Promise<boolean> {
    const { version, used } = this.#ring
    return (
      version === null ||
      used >= this.#parts.rowsPerKey ||
      ops.some(({ envelope }) => envelope.kind === 'erase')
    )
  }

  async #ready(): Promise<void> {
    await this.#ring.ready()
    if (this.#ring.isPlain && !this.#parts.keepsPlain)
      throw new PlimsollError('ERR_DECRYPT', 'encryptedStore: what is there was not encrypted')
  }

  /** The key to encrypt with, which is made if there is none; undefined: the scope is in the clear. */
  async #writingKey(): Promise<DataKey | undefined> {
    await this.#ring.load()
    await this.#ready()
    if (this.#ring.isPlain) return undefined
    await this.ensureKey()
    return this.#ring.current()
  }

  async #seal(op: SealedOp, key: DataKey, hide: Hide): Promise<SealedOp> {
    const { envelope, bodies, derived } = op
    const { kind, opId, ids, index } = envelope
    const seal = (body: string, at: number): Promise<string> => {
      const beside = kind === 'put' ? index : derived?.[at]
      return sealText(
        key,
        this.#placeOfBody(rowKindOf(envelope), opId, ids[at] ?? ''),
        `${JSON.stringify(beside ?? null)}\n${body}`,
      )
    }
    const hidden = index?.map((entry) => ({ ...entry, group: hide(entry.group) }))
    return {
      envelope: hidden ? { ...envelope, index: hidden } : envelope,
      bodies: await Promise.all(bodies.map(seal)),
    }
  }

  async #openRows(rows: readonly LogRow[]): Promise<LogRow[]> {
    if (rows.every(({ body }) => body === null)) return [...rows]
    await this.#ready()
    if (this.#ring.isPlain) return [...rows]
    return Promise.all(rows.map((row) => this.#openRow(row)))
  }

  async #openRow(row: LogRow): Promise<LogRow> {
    const { kind, opId, id, body } = row
    if (body === null) return row
    const opened = await this.#open(this.#placeOfBody(kind, opId, id), body)
    if (!opened) return { ...row, body: null, unreadable: true }
    const { head, text } = opened
    return { ...row, body: text, ...(head !== null && { derived: head as string }) }
  }

  async #openRegisters(rows: readonly RegisterRow[]): Promise<readonly RegisterRow[]> {
    return Promise.all(rows.filter(({ key }) => key !== KEY_REGISTER).map((row) => this.#openRegister(row)))
  }

  async #openRegister(row: RegisterRow): Promise<RegisterRow> {
    const { key, version, body } = row
    await this.#ready()
    if (body === null || this.#ring.isPlain) return row
    const opened = await this.#open(this.#placeOfBody('put', version, key), body)
    const { index: _, ...rest } = row
    if (!opened) return { ...rest, body: null, unreadable: true }
    const { head, text } = opened
    return { ...rest, body: text, ...(head !== null && { index: head as readonly IndexEntry[] }) }
  }

  /** Undefined: it cannot be read, and was told of. */
  async #open(
    place: Place,
    sealed: string,
  ): Promise<{ readonly head: unknown; readonly text: string } | undefined> {
    try {
      const id = keyOf(sealed)
      const key = id === undefined ? undefined : await this.#ring.find(id)
      if (!key) throw undecryptable(place)
      const text = await openText(key, place, sealed)
      const end = text.indexOf('\n')
      return { head: JSON.parse(text.slice(0, end)), text: text.slice(end + 1) }
    } catch {
      this.#parts.onUnreadable(place)
      return undefined
    }
  }

  async #openBytes(place: Place, sealed: Bytes): Promise<Bytes> {
    const id = keyOfBytes(sealed)
    const key = id === undefined ? undefined : await this.#ring.find(id)
    if (!key) throw undecryptable(place)
    return openBytes(key, place, sealed)
  }

  #placeOfBody(kind: Place['kind'], opId: string, id: string): Place {
    return { scope: this.#parts.scope, kind, opId, id, field: 'body' }
  }

  #placeOfAttachment({ id, mediaType }: Pick<Attachment, 'id' | 'mediaType'>): Place {
    return { scope: this.#parts.scope, kind: 'attachment', opId: mediaType, id, field: 'bytes' }
  }

  #placeOfDerived(id: string): Place {
    return { scope: this.#parts.scope, kind: 'derived', opId: '', id, field: 'bytes' }
  }
}

function checkKey(key: string | undefined): void {
  if (key === KEY_REGISTER)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', `commit: the key ${KEY_REGISTER} is the store's own`, {
      argument: 'key',
    })
}

/** Kind of the rows that an op writes bodies to. */
function rowKindOf({ kind, mark }: SealedOp['envelope']): Place['kind'] {
  return kind === 'append' ? 'message' : kind === 'mark' ? (mark ?? 'rewind') : kind
}

function versionIn({ registers }: Rows): string | null {
  return registers.get(KEY_REGISTER)?.version ?? null
}

function holdsBody({ log, registers }: Decision): boolean {
  return [...log, ...registers].some(({ body }) => body !== null)
}

function writes({ erase, log, registers }: Decision): boolean {
  return erase || log.length > 0 || registers.length > 0
}

/** A decision may write the bodies that it was given, and no others: they are encrypted. */
function checkSealed({ log, registers }: Decision, sealed: readonly SealedOp[]): void {
  const given = new Set(sealed.flatMap(({ bodies }) => bodies))
  if ([...log, ...registers].some(({ body }) => body !== null && !given.has(body)))
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'commit: a decision holds a body that no op has', {
      argument: 'decide',
    })
}

function outrun(): PlimsollError {
  return new PlimsollError(
    'ERR_CONFLICT',
    `encryptedStore: the keys were changed by others ${TRIES} times in a row`,
  )
}

/** The same bytes in memory of their own. */
function own(bytes: Uint8Array): Bytes {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Bytes) : Uint8Array.from(bytes)
}
