import { PlimsollError } from '../ports/errors.ts'
import { joinedBytes } from '../ports/joined-bytes.ts'
import { type IndexEntry, idIn, type Name, type OpResult, type Scope, type SealedOp } from '../ports/op.ts'
import { scopeName, scopeNamed } from '../ports/scope-name.ts'
import {
  type Attachment,
  type Changes,
  type Decide,
  type Decision,
  type DerivedRow,
  type EntriesQuery,
  type EntryKind,
  type Head,
  type IndexQuery,
  isEntry,
  type LogRow,
  type MarkRow,
  type OutboxRow,
  PAGE_ROWS,
  PAGE_UNITS,
  type Page,
  type Rebase,
  type RegisterRow,
  type ReplicaChange,
  type Rows,
  type ScopeStore,
  type Store,
  type Sum,
  UNUSED_AT_ONCE,
} from '../ports/store.ts'
import { LogTail, tailAfter } from './log-tail.ts'
import { idsIn, type Named, namedBy } from './named.ts'
import { PageFill } from './page-fill.ts'
import { PART_UNITS, partsOf, partsOfBytes } from './parts.ts'
import { isAppend, rowsIfNew } from './plain-append.ts'
import { withStorageErrors } from './sql-errors.ts'
import {
  DERIVED_TABLE,
  DERIVED_VERSION,
  NUMBER,
  SCHEMA,
  SCHEMA_VERSION,
  type SqlRow,
  type SqlStorageLike,
  type SqlValue,
  TEXT,
} from './sql-schema.ts'

/**
 * Most rows of one scope: about 268 million. Scopes of one database: 2^25, as far as all numbers
 * are exact in JavaScript.
 */
const SCOPE_ROWS = 2 ** 28
/** No scope has this number; theirs begin at 1. */
const NO_SCOPE = 0
/** A Durable Object takes at most 100 bound parameters in a statement. */
const BATCH = 90
const LAST_PLANE = 0x10_0000
/** From where on UTF-8 and UTF-16 sort otherwise: few keys have any of it. */
const BEYOND_ORDER = /[\ud800-\uffff]/
/** A byte that no text in UTF-8 has: behind a text, it sorts after all that begin with that. */
const ABOVE_ALL = `x'ff'`
/** Rows that are read first, where nobody knows how many are wanted: long ones are few. */
const FIRST_PIECE = 16
/** Rows of the log that one statement inserts. */
const ROWS_AT_ONCE = 5
/** Rows of the smaller tables that one statement inserts. */
const SMALL_ROWS_AT_ONCE = 20

const IS_ENTRY = `kind NOT IN ('put', 'delete', 'erase')`
/** The same, where no index is wanted for it: a look into a list counts as a row read. */
const IS_ENTRY_ROW = `kind <> 'put' AND kind <> 'delete' AND kind <> 'erase'`
const IS_MARK = `kind NOT IN ('message', 'put', 'delete', 'erase')`
const COLUMNS =
  'n, seq, place, kind, id, op, ordinal, round, lane, base, applied, chain, sources, contexts, tok, parts, body, derived'

/** Where a store runs, as far as what it says and may do depends on it. */
export interface SqlStoreOptions {
  /** Of the function that made it, for errors. */
  readonly name: string
  /** What to do where a newer version made the tables, and where 0.1.0 did. */
  readonly advice: { readonly newer: string; readonly older: string }
  /** Tables are neither made nor changed. */
  readonly isReader?: boolean
  /** Called after each commit; and after what else removes something. */
  readonly onCommit?: (removed: boolean) => void
}

/**
 * A store in a database of SQLite, beside whatever else is in it: all tables begin with
 * `plimsoll_`. Nothing is read or made before the first call.
 *
 * A commit is one synchronous block in one transaction: nothing that uses the same connection runs
 * between its reads and its writes.
 */
export class SqlStore implements Store {
  readonly #database: Database

  constructor(storage: SqlStorageLike, options: SqlStoreOptions) {
    this.#database = new Database(withStorageErrors(storage, options.name), options)
  }

  /**
   * Looks at the tables, and makes them where there are none. The first call does it too; a reader
   * does it with each call.
   *
   * @throws ERR_UPGRADE_REQUIRED, ERR_STORAGE, ERR_STORAGE_FULL
   */
  prepare(): void {
    this.#database.prepare()
  }

  open(scope: Scope): ScopeStore {
    return new SqlScope(this.#database, scopeName(scope))
  }

  async oldestUnused(): Promise<number | undefined> {
    const [row] = this.#database.all('SELECT MIN(at) AS oldest FROM plimsoll_unused')
    return (row?.oldest as number | null) ?? undefined
  }

  async removeUnused(until: number): Promise<number> {
    const database = this.#database
    const removed = database.transaction(() => {
      const rows = database.all(
        `SELECT scope, id FROM plimsoll_unused WHERE at <= ? ORDER BY at LIMIT ${NUMBER}`,
        until,
        UNUSED_AT_ONCE,
      )
      for (const { scope, id } of rows) removeAttachment(database, scope as number, id as string)
      return rows.length
    })
    database.onCommit(removed > 0)
    return removed
  }

  async scopes(after?: Scope): Promise<readonly Scope[]> {
    return this.#database
      .all(
        `SELECT name FROM plimsoll_scope WHERE name > ? ORDER BY name LIMIT ${NUMBER}`,
        after ? scopeName(after) : '',
        PAGE_ROWS,
      )
      .map(({ name }) => scopeNamed(name as string))
  }
}

/** The tables, made when they are first needed. */
class Database {
  readonly listeners = new Map<string, Set<() => void>>()
  readonly name: string
  readonly onCommit: (removed: boolean) => void
  readonly #storage: SqlStorageLike
  readonly #options: SqlStoreOptions
  #isReady = false
  #hasDerived = true

  constructor(storage: SqlStorageLike, options: SqlStoreOptions) {
    this.#storage = storage
    this.#options = options
    this.name = options.name
    this.onCommit = options.onCommit ?? (() => {})
  }

