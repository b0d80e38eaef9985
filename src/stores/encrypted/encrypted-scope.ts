import { decide as coreDecide, nothingWritten } from '../../kernel/log/decide.ts'
import { base64url } from '../../ports/base64.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { type IndexEntry, idIn, type OpResult, type Scope, type SealedOp } from '../../ports/op.ts'
import {
  type Attachment,
  type Changes,
  type Decide,
  type Decision,
  type DerivedRow,
  type EntriesQuery,
  type Head,
  type IndexQuery,
  type LogRow,
  PAGE_ROWS,
  type Page,
  type RegisterRow,
  type Rows,
  type ScopeStore,
  type Sum,
} from '../../ports/store.ts'
import { type Bytes, randomBytes } from './cipher.ts'
import {
  blanked,
  type Hide,
  isKeyRegister,
  KEY_REGISTER,
  type KeyRing,
  type KeyState,
  keyOp,
  type Renewal,
  SHARED_KEYS,
} from './key-ring.ts'
import type { KeyInfo } from './keys.ts'
import type { Opened, OpenedTexts } from './opened-texts.ts'
import { CLAIM_LENGTH, type Claim, claimIn, claimOf, looseClaimOf, misplaced } from './order.ts'
import {
  type DataKey,
  keyOf,
  keyOfBytes,
  openBytes,
  openText,
  type Place,
  restOf,
  sealBytes,
  sealText,
  undecryptable,
} from './sealed.ts'

/** How often a write is tried again, where others wrote at the same time. */
const TRIES = 16
/** Writes that others came before until the store is asked for the keys in the same transaction. */
const UNASKED = 1
/** Bytes that name a version of a register. */
const VERSION_BYTES = 8
/** Why keys are made: where there are none, or in any case. */
type Making = 'first' | 'further'

/**
 * Makes a store read the register of the keys in the transaction of a commit. It is never written.
 */
const ASK: SealedOp = {
  envelope: { opId: KEY_REGISTER, kind: 'put', ids: [], key: KEY_REGISTER },
  bodies: [],
}

export interface EncryptedScopeParts {
  readonly scope: Scope
  readonly store: ScopeStore
  readonly ring: KeyRing
  /** Ops under one data key. */
  readonly opsPerKey: number
  /** Whether a scope that was written in the clear may stay so. */
  readonly keepsPlain: boolean
  /**
   * Contract: rejects with ERR_DECRYPT where the user's key opens neither these keys nor, where
   * there are none, those of the user's own scope.
   */
  readonly unlock: (state: KeyState) => Promise<void>
  /** Of all scopes of the store. */
  readonly texts: OpenedTexts
  /** Told of each row that cannot be read. */
  readonly onUnreadable: (row: Pick<Place, 'kind' | 'id'>) => void
}

/**
 * A scope of which the store below holds ciphertext. Encrypts before a transaction, and decrypts
 * after it.
 */
export class EncryptedScope implements ScopeStore {
  readonly #parts: EncryptedScopeParts
  readonly #store: ScopeStore
  readonly #ring: KeyRing
  readonly watch?: NonNullable<ScopeStore['watch']>
  readonly clock?: NonNullable<ScopeStore['clock']>
  readonly isReplica?: true

  constructor(parts: EncryptedScopeParts) {
    this.#parts = parts
    this.#store = parts.store
    this.#ring = parts.ring
    const { store } = parts
    if (store.isReplica) this.isReplica = true
    if (store.clock) this.clock = store.clock
    if (store.watch) this.watch = (listener) => store.watch?.(listener) ?? (() => {})
  }

  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    for (const { envelope } of ops) checkNames(envelope)
    let forgets = false
    const noting: Decide = (given, rows) => {
      const decision = decide(given, rows)
      forgets = decision.erase || decision.emptied.length > 0
      return decision
    }
    try {
      return await (this.isReplica ? this.#commitForHome(ops, noting) : this.#commit(ops, noting))
    } finally {
      // Also where it fails: only its answer may be lost.
      if (forgets) this.#parts.texts.clear()
    }
  }

