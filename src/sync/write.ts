import { SECRET } from '../kernel/context/secret.ts'
import { type Envelope, idIn, type Name, type SealedOp } from '../ports/op.ts'
import type { Decide, Decision, LogRow, RegisterRow, Rows } from '../ports/store.ts'
import { unlisted } from './known-op.ts'
import { type Before, outboxRow, type ReplicaState, stateIn, type Waiting } from './state.ts'

/**
 * What a replica writes for ops of its own: what `decide` says, and beside it a row of the outbox
 * for each op that is accepted. A register that would be written without a row of the log gets one:
 * a home knows ops by their rows alone.
 *
 * @param waiting the outbox as it is under `rows.replica`
 * @returns nothing, where an op forgets something and `waiting` is not given: it may hold that too
 */
export function writeLocally(
  ops: readonly SealedOp[],
  rows: Rows,
  decide: Decide,
  waiting?: readonly Waiting[],
): Decision | undefined {
  const decision = withRows(ops, rows, decide(ops, rows))
  const { erase, emptied, log } = decision
  if (log.length === 0) return decision
  if ((erase || emptied.length > 0) && !waiting) return undefined
  const { after, ...state } = stateIn(rows.replica)
  const written = waitingOf(ops, rows, decision, state)
  const isRotated = decision.registers.some(({ key }) => key === SECRET)
  const left = erase ? [] : scrubbed(waiting ?? [], emptied, isRotated)
  // Of a log that it never saw, a replica has nothing to erase.
  const sent = written.filter(({ envelope }) => envelope.kind !== 'erase' || state.generation !== undefined)
  return {
    ...decision,
    replica: {
      state: JSON.stringify({
        ...state,
        last: state.last + written.length,
        ...(after !== undefined && !erase && { after }),
        ...(erase && state.generation !== undefined && { erasing: true }),
      } satisfies ReplicaState),
      outbox: [...left, ...sent].map(outboxRow),
      ...(erase && waiting && { sent: waiting.map(({ order }) => order) }),
    },
  }
}

/** Each put that is written has a row of the log. */
export function withRows(ops: readonly SealedOp[], rows: Rows, decision: Decision): Decision {
  const known = new Set(decision.log.map(({ opId }) => opId))
  const versions = new Set(decision.registers.map(({ version }) => version))
  const missing = ops.filter(({ envelope: { kind, opId } }, index) => {
    const result = decision.results[index]
    const isNew = result?.status === 'accepted' && result.repeated === undefined
    return kind === 'put' && isNew && !known.has(opId) && versions.has(opId)
  })
  if (missing.length === 0) return decision
  let { seq } = decision.log.at(-1) ?? rows.head
  const { ordinal } = decision.log.at(-1) ?? rows.head
  const seqs = new Map<string, number>()
  const log = missing.map(({ envelope: { opId, key = '' } }): LogRow => {
    seqs.set(opId, ++seq)
    return { seq, place: 0, kind: 'put', id: key, opId, ordinal, body: null }
  })
  return {
    ...decision,
    log: [...decision.log, ...log],
    registers: decision.registers.map((row) => ({ ...row, seq: seqs.get(row.version) ?? row.seq })),
    results: decision.results.map((result, index) => {
      const at = seqs.get(ops[index]?.envelope.opId ?? '')
      return at === undefined ? result : { status: 'accepted', seq: at, applied: true }
    }),
  }
}

/**
 * What waits after a decision: each op that has rows in it, in their order. Numbered after
 * `state.last`.
 *
 * @param isAgain whether they were written before: an older secret that is there then came from the
 * home since, which may hold it for the newest
 */
export function waitingOf(
  ops: readonly SealedOp[],
  rows: Pick<Rows, 'head' | 'registers' | 'deleted'>,
  {
    erase,
    log,
    registers,
    marks,
    emptied,
  }: Pick<Decision, 'erase' | 'log' | 'registers' | 'marks' | 'emptied'>,
  state: ReplicaState,
  isAgain = false,
): readonly Waiting[] {
  // What is written beside an op comes after it, under its name.
  const byId = new Map(ops.toReversed().map((op) => [op.envelope.opId, op]))
  const gone = new Set(emptied)
  const fresh = emptied.filter((name) => !rows.deleted.has(name))
  const before = erase ? NOTHING_BEFORE : beforeOf(rows, { registers, marks }, gone, state, isAgain)
  const firsts = log.filter(({ place }) => place === 0)
  const deletes = firsts.findLastIndex(({ kind }) => kind === 'delete')
  return firsts.map((row, index): Waiting => {
    const { envelope, bodies } = byId.get(row.opId) as SealedOp
    const { opId, kind, key } = envelope
    const beside = registers.flatMap((one) =>
      one.version === opId && one.body !== null && one.key !== key ? [{ key: one.key, body: one.body }] : [],
    )
    const isForgotten = key !== undefined && gone.has(`register:${key}`)
    const end = (firsts[index + 1]?.seq ?? Number.POSITIVE_INFINITY) - 1
    const last = log.findLast(({ seq }) => seq <= end) ?? row
    return {
      order: state.last + 1 + index,
      envelope,
      ...(kind === 'put' && { bodies: isForgotten ? [null] : bodies }),
      ...(beside.length > 0 && { beside }),
      seq: row.seq,
      ordinal: last.ordinal,
      ...(row.chain !== undefined && { chain: row.chain }),
      ...(index === Math.max(0, deletes) && fresh.length > 0 && { emptied: fresh }),
      ...(index === 0 && !isEmpty(before) && { before }),
    }
  })
}

