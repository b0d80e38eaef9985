import type { Envelope, IndexEntry, OpResult, SealedOp } from '../../ports/op.ts'
import type {
  Decide,
  Decision,
  Head,
  IndexRow,
  LogRow,
  MarkRow,
  RegisterRow,
  Rows,
  Sum,
} from '../../ports/store.ts'

/** The slot in which marks of one kind and lane replace each other; rewinds have none, they are a set. */
export function slotOf(mark: Envelope['mark'], lane: string | undefined): string | undefined {
  return mark === undefined || mark === 'rewind' ? undefined : `${mark}/${lane ?? ''}`
}

/**
 * What a batch of ops does to a scope, given the rows that the ops name. Pure; sees envelopes only. Ops take effect in
 * order, each seeing the ones before it; a conflict or a rejection changes nothing and stops nothing.
 */
export const decide: Decide = (ops, rows) => {
  const state = new Draft(rows)
  const results = ops.map((op) => state.take(op))
  return state.decision(results)
}

/** The rows as they would be after the ops taken so far. */
class Draft {
  readonly #rows: Rows
  #seq: number
  #ordinal: number
  #erased = false
  readonly #log: LogRow[] = []
  readonly #entries = new Map<string, LogRow>()
  readonly #registers = new Map<string, RegisterRow>()
  readonly #marks = new Map<string, MarkRow>()
  readonly #results = new Map<string, OpResult>()
  readonly #refused: { opId: string; result: OpResult }[] = []
  readonly #deleted = new Set<string>()
  readonly #emptied = new Set<string>()
  readonly #used = new Set<string>()

  constructor(rows: Rows) {
    this.#rows = rows
    this.#seq = rows.head.seq
    this.#ordinal = rows.head.ordinal
  }

  take(op: SealedOp): OpResult {
    const { opId } = op.envelope
    const before = this.#results.get(opId) ?? (this.#erased ? undefined : this.#rows.results.get(opId))
    if (before) return { ...before, repeated: true }
    const result = this.#apply(op)
    this.#results.set(opId, result)
    if (result.status !== 'accepted') this.#refused.push({ opId, result })
    return result
  }

  decision(results: readonly OpResult[]): Decision {
    return {
      results,
      erase: this.#erased,
      log: this.#log.map((row) => (this.#emptied.has(row.id) ? emptied(row) : row)),
      registers: [...this.#registers.values()],
      ...this.#reindexed(),
      emptied: [...this.#emptied],
      marks: [...this.#marks.values()],
      refused: this.#refused,
      used: [...this.#used],
    }
  }

  #apply(op: SealedOp): OpResult {
    switch (op.envelope.kind) {
      case 'append':
        return this.#append(op)
      case 'mark':
        return this.#mark(op)
      case 'put':
        return this.#put(op)
      case 'delete':
        return this.#delete(op.envelope)
      case 'erase':
        return this.#erase(op.envelope)
    }
  }

  #append({ envelope, bodies, derived }: SealedOp): OpResult {
    const { opId, ids, round, attachments = [] } = envelope
    if (new Set(ids).size < ids.length || ids.some((id) => this.#entry(id)))
      return { status: 'rejected', reason: 'duplicate-id' }
    if (round === undefined || (round !== ids[0] && this.#entry(round)?.round !== round))
      return { status: 'rejected', reason: 'unknown-round' }
    const seq = ++this.#seq
    ids.forEach((id, place) => {
      const forgotten = this.#isDeleted(id)
      const column = derived?.[place]
      this.#write({
        seq,
        place,
        kind: 'message',
        id,
        opId,
        ordinal: ++this.#ordinal,
        round,
        body: forgotten ? null : (bodies[place] ?? null),
        ...(column !== undefined && !forgotten && { derived: column }),
      })
    })
    for (const id of attachments) this.#used.add(id)
    return { status: 'accepted', seq, applied: true }
  }

  #mark({ envelope, bodies }: SealedOp): OpResult {
    const { opId, ids, mark = 'rewind', lane, base = null, sources } = envelope
    const id = ids[0] as string
    if (this.#entry(id)) return { status: 'rejected', reason: 'duplicate-id' }
    const slot = slotOf(mark, lane)
    const current = slot === undefined ? undefined : (this.#marks.get(slot) ?? this.#stored(slot))
    const applied = slot === undefined || base === (current?.id ?? null)
    const seq = ++this.#seq
    const chain = (current?.chain ?? 0) + 1
    const forgotten = this.#arrivesDeleted(id, sources)
    this.#write({
      seq,
      place: 0,
      kind: mark,
      id,
      opId,
      ordinal: this.#ordinal,
      base,
      applied,
      ...(lane !== undefined && { lane }),
      ...(slot !== undefined && applied && { chain }),
      ...(sources && { sources }),
      body: forgotten ? null : (bodies[0] ?? null),
    })
    if (slot !== undefined && applied) this.#marks.set(slot, { slot, id, seq, chain })
    return { status: 'accepted', seq, applied }
  }

  #put({ envelope, bodies }: SealedOp): OpResult {
    const { opId, key = '', base = null, sources, index } = envelope
    if (this.#isDeleted(key)) return { status: 'rejected', reason: 'deleted' }
    const version = this.#register(key)?.version ?? null
    if (base !== version) return { status: 'conflict', version }
    const seq = ++this.#seq
    this.#record(seq, 'put', key, opId)
    const row: RegisterRow = {
      key,
      version: opId,
      seq,
      ...(sources && { sources }),
      ...(index && { index }),
      body: bodies[0] ?? null,
    }
    this.#registers.set(
      key,
      this.#arrivesDeleted(key, sources) ? { key, version: opId, seq, body: null } : row,
    )
    return { status: 'accepted', seq, applied: true }
  }

  #delete({ opId, target = '' }: Envelope): OpResult {
    const seq = ++this.#seq
    this.#record(seq, 'delete', target, opId)
    this.#empty(target, opId, seq)
    for (const dependent of this.#dependents(target)) this.#empty(dependent, opId, seq)
    return { status: 'accepted', seq, applied: true }
  }

  #erase({ opId }: Envelope): OpResult {
    const seq = ++this.#seq
    this.#erased = true
    this.#ordinal = 0
    for (const map of [
      this.#entries,
      this.#registers,
      this.#marks,
      this.#results,
      this.#deleted,
      this.#emptied,
    ])
      map.clear()
    this.#refused.length = 0
    this.#log.length = 0
    this.#record(seq, 'erase', opId, opId)
    return { status: 'accepted', seq, applied: true }
  }

  /** How the places and weights of the registers that are written differ from those that they had. */
  #reindexed(): Pick<Decision, 'unlisted' | 'listed' | 'sums'> {
    const unlisted: IndexRow[] = []
    const listed: IndexRow[] = []
    const sums = new Map<string, Sum>()
    const add = ({ group, weight }: IndexEntry, sign: 1 | -1): void => {
      if (weight === undefined) return
      const sum = sums.get(group) ?? { count: 0, weight: 0 }
      sums.set(group, { count: sum.count + sign, weight: sum.weight + sign * weight })
    }
    for (const [key, { index = [] }] of this.#registers) {
      const old = this.#erased ? [] : (this.#rows.registers.get(key)?.index ?? [])
      const [before, after] = [placesOf(key, old), placesOf(key, index)]
      for (const [place, row] of before) if (!after.has(place)) unlisted.push(row)
      for (const [place, row] of after) if (!before.has(place)) listed.push(row)
      for (const entry of old) add(entry, -1)
      for (const entry of index) add(entry, 1)
    }
    return {
      unlisted,
      listed,
      sums: new Map([...sums].filter(([, { count, weight }]) => count !== 0 || weight !== 0)),
    }
  }