  async entries(query?: EntriesQuery): Promise<Page> {
    // Before the rows: so that what is seen in them is seen under these keys.
    const { version } = await this.#unlocked()
    const { cleared } = this.#parts.texts
    const page = await this.#store.entries(query)
    return { ...page, rows: await this.#openRows(page.rows, version, cleared) }
  }

  head(): Promise<Head> {
    return this.#store.head()
  }

  async register(key: string): Promise<RegisterRow | undefined> {
    if (isKeyRegister(key)) return undefined
    await this.#unlocked()
    const row = await this.#store.register(key)
    return row && this.#openRegister(row)
  }

  async registers(prefix: string, after?: string, before?: string): Promise<readonly RegisterRow[]> {
    await this.#unlocked()
    return this.#openRegisters(await this.#store.registers(prefix, after, before))
  }

  async indexed(group: string, query?: IndexQuery): Promise<readonly RegisterRow[]> {
    const hidden = (await this.#hiding()).map((hide) => hide(group))
    const names = new Map(hidden.map((name) => [name, group]))
    const found = await Promise.all(hidden.map((name) => this.#store.indexed(name, query)))
    const [first = [], ...others] = found
    return this.#openRegisters(others.length === 0 ? first : merged(found, hidden, query), names)
  }

  async sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    const hides = await this.#hiding()
    const found = await this.#store.sums(groups.flatMap((group) => hides.map((hide) => hide(group))))
    return new Map(
      groups.flatMap((group) => {
        const sums = hides.flatMap((hide) => found.get(hide(group)) ?? [])
        const count = sums.reduce((sum, one) => sum + one.count, 0)
        const weight = sums.reduce((sum, one) => sum + one.weight, 0)
        return sums.length > 0 ? [[group, { count, weight }] as const] : []
      }),
    )
  }

  async changesSince(seq: number): Promise<Changes> {
    const { version } = await this.#unlocked()
    const { cleared } = this.#parts.texts
    const changes = await this.#store.changesSince(seq)
    return { ...changes, rows: await this.#openRows(changes.rows, version, cleared) }
  }

  async attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    const key = await this.#writingKey()
    if (!key) return this.#store.attach(attachment, at)
    const { id } = attachment
    const bytes = await sealBytes(key, this.#placeOfAttachment(attachment), own(attachment.bytes))
    const result = await this.#store.attach({ ...attachment, bytes }, at)
    if (result !== 'stored') return result
    const { stored } = await this.#ring.load()
    if (stored.some((one) => one.id === key.id)) return result
    // An erase in between took the key with it: what is there now, nobody can read.
    const opId = `attach/${id}`
    await this.#store.commit(
      [{ envelope: { opId, kind: 'delete', ids: [], target: `attachment:${id}` }, bodies: [] }],
      coreDecide,
    )
    throw new PlimsollError('ERR_CONFLICT', `attach: the session of ${id} was erased meanwhile`, { id })
  }

  /** @throws ERR_DECRYPT */
  async attachment(id: string): Promise<Attachment | undefined> {
    const found = await this.#store.attachment(id)
    if (!found || (await this.#readable()).isPlain) return found
    const place = this.#placeOfAttachment(found)
    try {
      return { ...found, bytes: await this.#openBytes(place, own(found.bytes)) }
    } catch (error) {
      if (isPlimsollError(error, 'ERR_DECRYPT')) this.#parts.onUnreadable(place)
      throw error
    }
  }

  attached(ids: readonly string[]): Promise<readonly string[]> {
    return this.#store.attached(ids)
  }

  async derive({ key: name, bytes }: DerivedRow, seq: number): Promise<boolean> {
    const key = await this.#writingKey()
    const sealed = key ? await sealBytes(key, this.#placeOfDerived(name), bytes) : bytes
    return this.#store.derive({ key: name, bytes: sealed }, seq)
  }

  /** What cannot be read, and what comes after it, is left out: it is rebuilt from the log. */
  async derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    const rows = await this.#store.derived(prefix, after)
    if (rows.length === 0 || (await this.#readable()).isPlain) return rows
    const opened: DerivedRow[] = []
    for (const { key, bytes } of rows) {
      try {
        opened.push({ key, bytes: await this.#openBytes(this.#placeOfDerived(key), bytes) })
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_DECRYPT')) throw error
        break
      }
    }
    return opened
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** The keys as they are now. @throws ERR_DECRYPT: the scope is in the clear, and must not be */
  async loaded(): Promise<KeyState> {
    const state = await this.#ring.load()
    this.#check(state)
    return state
  }

  /** Makes a data key, if there is none yet. */
  async ensureKey(): Promise<void> {
    if (!this.isReplica) await this.#commit([], NOTHING, 'first')
    else await this.#sharedKeys()
  }

  /** What is written from now on is encrypted under another data key. */
  async rotate(): Promise<void> {
    const state = await this.#ring.load()
    if (state.stored.length === 0) return
    if (this.isReplica) await this.#shareKey(state)
    else await this.#commit([], NOTHING, 'further')
  }

  /** Wraps the data keys again. No row changes. @returns info of the newest one */
  async rewrap(kept: KeyInfo | undefined): Promise<KeyInfo | undefined> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const state = await this.#ring.load()
      if (state.stored.length === 0) return kept
      const rewrapped = await this.#ring.rewrapped(state, kept)
      if (this.isReplica) {
        if (!(await this.#rewrapShared(rewrapped.state))) continue
        return rewrapped.info
      }
      let isMoved = false
      await this.#store.commit([ASK], (_, rows) => {
        isMoved = versionIn(rows) !== state.version
        return isMoved
          ? nothingWritten([])
          : { ...nothingWritten([]), registers: [rewrapped.row(rows.head.seq)] }
      })
      if (isMoved) continue
      this.#ring.learn(rewrapped.state)
      return rewrapped.info
    }
    throw outrun()
  }

  /**
   * Encrypts, and commits if the keys are the scope's own then; else again with those that are.
   * What is sealed goes by one state of the keys, whatever is learnt of them meanwhile.
   */
  async #commit(ops: readonly SealedOp[], decide: Decide, making?: Making): Promise<readonly OpResult[]> {
    const hasBodies = ops.some(({ bodies }) => bodies.length > 0)
    // What a decision erases without being asked to, takes the keys with it under which its own
    // rows are sealed.
    let erases = ops.some(({ envelope }) => envelope.kind === 'erase')
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const ring = this.#ring
      const state = attempt === 0 ? await ring.known() : await ring.load()
      if (hasBodies || making) this.#check(state)
      const { version, seq, stored, isPlain } = state
      if (making === 'first' && (stored.length > 0 || isPlain)) return []
      const needsKey = hasBodies && (stored.length === 0 || erases || this.#isWorn(state))
      const renewal = !isPlain && (making || needsKey) ? await ring.renewal(state) : undefined
      const sealed = hasBodies && !isPlain ? await this.#sealed(ops, state, renewal) : ops
      const asks = renewal !== undefined || erases || attempt > UNASKED
      let taken: { readonly decision: Decision; readonly end: number; readonly renews: boolean } | undefined
      const results = await this.#store.commit(asks ? [ASK, ...sealed] : sealed, (given, rows) => {
        taken = undefined
        // Without a body nothing depends on the keys. A scope in the clear has none whose version
        // would say that it still is.
        const isKnown = asks && !isPlain ? versionIn(rows) === version : rows.head.seq === seq
        if ((hasBodies || making) && !isKnown) return nothingWritten([])
        const decision = decide(asks ? given.slice(1) : given, rows)
        checked(decision, sealed)
        if (decision.erase && !isPlain && (!asks || (!renewal && holdsBody(decision)))) {
          erases = true
          return nothingWritten([])
        }
        // Written over first, in a commit of its own: what is gone then is what is erased next.
        const keys = decision.erase && rows.registers.get(KEY_REGISTER)
        if (keys && stored.length > 0) return { ...nothingWritten([]), registers: [blanked(keys)] }
        const end = decision.log.at(-1)?.seq ?? rows.head.seq
        const renews = renewal !== undefined && (making !== undefined || writes(decision))
        taken = { decision, end, renews }
        if (!renews) return decision
        return { ...decision, registers: [...decision.registers, renewal.row(decision.erase, end)] }
      })
      if (!taken) continue
      const { decision, end, renews } = taken
      if (renewal && renews) ring.learn(renewal.state(decision.erase, end))
      else if (decision.erase)
        ring.learn({ version: null, seq: end, stored: [], isPlain: isPlain && holdsBody(decision) })
      else if (hasBodies) ring.advance(state, end)
      ring.see(ring.version, decision.log)
      return results
    }
    throw outrun()
  }

  /**
   * As {@link #commit}, where the scope follows a home: its keys are ops of their own, before what
   * is sealed under them, so that every device gets them; and they go by no other's number.
   */
  async #commitForHome(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    if (!ops.some(({ bodies }) => bodies.length > 0))
      return this.#store.commit(ops, (given, rows) => checked(decide(given, rows), ops))
    const erases = ops.some(({ envelope }) => envelope.kind === 'erase')
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const state = await this.#sharedKeys(attempt > 0)
      if (state.isPlain) return this.#store.commit(ops, decide)
      // What an erase takes along is no key for what comes after it.
      const renewal = erases ? await this.#ring.renewal(state) : undefined
      const sealed = await this.#sealed(ops, state, renewal)
      const key = renewal?.op ?? asked(await this.#ring.newest(state))
      const register = key.envelope.key as string
      let isWritten = false
      const results = await this.#store.commit([...sealed, key], (given, rows) => {
        isWritten = false
        if (!renewal && rows.registers.get(register)?.body == null) return nothingWritten([])
        const decision = checked(decide(given.slice(0, -1), rows), sealed)
        isWritten = true
        if (!renewal || !writes(decision)) return decision
        const seq = decision.log.at(-1)?.seq ?? rows.head.seq
        const row = { key: register, version: key.envelope.opId, seq, body: key.bodies[0] ?? null }
        const results = [...decision.results, { status: 'accepted', seq, applied: true } as const]
        return { ...decision, results, registers: [...decision.registers, row] }
      })
      if (!isWritten) continue
      if (renewal) await this.#ring.load()
      return results.slice(0, ops.length)
    }
    throw outrun()
  }

  /** The keys, one of which encrypts; made, if there is none. */
  async #sharedKeys(isAgain = false): Promise<KeyState> {
    const ring = this.#ring
    let state = isAgain ? await ring.load() : await ring.known()
    // What has come from the home since may hold keys.
    if (state.stored.length === 0) state = await ring.load()
    this.#check(state)
    const isLacking = state.stored.length === 0 || this.#isWorn(state)
    return isLacking && !state.isPlain ? this.#shareKey(state) : state
  }

  async #shareKey(state: KeyState): Promise<KeyState> {
    const { op } = await this.#ring.renewal(state)
    await this.#store.commit([op], coreDecide)
    return this.#ring.load()
  }

  /** @returns whether nobody changed them meanwhile */
  async #rewrapShared({ stored }: KeyState): Promise<boolean> {
    for (const key of stored) {
      const { envelope, bodies } = keyOp(key)
      const { version = null } = (await this.#store.register(envelope.key as string)) ?? {}
      const opId = `${envelope.opId}/${base64url(randomBytes(VERSION_BYTES))}`
      const op = { envelope: { ...envelope, opId, base: version }, bodies }
      const [result] = await this.#store.commit([op], coreDecide)
      if (result?.status !== 'accepted') return false
    }
    await this.#ring.load()
    return true
  }

  /** @throws ERR_DECRYPT: the scope is in the clear, and must not be */
  #check({ isPlain }: KeyState): void {
    if (isPlain && !this.#parts.keepsPlain)
      throw new PlimsollError('ERR_DECRYPT', 'encryptedStore: the stored data is not encrypted')
  }

  /** Whether the newest key has encrypted enough. */
  #isWorn({ stored, seq }: KeyState): boolean {
    return seq - (stored.at(-1)?.from ?? seq) >= this.#parts.opsPerKey
  }