const NOTHING_BEFORE: Before = { registers: [], marks: [] }

function isEmpty({ registers, marks }: Before): boolean {
  return registers.length + marks.length === 0
}

/** What was confirmed where a decision writes. */
function beforeOf(
  rows: Pick<Rows, 'head' | 'registers'>,
  { registers, marks }: Pick<Decision, 'registers' | 'marks'>,
  gone: ReadonlySet<Name>,
  { seq }: ReplicaState,
  isAgain: boolean,
): Before {
  return {
    registers: registers.flatMap(({ key }) => {
      const row = rows.registers.get(key)
      if (row && row.seq > seq) return []
      return [[key, row ? forgotten(row, gone, gone.size > 0 && !isAgain) : null] as const]
    }),
    marks: marks.flatMap(({ slot }) => {
      const row = rows.head.marks.get(slot)
      return row && row.seq > seq ? [] : [[slot, row ?? null] as const]
    }),
  }
}

function forgotten(row: RegisterRow, gone: ReadonlySet<Name>, isRotated: boolean): RegisterRow {
  if (!gone.has(`register:${row.key}`) && !(isRotated && row.key === SECRET)) return row
  // By its sources it goes again with what it derives from, when that is decided again.
  const { index: _, ...rest } = row
  return { ...rest, body: null }
}

/**
 * Of what waits, the rows that hold something that is deleted, without that. What was refused
 * derives from it by way of others that were refused, too: no row names these.
 */
export function scrubbed(
  waiting: readonly Waiting[],
  emptied: readonly Name[],
  isRotated = false,
): readonly Waiting[] {
  const from = new Set(emptied)
  let clean = waiting
  for (let known = -1; known < from.size; ) {
    known = from.size
    clean = clean.map((one) => scrub(one, emptied, isRotated, from))
    for (const { refusal, bodies, envelope } of clean)
      if (refusal && bodies?.every((body) => body === null))
        for (const name of namesIn(envelope)) from.add(name)
  }
  return clean.filter((one, place) => one !== waiting[place])
}

/**
 * What waits, without what is deleted.
 *
 * @param isRotated whether another secret was written meanwhile, so that an older one goes too
 * @param from names from which nothing that was refused may derive. Default: those that are emptied
 */
export function scrub(
  one: Waiting,
  emptied: readonly Name[],
  isRotated: boolean,
  from: ReadonlySet<Name> = new Set(emptied),
): Waiting {
  const gone = new Set(emptied)
  if (from.size === 0) return one
  const { envelope, bodies, before, beside, ...rest } = one
  const { sources = [] } = envelope
  const names = namesIn(envelope)
  // No row names what was refused as what derives from it.
  const isFrom = rest.refusal !== undefined && sources.some((name) => from.has(name))
  const left = bodies?.map((body, place) => (isFrom || gone.has(names[place] as Name) ? null : body))
  const registers = before?.registers.map(
    ([name, row]) => [name, row && forgotten(row, gone, isRotated)] as const,
  )
  const clean: Waiting = {
    ...rest,
    envelope: left?.every((body) => body === null) ? unlisted(envelope) : envelope,
    ...(left && { bodies: left }),
    ...(beside && !isRotated && { beside }),
    ...(before && registers && { before: { ...before, registers } }),
  }
  return JSON.stringify(clean) === JSON.stringify(one) ? one : clean
}

/** Names of what an op says. */
function namesIn({ kind, key, ids }: Envelope): readonly Name[] {
  return kind === 'put' ? [`register:${key}`] : ids.map((id): Name => `entry:${id}`)
}

/**
 * The registers of a decision. Of a put that was written over where it comes from, the value comes
 * with a later one: until then the older value shows. Not where either derives from something: that
 * may be deleted meanwhile, or was before it came.
 */
export function withOlder(
  ops: readonly Pick<SealedOp, 'envelope' | 'bodies'>[],
  rows: Pick<Rows, 'registers'>,
  { registers, emptied }: Pick<Decision, 'registers' | 'emptied'>,
): readonly RegisterRow[] {
  const stale = new Set(ops.flatMap(({ envelope, bodies }) => (bodies[0] === null ? [envelope.opId] : [])))
  if (stale.size === 0) return registers
  const gone = new Set(emptied)
  return registers.map((row) => {
    const { index, sources, body } = rows.registers.get(row.key) ?? { body: null }
    const isDerived = sources !== undefined || row.sources !== undefined
    const isOlder = stale.has(row.version) && body !== null && !isDerived && !gone.has(`register:${row.key}`)
    return isOlder ? { ...row, ...(index && { index }), body } : row
  })
}

/** Keys and slots over which an op writes, as far as is known of it. */
export function writtenBy({ envelope, emptied = [], beside = [] }: Waiting): readonly string[] {
  const { key } = envelope
  return [
    ...(key === undefined ? [] : [key]),
    ...emptied.flatMap((name) => idIn('register', name) ?? []),
    ...beside.map((one) => one.key),
  ]
}