  #write(row: LogRow): void {
    this.#log.push(row)
    this.#entries.set(row.id, row)
  }

  #record(seq: number, kind: 'put' | 'delete' | 'erase', id: string, opId: string): void {
    this.#log.push({ seq, place: 0, kind, id, opId, ordinal: this.#ordinal, body: null })
  }

  #empty(name: string, opId: string, seq: number): void {
    this.#deleted.add(name)
    const register = this.#register(name)
    if (register) this.#registers.set(name, { key: name, version: opId, seq, body: null })
    this.#emptied.add(name)
  }

  /**
   * Whether a mark or register that is written now is deleted as it arrives: because it was deleted itself, or because it
   * derives from what was. Then what derives from it is too.
   */
  #arrivesDeleted(name: string, sources: readonly string[] = []): boolean {
    if (![name, ...sources].some((one) => this.#isDeleted(one))) return false
    this.#deleted.add(name)
    this.#emptied.add(name)
    return true
  }

  /** What names `target` as a source, and in turn what names that. */
  #dependents(target: string): ReadonlySet<string> {
    const found = new Set([target])
    for (const name of found) for (const dependent of this.#naming(name)) found.add(dependent)
    found.delete(target)
    return found
  }

  /** What names `source` as a source: in the store, unless it was written over since, and among the rows of this batch. */
  #naming(source: string): readonly string[] {
    const stored = this.#erased ? [] : (this.#rows.dependents.get(source) ?? [])
    return [
      ...stored.filter((name) => !this.#registers.has(name)),
      ...this.#log.flatMap((row) => (row.sources?.includes(source) ? row.id : [])),
      ...[...this.#registers.values()].flatMap((row) => (row.sources?.includes(source) ? row.key : [])),
    ]
  }

  #entry(id: string): LogRow | undefined {
    return this.#entries.get(id) ?? (this.#erased ? undefined : this.#rows.entries.get(id))
  }

  #register(key: string): RegisterRow | undefined {
    return this.#registers.get(key) ?? (this.#erased ? undefined : this.#rows.registers.get(key))
  }

  #stored(slot: string): MarkRow | undefined {
    return this.#erased ? undefined : this.#rows.head.marks.get(slot)
  }

  #isDeleted(name: string): boolean {
    return this.#deleted.has(name) || (!this.#erased && this.#rows.deleted.has(name))
  }
}

/** Where a register is listed; each place once, however often its index says so. */
function placesOf(key: string, index: readonly IndexEntry[]): ReadonlyMap<string, IndexRow> {
  return new Map(
    index.flatMap(({ group, order }) =>
      order === undefined ? [] : [[JSON.stringify([group, order]), { group, order, key }]],
    ),
  )
}

function emptied({ derived: _, ...row }: LogRow): LogRow {
  return { ...row, body: null }
}

/** The head of a scope that holds nothing. */
export const EMPTY_HEAD: Head = { seq: 0, ordinal: 0, marks: new Map() }
