import type { Envelope, OpResult, Scope, SealedOp } from '../ports/op.ts'
import {
  type Attachment,
  type Changes,
  type Decide,
  type EntriesQuery,
  type Head,
  isEntry,
  type LogRow,
  type MarkRow,
  PAGE_ROWS,
  type Page,
  type RegisterRow,
  type Rows,
  type ScopeStore,
  type Store,
  UNUSED_AT_ONCE,
} from '../ports/store.ts'
import { firstAfter, pageOfEntries, pageOfOps } from './page-fill.ts'

/**
 * The reference store: everything in this process's memory, gone with it. For tests, demos, servers without state, and as
 * the last rung when a browser refuses storage.
 *
 * @example
 * ```ts
 * import { createMemory, mapStore } from 'plimsoll'
 * const memory = createMemory({ store: mapStore(), budget: 16_000 })
 * ```
 */
export function mapStore(): Store {
  const scopes = new Map<string, MapScope>()
  return {
    open: ({ tenant, userId, sessionId }: Scope) => {
      const key = JSON.stringify([tenant ?? null, userId, sessionId ?? null])
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
  }
}

/** All rows of one scope, with the look-ups that commits and reads need. */
class MapScope {
  log: LogRow[] = []
  /** Index in `log` of each entry. */
  readonly entries = new Map<string, number>()
  readonly registers = new Map<string, RegisterRow>()
  readonly marks = new Map<string, MarkRow>()
  readonly results = new Map<string, OpResult>()
  readonly deleted = new Set<string>()
  readonly attachments = new Map<string, Attachment>()
  /** When each attachment was put that no message has named. */
  readonly unused = new Map<string, number>()
  readonly listeners = new Set<() => void>()
  first: string | undefined
}

class MapScopeStore implements ScopeStore {
  readonly #scope: MapScope
  readonly #listeners = new Set<() => void>()

  constructor(scope: MapScope) {
    this.#scope = scope
  }

  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    const decision = decide(ops, this.#read(ops.map((op) => op.envelope)))
    const scope = this.#scope
    if (decision.erase) {
      scope.log = []
      scope.first = undefined
      for (const map of [
        scope.entries,
        scope.registers,
        scope.marks,
        scope.results,
        scope.deleted,
        scope.attachments,
        scope.unused,
      ])
        map.clear()
    }
    for (const id of decision.emptied) {
      scope.deleted.add(id)
      removeAttachment(scope, id)
      const index = scope.entries.get(id)
      const row = index === undefined ? undefined : scope.log[index]
      if (index === undefined || !row) continue
      const { derived: _, ...rest } = row
      scope.log[index] = { ...rest, body: null }
    }
    for (const row of decision.log) {
      if (isEntry(row)) scope.entries.set(row.id, scope.log.length)
      if (row.kind === 'message') scope.first ??= row.id
      if (row.place === 0)
        scope.results.set(row.opId, { status: 'accepted', seq: row.seq, applied: row.applied ?? true })
      scope.log.push(row)
    }
    for (const register of decision.registers) scope.registers.set(register.key, register)
    for (const mark of decision.marks) scope.marks.set(mark.slot, mark)
    for (const { opId, result } of decision.refused) scope.results.set(opId, result)
    for (const id of decision.used) scope.unused.delete(id)
    for (const listener of scope.listeners) if (!this.#listeners.has(listener)) listener()
    return decision.results
  }

  async entries(query: EntriesQuery = {}): Promise<Page> {
    const { from, to } = query
    const { log, entries } = this.#scope
    const start = from === undefined ? 0 : entries.get(from)
    const end = to === undefined ? log.length : entries.get(to)
    if (start === undefined || end === undefined) return { rows: [], more: false }
    return pageOfEntries(log, start, end, query)
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

  async changesSince(seq: number): Promise<Changes> {
    const { log } = this.#scope
    return { ...pageOfOps(log, firstAfter(log, seq)), head: this.#head() }
  }

  async attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    const { attachments, unused, deleted } = this.#scope
    const { id } = attachment
    if (deleted.has(id)) return 'deleted'
    if (attachments.has(id)) return 'kept'
    attachments.set(id, copyOf(attachment))
    unused.set(id, at)
    return 'stored'
  }

  async attachment(id: string): Promise<Attachment | undefined> {
    const found = this.#scope.attachments.get(id)
    return found && copyOf(found)
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
    const { log, first, marks } = this.#scope
    const newest = log.at(-1)
    return {
      seq: newest?.seq ?? 0,
      ordinal: newest?.ordinal ?? 0,
      ...(first !== undefined && { first }),
      marks: new Map(marks),
    }
  }

  #read(envelopes: readonly Envelope[]): Rows {
    const { log, entries, registers, results, deleted } = this.#scope
    const targets = envelopes.flatMap(({ target }) => target ?? [])
    const ids = [...envelopes.flatMap(({ ids, round }) => [...ids, round ?? []].flat()), ...targets]
    const named = envelopes.flatMap(({ key }) => key ?? [])
    const dependents =
      targets.length === 0 ? new Map<string, string[]>() : this.#dependents([...ids, ...named])
    const keys = [...named, ...targets, ...[...dependents.values()].flat()]
    const sources = envelopes.flatMap(({ sources }) => sources ?? [])
    return {
      head: this.#head(),
      results: pick(
        results,
        envelopes.map(({ opId }) => opId),
      ),
      entries: new Map(
        ids.flatMap((id) => {
          const index = entries.get(id)
          return index === undefined ? [] : [[id, log[index] as LogRow]]
        }),
      ),
      registers: pick(registers, keys),
      deleted: new Set([...ids, ...keys, ...sources].filter((name) => deleted.has(name))),
      dependents,
    }
  }

  /** What names these as sources, and in turn what names that. A scan: this store has no index of sources. */
  #dependents(names: readonly string[]): Map<string, string[]> {
    const naming = new Map<string, string[]>()
    const add = (name: string, sources: readonly string[] = []): void => {
      for (const source of new Set(sources)) {
        const others = naming.get(source)
        if (others) others.push(name)
        else naming.set(source, [name])
      }
    }
    for (const { id, sources } of this.#scope.log) add(id, sources)
    for (const { key, sources } of this.#scope.registers.values()) add(key, sources)
    const found = new Set(names)
    for (const name of found) for (const dependent of naming.get(name) ?? []) found.add(dependent)
    return new Map([...naming].filter(([source]) => found.has(source)))
  }
}

/** Whoever gave the bytes, or is given them, may go on to change them. */
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