  async #readable(): Promise<KeyState> {
    const state = await this.#ring.known()
    this.#check(state)
    return state
  }

  /**
   * The keys, which open: under a wrong one what is there, and what is not, would pass for nothing
   * that was ever said.
   */
  async #unlocked(): Promise<KeyState> {
    const state = await this.#ring.known()
    if (!state.isPlain) await this.#parts.unlock(state)
    return state
  }

  /** What stands for names now, no matter who made the keys. */
  async #hiding(): Promise<readonly Hide[]> {
    const state = await this.#ring.current()
    this.#check(state)
    if (!state.isPlain) await this.#parts.unlock(state)
    return this.#ring.allHiding(state)
  }

  /**
   * The key to encrypt with, which is made if there is none; undefined: the scope is in the clear.
   */
  async #writingKey(): Promise<DataKey | undefined> {
    const state = await this.#ring.current()
    this.#check(state)
    if (state.isPlain) return undefined
    if (state.stored.length === 0) await this.ensureKey()
    const key = await this.#ring.newest(await this.#ring.known())
    if (!key) throw outrun()
    return key
  }

  async #sealed(
    ops: readonly SealedOp[],
    state: KeyState,
    renewal: Renewal | undefined,
  ): Promise<readonly SealedOp[]> {
    const key = renewal?.key ?? (await this.#ring.newest(state))
    // Nothing is written in the clear for want of a key.
    if (!key) throw new PlimsollError('ERR_DECRYPT', 'encryptedStore: there is no data key')
    const hide = renewal?.hide ?? (await this.#ring.hiding(state))
    const seen = this.#ring.seen(state)
    const claim = this.isReplica ? looseClaimOf : claimOf
    const entries = ops.filter(({ envelope: { kind } }) => kind === 'append' || kind === 'mark')
    return Promise.all(
      ops.map((op) =>
        this.#seal(op, key, hide, claim(seen, entries[entries.indexOf(op) - 1]?.envelope.opId)),
      ),
    )
  }

  async #seal(op: SealedOp, key: DataKey, hide: Hide, claim: string): Promise<SealedOp> {
    const { envelope, bodies, derived, places } = op
    const { kind, opId, ids, index, round, lane, base, sources } = envelope
    // As its row will say it.
    const named = { ...(sources && { sources }) }
    const fields =
      kind === 'put'
        ? named
        : kind === 'append'
          ? { ...(round !== undefined && { round }) }
          : { ...named, ...(lane !== undefined && { lane }), base: base ?? null }
    const seal = async (body: string | null, at: number): Promise<string | null> => {
      if (body === null) return null
      const beside = kind === 'put' ? index : derived?.[at]
      return sealText(
        key,
        this.#placeOfBody(rowKindOf(envelope), opId, ids[at] ?? '', restOf(places?.[at] ?? at, fields)),
        `${claim}${JSON.stringify(beside ?? null)}\n${body}`,
      )
    }
    const hidden = index?.map((entry) => ({ ...entry, group: hide(entry.group) }))
    return {
      envelope: hidden ? { ...envelope, index: hidden } : envelope,
      bodies: await Promise.all(bodies.map(seal)),
    }
  }

  /**
   * @param version that the keys had before the rows were read
   * @param cleared how often texts had been cleared before that
   */
  async #openRows(rows: readonly LogRow[], version: string | null, cleared: number): Promise<LogRow[]> {
    // Somebody else may have forgotten what was read here before.
    if (rows.some(({ kind }) => kind === 'delete' || kind === 'erase')) this.#parts.texts.clear()
    if (rows.every(({ body }) => body === null) || (await this.#readable()).isPlain) return [...rows]
    this.#ring.see(version, rows)
    const claims = new Map<LogRow, Claim>()
    const opened = await Promise.all(rows.map((row) => this.#openRow(row, claims, cleared)))
    const wrong = misplaced(rows, claims, this.isReplica === true)
    if (wrong.size === 0) return opened
    return opened.map((row, index) => {
      const stored = rows[index] as LogRow
      if (!wrong.has(stored)) return row
      this.#parts.onUnreadable(stored)
      return { ...stored, body: null, unreadable: true }
    })
  }

  async #openRow(row: LogRow, claims: Map<LogRow, Claim>, cleared: number): Promise<LogRow> {
    const { kind, opId, id, body, place } = row
    if (body === null) return row
    const { texts } = this.#parts
    const bound = this.#placeOfBody(kind, opId, id, restOf(place, row))
    const key = await this.#keyOf(body)
    const opened = (key && texts.find(bound, body)) ?? (await this.#open(bound, body, key))
    if (opened) texts.keep(bound, body, opened, cleared)
    if (!opened) return { ...row, body: null, unreadable: true }
    const { claim, head, text } = opened
    claims.set(row, claim)
    return { ...row, body: text, ...(head !== null && { derived: head as string }) }
  }

  async #openRegisters(
    rows: readonly RegisterRow[],
    names?: ReadonlyMap<string, string>,
  ): Promise<readonly RegisterRow[]> {
    const own = rows.filter(({ key }) => !isKeyRegister(key))
    return Promise.all(own.map((row) => this.#openRegister(row, names)))
  }

  /**
   * @param names of hidden groups, where a register that cannot be read was found: its places there
   * go with it
   */
  async #openRegister(row: RegisterRow, names?: ReadonlyMap<string, string>): Promise<RegisterRow> {
    const { key, version, body } = row
    if (body === null || (await this.#readable()).isPlain) return row
    const { sources } = row
    const bound = restOf(0, { ...(sources && { sources }) })
    const place = this.#placeOfBody('put', version, key, bound)
    const opened = await this.#open(place, body, await this.#keyOf(body))
    const { index, ...rest } = row
    if (!opened) {
      const places = index?.flatMap((entry) => {
        const group = names?.get(entry.group)
        return group === undefined ? [] : [{ ...entry, group }]
      })
      return { ...rest, body: null, unreadable: true, ...(places?.length && { index: places }) }
    }
    const { head, text } = opened
    return { ...rest, body: text, ...(head !== null && { index: head as readonly IndexEntry[] }) }
  }

  /** The key of a sealed text. Under a wrong one all of it would pass for what is missing. */
  async #keyOf(sealed: string): Promise<DataKey | undefined> {
    const id = keyOf(sealed)
    return id === undefined ? undefined : this.#ring.find(id)
  }

  /** Undefined: it cannot be read, and was reported. */
  async #open(place: Place, sealed: string, key: DataKey | undefined): Promise<Opened | undefined> {
    try {
      if (!key) throw undecryptable(place)
      const text = await openText(key, place, sealed)
      const end = text.indexOf('\n')
      const head: unknown = JSON.parse(text.slice(CLAIM_LENGTH, end))
      return { claim: claimIn(text), head, text: text.slice(end + 1) }
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_DECRYPT')) throw error
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

  #placeOfBody(kind: Place['kind'], opId: string, id: string, rest: string): Place {
    return { scope: this.#parts.scope, kind, opId, id, field: 'body', rest }
  }

  #placeOfAttachment({ id, mediaType }: Pick<Attachment, 'id' | 'mediaType'>): Place {
    return { scope: this.#parts.scope, kind: 'attachment', opId: mediaType, id, field: 'bytes' }
  }

  #placeOfDerived(id: string): Place {
    return { scope: this.#parts.scope, kind: 'derived', opId: '', id, field: 'bytes' }
  }
}

/** The register of the keys is nobody's but this store's. */
function checkNames({ key, target }: SealedOp['envelope']): void {
  if (isKeyRegister(key ?? (target && idIn('register', target)) ?? ''))
    throw new PlimsollError('ERR_INVALID_ARGUMENT', `commit: ${key ?? target} is the store's own`, {
      argument: 'ops',
    })
}

const NOTHING: Decide = () => nothingWritten([])

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
function checked(decision: Decision, sealed: readonly SealedOp[]): Decision {
  const { log, registers } = decision
  const given = new Set(sealed.flatMap(({ bodies }) => bodies))
  if ([...log, ...registers].some(({ body }) => body !== null && !given.has(body)))
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'commit: a decision holds a body that no op has', {
      argument: 'decide',
    })
  return decision
}

/** Makes a store read the register of a key in the transaction of a commit. It is not written. */
function asked(key: DataKey | undefined): SealedOp {
  // Nothing is written in the clear for want of a key.
  if (!key) throw new PlimsollError('ERR_DECRYPT', 'encryptedStore: there is no data key')
  const register = SHARED_KEYS + key.id
  return { envelope: { opId: `ask/${register}`, kind: 'put', ids: [register], key: register }, bodies: [''] }
}

/** Registers of one list that has several hidden names, in its order. */
function merged(
  found: readonly (readonly RegisterRow[])[],
  hidden: readonly string[],
  { first = PAGE_ROWS }: IndexQuery = {},
): readonly RegisterRow[] {
  const orderIn = ({ index = [] }: RegisterRow) =>
    index.find(({ group }) => hidden.includes(group))?.order ?? ''
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
  return found
    .flat()
    .toSorted((one, other) => compare(orderIn(one), orderIn(other)) || compare(one.key, other.key))
    .slice(0, Math.min(first, PAGE_ROWS))
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
