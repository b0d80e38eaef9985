import {
  type Envelope,
  type IndexEntry,
  idIn,
  type Name,
  type Op,
  type OpResult,
  type RejectReason,
  type SealedOp,
} from '../../ports/op.ts'
import {
  type Decide,
  type Decision,
  type Head,
  type IndexRow,
  isEntry,
  type LogRow,
  type MarkRow,
  type RegisterRow,
  type Rows,
  type Sum,
} from '../../ports/store.ts'

/** The head of a scope that holds nothing. */
export const EMPTY_HEAD: Head = { seq: 0, ordinal: 0, marks: new Map() }

/**
 * The slot in which marks of one kind and lane replace each other. Rewinds have none, they are a
 * set; nor have marks of an unknown kind, which are never applied.
 */
export function slotOf(mark: Envelope['mark'], lane: string | undefined): string | undefined {
  return mark === 'epoch' || mark === 'summary' ? `${mark}/${lane ?? ''}` : undefined
}

/** Whether a mark takes effect where `current` is the one of its slot. */
export function isApplied(
  kind: Envelope['mark'],
  slot: string | undefined,
  base: string | null,
  current: MarkRow | undefined,
): boolean {
  return slot === undefined ? kind === 'rewind' : base === (current?.id ?? null)
}

/**
 * What a batch of ops does to a scope, given the rows that the ops name. Pure; sees envelopes only.
 * Ops take effect in order, each seeing the ones before it; a conflict or a rejection changes
 * nothing and stops nothing.
 */
export const decide: Decide = (ops, given) => replay(ops, given, false)

/**
 * As {@link decide}; with `isFollowing` of ops that another home has accepted already: what a put
 * named as its base, whether its key is deleted here, and whether its round is here, decides
 * nothing.
 */