  /** Whether what was derived was so by this version, or made room for it. */
  get hasDerived(): boolean {
    if (!this.#isReady) this.prepare()
    return this.#hasDerived
  }

  /** Runs `closure` in one transaction. What is thrown in it undoes all of it. */
  transaction<Result>(closure: () => Result): Result {
    if (!this.#isReady) this.prepare()
    return this.#storage.transactionSync(() => synchronous(closure()))
  }

  /** Runs a statement that gives no rows. */
  run(query: string, ...bindings: SqlValue[]): void {
    if (!this.#isReady) this.prepare()
    this.#storage.sql.exec(query, ...bindings)
  }

  all(query: string, ...bindings: SqlValue[]): SqlRow[] {
    if (!this.#isReady) this.prepare()
    return this.#storage.sql.exec(query, ...bindings).toArray()
  }

  /** The rows of a query about a scope and a list of names, which it has as `(${list})`. */
  named(scope: number, names: Iterable<string>, query: (list: string) => string): SqlRow[] {
    const all = scope === NO_SCOPE ? [] : [...new Set(names)]
    const found: SqlRow[] = []
    for (let at = 0; at < all.length; at += BATCH) {
      const batch = all.slice(at, at + BATCH)
      found.push(...this.all(query(batch.map(() => '?').join()), scope, ...batch))
    }
    return found
  }

  prepare(): void {
    const { name, advice, isReader } = this.#options
    const { sql } = this.#storage
    const made = sql.exec(`SELECT name FROM sqlite_master WHERE name = 'plimsoll_meta' LIMIT 1`).toArray()
    if (made.length === 0 && isReader)
      throw new PlimsollError('ERR_STORAGE', `${name}: nothing was written here yet, and this only reads`)
    if (made.length === 0)
      this.#storage.transactionSync(() => {
        for (const statement of SCHEMA) sql.exec(statement)
        sql.exec(
          `INSERT INTO plimsoll_meta (key, value) VALUES ('schema', ?), ('derived', ?)`,
          SCHEMA_VERSION,
          DERIVED_VERSION,
        )
      })
    const rows = sql.exec(`SELECT key, value FROM plimsoll_meta`).toArray()
    const versions = new Map(rows.map(({ key, value }) => [key, Number(value)]))
    const version = versions.get('schema') ?? 0
    if (version !== SCHEMA_VERSION) {
      const [wrote, todo] =
        version > SCHEMA_VERSION ? ['a newer version', advice.newer] : ['version 0.1.0', advice.older]
      throw new PlimsollError(
        'ERR_UPGRADE_REQUIRED',
        `${name}: ${wrote} of this library made the tables, in storage format ${version}; ` +
          `this one reads format ${SCHEMA_VERSION} only: ${todo}`,
      )
    }
    const isDerivedHere = versions.get('derived') === DERIVED_VERSION
    if (!isDerivedHere && !isReader) {
      this.#storage.transactionSync(() => {
        sql.exec('DROP TABLE IF EXISTS plimsoll_derived')
        sql.exec(`DELETE FROM plimsoll_part WHERE owner >= 'derived/' AND owner < 'derived0'`)
        sql.exec(DERIVED_TABLE)
        sql.exec(`INSERT OR REPLACE INTO plimsoll_meta (key, value) VALUES ('derived', ?)`, DERIVED_VERSION)
      })
      this.onCommit(true)
    }
    this.#hasDerived = isDerivedHere || !isReader
    this.#isReady = true
  }
}

/**
 * A scope's last row: its place in the log, its op (or the entry that is one with it), and how far
 * seq and messages have counted.
 */
interface Newest {
  readonly n: number
  readonly op: string
  readonly seq: number
  readonly ordinal: number
  readonly stamp: number | null
}

/**
 * What is known of a scope since its last read or commit. True for as long as its last row is still
 * the same.
 */
interface Known {
  readonly newest: Newest | undefined
  readonly head: Head
  readonly tail: LogTail
  /**
   * Whether any name was deleted; whether any op was refused. Nobody looks for what was never
   * there.
   */
  readonly deletes: boolean
  readonly refusals: boolean
  /** Seq of the last commit that emptied anything. */
  readonly emptiedAt: number
  /** What rows of the log are stamped with. */
  readonly stamp: number | null
  /** Its state as the replica of a home, if it is one. */
  readonly state: { readonly replica?: string }
}

/** What is known of a scope to which nothing was written. */
function nothing(): Known {
  return {
    newest: undefined,
    head: { seq: 0, ordinal: 0, marks: new Map() },
    tail: new LogTail(0, []),
    deletes: false,
    refusals: false,
    emptiedAt: 0,
    stamp: null,
    state: {},
  }
}

class SqlScope implements ScopeStore {
  readonly #database: Database
  readonly #name: string
  readonly #listeners = new Set<() => void>()
  /** Number of the scope, once it is known to be there. */
  #number: number | undefined
  #known: Known | undefined

