import { PlimsollError } from '../ports/errors.ts'
import type { Name, OpResult, SealedOp } from '../ports/op.ts'
import {
  type Attachment,
  type Changes,
  type Decide,
  type Decision,
  type DerivedRow,
  type EntriesQuery,
  emptiedRow,
  type Head,
  type IndexQuery,
  isEntry,
  isNothing,
  type LogRow,
  type MarkRow,
  type OutboxRow,
  PAGE_ROWS,
  PAGE_UNITS,
  type Page,
  type Reads,
  type Rebase,
  type RegisterRow,
  type ReplicaChange,
  type Rows,
  type ScopeStore,
  type Sum,
} from '../ports/store.ts'
import type { Connection, Reader } from './idb-connection.ts'
import { upgradeRequired } from './idb-errors.ts'
import {
  type AttachmentRow,
  DERIVED_VERSION,
  type DeletedRow,
  type HeadRow,
  logRow,
  META,
  type MetaRow,
  type RefusedRow,
  registerRow,
  type SourceRow,
  type StoredDerived,
  type StoredPlace,
  type StoredRegister,
  type StoredRow,
  type StoredSum,
  type StoredWaiting,
  storedRow,
  TABLES,
  type TableName,
  type UnusedRow,
  WRITER_VERSION,
} from './idb-schema.ts'
import { all, type Requests, rowsOf, synchronously } from './idb-transaction.ts'
import { LogTail, tailAfter } from './log-tail.ts'
import { idsIn, type Named, namedBy } from './named.ts'
import { PageFill, unitsOf } from './page-fill.ts'
import { isAppend, NOTHING_NAMED, rowsIfNew } from './plain-append.ts'

/** Most UTF-16 units that one request may have to load. */
const REQUEST_UNITS = 4 * PAGE_UNITS
/** Rows that one request loads at least, however large the log's largest is. */
const LEAST_ROWS = 4
/** Rows that are read with the head of a scope that is opened. */
const FIRST_ROWS = 64
/** Registers that one request loads. */
const REGISTER_ROWS = PAGE_ROWS / 4
/** Rows of the outbox that one request loads. */
const OUTBOX_ROWS = 32

/**
 * What is known of a scope since its last read or commit. True for as long as the head {@link isAt}
 * the same place.
 */
export interface Known {
  readonly row: HeadRow
  readonly head: Head
  readonly tail: LogTail | undefined
}

/** What ops name, found in the log. */
interface Found {
  readonly results: Map<string, OpResult>
  readonly entries: Map<string, LogRow>
}

/** What a scope is asked for, but for commits. */
export type ScopeCall = keyof (Reads &
  Pick<Required<ScopeStore>, 'attach' | 'attachment' | 'attached' | 'derive' | 'derived' | 'outbox'>)
export type ScopeGiven<Name extends ScopeCall> = Parameters<Required<ScopeStore>[Name]>
export type ScopeResult<Name extends ScopeCall> = ReturnType<Required<ScopeStore>[Name]>

/** The same, with what reads or writes it before the rest. */
type Connected = {
  [Name in ScopeCall]: (connection: Connection, ...given: ScopeGiven<Name>) => ScopeResult<Name>
}

/** Reads and writes one scope's rows, over whatever connection it is given. */
export class DexieScope implements Connected {
  readonly #name: string
  /** Id of the database that it was read from. */
  #database: string | undefined
  #known: Known | undefined

  /** @param name the scope's ids as JSON. */
  constructor(name: string) {
    this.#name = name
  }

  /** What was read last, for going on without the database. */
  get known(): Known | undefined {
    return this.#known
  }