export function replay(ops: readonly SealedOp[], given: Rows, isFollowing: boolean): Decision {
  let rows = given
  let { seq, ordinal } = rows.head
  let isErased = false
  // What the ops taken so far write over the rows that were read. At the end, bodies of what is
  // deleted are left out.
  const log: LogRow[] = []
  const entries = new Map<string, LogRow>()
  const registers = new Map<string, RegisterRow>()
  const marks = new Map<string, MarkRow>()
  const results = new Map<string, OpResult>()
  /** Names that are deleted from now on. */
  const emptied = new Set<Name>()
  const used = new Set<string>()
  /** Contexts that were recorded after this seq may have held what is deleted. */
  let unrecorded = Infinity

  const entryOf = (id: string) => entries.get(id) ?? rows.entries.get(id)
  const registerOf = (key: string) => registers.get(key) ?? rows.registers.get(key)
  const isDeleted = (name: Name) => emptied.has(name) || rows.deleted.has(name)
  const write = (kind: LogRow['kind'], id: string, opId: string, more?: Partial<LogRow>) => {
    const row = { seq, place: 0, kind, id, opId, ordinal, body: null, ...more }
    log.push(row)
    if (isEntry(row)) entries.set(id, row)
  }
  /**
   * Whether a mark or register that is written now is deleted as it arrives: because it was
   * deleted itself, or because it derives from what was. Then what derives from it is too.
   */
  const arrivesDeleted = (name: Name, sources: readonly Name[] = []) => {
    const isGone = [name, ...sources].some(isDeleted)
    if (isGone) emptied.add(name)
    return isGone
  }
  /**
   * What names `source` as a source: stored, unless it was written over since, and in this batch.
   */
  const naming = (source: Name): readonly Name[] => {
    const isFrom = ({ sources }: Pick<LogRow, 'sources'>) => sources?.includes(source)
    return [
      ...(rows.dependents.get(source) ?? []).filter((name) => !registers.has(idIn('register', name) ?? '')),
      ...log.filter(isFrom).map(({ id }): Name => `entry:${id}`),
      ...[...registers.values()].filter(isFrom).map(({ key }): Name => `register:${key}`),
    ]
  }
  /** What is recorded with an op's first row. What was handed out may be forgotten since. */
  const recorded = ({ contexts }: Envelope) => {
    const hashes = contexts?.flatMap(({ hash, seq }) => (seq < rows.emptiedAt ? [] : hash))
    return hashes?.length ? { contexts: hashes } : undefined
  }
  const accepted = (applied = true): OpResult => ({ status: 'accepted', seq, applied })

  const rules: { readonly [kind in Op['kind']]: (op: SealedOp) => OpResult } = {
    append: ({ envelope, bodies, derived }) => {
      const { opId, ids, round, attachments = [] } = envelope
      if (new Set(ids).size < ids.length || ids.some(entryOf)) return rejected('duplicate-id')
      const isKnown = isFollowing || round === ids[0] || entryOf(round ?? '')?.round === round
      if (round === undefined || !isKnown) return rejected('unknown-round')
      seq++
      ids.forEach((id, place) => {
        ordinal++
        const body = bodies[place] ?? null
        const column = derived?.[place]
        write('message', id, opId, {
          place,
          round,
          body,
          ...(place === 0 && recorded(envelope)),
          ...(column !== undefined && { derived: column }),
        })
      })
      for (const id of attachments) used.add(id)
      return accepted()
    },
    mark: ({ envelope, bodies }) => {
      const { opId, ids, mark: kind = 'rewind', lane, base = null, sources } = envelope
      const id = ids[0] as string
      if (entryOf(id)) return rejected('duplicate-id')
      const slot = slotOf(kind, lane)
      const current = slot === undefined ? undefined : (marks.get(slot) ?? rows.head.marks.get(slot))
      const applied = isApplied(kind, slot, base, current)
      seq++
      const chained = slot !== undefined && applied && { chain: (current?.chain ?? 0) + 1 }
      if (chained) marks.set(slot, { slot, id, seq, ...chained })
      arrivesDeleted(`entry:${id}`, sources)
      write(kind, id, opId, {
        base,
        applied,
        body: bodies[0] ?? null,
        ...(lane !== undefined && { lane }),
        ...chained,
        ...(sources && { sources }),
      })
      return accepted(applied)
    },
    put: ({ envelope, bodies }) => {
      const { opId, key = '', base = null, sources, index } = envelope
      if (!isFollowing && isDeleted(`register:${key}`)) return rejected('deleted')
      const version = registerOf(key)?.version ?? null
      if (!isFollowing && base !== version) return { status: 'conflict', version }
      seq++
      write('put', key, opId)
      const row = { key, version: opId, seq, body: null }
      const listed = { ...(sources && { sources }), ...(index && { index }) }
      const isForgotten = arrivesDeleted(`register:${key}`, sources)
      registers.set(key, isForgotten ? row : { ...row, ...listed, body: bodies[0] ?? null })
      return accepted()
    },
    delete: ({ envelope: { opId, target = 'entry:' } }) => {
      seq++
      write('delete', target, opId)
      // What names it as a source goes with it, and in turn what names that.
      const names = new Set([target])
      for (const name of names) for (const dependent of naming(name)) names.add(dependent)
      const { seq: since = 0 } = entryOf(idIn('entry', target) ?? '') ?? {}
      for (const name of names) {
        emptied.add(name)
        const key = idIn('register', name)
        const row = key === undefined ? entryOf(idIn('entry', name) ?? '') : registerOf(key)
        // What is named by its sources alone was not read, and came after them; of a register, no
        // row says when it came.
        if (row ? row.body !== null : name !== target)
          unrecorded = Math.min(unrecorded, key === undefined ? since : 0)
        if (key !== undefined && row) registers.set(key, { key, version: opId, seq, body: null })
      }
      return accepted()
    },
    /** Nothing is left but the count of ops, and what is known of attachments. */
    erase: ({ envelope: { opId } }) => {
      // No context that was handed out is of what is written from now on.
      rows = { ...NO_ROWS, emptiedAt: Infinity }
      ordinal = 0
      isErased = true
      log.length = 0
      unrecorded = Infinity
      for (const written of [entries, registers, marks, results, emptied]) written.clear()
      seq++
      write('erase', opId, opId)
      return accepted()
    },
  }
  const outcomes = ops.map((op): OpResult => {
    const { opId, kind } = op.envelope
    const before = results.get(opId) ?? rows.results.get(opId)
    if (before) return { ...before, repeated: true }
    const result = isMisnamed(op.envelope) ? rejected('duplicate-id') : rules[kind](op)
    results.set(opId, result)
    return result
  })
  return {
    results: outcomes,
    erase: isErased,
    log: log.map((row) => {
      const left = isEntry(row) && isDeleted(`entry:${row.id}`) ? withoutBody(row) : row
      return left.contexts && left.seq > unrecorded ? { ...left, contexts: [] } : left
    }),
    registers: [...registers.values()],
    ...reindexed(rows, registers),
    emptied: [...emptied],
    ...(unrecorded < Infinity && { unrecorded }),
    marks: [...marks.values()],
    refused: [...results].flatMap(([opId, result]) => (result.status === 'accepted' ? [] : { opId, result })),
    used: [...used],
  }
}

