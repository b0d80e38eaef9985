import { type Envelope, idIn, type Name, type OpResult, type Scope, type SealedOp } from '../ports/op.ts'
import { scopeName, scopeNamed } from '../ports/scope-name.ts'
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
  type IndexRow,
  isEntry,
  type LogRow,
  type MarkRow,
  type OutboxRow,
  PAGE_ROWS,
  PAGE_UNITS,
  type Page,
  type Rebase,
  type RegisterRow,
  type Rows,
  type ScopeStore,
  type Store,
  type Sum,
  UNUSED_AT_ONCE,
} from '../ports/store.ts'
import { idsIn, namedBy } from './named.ts'
import { firstAfter, pageOfEntries, pageOfOps } from './page-fill.ts'

export interface MapScopes extends Store {
  open(scope: Scope): MapScopeStore
}

/** A store whose scopes live as long as it does. */
export function mapScopes(): MapScopes {
  const scopes = new Map<string, MapScope>()
  return {
    open: (named: Scope) => {
      const key = scopeName(named)
      const scope = scopes.get(key) ?? new MapScope()
      scopes.set(key, scope)
      return new MapScopeStore(scope)
    },
    oldestUnused: async () => oldestUnused(scopes)[0]?.at,
    removeUnused: async (until) => {
      const found = oldestUnused(scopes).filter(({ at }) => at <= until)
      for (const { scope, id } of found.slice(0, UNUSED_AT_ONCE)) removeAttachment(scope, id)
      return Math.min(found.length, UNUSED_AT_ONCE)
    },
    scopes: async (after) => {
      const from = after && scopeName(after)
      return [...scopes]
        .filter(([key, scope]) => isWritten(scope) && (from === undefined || key > from))
        .map(([key]) => key)
        .sort()
        .slice(0, PAGE_ROWS)
        .map(scopeNamed)
    },
  }
}

/** All rows of one scope, with the look-ups that commits and reads need. */
export class MapScope {
  log: LogRow[] = []
  /** Index in `log` of each entry. */
  readonly entries = new Map<string, number>()
  readonly registers = new Map<string, RegisterRow>()
  /** Of each group, in order. */
  readonly indexes = new Map<string, IndexRow[]>()
  readonly sums = new Map<string, Sum>()
  readonly derived = new Map<string, DerivedRow>()
  /** Seq of the last commit that emptied anything. */
  emptiedAt = 0
  indexed = false
  readonly marks = new Map<string, MarkRow>()
  /** Of the ops that are in the log, and of those that are not. */
  readonly results = new Map<string, OpResult>()
  readonly refused = new Map<string, OpResult>()
  readonly deleted = new Set<Name>()
  readonly attachments = new Map<string, Attachment>()
  /** When each attachment was put that no message has named. */
  readonly unused = new Map<string, number>()
  readonly listeners = new Set<() => void>()
  first: string | undefined
  rebased = 0
  replica: string | undefined
  readonly outbox = new Map<number, OutboxRow>()
}

export class MapScopeStore implements ScopeStore {
  readonly #scope: MapScope
  readonly #listeners = new Set<() => void>()