  /** Says which database is read from now on: what was read of another one is forgotten. */
  readFrom(database: string | undefined): void {
    if (database !== this.#database) this.#known = undefined
    this.#database = database
  }

  /** @returns the results, and whether anything was written. */
  async commit(
    connection: Connection,
    ops: readonly SealedOp[],
    decide: Decide,
  ): Promise<{ readonly results: readonly OpResult[]; readonly wrote: boolean }> {
    const appended = await this.#appendNew(connection, ops, decide)
    if (appended) return { results: appended, wrote: true }
    const named = namedBy(ops.map(({ envelope }) => envelope))
    const { before, after, decision } = await connection.write(async (requests) => {
      const [meta, before, early] = await this.#begin(requests, named)
      const own = checkWriter(meta)
      const found = early ?? (before && (await all(lookUp(requests, before.scope, named))))
      const rows = await this.#rows(requests, before, named, foundIn(found ?? [], named))
      const decision = decided(() => decide(ops, rows))
      const after = await this.#write(requests, own, before, rows, decision)
      return { before, after, decision }
    })
    if (after) this.#learnCommit(before, after, decision)
    return { results: decision.results, wrote: after !== undefined }
  }

  /**
   * Appends without looking for the ids of ops and messages first: that they are new, unique
   * indexes say when they are written, and that the head is the one that is known, the transaction
   * itself. Nothing, where one of them says otherwise, or where the ops need rows that are not in
   * memory.
   */
  async #appendNew(
    connection: Connection,
    ops: readonly SealedOp[],
    decide: Decide,
  ): Promise<readonly OpResult[] | undefined> {
    const { row: before, tail } = this.#known ?? {}
    if (!before || before.deletes || before.refusals) return undefined
    const rows = rowsIfNew(ops, aboutOf(before), tail)
    if (!rows) return undefined
    try {
      const decision = decided(() => decide(ops, rows))
      if (!isAppend(decision)) return undefined
      const after = headAfter(this.#name, before.scope, before, decision)
      await connection.write(async (requests) => {
        const asked = [requests.table('meta').get(META), requests.table('head').get(this.#name)]
        const log = requests.table('log')
        for (const row of decision.log) log.add(storedRow(before.scope, row))
        if (decision.replica) writeOutbox(requests, before.scope, decision.replica)
        requests.table('head').put(after)
        // Listened to now, when nothing can throw any more: they are answered later.
        const [meta, head] = await all<unknown>(asked)
        checkWriter(meta as MetaRow | undefined)
        if (!isAsKnown(head as HeadRow | undefined, before)) throw OTHERS_WROTE
      })
      this.#learnCommit(before, after, decision)
      return decision.results
    } catch (error) {
      if (error === OTHERS_WROTE || (error as DOMException).name === 'ConstraintError') return undefined
      throw error
    }
  }

  async entries(reader: Reader, query: EntriesQuery = {}): Promise<Page> {
    const { after, from = after, to, last, first, kinds } = query
    const page = new PageFill(first ?? last)
    if (kinds?.length === 0 || page.full) return { rows: [], more: page.full }
    return reader.read(['head', 'log'], async (requests) => {
      const row = await requests.once<HeadRow>('head', this.#name)
      if (!row) return { rows: [], more: false }
      const inMemory = this.#knownAt(row)?.tail?.entries(query)
      if (inMemory) return inMemory
      const { scope } = row
      const log = requests.table('log')
      const ids = [from ?? [], to ?? []].flat()
      const found = await requests.get<StoredRow>(
        log.index(ENTRY_KEY),
        ids.map((id) => [scope, id]),
      )
      const keys = new Map(found.flatMap((one) => (one ? [[one.entry, keyOf(one)]] : [])))
      const start = from === undefined ? [scope] : keys.get(from)
      const end = to === undefined ? [scope, []] : keys.get(to)
      if (!start || !end) return { rows: [], more: false }
      const backwards = first === undefined
      const fromIndex = kinds?.includes('message') === false
      const seen: LogRow[] = []
      let skipped = false
      const ended = await scan(
        requests,
        fromIndex
          ? new Range<StoredRow>(
              log.index('[mark+seq]'),
              start.slice(0, 2),
              end.slice(0, 2),
              ({ seq }) => [scope, seq],
              after !== undefined,
            )
          : new Range<StoredRow>(log, start, end, keyOf, after !== undefined),
        backwards,
        Math.min(first ?? last ?? PAGE_ROWS, rowsAtOnce(row)),
        (stored) => {
          const one = logRow(stored)
          const wanted = kinds ? kinds.some((kind) => kind === one.kind) : isEntry(one)
          if (wanted && !page.take(one)) return false
          if (seen.length < PAGE_ROWS) seen.push(one)
          else skipped = true
          return !page.full
        },
      )
      if (backwards && to === undefined && !fromIndex)
        this.#learn(row, seen.reverse(), ended && from === undefined && !skipped)
      return { rows: backwards ? page.rows.reverse() : page.rows, more: page.full }
    })
  }

  async head(reader: Reader): Promise<Head> {
    const row = await this.#headRow(reader)
    if (row && reader.shared && !this.#known) await this.#readTail(reader, row)
    return this.#headOf(row)
  }

  /**
   * Reads the newest rows, which are what is asked for next when a scope is opened: each request
   * takes its time.
   */
  async #readTail(reader: Reader, row: HeadRow): Promise<void> {
    const count = Math.min(FIRST_ROWS, rowsAtOnce(row))
    const rows = await reader.read(['log'], (requests) =>
      rowsOf<StoredRow>(requests.table('log'), requests.within([row.scope]), true, count),
    )
    this.#learn(row, rows.map(logRow).reverse(), rows.length < count)
  }

  async register(reader: Reader, key: string): Promise<RegisterRow | undefined> {
    const scope = await this.#scope(reader)
    const row = scope === undefined ? undefined : await reader.first<StoredRegister>('register', [scope, key])
    return row && registerRow(row)
  }

  async registers(reader: Reader, prefix: string, after?: string): Promise<readonly RegisterRow[]> {
    const scope = await this.#scope(reader)
    const rows: RegisterRow[] = []
    if (scope === undefined) return rows
    await reader.read(['register'], (requests) =>
      scan(
        requests,
        beginningWith<StoredRegister>(requests, 'register', scope, prefix, after),
        false,
        REGISTER_ROWS,
        (row) => {
          if (row.body !== null) rows.push(registerRow(row))
          return rows.length < PAGE_ROWS
        },
      ),
    )
    return rows
  }

  async indexed(
    reader: Reader,
    group: string,
    { after, to, first = PAGE_ROWS }: IndexQuery = {},
  ): Promise<readonly RegisterRow[]> {
    const count = Math.min(first, PAGE_ROWS)
    const scope = await this.#scope(reader)
    if (scope === undefined || count <= 0) return []
    return reader.read(['index', 'register'], async (requests) => {
      const lower = after ? [scope, group, after.order, after.key] : [scope, group]
      const range = requests.between(lower, [scope, group, to ?? []], after !== undefined)
      const places = range ? await rowsOf<StoredPlace>(requests.table('index'), range, false, count) : []
      const rows = await requests.get<StoredRegister>(
        requests.table('register'),
        places.map(({ key }) => [scope, key]),
      )
      return rows.flatMap((row) => (row ? registerRow(row) : []))
    })
  }

  async sums(reader: Reader, groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    const scope = await this.#scope(reader)
    if (scope === undefined || groups.length === 0) return new Map()
    const rows = await reader.read(['sum'], (requests) =>
      requests.get<StoredSum>(
        requests.table('sum'),
        groups.map((group) => [scope, group]),
      ),
    )
    return new Map(
      rows.flatMap((row) => (row ? [[row.group, { count: row.count, weight: row.weight }]] : [])),
    )
  }

  async changesSince(reader: Reader, seq: number): Promise<Changes> {
    const row = await this.#headRow(reader)
    if (!row || row.seq <= seq) return { rows: [], head: this.#headOf(row), more: false }
    const known = this.#knownAt(row)
    const page = known?.tail?.pageAfter(seq)
    if (known && page) return { ...page, head: known.head }
    return this.#readChanges(reader, seq)
  }

  async attach(
    connection: Connection,
    { id, mediaType, bytes }: Attachment,
    at: number,
  ): Promise<'stored' | 'kept' | 'deleted'> {
    return connection.write(async (requests) => {
      const [meta, before] = await this.#begin(requests)
      const own = checkWriter(meta)
      const scope = before?.scope ?? own.scopes + 1
      const key = [scope, id]
      const [deleted, count] = await all<unknown>([
        requests.table('deleted').get([scope, `attachment:${id}`]),
        requests.table('attachment').count(key),
      ])
      if (deleted) return 'deleted'
      if (count) return 'kept'
      if (!before) this.#make(requests, own, scope)
      const row: AttachmentRow = { scope, id, mediaType, blob: new Blob([bytes]) }
      const unused: UnusedRow = { scope, id, at }
      requests.table('attachment').put(row)
      requests.table('unused').put(unused)
      return 'stored'
    })
  }

  async attachment(connection: Connection, id: string): Promise<Attachment | undefined> {
    const scope = await this.#scope(connection)
    const row =
      scope === undefined ? undefined : await connection.first<AttachmentRow>('attachment', [scope, id])
    return row && { id, mediaType: row.mediaType, bytes: new Uint8Array(await row.blob.arrayBuffer()) }
  }

  async attached(connection: Connection, ids: readonly string[]): Promise<readonly string[]> {
    const scope = await this.#scope(connection)
    if (scope === undefined || ids.length === 0) return []
    // A key is counted without its row.
    const counts = await connection.read(['attachment'], (requests) =>
      all(ids.map((id) => requests.table('attachment').count([scope, id]))),
    )
    return ids.filter((_, index) => counts[index])
  }

  async derive(connection: Connection, { key, bytes }: DerivedRow, seq: number): Promise<boolean> {
    return connection.write(async (requests) => {
      const [meta, before] = await this.#begin(requests)
      const own = checkWriter(meta)
      const scope = before?.scope ?? own.scopes + 1
      // A tab with another version of it has the database open since.
      if (own.derived !== DERIVED_VERSION || (before && before.emptiedAt > seq)) return false
      if (!before) this.#make(requests, own, scope)
      // A view would be stored with all of the buffer that it is a part of.
      const row: StoredDerived = { scope, key, bytes: bytes.slice() }
      requests.table('derived').put(row)
      return true
    })
  }

  async derived(connection: Connection, prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    const scope = await this.#scope(connection)
    if (scope === undefined) return []
    const page: DerivedRow[] = []
    let left = PAGE_UNITS
    await connection.read(['meta', 'derived'], async (requests) => {
      const meta = await requests.once<MetaRow>('meta', META)
      if (meta?.derived !== DERIVED_VERSION) return
      await scan(
        requests,
        beginningWith<StoredDerived>(requests, 'derived', scope, prefix, after),
        false,
        LEAST_ROWS,
        ({ key, bytes }) => {
          left -= bytes.length
          if (left < 0 && page.length > 0) return false
          page.push({ key, bytes })
          return true
        },
      )
    })
    return page
  }

  async outbox(connection: Connection, after: number): Promise<readonly OutboxRow[]> {
    const scope = await this.#scope(connection)
    const page: OutboxRow[] = []
    if (scope === undefined) return page
    let left = PAGE_UNITS
    await connection.read(['outbox'], (requests) =>
      scan(
        requests,
        new Range<StoredWaiting>(
          requests.table('outbox'),
          [scope, after],
          [scope, []],
          ({ order }) => [scope, order],
          true,
        ),
        false,
        OUTBOX_ROWS,
        ({ order, value }) => {
          left -= value.length
          if (page.length === PAGE_ROWS || (left < 0 && page.length > 0)) return false
          page.push({ order, value })
          return true
        },
      ),
    )
    return page
  }

  /** Makes the scope, to whose log nothing is written yet. */
  #make(requests: Requests, meta: MetaRow, scope: number): void {
    requests.table('meta').put({ ...meta, scopes: scope })
    requests.table('head').put({ ...NO_ROWS, name: this.#name, scope })
  }

  async #readChanges(reader: Reader, after: number): Promise<Changes> {
    return reader.read(['head', 'log'], async (requests) => {
      const [row] = await requests.get<HeadRow>(requests.table('head'), [this.#name])
      const head = this.#headOf(row)
      if (!row) return { rows: [], head, more: false }
      const { scope } = row
      const page = new PageFill()
      const rows: LogRow[] = []
      let next: number | undefined
      await scan(
        requests,
        new Range(requests.table('log'), [scope, after + 1], [scope, []], keyOf),
        false,
        Math.min(PAGE_ROWS, rowsAtOnce(row)),
        (stored) => {
          const one = logRow(stored)
          // Whole ops: as many as a page holds, or one that is longer than a page.
          if (!page.take(one) && one.seq !== rows[0]?.seq) {
            next = one.seq
            return false
          }
          rows.push(one)
          return true
        },
      )
      if (next === undefined) this.#learn(row, rows, after === 0)
      return { rows: rows.filter(({ seq }) => seq !== next), head, more: next !== undefined }
    })
  }

  /** Number of the scope, if anything was ever written to it. */
  async #scope(reader: Reader): Promise<number | undefined> {
    return this.#known?.row.scope ?? (await this.#headRow(reader))?.scope
  }

  #headRow(reader: Reader): Promise<HeadRow | undefined> {
    return reader.first('head', this.#name)
  }

  #headOf(row: HeadRow | undefined): Head {
    if (!row) return { seq: 0, ordinal: 0, marks: new Map() }
    const known = this.#knownAt(row) ?? { row, head: headOf(row), tail: undefined }
    this.#known = known
    return known.head
  }

  /** What is known, if the head is still where it was. */
  #knownAt(row: HeadRow): Known | undefined {
    return this.#known && isAt(row, this.#known.row) ? this.#known : undefined
  }

  /** Takes over rows that reach up to the log's end. */
  #learn(row: HeadRow, rows: readonly LogRow[], whole: boolean): void {
    const known = this.#knownAt(row)
    const [first] = rows
    // Its op may have begun before the rows.
    const after = whole || !first ? 0 : first.place === 0 ? first.seq - 1 : first.seq
    if (!whole && (!first || (known?.tail && known.tail.after <= after))) return
    const tail = new LogTail(
      after,
      rows.filter(({ seq }) => seq > after),
    )
    this.#known = { row, head: known?.head ?? headOf(row), tail }
  }

  #learnCommit(before: HeadRow | undefined, row: HeadRow, decision: Decision): void {
    const known = this.#known?.row
    // Commits that ran side by side may come back in another order.
    if (known && known.rebased === row.rebased && known.seq > row.seq) return
    const tail = before && this.#knownAt(before)?.tail
    this.#known = { row, head: headOf(row), tail: tailAfter(tail, before?.seq ?? 0, decision) }
  }

  /**
   * Reads what every commit needs; where the scope's number is known, also what the ops name, in
   * the same breath.
   */
  async #begin(
    requests: Requests,
    named?: Named,
  ): Promise<readonly [MetaRow | undefined, HeadRow | undefined, readonly StoredRow[] | undefined]> {
    const scope = this.#known?.row.scope
    const [meta, head, ...found] = await all<unknown>([
      requests.table('meta').get(META),
      requests.table('head').get(this.#name),
      ...(scope === undefined || !named ? [] : lookUp(requests, scope, named)),
    ])
    return [
      meta as MetaRow | undefined,
      head as HeadRow | undefined,
      scope === undefined ? undefined : (found as StoredRow[]),
    ]
  }

  async #rows(requests: Requests, head: HeadRow | undefined, named: Named, found: Found): Promise<Rows> {
    if (!head) return { ...NOTHING_NAMED, ...found, head: this.#headOf(head), emptiedAt: 0 }
    const { scope } = head
    const dependents = named.deletes
      ? await findDependents(requests, scope, named.names)
      : new Map<Name, Name[]>()
    const derived = [...dependents.values()].flat()
    const registerKeys = [...new Set([...named.keys, ...idsIn('register', derived)])]
    const names = [...new Set([...named.names, ...derived, ...named.sources])]
    const get = <Row>(table: 'register' | 'deleted' | 'refused', wanted: readonly string[]) =>
      wanted.length === 0
        ? []
        : requests.get<Row>(
            requests.table(table),
            wanted.map((name) => [scope, name]),
          )
    const registers = await get<StoredRegister>('register', registerKeys)
    const deleted = await get<DeletedRow>('deleted', head.deletes ? names : [])
    const refused = await get<RefusedRow>('refused', head.refusals ? named.allOps : [])
    // A home may have accepted since what was refused here.
    for (const row of refused) if (row && !found.results.has(row.op)) found.results.set(row.op, row.result)
    return {
      ...aboutOf(head),
      ...found,
      registers: new Map(registers.flatMap((row) => (row ? [[row.key, registerRow(row)]] : []))),
      deleted: new Set(deleted.flatMap((row) => row?.name ?? [])),
      dependents,
    }
  }

  /** @returns the head as it is now, if anything was written. */
  async #write(
    requests: Requests,
    meta: MetaRow,
    before: HeadRow | undefined,
    rows: Rows,
    decision: Decision,
  ): Promise<HeadRow | undefined> {
    const { erase, emptied, unrecorded, log, registers, unlisted, listed, sums, refused, used } = decision
    const { replica } = decision
    if (isNothing(decision)) return undefined
    const scope = before?.scope ?? meta.scopes + 1
    const kept = erase ? undefined : before
    const gone = kept && replica?.rebase ? await takeBack(requests, kept, replica.rebase, registers) : []
    if (erase) await eraseScope(requests, scope, replica?.kept)
    if (before) await emptyEntries(requests, scope, emptied)
    if (kept && unrecorded !== undefined) await unrecord(requests, kept, unrecorded)
    await addSums(requests, scope, sums)
    // All that follows is only asked for: the transaction completes when all of it is done.
    const source = requests.table('source')
    const replaced = erase ? [] : registers.flatMap(({ key }) => rows.registers.get(key) ?? [])
    for (const row of [...gone, ...replaced])
      for (const link of linksOf(scope, `register:${row.key}`, row.sources))
        source.delete([scope, link.source, link.name])
    const links = [
      ...log.flatMap(({ id, sources }) => linksOf(scope, `entry:${id}`, sources)),
      ...registers.flatMap(({ key, sources }) => linksOf(scope, `register:${key}`, sources)),
    ]
    const after = headAfter(this.#name, scope, before, decision)
    const put = (table: TableName, values: readonly object[]): void => {
      const store = values.length > 0 && requests.table(table)
      if (store) for (const value of values) store.put(value)
    }
    if (!before) put('meta', [{ ...meta, scopes: scope }])
    const table = requests.table('log')
    for (const row of log) table.add(storedRow(scope, row))
    put(
      'register',
      registers.map((row) => ({ ...row, scope })),
    )
    for (const { group, order, key } of unlisted) requests.table('index').delete([scope, group, order, key])
    put(
      'index',
      listed.map((row) => ({ ...row, scope })),
    )
    put(
      'deleted',
      emptied.map((name) => ({ scope, name })),
    )
    put(
      'refused',
      refused.map(({ opId, result }) => ({ scope, op: opId, result })),
    )
    put('source', links)
    for (const id of used) requests.table('unused').delete([scope, id])
    if (replica) writeOutbox(requests, scope, replica)
    put('head', [after])
    return after
  }
}

/** What is known of a scope is no longer so. */
const OTHERS_WROTE = new Error('another tab wrote to this scope')

/** The head after a commit. */
function headAfter(
  name: string,
  scope: number,
  before: HeadRow | undefined,
  { erase, emptied, log, listed, sums, marks, refused, replica }: Decision,
): HeadRow {
  const rebase = replica?.rebase
  const kept = erase ? undefined : before
  const { seq: from = 0, ordinal = 0, first: oldest } = rebase?.to ?? kept ?? {}
  const current = (kept?.marks ?? []).filter(({ slot }) => !rebase?.slots.includes(slot))
  const slots = new Map([...current, ...marks].map((mark) => [mark.slot, mark]))
  const last = log.at(-1)
  const seq = last?.seq ?? from
  const message = log.find(({ kind }) => kind === 'message')
  const first = (message?.ordinal === 1 ? undefined : oldest) ?? message?.id
  const rebased = (before?.rebased ?? 0) + (rebase ? 1 : 0)
  const state = replica?.state ?? before?.replica
  return {
    name,
    scope,
    seq,
    ordinal: last?.ordinal ?? ordinal,
    ...(first !== undefined && { first }),
    marks: [...slots.values()],
    largest: log.reduce((most, row) => Math.max(most, unitsOf(row)), kept?.largest ?? 0),
    deletes: (kept?.deletes ?? false) || emptied.length > 0,
    refusals: (kept?.refusals ?? false) || refused.length > 0,
    emptiedAt: erase || emptied.length > 0 || rebase ? seq : (kept?.emptiedAt ?? 0),
    indexed: (kept?.indexed ?? false) || listed.length > 0 || sums.size > 0,
    ...(rebased > 0 && { rebased }),
    ...(state !== undefined && { replica: state }),
  }
}

/** Whether two heads are of one log: no row came, and none changed its place. */
function isAt(one: HeadRow, other: HeadRow): boolean {
  return one.seq === other.seq && one.rebased === other.rebased
}

/** Whether a head is the one by which an append was decided. */
function isAsKnown(head: HeadRow | undefined, known: HeadRow): boolean {
  return !!head && isAt(head, known) && head.refusals === known.refusals && head.replica === known.replica
}

const ENTRY_KEY = '[scope+entry]'

/** The head of a scope to whose log nothing was written yet. */
const NO_ROWS = {
  seq: 0,
  ordinal: 0,
  marks: [],
  largest: 0,
  deletes: false,
  refusals: false,
  emptiedAt: 0,
  indexed: false,
}

function keyOf({ scope, seq, place }: StoredRow): IDBValidKey[] {
  return [scope, seq, place]
}

/** Asks for the rows of the ops and entries that ops name. */
function lookUp(requests: Requests, scope: number, named: Named): IDBRequest<StoredRow>[] {
  const log = requests.table('log')
  const [byEntry, byOp] = [log.index(ENTRY_KEY), log.index('[scope+op]')]
  return [
    ...Array.from(new Set([...named.entries, ...named.whole]), (id) => byEntry.get([scope, id])),
    ...Array.from(new Set(named.ops), (op) => byOp.get([scope, op])),
  ]
}

/**
 * What {@link lookUp} found. A row may be there for its op, its entry, or both: only ops that were
 * asked for count as seen.
 */
function foundIn(rows: readonly (StoredRow | undefined)[], named: Named): Found {
  const asked = new Set(named.allOps)
  const results = new Map<string, OpResult>()
  const entries = new Map<string, LogRow>()
  for (const stored of rows) {
    const row = stored && logRow(stored)
    if (!row) continue
    if (isEntry(row)) entries.set(row.id, row)
    if (row.place === 0 && asked.has(row.opId))
      results.set(row.opId, { status: 'accepted', seq: row.seq, applied: row.applied ?? true })
  }
  return { results, entries }
}

/** What a row derives from, as rows. */
function linksOf(scope: number, name: Name, sources: readonly Name[] = []): SourceRow[] {
  return sources.map((source) => ({ scope, source, name }))
}

function headOf({ seq, ordinal, first, marks, indexed, rebased }: HeadRow): Head {
  return {
    seq,
    ordinal,
    ...(first !== undefined && { first }),
    marks: new Map<string, MarkRow>(marks.map((mark) => [mark.slot, mark])),
    ...(indexed && { indexed }),
    ...(rebased !== undefined && { rebased }),
  }
}

/** What commits read of a scope, whatever they name. */
function aboutOf(row: HeadRow): Pick<Rows, 'head' | 'emptiedAt' | 'replica'> {
  const { emptiedAt, replica } = row
  return { head: headOf(row), emptiedAt, ...(replica !== undefined && { replica }) }
}

/** How many rows of a log may be loaded at once. */
function rowsAtOnce({ largest }: HeadRow): number {
  return Math.max(LEAST_ROWS, Math.floor(REQUEST_UNITS / Math.max(1, largest)))
}

/** Rows between two keys; the first is included, the second is not. */
class Range<Row> {
  readonly #source: IDBObjectStore | IDBIndex
  readonly #keyOf: (row: Row) => IDBValidKey[]
  #lower: IDBValidKey[]
  #upper: IDBValidKey[]
  #excluding: boolean

  /** @param excluding whether the first is not included either. */
  constructor(
    source: IDBObjectStore | IDBIndex,
    lower: IDBValidKey[],
    upper: IDBValidKey[],
    key: (row: Row) => IDBValidKey[],
    excluding = false,
  ) {
    this.#source = source
    this.#lower = lower
    this.#upper = upper
    this.#keyOf = key
    this.#excluding = excluding
  }

  /** The next rows from one of its ends, which the range then no longer has. */
  async shift(requests: Requests, backwards: boolean, count: number): Promise<Row[]> {
    const range = requests.between(this.#lower, this.#upper, this.#excluding)
    const rows = range ? await rowsOf<Row>(this.#source, range, backwards, count) : []
    const last = rows.at(-1)
    if (last && backwards) this.#upper = this.#keyOf(last)
    if (last && !backwards) [this.#lower, this.#excluding] = [this.#keyOf(last), true]
    return rows
  }
}

/** The rows of a table of keys that begin with a text, after one of them. */
function beginningWith<Row extends { readonly scope: number; readonly key: string }>(
  requests: Requests,
  table: 'register' | 'derived',
  scope: number,
  prefix: string,
  after?: string,
): Range<Row> {
  const isAfter = after !== undefined && after >= prefix
  return new Range(
    requests.table(table),
    [scope, isAfter ? after : prefix],
    [scope, following(prefix) ?? []],
    ({ key }) => [scope, key],
    isAfter,
  )
}

/**
 * Hands over a range row by row until `take` says that it is enough. @returns whether the range
 * ended before that.
 */
async function scan<Row>(
  requests: Requests,
  range: Range<Row>,
  backwards: boolean,
  atOnce: number,
  take: (row: Row) => boolean,
): Promise<boolean> {
  for (;;) {
    const rows = await range.shift(requests, backwards, atOnce)
    for (const row of rows) if (!take(row)) return false
    if (rows.length < atOnce) return true
  }
}

/** What names these as sources, and in turn what names that. */
async function findDependents(
  requests: Requests,
  scope: number,
  names: readonly Name[],
): Promise<Map<Name, Name[]>> {
  const table = requests.table('source')
  const dependents = new Map<Name, Name[]>()
  const seen = new Set(names)
  for (let next = [...seen]; next.length > 0; ) {
    const found = await all<SourceRow[]>(next.map((name) => table.getAll(requests.within([scope, name]))))
    next = []
    for (const { source, name } of found.flat()) {
      dependents.set(source, [...(dependents.get(source) ?? []), name])
      if (!seen.has(name)) next.push(name)
      seen.add(name)
    }
  }
  return dependents
}

/** Asks for sums to be changed by so much. */
async function addSums(requests: Requests, scope: number, sums: Decision['sums']): Promise<void> {
  if (sums.size === 0) return
  const table = requests.table('sum')
  const rows = await requests.get<StoredSum>(
    table,
    Array.from(sums.keys(), (group) => [scope, group]),
  )
  const before = new Map(rows.flatMap((row) => (row ? [[row.group, row]] : [])))
  for (const [group, added] of sums) {
    const count = (before.get(group)?.count ?? 0) + added.count
    const weight = (before.get(group)?.weight ?? 0) + added.weight
    const row: StoredSum = { scope, group, count, weight }
    if (count === 0) table.delete([scope, group])
    else table.put(row)
  }
}

/** Takes entries, what was derived from any, and attachments away. */
async function emptyEntries(requests: Requests, scope: number, names: readonly Name[]): Promise<void> {
  if (names.length === 0) return
  const log = requests.table('log')
  const found = await requests.get<StoredRow>(
    log.index(ENTRY_KEY),
    idsIn('entry', names).map((id) => [scope, id]),
  )
  for (const row of found) {
    if (!row) continue
    log.put(emptiedRow(row))
  }
  for (const id of idsIn('attachment', names)) removeAttachment(requests, [scope, id])
  requests.table('derived').delete(requests.within([scope]))
}

/**
 * Takes back the rows of the log after a seq, and what else a decision says is no longer there.
 *
 * @returns the registers that were there and are written over
 */
async function takeBack(
  requests: Requests,
  head: HeadRow,
  { to, registers }: Rebase,
  written: Decision['registers'],
): Promise<readonly RegisterRow[]> {
  const { scope } = head
  const [log, source, register] = [
    requests.table('log'),
    requests.table('source'),
    requests.table('register'),
  ]
  const after = [scope, to.seq + 1]
  // No other rows of the log have sources.
  const marks = new Range<StoredRow>(log.index('[mark+seq]'), after, [scope, []], ({ seq }) => [scope, seq])
  await scan(requests, marks, false, rowsAtOnce(head), ({ entry, sources }) => {
    for (const link of linksOf(scope, `entry:${entry}`, sources))
      source.delete([scope, link.source, link.name])
    return true
  })
  const rows = requests.between(after, [scope, []], false)
  if (rows) log.delete(rows)
  const replaced = await requests.get<StoredRegister>(
    register,
    [...registers, ...written.map(({ key }) => key)].map((key) => [scope, key]),
  )
  for (const key of registers) register.delete([scope, key])
  requests.table('derived').delete(requests.within([scope]))
  return replaced.flatMap((row) => row ?? [])
}

/** Asks for what a decision says of the outbox. */
function writeOutbox(requests: Requests, scope: number, { outbox = [], sent = [] }: ReplicaChange): void {
  const table = requests.table('outbox')
  for (const { order, value } of outbox) table.put({ scope, order, value })
  let first = sent[0]
  sent.forEach((order, at) => {
    const next = sent[at + 1]
    // Those in a row go by one request, each of which costs as much.
    if (next === order + 1) return
    table.delete(requests.between([scope, first as number], [scope, order, []], false) as IDBKeyRange)
    first = next
  })
}

/** Clears the hashes of contexts in rows after a seq. */
async function unrecord(requests: Requests, head: HeadRow, seq: number): Promise<void> {
  const { scope } = head
  const log = requests.table('log')
  const rows = new Range<StoredRow>(log, [scope, seq + 1], [scope, []], keyOf)
  await scan(requests, rows, false, Math.min(PAGE_ROWS, rowsAtOnce(head)), (row) => {
    if (row.contexts?.length) log.put({ ...row, contexts: [] })
    return true
  })
}

/** Asks for an attachment to be removed. */
export function removeAttachment(requests: Requests, key: readonly [scope: number, id: string]): void {
  for (const table of ATTACHED) requests.table(table).delete([...key])
}

const ATTACHED: readonly TableName[] = ['attachment', 'unused']

/** @param kept attachments that are left */
async function eraseScope(
  requests: Requests,
  scope: number,
  kept: ReplicaChange['kept'] = [],
): Promise<void> {
  for (const table of SCOPED) requests.table(table).delete(requests.within([scope]))
  if (kept === 'all') return
  const [keys] = await all([requests.table('attachment').getAllKeys(requests.within([scope]))])
  for (const key of keys as [number, string][]) if (!kept.includes(key[1])) removeAttachment(requests, key)
}

/** The tables of what a scope holds, but for attachments and the outbox. */
const SCOPED = (Object.keys(TABLES) as TableName[]).filter(
  (table) => TABLES[table].startsWith('[scope+') && !['outbox', ...ATTACHED].includes(table),
)

/**
 * The least text that is above all that start with `prefix`, compared by UTF-16 units; none, if
 * there is no such text.
 */
function following(prefix: string): string | undefined {
  for (let end = prefix.length; end > 0; end--) {
    const unit = prefix.charCodeAt(end - 1)
    if (unit < 0xffff) return prefix.slice(0, end - 1) + String.fromCharCode(unit + 1)
  }
  return undefined
}

/**
 * @throws ERR_UPGRADE_REQUIRED where a newer version of this library wrote what this one must not
 * write into.
 */
export function checkWriter(meta: MetaRow | undefined): MetaRow {
  if (!meta) throw new PlimsollError('ERR_STORAGE_LOST', 'dexieStore: the database has lost its id')
  if (meta.writer > WRITER_VERSION) throw upgradeRequired(meta.writer)
  return meta
}

/** What the caller's own code threw inside a transaction: no failure of storage. */
export class CallerError {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * @throws CallerError with ERR_INVALID_ARGUMENT for a promise, too: the transaction would not wait
 * for it
 */
function decided(decide: () => Decision): Decision {
  let decision: Decision
  try {
    decision = synchronously(decide)
  } catch (error) {
    throw new CallerError(error)
  }
  if (typeof (decision as { then?: unknown } | undefined)?.then !== 'function') return decision
  throw new CallerError(
    new PlimsollError('ERR_INVALID_ARGUMENT', 'commit: a transaction must not be async', {
      argument: 'decide',
    }),
  )
}