/** What a commit reads of a scope that holds nothing. */
export const NO_ROWS: Rows = {
  head: EMPTY_HEAD,
  results: new Map(),
  entries: new Map(),
  registers: new Map(),
  deleted: new Set(),
  dependents: new Map(),
  emptiedAt: 0,
}

/** Whether an op has the name of an entry that is not the first that it writes. */
function isMisnamed({ opId, ids, kind }: Envelope): boolean {
  const id = idIn('entry', opId as Name)
  return id !== undefined && (ids[0] !== id || kind === 'put')
}

/** A decision that leaves the scope as it is. */
export function nothingWritten(results: readonly OpResult[]): Decision {
  return { ...decide([], NO_ROWS), results }
}

function rejected(reason: RejectReason): OpResult {
  return { status: 'rejected', reason }
}

function withoutBody({ derived: _, ...row }: LogRow): LogRow {
  return { ...row, body: null }
}

/** How the places and weights of the registers that are written differ from those that they had. */
export function reindexed(
  rows: Pick<Rows, 'registers'>,
  registers: ReadonlyMap<string, RegisterRow>,
): Pick<Decision, 'unlisted' | 'listed' | 'sums'> {
  const unlisted: IndexRow[] = []
  const listed: IndexRow[] = []
  const sums = new Map<string, Sum>()
  for (const [key, { index: after = [] }] of registers) {
    const before = rows.registers.get(key)?.index ?? []
    unlisted.push(...placesOf(key, before, after))
    listed.push(...placesOf(key, after, before))
    for (const entry of before) add(sums, entry, -1)
    for (const entry of after) add(sums, entry, 1)
  }
  for (const [group, { count, weight }] of sums) if (count === 0 && weight === 0) sums.delete(group)
  return { unlisted, listed, sums }
}

/**
 * Where an index lists a register and the other does not; each place once, however often it says
 * so.
 */
function placesOf(key: string, index: readonly IndexEntry[], other: readonly IndexEntry[]): IndexRow[] {
  return index.flatMap(({ group, order }, at) => {
    const isHere = (one: IndexEntry) => one.group === group && one.order === order
    return order === undefined || index.findIndex(isHere) < at || other.some(isHere)
      ? []
      : { group, order, key }
  })
}

function add(sums: Map<string, Sum>, { group, weight }: IndexEntry, sign: 1 | -1): void {
  if (weight === undefined) return
  const sum = sums.get(group) ?? { count: 0, weight: 0 }
  sums.set(group, { count: sum.count + sign, weight: sum.weight + sign * weight })
}