  constructor(database: Database, name: string) {
    this.#database = database
    this.#name = name
  }

  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    let removes = false
    const results =
      this.#appendNew(ops, decide) ??
      this.#transaction(() => {
        const rows = this.#read(ops)
        const decision = synchronous(decide(ops, rows))
        this.#write(decision, ops, rows)
        removes = decision.erase || decision.emptied.length > 0 || decision.replica?.rebase !== undefined
        return decision.results
      })
    this.#database.onCommit(removes)
    for (const listener of this.#database.listeners.get(this.#name) ?? [])
      if (!this.#listeners.has(listener)) listener()
    return results
  }

  /**
   * Appends a few messages in one statement, without asking first: that their ids are new, unique
   * indexes say when they are written, and that the log still ends with the row that is known, the
   * statement itself. Nothing, where one of them says otherwise, or where the ops need more than
   * that.
   */
  #appendNew(ops: readonly SealedOp[], decide: Decide): readonly OpResult[] | undefined {
    const known = this.#known
    if (!known?.newest || known.head.ordinal === 0 || known.deletes || known.refusals) return undefined
    const { newest } = known
    const { head, emptiedAt, tail, state } = known
    const rows = rowsIfNew(ops, { head, emptiedAt, ...state }, tail)
    if (!rows || ops.some(({ bodies }) => bodies.some((body) => body && body.length > PART_UNITS)))
      return undefined
    try {
      const decision = decide(ops, rows)
      const { log, replica } = decision
      if (!isAppend(decision) || log.length > ROWS_AT_ONCE) return undefined
      const scope = this.#find()
      const insert = (): void => this.#insert(scope, newest.n + 1, log, known.stamp, newest)
      if (replica)
        this.#transaction(() => {
          insert()
          this.#replicate(scope, replica)
        })
      else insert()
      this.#known = follow(known, newest.n, undefined, decision, known.stamp)
      return decision.results
    } catch {
      // Whatever it was: asked in the other way it succeeds, or fails again and is reported.
      return undefined
    }
  }

  /**
   * Runs `work` in a transaction. What is known by then of what it failed to write is forgotten.
   */
  #transaction<Result>(work: () => Result): Result {
    const number = this.#number
    try {
      return this.#database.transaction(work)
    } catch (error) {
      this.#number = number
      this.#known = undefined
      throw error
    }
  }

  async entries({ from, after, to, last, first, kinds }: EntriesQuery = {}): Promise<Page> {
    const page = new PageFill(first ?? last)
    if (page.full || kinds?.length === 0) return { rows: [], more: page.full }
    const scope = this.#find()
    const begin = after ?? from
    const place = begin === undefined ? firstOf(scope) : this.#placeOf(scope, begin)
    const end = to === undefined ? firstOf(scope + 1) : this.#placeOf(scope, to)
    if (place === undefined || end === undefined) return { rows: [], more: false }
    const start = after === undefined ? place : place + 1
    const isBack = first === undefined
    const marks = kinds?.includes('message') === false ? [scope] : []
    const query = `SELECT ${COLUMNS} FROM plimsoll_log
      ${marks.length > 0 ? `INDEXED BY plimsoll_log_mark WHERE scope = ${NUMBER} AND ${IS_MARK}` : 'WHERE TRUE'}
      AND ${kinds ? kindIn(kinds) : IS_ENTRY_ROW} AND n >= ? AND n < ? ORDER BY n ${isBack ? 'DESC' : 'ASC'} LIMIT ${NUMBER}`
    const rows = inPieces((previous, limit) => {
      const n = previous?.n as number | undefined
      const least = isBack || n === undefined ? start : n + 1
      return this.#database.all(query, ...marks, least, isBack && n !== undefined ? n : end, limit)
    }, page.limit)
    for (const row of rows) if (!page.take(this.#logRow(row))) break
    return { rows: first === undefined ? page.rows.reverse() : page.rows, more: page.full }
  }

  async head(): Promise<Head> {
    return this.#know().head
  }

  async register(key: string): Promise<RegisterRow | undefined> {
    return this.#registersOf(this.#find(), [key]).get(key)
  }

  async registers(prefix: string, after?: string, before?: string): Promise<readonly RegisterRow[]> {
    const { where, bounds } = rangeOf(prefix, after, before)
    const rows = this.#database.all(
      `SELECT * FROM plimsoll_register WHERE scope = ? AND ${where}
        AND (body IS NOT NULL OR parts IS NOT NULL) ORDER BY sort LIMIT ${PAGE_ROWS}`,
      this.#find(),
      ...bounds,
    )
    return rows.map((row) => this.#registerRow(row))
  }

  async indexed(
    group: string,
    { after, to, first = PAGE_ROWS }: IndexQuery = {},
  ): Promise<readonly RegisterRow[]> {
    return this.#database
      .all(
        `SELECT register.* FROM plimsoll_index AS place
          CROSS JOIN plimsoll_register AS register ON register.scope = place.scope AND register.sort = place.key
          WHERE place.scope = ${NUMBER} AND place.grp = ${TEXT} AND (place.sort, place.key) ${after ? '>' : '>='} (?, ?)
            ${to === undefined ? '' : 'AND place.sort < ?'}
          ORDER BY place.sort, place.key LIMIT ${NUMBER}`,
        this.#find(),
        sortable(group),
        sortable(after?.order ?? ''),
        sortable(after?.key ?? ''),
        ...(to === undefined ? [] : [sortable(to)]),
        Math.max(0, Math.min(first, PAGE_ROWS)),
      )
      .map((row) => this.#registerRow(row))
  }

  async sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    const rows = this.#database.named(
      this.#find(),
      groups.map(sortable),
      (list) => `SELECT grp, count, weight FROM plimsoll_sum WHERE scope = ? AND grp IN (${list})`,
    )
    return new Map(
      rows.map(({ grp, count, weight }) => [
        unsortable(grp as string),
        { count: count as number, weight: weight as number },
      ]),
    )
  }

  async changesSince(seq: number): Promise<Changes> {
    const { newest, head, tail } = this.#know()
    if (!newest || newest.seq <= seq) return { rows: [], head, more: false }
    const inMemory = tail.pageAfter(seq)
    if (inMemory) return { ...inMemory, head }
    const scope = this.#find()
    const page = new PageFill()
    const rows: LogRow[] = []
    let next: number | undefined
    const first = this.#firstAfter(scope, seq, newest.n)
    for (const raw of inPieces((previous, limit) =>
      this.#database.all(
        `SELECT ${COLUMNS} FROM plimsoll_log WHERE n >= ? AND n < ? ORDER BY n LIMIT ${NUMBER}`,
        previous ? (previous.n as number) + 1 : first,
        firstOf(scope + 1),
        limit,
      ),
    )) {
      const row = this.#logRow(raw)
      // Whole ops: as many as a page holds, or one that is longer than a page.
      if (!page.take(row) && row.seq !== rows[0]?.seq) {
        next = row.seq
        break
      }
      rows.push(row)
    }
    return { rows: rows.filter(({ seq }) => seq !== next), head, more: next !== undefined }
  }

  async attach({ id, mediaType, bytes }: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    const database = this.#database
    return this.#transaction(() => {
      const scope = this.#make()
      const name = `attachment:${id}`
      if (database.all('SELECT 1 FROM plimsoll_deleted WHERE scope = ? AND name = ?', scope, name).length > 0)
        return 'deleted'
      if (this.#attached(scope, id)) return 'kept'
      database.run('INSERT INTO plimsoll_attachment VALUES (?, ?, ?, ?)', scope, id, mediaType, bytes.length)
      database.run('INSERT INTO plimsoll_unused VALUES (?, ?, ?)', at, scope, id)
      this.#storeParts(attachmentOwner(scope, id), partsOfBytes(bytes))
      return 'stored'
    })
  }

  async attachment(id: string): Promise<Attachment | undefined> {
    const scope = this.#find()
    const row = this.#attached(scope, id)
    if (!row) return undefined
    const bytes = this.#bytes(attachmentOwner(scope, id), row.size as number)
    return { id, mediaType: row.type as string, bytes }
  }

  async attached(ids: readonly string[]): Promise<readonly string[]> {
    const scope = this.#find()
    return ids.filter((id) => this.#attached(scope, id))
  }

  async derive({ key, bytes }: DerivedRow, seq: number): Promise<boolean> {
    const database = this.#database
    return this.#transaction(() => {
      const scope = this.#make()
      const [row] = database.all('SELECT emptied FROM plimsoll_scope WHERE scope = ?', scope)
      if ((row?.emptied as number) > seq) return false
      const sort = sortable(key)
      const owner = derivedOwner(scope, sort)
      database.run('INSERT OR REPLACE INTO plimsoll_derived VALUES (?, ?, ?)', scope, sort, bytes.length)
      database.run('DELETE FROM plimsoll_part WHERE owner = ?', owner)
      this.#storeParts(owner, partsOfBytes(bytes))
      return true
    })
  }

  async derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    if (!this.#database.hasDerived) return []
    const page: DerivedRow[] = []
    let left = PAGE_UNITS
    const scope = this.#find()
    for (const { sort, size } of inPieces((previous, limit) => {
      const { where, bounds } = rangeOf(prefix, previous ? unsortable(previous.sort as string) : after)
      return this.#database.all(
        `SELECT sort, size FROM plimsoll_derived WHERE scope = ? AND ${where} ORDER BY sort LIMIT ${NUMBER}`,
        scope,
        ...bounds,
        limit,
      )
    })) {
      left -= size as number
      if (left < 0 && page.length > 0) break
      const bytes = this.#bytes(derivedOwner(scope, sort as string), size as number)
      page.push({ key: unsortable(sort as string), bytes })
    }
    return page
  }

  async outbox(after: number): Promise<readonly OutboxRow[]> {
    const page: OutboxRow[] = []
    let left = PAGE_UNITS
    const scope = this.#find()
    for (const row of inPieces((previous, limit) =>
      this.#database.all(
        `SELECT n, part, value FROM plimsoll_outbox
          WHERE scope = ? AND (n, part) > (?, ?) ORDER BY n, part LIMIT ${NUMBER}`,
        scope,
        ...(previous ? [previous.n as number, previous.part as number] : [after + 1, -1]),
        limit,
      ),
    )) {
      const [order, value] = [row.n as number, row.value as string]
      const last = page.at(-1)
      if (last?.order === order) page[page.length - 1] = { order, value: last.value + value }
      else if (page.length < PAGE_ROWS && left >= 0) page.push({ order, value })
      else break
      left -= value.length
    }
    return left < 0 && page.length > 1 ? page.slice(0, -1) : page
  }

  async close(): Promise<void> {
    for (const listener of this.#listeners) this.#database.listeners.get(this.#name)?.delete(listener)
    this.#listeners.clear()
  }

  watch(listener: () => void): () => void {
    const { listeners } = this.#database
    const own = (): void => listener()
    const all = listeners.get(this.#name) ?? new Set()
    listeners.set(this.#name, all.add(own))
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
      all.delete(own)
    }
  }

  /** Number of the scope; of none, if nothing was written to it yet. */
  #find(): number {
    if (this.#number === undefined) {
      const [row] = this.#database.all('SELECT scope FROM plimsoll_scope WHERE name = ?', this.#name)
      this.#number = row?.scope as number | undefined
    }
    return this.#number ?? NO_SCOPE
  }

  /** The last row of a scope, as {@link lineOf} writes it: one column is read faster than five. */
  #newest(scope: number): string | undefined {
    const [row] = this.#database.all(
      `SELECT n || ' ' || seq || ' ' || ordinal || ' ' || COALESCE(stamp, '') || ' ' || COALESCE(op, id) AS line
        FROM plimsoll_log WHERE n >= ? AND n < ? ORDER BY n DESC LIMIT 1`,
      firstOf(scope),
      firstOf(scope + 1),
    )
    return row?.line as string | undefined
  }

  /** What is known, read again where others wrote, or a transaction was undone from outside. */
  #know(): Known {
    const scope = this.#find()
    if (scope === NO_SCOPE) {
      this.#known = nothing()
      return this.#known
    }
    const line = this.#newest(scope)
    const known = this.#known
    if (known?.newest && line === lineOf(known.newest)) return known
    const newest = line === undefined ? undefined : newestOf(line)
    const { seq = 0, ordinal = 0 } = newest ?? {}
    const [about] = this.#database.all(
      `SELECT first, indexed, emptied, rebased, stamp, replica,
        EXISTS (SELECT 1 FROM plimsoll_deleted WHERE scope = made.scope) AS deletes,
        EXISTS (SELECT 1 FROM plimsoll_refused WHERE scope = made.scope) AS refusals
        FROM plimsoll_scope AS made WHERE scope = ?`,
      scope,
    )
    const marks = this.#database.all('SELECT slot, id, seq, chain FROM plimsoll_mark WHERE scope = ?', scope)
    const { first, replica, rebased } = about ?? {}
    this.#known = {
      newest,
      head: {
        seq,
        ordinal,
        ...(typeof first === 'string' && { first }),
        marks: new Map(marks.map((mark) => [mark.slot as string, { ...(mark as unknown as MarkRow) }])),
        ...(about?.indexed === 1 && { indexed: true as const }),
        ...(typeof rebased === 'number' && rebased > 0 && { rebased }),
      },
      tail: new LogTail(seq, []),
      deletes: about?.deletes === 1,
      refusals: about?.refusals === 1,
      emptiedAt: (about?.emptied as number | null) ?? 0,
      stamp: (about?.stamp as number | null | undefined) ?? null,
      state: { ...(typeof replica === 'string' && { replica }) },
    }
    return this.#known
  }

  #attached(scope: number, id: string): SqlRow | undefined {
    const query = 'SELECT type, size FROM plimsoll_attachment WHERE scope = ? AND id = ?'
    return this.#database.all(query, scope, id)[0]
  }

  #placeOf(scope: number, id: string): number | undefined {
    const [row] = this.#database.all(
      `SELECT n FROM plimsoll_log WHERE scope = ? AND id = ? AND ${IS_ENTRY}`,
      scope,
      id,
    )
    return row?.n as number | undefined
  }

  /**
   * Place of the first row after an op, back from the newest, which is: in longer and longer steps,
   * then by bisection.
   */
  #firstAfter(scope: number, seq: number, newest: number): number {
    const isAfter = (n: number): boolean => {
      const [row] = this.#database.all('SELECT seq FROM plimsoll_log WHERE n = ?', n)
      return (row?.seq as number) > seq
    }
    const first = firstOf(scope)
    let after = newest
    let before = newest - 1
    for (let step = 2; before >= first && isAfter(before); step *= 2) {
      after = before
      before -= step
    }
    before = Math.max(before, first - 1)
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (isAfter(middle)) after = middle
      else before = middle
    }
    return after
  }

  #logRow(row: SqlRow): LogRow {
    const { lane, round, base, applied, chain, derived, tok } = row
    const kind = row.kind as LogRow['kind']
    const isMark = kind !== 'message' && isEntry({ kind })
    return {
      seq: row.seq as number,
      place: row.place as number,
      kind,
      id: row.id as string,
      opId: (row.op as string | null) ?? `entry:${row.id}`,
      ordinal: row.ordinal as number,
      ...(round !== null && { round: round as string }),
      ...(lane !== null && { lane: lane as string }),
      ...(isMark && { base: base as string | null, applied: applied === 1 }),
      ...(chain !== null && { chain: chain as number }),
      ...(row.sources !== null && { sources: JSON.parse(row.sources as string) as Name[] }),
      ...(row.contexts !== null && { contexts: JSON.parse(row.contexts as string) as string[] }),
      body: this.#body(row, `log/${row.n}`),
      ...(derived !== null && { derived: derived as string }),
      ...(tok !== null && { tok: tok as string }),
    }
  }

  #registerRow(row: SqlRow): RegisterRow {
    const key = unsortable(row.sort as string)
    return {
      key,
      version: row.version as string,
      seq: row.seq as number,
      ...(row.sources !== null && { sources: JSON.parse(row.sources as string) as Name[] }),
      ...(row.places !== null && { index: JSON.parse(row.places as string) as IndexEntry[] }),
      body: this.#body(row, registerOwner(row.scope as number, key)),
    }
  }

  #body({ body, parts }: SqlRow, owner: string): string | null {
    if (parts === null) return body as string | null
    const rows = this.#database.all('SELECT content FROM plimsoll_part WHERE owner = ? ORDER BY part', owner)
    if (rows.length !== parts)
      throw new PlimsollError(
        'ERR_STORAGE',
        `${this.#database.name}: ${owner} has ${rows.length} of ${parts} parts`,
      )
    return rows.map(({ content }) => content as string).join('')
  }

  /** Bytes that are kept in parts. */
  #bytes(owner: string, size: number): Uint8Array<ArrayBuffer> {
    const parts = this.#database
      .all('SELECT content FROM plimsoll_part WHERE owner = ? ORDER BY part', owner)
      .map(({ content }) => new Uint8Array(content as ArrayBuffer))
    const bytes = joinedBytes(parts)
    const { length } = bytes
    if (length !== size)
      throw new PlimsollError(
        'ERR_STORAGE',
        `${this.#database.name}: ${owner} has ${length} of ${size} bytes`,
      )
    return bytes
  }

  #read(ops: readonly SealedOp[]): Rows {
    const { head, deletes, refusals, emptiedAt, state } = this.#know()
    const named = namedBy(ops.map(({ envelope }) => envelope))
    const scope = this.#number ?? NO_SCOPE
    const database = this.#database
    const dependents = named.deletes ? this.#dependents(scope, named.names) : new Map<Name, Name[]>()
    const derived = [...dependents.values()].flat()
    const found = database
      .named(
        scope,
        [...named.entries, ...named.whole],
        (list) => `SELECT ${COLUMNS} FROM plimsoll_log WHERE scope = ? AND id IN (${list}) AND ${IS_ENTRY}`,
      )
      .map((row) => this.#logRow(row))
    const deleted = database.named(
      scope,
      deletes ? [...named.names, ...derived, ...named.sources] : [],
      (list) => `SELECT name FROM plimsoll_deleted WHERE scope = ? AND name IN (${list})`,
    )
    return {
      head,
      results: this.#results(scope, named, found, refusals),
      entries: new Map(found.map((row) => [row.id, row])),
      registers: this.#registersOf(scope, [...named.keys, ...idsIn('register', derived)]),
      deleted: new Set(deleted.map(({ name }) => name as Name)),
      dependents,
      emptiedAt,
      ...state,
    }
  }

  /** @param found entries, of which some may be one with an op */
  #results(
    scope: number,
    { ops, allOps }: Named,
    found: readonly LogRow[],
    refusals: boolean,
  ): Map<string, OpResult> {
    const results = new Map<string, OpResult>()
    const asked = new Set(allOps)
    for (const { opId, place, seq, applied = true } of found)
      if (place === 0 && asked.has(opId)) results.set(opId, { status: 'accepted', seq, applied })
    for (const { op, seq, applied } of this.#database.named(
      scope,
      ops,
      (list) => `SELECT op, seq, applied FROM plimsoll_log WHERE scope = ? AND op IN (${list}) AND place = 0`,
    ))
      results.set(op as string, { status: 'accepted', seq: seq as number, applied: applied !== 0 })
    // A home may have accepted since what was refused here.
    for (const { op, result } of this.#database.named(
      scope,
      refusals ? allOps : [],
      (list) => `SELECT op, result FROM plimsoll_refused WHERE scope = ? AND op IN (${list})`,
    ))
      if (!results.has(op as string)) results.set(op as string, JSON.parse(result as string) as OpResult)
    return results
  }

  #registersOf(scope: number, keys: readonly string[]): Map<string, RegisterRow> {
    const rows = this.#database.named(
      scope,
      keys.map(sortable),
      (list) => `SELECT * FROM plimsoll_register WHERE scope = ? AND sort IN (${list})`,
    )
    return new Map(rows.map((row) => this.#registerRow(row)).map((row) => [row.key, row]))
  }

  /** What names these as sources, and in turn what names that. */
  #dependents(scope: number, names: readonly Name[]): Map<Name, Name[]> {
    const dependents = new Map<Name, Name[]>()
    const seen = new Set(names)
    for (let next = [...seen]; next.length > 0; ) {
      const rows = this.#database.named(
        scope,
        next,
        (list) => `SELECT source, name FROM plimsoll_source WHERE scope = ? AND source IN (${list})`,
      )
      next = []
      for (const row of rows) {
        const { source, name } = row as { source: Name; name: Name }
        dependents.set(source, [...(dependents.get(source) ?? []), name])
        if (!seen.has(name)) next.push(name)
        seen.add(name)
      }
    }
    return dependents
  }

  /** @param ops and what was read for them: what the decision was made by */
  #write(decision: Decision, ops: readonly SealedOp[], { registers: before }: Rows): void {
    const { erase, emptied, unrecorded, log, registers, marks, refused, used, replica } = decision
    if (log.length + registers.length + refused.length === 0 && !replica) return
    // Of a scope that begins with this, nothing is there to be removed.
    const isNew = this.#number === undefined
    const scope = this.#number ?? this.#add()
    const known = this.#known
    const rebase = replica?.rebase
    const last = rebase ? this.#takeBack(scope, rebase) : known?.newest?.n
    if (erase && !isNew) this.#erase(scope, replica)
    for (const name of emptied) this.#empty(scope, name)
    if (unrecorded !== undefined) this.#unrecord(scope, unrecorded)
    const n = (erase ? undefined : last) ?? firstOf(scope) - 1
    // What others know of the scope, the end of its log would not disprove.
    const isAside = erase || rebase || (log.length === 0 && (replica || !known?.refusals))
    const stamp = isAside ? (known?.stamp ?? 0) + 1 : (known?.stamp ?? null)
    this.#insert(scope, n + 1, log, stamp)
    // What ops name was looked for.
    const sought = new Set(ops.flatMap(({ envelope }) => envelope.key ?? []))
    for (const row of registers) {
      const { key } = row
      const isKnown = before.has(key) || sought.has(key)
      this.#put(scope, row, isKnown ? before.get(key) : this.#registersOf(scope, [key]).get(key))
    }
    this.#reindex(scope, decision)
    const database = this.#database
    if (decision.listed.length + decision.sums.size > 0 && (erase || !known?.head.indexed))
      database.run('UPDATE plimsoll_scope SET indexed = 1 WHERE scope = ?', scope)
    for (const { slot, id, seq, chain } of marks)
      database.run('INSERT OR REPLACE INTO plimsoll_mark VALUES (?, ?, ?, ?, ?)', scope, slot, id, seq, chain)
    for (const { opId, result } of refused)
      database.run(
        'INSERT OR REPLACE INTO plimsoll_refused VALUES (?, ?, ?)',
        scope,
        opId,
        JSON.stringify(result),
      )
    for (const id of used) database.run('DELETE FROM plimsoll_unused WHERE scope = ? AND id = ?', scope, id)
    if (erase || emptied.length > 0 || rebase) {
      if (!isNew) removeDerived(database, scope)
      const seq = log.at(-1)?.seq ?? rebase?.to.seq ?? known?.head.seq ?? 0
      database.run('UPDATE plimsoll_scope SET emptied = ? WHERE scope = ?', seq, scope)
    }
    const first = log.find(({ kind }) => kind === 'message')
    if (first?.ordinal === 1)
      database.run('UPDATE plimsoll_scope SET first = ? WHERE scope = ?', first.id, scope)
    if (replica) this.#replicate(scope, replica)
    if (isAside) {
      database.run('UPDATE plimsoll_scope SET stamp = ? WHERE scope = ?', stamp, scope)
      database.run(
        'UPDATE plimsoll_log SET stamp = ? WHERE n = ? AND scope = ?',
        stamp,
        n + log.length,
        scope,
      )
    }
    this.#known = known && follow(known, n, first, decision, stamp)
  }

  /**
   * Takes back the rows of the log after a seq, and what else a decision says is no longer there.
   *
   * @returns place of the last row that is left
   */
  #takeBack(scope: number, { to, registers, slots }: Rebase): number | undefined {
    const database = this.#database
    const { newest } = this.#know()
    let last = newest?.n
    if (newest && newest.seq > to.seq) {
      const from = this.#firstAfter(scope, to.seq, newest.n)
      const linked = 'SELECT id, sources FROM plimsoll_log WHERE n >= ? AND n <= ? AND sources IS NOT NULL'
      for (const { id, sources } of database.all(linked, from, newest.n))
        this.#unlink(scope, `entry:${id}`, JSON.parse(sources as string) as Name[])
      removeRows(database, from, newest.n)
      last = from - 1
    }
    for (const key of registers) {
      this.#clear(scope, key, this.#registersOf(scope, [key]).get(key))
      database.run('DELETE FROM plimsoll_register WHERE scope = ? AND sort = ?', scope, sortable(key))
    }
    for (const slot of slots)
      database.run('DELETE FROM plimsoll_mark WHERE scope = ? AND slot = ?', scope, slot)
    database.run(
      'UPDATE plimsoll_scope SET first = ?, rebased = rebased + 1 WHERE scope = ?',
      to.first ?? null,
      scope,
    )
    return last
  }

  /** Writes what a decision says of the scope as the replica of a home, or as one. */
  #replicate(scope: number, { state, outbox = [], sent = [] }: ReplicaChange): void {
    const database = this.#database
    database.run('UPDATE plimsoll_scope SET replica = ? WHERE scope = ?', state, scope)
    for (const order of [...outbox.map(({ order }) => order), ...sent])
      database.run('DELETE FROM plimsoll_outbox WHERE scope = ? AND n = ?', scope, order)
    for (const { order, value } of outbox)
      for (const [part, text] of (value === '' ? [''] : partsOf(value)).entries())
        database.run('INSERT INTO plimsoll_outbox VALUES (?, ?, ?, ?)', scope, order, part, text)
  }

  /** Number of the scope, which is there from now on. */
  #make(): number {
    const found = this.#find()
    return found === NO_SCOPE ? this.#add() : found
  }

  #add(): number {
    const [row] = this.#database.all(
      'INSERT INTO plimsoll_scope (name) VALUES (?) RETURNING scope',
      this.#name,
    )
    this.#number = row?.scope as number
    return this.#number
  }

  /**
   * Inserts rows of the log, the first of them at `n`; fails unless the log ends with `after`, if
   * that is given.
   */
  #insert(scope: number, n: number, rows: readonly LogRow[], stamp: number | null, after?: Newest): void {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const bindings: SqlValue[] = []
      // Each value that is bound takes its time, and most columns of most rows are empty.
      const texts = rows.slice(at, at + ROWS_AT_ONCE).map((row, index) => {
        const values = [...this.#values(scope, n + at + index, row), stamp]
        for (const value of values) if (value !== null) bindings.push(value)
        return `(${values.map((value) => (value === null ? 'NULL' : '?')).join()})`
      })
      if (after) {
        // Its seq is none, which is refused, where the row that it follows is not there.
        texts[0] =
          texts[0]?.replace(
            '?,?,?',
            '?,?,(SELECT ? FROM plimsoll_log WHERE n = ? AND COALESCE(op, id) = ? AND stamp IS ?)',
          ) ?? ''
        bindings.splice(3, 0, after.n, after.op, after.stamp)
      }
      this.#database.run(
        `INSERT INTO plimsoll_log (scope, ${COLUMNS}, stamp) VALUES ${texts.join()}`,
        ...bindings,
      )
    }
    for (const { id, sources } of rows) if (sources) this.#link(scope, `entry:${id}`, sources)
  }

  #values(scope: number, n: number, row: LogRow): SqlValue[] {
    const { body, parts } = this.#store(row.body, `log/${n}`)
    return [
      scope,
      n,
      row.seq,
      row.place,
      row.kind,
      row.id,
      opIn(row),
      row.ordinal,
      row.round ?? null,
      row.lane ?? null,
      row.base ?? null,
      row.applied === undefined ? null : Number(row.applied),
      row.chain ?? null,
      row.sources ? JSON.stringify(row.sources) : null,
      row.contexts ? JSON.stringify(row.contexts) : null,
      row.tok ?? null,
      parts,
      body,
      row.derived ?? null,
    ]
  }

  /** Writes what a decision says of indexes and sums. */
  #reindex(scope: number, { unlisted, listed, sums }: Decision): void {
    const database = this.#database
    for (const { group, order, key } of unlisted)
      database.run(
        'DELETE FROM plimsoll_index WHERE scope = ? AND grp = ? AND sort = ? AND key = ?',
        scope,
        sortable(group),
        sortable(order),
        sortable(key),
      )
    this.#insertAll(
      'plimsoll_index',
      listed.map(({ group, order, key }) => [scope, sortable(group), sortable(order), sortable(key)]),
    )
    this.#insertAll(
      'plimsoll_sum',
      Array.from(sums, ([group, { count, weight }]) => [scope, sortable(group), count, weight]),
      'ON CONFLICT DO UPDATE SET count = count + excluded.count, weight = weight + excluded.weight',
    )
    for (const [group, { count }] of sums)
      if (count < 0)
        database.run(
          'DELETE FROM plimsoll_sum WHERE scope = ? AND grp = ? AND count = 0',
          scope,
          sortable(group),
        )
  }

  /** Inserts rows of at most four columns into one of the smaller tables. */
  #insertAll(table: string, rows: readonly (readonly SqlValue[])[], conflict = ''): void {
    for (let at = 0; at < rows.length; at += SMALL_ROWS_AT_ONCE) {
      const batch = rows.slice(at, at + SMALL_ROWS_AT_ONCE)
      const values = batch.map((row) => `(${row.map(() => '?').join()})`).join()
      this.#database.run(`INSERT INTO ${table} VALUES ${values} ${conflict}`, ...batch.flat())
    }
  }

  #put(scope: number, row: RegisterRow, before: RegisterRow | undefined): void {
    const { key, version, seq, sources, index, body: text } = row
    const database = this.#database
    this.#clear(scope, key, before)
    const { body, parts } = this.#store(text, registerOwner(scope, key))
    database.run(
      `INSERT OR REPLACE INTO plimsoll_register (scope, sort, version, seq, sources, places, parts, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      scope,
      sortable(key),
      version,
      seq,
      sources ? JSON.stringify(sources) : null,
      index ? JSON.stringify(index) : null,
      parts,
      body,
    )
    this.#link(scope, `register:${key}`, sources)
  }

  /** Removes what a register has beside its row. */
  #clear(scope: number, key: string, row: RegisterRow | undefined): void {
    this.#unlink(scope, `register:${key}`, row?.sources)
    if (row?.body && row.body.length > PART_UNITS)
      this.#database.run('DELETE FROM plimsoll_part WHERE owner = ?', registerOwner(scope, key))
  }

  #unlink(scope: number, name: Name, sources: readonly Name[] = []): void {
    for (const source of sources)
      this.#database.run(
        'DELETE FROM plimsoll_source WHERE scope = ? AND source = ? AND name = ?',
        scope,
        source,
        name,
      )
  }

  /** Notes what a row derives from. */
  #link(scope: number, name: Name, sources: readonly Name[] | undefined): void {
    this.#insertAll(
      'plimsoll_source',
      Array.from(new Set(sources), (source) => [scope, source, name]),
    )
  }

  /** A body as its row holds it: whole, or as a number of parts, which are written. */
  #store(
    body: string | null,
    owner: string,
  ): { readonly body: string | null; readonly parts: number | null } {
    if (body === null || body.length <= PART_UNITS) return { body, parts: null }
    const parts = partsOf(body)
    this.#storeParts(owner, parts)
    return { body: null, parts: parts.length }
  }

  #storeParts(owner: string, parts: readonly (string | ArrayBuffer)[]): void {
    parts.forEach((content, part) => {
      this.#database.run('INSERT INTO plimsoll_part VALUES (?, ?, ?)', owner, part, content)
    })
  }

  #empty(scope: number, name: Name): void {
    const database = this.#database
    database.run('INSERT OR IGNORE INTO plimsoll_deleted VALUES (?, ?)', scope, name)
    const attachment = idIn('attachment', name)
    if (attachment !== undefined) removeAttachment(database, scope, attachment)
    const id = idIn('entry', name)
    const n = id === undefined ? id : this.#placeOf(scope, id)
    if (n === undefined) return
    // Of a tok, what stands before its first space is left.
    const tok = "substr(tok, 1, instr(tok || ' ', ' ') - 1)"
    database.run(
      `UPDATE plimsoll_log SET body = NULL, parts = NULL, derived = NULL, tok = ${tok} WHERE n = ?`,
      n,
    )
    database.run('DELETE FROM plimsoll_part WHERE owner = ?', `log/${n}`)
  }

  /** Clears the hashes of contexts in rows after a seq. */
  #unrecord(scope: number, seq: number): void {
    const { newest } = this.#know()
    if (!newest || newest.seq <= seq) return
    this.#database.run(
      `UPDATE plimsoll_log SET contexts = '[]' WHERE n >= ? AND n <= ? AND contexts <> '[]'`,
      seq === 0 ? firstOf(scope) : this.#firstAfter(scope, seq, newest.n),
      newest.n,
    )
  }

  #erase(scope: number, { rebase, kept = [] }: Partial<ReplicaChange> = {}): void {
    const database = this.#database
    removeRows(database, firstOf(scope), firstOf(scope + 1) - 1)
    for (const { sort } of database.all(
      'SELECT sort FROM plimsoll_register WHERE scope = ? AND parts IS NOT NULL',
      scope,
    ))
      database.run(
        'DELETE FROM plimsoll_part WHERE owner = ?',
        registerOwner(scope, unsortable(sort as string)),
      )
    for (const { id } of database.all('SELECT id FROM plimsoll_attachment WHERE scope = ?', scope))
      if (kept !== 'all' && !kept.includes(id as string)) removeAttachment(database, scope, id as string)
    for (const table of ['register', 'index', 'sum', 'mark', 'deleted', 'refused', 'source'])
      database.run(`DELETE FROM plimsoll_${table} WHERE scope = ?`, scope)
    const { first = null } = rebase?.to ?? {}
    database.run('UPDATE plimsoll_scope SET first = ?, indexed = 0 WHERE scope = ?', first, scope)
  }
}

/** What is known after a commit. */
function follow(
  known: Known,
  n: number,
  first: LogRow | undefined,
  decision: Decision,
  stamp: number | null,
): Known | undefined {
  const { erase, emptied, log, listed, sums, marks, refused, replica } = decision
  const { head } = known
  const last = log.at(-1)
  if (erase || replica?.rebase) return undefined
  const { seq, ordinal } = last ?? head
  return {
    newest: last
      ? { n: n + log.length, op: opIn(last) ?? last.id, seq, ordinal, stamp }
      : known.newest && { ...known.newest, stamp },
    head: {
      ...(first?.ordinal === 1 ? { ...head, first: first.id } : head),
      seq,
      ordinal,
      ...((listed.length > 0 || sums.size > 0) && { indexed: true as const }),
      ...(marks.length > 0 && {
        marks: new Map([...head.marks, ...marks.map((mark): [string, MarkRow] => [mark.slot, mark])]),
      }),
    },
    tail: tailAfter(known.tail, head.seq, decision),
    deletes: known.deletes || emptied.length > 0,
    refusals: known.refusals || refused.length > 0,
    emptiedAt: emptied.length > 0 ? seq : known.emptiedAt,
    stamp,
    state: replica ? { replica: replica.state } : known.state,
  }
}

/** What the column that names a row’s op holds: nothing, where the row is one thing with it. */
function opIn({ opId, id, place }: LogRow): string | null {
  return opId === `entry:${id}` && place === 0 ? null : opId
}

/** A scope that ends with the same line as before has not changed in between. */
function lineOf({ n, seq, ordinal, stamp, op }: Newest): string {
  return `${n} ${seq} ${ordinal} ${stamp ?? ''} ${op}`
}

function newestOf(line: string): Newest {
  const [n, seq, ordinal, stamp, ...op] = line.split(' ')
  const number = { n: Number(n), seq: Number(seq), ordinal: Number(ordinal) }
  // A name may have spaces too.
  return { ...number, stamp: stamp === '' ? null : Number(stamp), op: op.join(' ') }
}

/** Removes rows of the log, from the first to the last. */
function removeRows(database: Database, first: number, last: number): void {
  database.run(
    `DELETE FROM plimsoll_part WHERE owner IN
      (SELECT 'log/' || n FROM plimsoll_log WHERE n >= ? AND n <= ? AND parts IS NOT NULL)`,
    first,
    last,
  )
  database.run('DELETE FROM plimsoll_log WHERE n >= ? AND n <= ?', first, last)
}

/** Whose parts a register's body is. */
function registerOwner(scope: number, key: string): string {
  return `register/${scope}/${key}`
}

/** Whose parts the bytes of an attachment are. */
function attachmentOwner(scope: number, id: string): string {
  return `attachment/${scope}/${id}`
}

/** Whose parts the bytes are that were derived. */
function derivedOwner(scope: number, sort: string): string {
  return `derived/${scope}/${sort}`
}

function removeDerived(database: Database, scope: number): void {
  for (const { sort } of database.all('SELECT sort FROM plimsoll_derived WHERE scope = ?', scope))
    database.run('DELETE FROM plimsoll_part WHERE owner = ?', derivedOwner(scope, sort as string))
  database.run('DELETE FROM plimsoll_derived WHERE scope = ?', scope)
}

function removeAttachment(database: Database, scope: number, id: string): void {
  database.run('DELETE FROM plimsoll_part WHERE owner = ?', attachmentOwner(scope, id))
  for (const table of ['attachment', 'unused'])
    database.run(`DELETE FROM plimsoll_${table} WHERE scope = ? AND id = ?`, scope, id)
}

/**
 * Rows that are read a few at a time, then twice as many, so that a reader that stops leaves no
 * statement open.
 *
 * @param read what follows a row, in order
 * @param most how many are wanted at most
 */
function* inPieces(
  read: (previous: SqlRow | undefined, limit: number) => readonly SqlRow[],
  most = Infinity,
): Iterable<SqlRow> {
  let left = most
  for (let [previous, piece]: [SqlRow | undefined, number] = [undefined, FIRST_PIECE]; left > 0; piece *= 2) {
    const limit = Math.min(left, piece)
    const rows = read(previous, limit)
    yield* rows
    if (rows.length < limit) return
    previous = rows.at(-1)
    left -= limit
  }
}

/** Place of the first row that a scope may have. */
function firstOf(scope: number): number {
  return scope * SCOPE_ROWS
}

function kindIn(kinds: readonly EntryKind[]): string {
  return `kind IN (${kinds.map((kind) => `'${kind}'`).join()})`
}

/**
 * @throws ERR_INVALID_ARGUMENT for a promise: what runs on after a transaction's end would stay
 * written when that is undone
 */
function synchronous<Value>(value: Value): Value {
  if (typeof (value as { then?: unknown } | undefined)?.then === 'function')
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'commit: a transaction must not be async', {
      argument: 'decide',
    })
  return value
}

/**
 * Where keys with a prefix stand, after one key and before another, by one bound each way: given
 * two of them, SQLite looks by one alone, and reads all rows up to the other.
 */
function rangeOf(
  prefix: string,
  after?: string,
  before?: string,
): { readonly where: string; readonly bounds: readonly [first: string, end: string] } {
  const isAfter = after !== undefined && after >= prefix
  const isBefore = before !== undefined && (before < prefix || before.startsWith(prefix))
  return {
    where: `sort ${isAfter ? '>' : '>='} ? AND sort < ?${isBefore ? '' : ` || ${ABOVE_ALL}`}`,
    bounds: [sortable(isAfter ? after : prefix), sortable(isBefore ? before : prefix)],
  }
}

/**
 * A key as a text that SQLite, which compares UTF-8 bytes, sorts as JavaScript sorts the key, by
 * UTF-16 units: each unit of a surrogate pair, and each beyond them, becomes a code point at the
 * same distance in the last plane.
 */
function sortable(key: string): string {
  if (!BEYOND_ORDER.test(key)) return key
  let text = ''
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index)
    text += unit < 0xd800 ? key.charAt(index) : String.fromCodePoint(LAST_PLANE + unit)
  }
  return text
}

function unsortable(text: string): string {
  if (!BEYOND_ORDER.test(text)) return text
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) as number
    return code < LAST_PLANE ? character : String.fromCharCode(code - LAST_PLANE)
  }).join('')
}