  constructor(scope: MapScope) {
    this.#scope = scope
  }

  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    const decision = decide(ops, this.#read(ops.map((op) => op.envelope)))
    const scope = this.#scope
    const { replica } = decision
    if (replica?.rebase) takeBack(scope, replica.rebase)
    if (decision.erase) {
      scope.log = []
      scope.first = replica?.rebase?.to.first
      scope.indexed = false
      for (const map of [
        scope.entries,
        scope.registers,
        scope.indexes,
        scope.sums,
        scope.derived,
        scope.marks,
        scope.results,
        scope.refused,
        scope.deleted,
      ])
        map.clear()
      const { kept = [] } = replica ?? {}
      if (kept !== 'all')
        for (const id of scope.attachments.keys()) if (!kept.includes(id)) removeAttachment(scope, id)
    }
    for (const name of decision.emptied) {
      scope.deleted.add(name)
      removeAttachment(scope, idIn('attachment', name) ?? '')
      const index = scope.entries.get(idIn('entry', name) ?? '')
      const row = index === undefined ? undefined : scope.log[index]
      if (index === undefined || !row) continue
      scope.log[index] = emptiedRow(row)
    }
    const { unrecorded = Number.POSITIVE_INFINITY } = decision
    for (let index = firstAfter(scope.log, unrecorded); index < scope.log.length; index++) {
      const row = scope.log[index] as LogRow
      if (row.contexts) scope.log[index] = { ...row, contexts: [] }
    }
    for (const row of decision.log) {
      if (isEntry(row)) scope.entries.set(row.id, scope.log.length)
      if (row.kind === 'message' && (row.ordinal === 1 || scope.first === undefined)) scope.first = row.id
      if (row.place === 0)
        scope.results.set(row.opId, { status: 'accepted', seq: row.seq, applied: row.applied ?? true })
      scope.log.push(row)
    }
    for (const register of decision.registers) scope.registers.set(register.key, register)
    reindex(scope, decision)
    scope.indexed ||= decision.listed.length > 0 || decision.sums.size > 0
    for (const mark of decision.marks) scope.marks.set(mark.slot, mark)
    for (const { opId, result } of decision.refused) scope.refused.set(opId, result)
    for (const id of decision.used) scope.unused.delete(id)
    if (decision.erase || decision.emptied.length > 0 || replica?.rebase) {
      scope.derived.clear()
      scope.emptiedAt = scope.log.at(-1)?.seq ?? 0
    }
    if (replica) scope.replica = replica.state
    for (const row of replica?.outbox ?? []) scope.outbox.set(row.order, row)
    for (const order of replica?.sent ?? []) scope.outbox.delete(order)
    for (const listener of scope.listeners) if (!this.#listeners.has(listener)) listener()
    return decision.results
  }

  async entries(query: EntriesQuery = {}): Promise<Page> {
    const { log, entries } = this.#scope
    return pageOfEntries(log, query, (id) => entries.get(id)) ?? { rows: [], more: false }
  }

  async head(): Promise<Head> {
    return this.#head()
  }

  async register(key: string): Promise<RegisterRow | undefined> {
    return this.#scope.registers.get(key)
  }

  async registers(prefix: string, after?: string): Promise<readonly RegisterRow[]> {
    return [...this.#scope.registers.values()]
      .filter(
        ({ key, body }) => body !== null && key.startsWith(prefix) && (after === undefined || key > after),
      )
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, PAGE_ROWS)
  }

  async indexed(
    group: string,
    { after, to, first = PAGE_ROWS }: IndexQuery = {},
  ): Promise<readonly RegisterRow[]> {
    const rows = this.#scope.indexes.get(group) ?? []
    const start = after === undefined ? 0 : placeOf(rows, after, true)
    const end = to === undefined ? rows.length : placeOf(rows, { order: to, key: '' })
    return rows
      .slice(start, Math.min(end, start + Math.max(0, Math.min(first, PAGE_ROWS))))
      .flatMap(({ key }) => this.#scope.registers.get(key) ?? [])
  }

  async sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    return pick(this.#scope.sums, groups)
  }

  async derive({ key, bytes }: DerivedRow, seq: number): Promise<boolean> {
    if (this.#scope.emptiedAt > seq) return false
    this.#scope.derived.set(key, { key, bytes: bytes.slice() })
    return true
  }

  async derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    const rows = [...this.#scope.derived.values()]
      .filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
    return pageOf(rows, ({ bytes }) => bytes.length).map(({ key, bytes }) => ({ key, bytes: bytes.slice() }))
  }

  async changesSince(seq: number): Promise<Changes> {
    const { log } = this.#scope
    return { ...pageOfOps(log, firstAfter(log, seq)), head: this.#head() }
  }

  async attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    const { attachments, unused, deleted } = this.#scope
    const { id } = attachment
    if (deleted.has(`attachment:${id}`)) return 'deleted'
    if (attachments.has(id)) return 'kept'
    attachments.set(id, copyOf(attachment))
    unused.set(id, at)
    return 'stored'
  }

  async attachment(id: string): Promise<Attachment | undefined> {
    const found = this.#scope.attachments.get(id)
    return found && copyOf(found)
  }

  async attached(ids: readonly string[]): Promise<readonly string[]> {
    return ids.filter((id) => this.#scope.attachments.has(id))
  }

  async outbox(after: number): Promise<readonly OutboxRow[]> {
    const rows = [...this.#scope.outbox.values()]
      .filter(({ order }) => order > after)
      .sort((one, other) => one.order - other.order)
    return pageOf(rows.slice(0, PAGE_ROWS), ({ value }) => value.length)
  }

  async close(): Promise<void> {
    for (const listener of this.#listeners) this.#scope.listeners.delete(listener)
    this.#listeners.clear()
  }

  watch(listener: () => void): () => void {
    const own = (): void => listener()
    this.#listeners.add(own)
    this.#scope.listeners.add(own)
    return () => {
      this.#listeners.delete(own)
      this.#scope.listeners.delete(own)
    }
  }

  #head(): Head {
    const { log, first, marks, indexed, rebased } = this.#scope
    const newest = log.at(-1)
    return {
      seq: newest?.seq ?? 0,
      ordinal: newest?.ordinal ?? 0,
      ...(first !== undefined && { first }),
      marks: new Map(marks),
      ...(indexed && { indexed }),
      ...(rebased > 0 && { rebased }),
    }
  }

  #read(envelopes: readonly Envelope[]): Rows {
    const { log, entries, registers, results, refused, deleted, replica } = this.#scope
    const named = namedBy(envelopes)
    const opIds = envelopes.map(({ opId }) => opId)
    const dependents = named.deletes ? this.#dependents(named.names) : new Map<Name, Name[]>()
    const derived = [...dependents.values()].flat()
    return {
      head: this.#head(),
      results: new Map([...pick(refused, opIds), ...pick(results, opIds)]),
      entries: new Map(
        named.entries.flatMap((id) => {
          const index = entries.get(id)
          return index === undefined ? [] : [[id, log[index] as LogRow]]
        }),
      ),
      registers: pick(registers, [...named.keys, ...idsIn('register', derived)]),
      deleted: new Set([...named.names, ...named.sources, ...derived].filter((name) => deleted.has(name))),
      dependents,
      emptiedAt: this.#scope.emptiedAt,
      ...(replica !== undefined && { replica }),
    }
  }

  /**
   * What names these as sources, and in turn what names that. A scan: this store has no index of
   * sources.
   */
  #dependents(names: readonly Name[]): Map<Name, Name[]> {
    const naming = new Map<Name, Name[]>()
    const add = (name: Name, sources: readonly Name[] = []): void => {
      for (const source of new Set(sources)) {
        const others = naming.get(source)
        if (others) others.push(name)
        else naming.set(source, [name])
      }
    }
    for (const { id, sources } of this.#scope.log) add(`entry:${id}`, sources)
    for (const { key, sources } of this.#scope.registers.values()) add(`register:${key}`, sources)
    const found = new Set(names)
    for (const name of found) for (const dependent of naming.get(name) ?? []) found.add(dependent)
    return new Map([...naming].filter(([source]) => found.has(source)))
  }
}

/** Whether anything was written to a scope, rather than only asked of it. */
function isWritten({ log, refused, attachments, derived, replica }: MapScope): boolean {
  return replica !== undefined || log.length + refused.size + attachments.size + derived.size > 0
}

/** Takes back the rows of the log after a seq, and what else a decision says is no longer there. */
function takeBack(scope: MapScope, { to, registers, slots }: Rebase): void {
  for (const row of scope.log.splice(firstAfter(scope.log, to.seq))) {
    if (isEntry(row)) scope.entries.delete(row.id)
    scope.results.delete(row.opId)
  }
  scope.first = to.first
  scope.rebased++
  for (const key of registers) scope.registers.delete(key)
  for (const slot of slots) scope.marks.delete(slot)
}

/** As many of the rows as a page has room for. */
function pageOf<Row>(rows: readonly Row[], sizeOf: (row: Row) => number): readonly Row[] {
  let size = 0
  const end = rows.findIndex((row, index) => {
    size += sizeOf(row)
    return index > 0 && size > PAGE_UNITS
  })
  return rows.slice(0, end < 0 ? undefined : end)
}

/** Writes what a decision says of indexes and sums. */
function reindex({ indexes, sums }: MapScope, decision: Decision): void {
  for (const row of decision.unlisted) {
    const rows = indexes.get(row.group) ?? []
    rows.splice(placeOf(rows, row), 1)
    if (rows.length === 0) indexes.delete(row.group)
  }
  for (const row of decision.listed) {
    const rows = indexes.get(row.group) ?? []
    rows.splice(placeOf(rows, row), 0, row)
    indexes.set(row.group, rows)
  }
  for (const [group, { count, weight }] of decision.sums) {
    const before = sums.get(group) ?? { count: 0, weight: 0 }
    if (before.count + count === 0) sums.delete(group)
    else sums.set(group, { count: before.count + count, weight: before.weight + weight })
  }
}

/**
 * Index of the first row of a group that does not stand before a place, or, with `after`, that
 * stands after it.
 */
function placeOf(
  rows: readonly IndexRow[],
  { order, key }: Pick<IndexRow, 'order' | 'key'>,
  after = false,
): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle] as IndexRow
    const isBefore =
      row.order < order || (row.order === order && (row.key < key || (after && row.key === key)))
    if (isBefore) low = middle + 1
    else high = middle
  }
  return low
}

/** Callers may change the bytes that they gave, or were given. */
function copyOf({ bytes, ...rest }: Attachment): Attachment {
  return { ...rest, bytes: bytes.slice() }
}

function removeAttachment(scope: MapScope, id: string): void {
  scope.attachments.delete(id)
  scope.unused.delete(id)
}

/** The attachments of all scopes that no message has named, oldest first. */
function oldestUnused(scopes: ReadonlyMap<string, MapScope>) {
  return [...scopes.values()]
    .flatMap((scope) => Array.from(scope.unused, ([id, at]) => ({ scope, id, at })))
    .sort((a, b) => a.at - b.at)
}

function pick<Value>(from: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> {
  const picked = new Map<string, Value>()
  for (const key of keys) {
    const value = from.get(key)
    if (value !== undefined) picked.set(key, value)
  }
  return picked
}
