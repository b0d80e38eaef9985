import type { Envelope, Name, OpResult, SealedOp } from '../../../src/ports/op.ts'
import type {
  Decide,
  Head,
  IndexRow,
  LogRow,
  MarkRow,
  RegisterRow,
  Rows,
  Sum,
} from '../../../src/ports/store.ts'
import { isEntry } from '../../../src/ports/store.ts'

/**
 * What `decide` is given and what becomes of what it returns, as plainly as the port says it:
 * lists, and no look-ups.
 */
export class Home {
  rows: readonly LogRow[] = []
  registers: readonly RegisterRow[] = []
  places: readonly IndexRow[] = []
  sums: ReadonlyMap<string, Sum> = new Map()
  indexed = false
  marks: readonly MarkRow[] = []
  refused: readonly { readonly opId: string; readonly result: OpResult }[] = []
  deleted: readonly Name[] = []
  emptiedAt = 0
  readonly #decide: Decide

  constructor(decide: Decide) {
    this.#decide = decide
  }

  copy(): Home {
    return Object.assign(new Home(this.#decide), { ...this })
  }

  get head(): Head {
    const newest = this.rows.at(-1)
    const first = this.rows.find(({ kind }) => kind === 'message')?.id
    return {
      seq: newest?.seq ?? 0,
      ordinal: newest?.ordinal ?? 0,
      ...(first !== undefined && { first }),
      marks: new Map(this.marks.map((mark) => [mark.slot, mark])),
      ...(this.indexed && { indexed: true as const }),
    }
  }

  commit(ops: readonly SealedOp[]): readonly OpResult[] {
    const decision = this.#decide(ops, this.#named(ops.map(({ envelope }) => envelope)))
    if (decision.erase) Object.assign(this, new Home(this.#decide))
    const emptied = new Set(decision.emptied)
    const rows = this.rows.map((row) => {
      if (!isEntry(row) || !emptied.has(`entry:${row.id}`)) return row
      const { derived: _, ...rest } = row
      return { ...rest, body: null }
    })
    const { unrecorded = Number.POSITIVE_INFINITY } = decision
    const kept = rows.map((row) => (row.contexts && row.seq > unrecorded ? { ...row, contexts: [] } : row))
    this.rows = [...kept, ...decision.log]
    if (decision.erase || emptied.size > 0) this.emptiedAt = this.head.seq
    this.registers = replace(this.registers, decision.registers, ({ key }) => key)
    const unlisted = new Set(decision.unlisted.map(placeName))
    this.places = [...this.places.filter((place) => !unlisted.delete(placeName(place))), ...decision.listed]
    if (unlisted.size > 0) throw new Error(`nothing stood at ${[...unlisted].join()}`)
    const sums = new Map(this.sums)
    for (const [group, { count, weight }] of decision.sums) {
      const before = sums.get(group) ?? { count: 0, weight: 0 }
      sums.set(group, { count: before.count + count, weight: before.weight + weight })
    }
    this.sums = new Map([...sums].filter(([, { count }]) => count !== 0))
    this.indexed ||= decision.listed.length > 0 || decision.sums.size > 0
    this.marks = replace(this.marks, decision.marks, ({ slot }) => slot)
    this.refused = [...this.refused, ...decision.refused]
    const targets = decision.log.flatMap(({ kind, id }) => (kind === 'delete' ? (id as Name) : []))
    this.deleted = [...new Set([...this.deleted, ...targets, ...decision.emptied])]
    return decision.results
  }

  /** Everything that the ops name, and nothing else. */
  #named(envelopes: readonly Envelope[]): Rows {
    const names = new Set(
      envelopes.flatMap(({ kind, ids, round, key, target, sources }): Name[] => [
        ...(kind === 'put' ? [] : ids.map((id): Name => `entry:${id}`)),
        ...(round === undefined ? [] : [`entry:${round}` as const]),
        ...(key === undefined ? [] : [`register:${key}` as const]),
        ...(target === undefined ? [] : [target]),
        ...(sources ?? []),
      ]),
    )
    const reached = new Set(names)
    for (const name of reached) for (const other of this.#naming(name)) reached.add(other)
    const opIds = new Set(envelopes.map(({ opId }) => opId))
    const accepted = this.rows.map(({ opId, seq, applied = true }): [string, OpResult] => [
      opId,
      { status: 'accepted', seq, applied },
    ])
    const refused = this.refused.map(({ opId, result }): [string, OpResult] => [opId, result])
    return {
      head: this.head,
      results: new Map([...accepted, ...refused].filter(([opId]) => opIds.has(opId))),
      entries: new Map(
        this.rows.filter((row) => isEntry(row) && names.has(`entry:${row.id}`)).map((row) => [row.id, row]),
      ),
      registers: new Map(
        this.registers.filter(({ key }) => reached.has(`register:${key}`)).map((row) => [row.key, row]),
      ),
      deleted: new Set(this.deleted.filter((name) => names.has(name))),
      dependents: new Map([...reached].map((name) => [name, this.#naming(name)])),
      emptiedAt: this.emptiedAt,
    }
  }

  #naming(source: Name): Name[] {
    return [
      ...this.rows.filter(({ sources }) => sources?.includes(source)).map(({ id }): Name => `entry:${id}`),
      ...this.registers
        .filter(({ sources }) => sources?.includes(source))
        .map(({ key }): Name => `register:${key}`),
    ]
  }
}

function placeName({ group, order, key }: IndexRow): string {
  return JSON.stringify([group, order, key])
}

function replace<Row>(rows: readonly Row[], by: readonly Row[], name: (row: Row) => string): readonly Row[] {
  return [...rows.filter((row) => !by.some((other) => name(other) === name(row))), ...by]
}
