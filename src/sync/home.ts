import { SECRET } from '../kernel/context/secret.ts'
import { decide, nothingWritten, reindexed } from '../kernel/log/decide.ts'
import type { Replicas } from '../ports/certificate.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Envelope, OpResult, RejectReason, Scope, SealedOp } from '../ports/op.ts'
import type { Decision, LogRow, Rows, ScopeStore, Store } from '../ports/store.ts'
import type { PushAnswer, PushRejection, PushRequest, PushResult, SyncOp } from '../ports/sync.ts'
import { replicasOf } from './confirmations.ts'
import { deciding } from './deciding.ts'
import { lacking } from './home-attachments.ts'
import { afterEmptied, afterErase, type HomeState, homeStateIn, readState, written } from './home-state.ts'
import { attachmentsOf } from './pulled.ts'
import { pushedOps, secretBeside } from './pushed.ts'
import { NO_GENERATION } from './state.ts'
import { newTok, tokWith } from './tok.ts'
import { withOlder, withRows } from './write.ts'

export interface HomeParts {
  /**
   * Contract: a fresh random string each time, of at least 64 bits, without a space. Default: 96
   * bits in hex.
   */
  readonly newTok: () => string
}

/**
 * A store whose scopes are homes: replicas can follow them. All that is written goes through it, so
 * that each op that is accepted gets a `tok`.
 */
export function homeStore(store: Store, parts: HomeParts = { newTok }): Store {
  return {
    open: (scope) => homeScope(store.open(scope), parts),
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
  }
}

/** As {@link homeStore}, of one scope. */
export function homeScope(scope: ScopeStore, { newTok }: HomeParts): ScopeStore {
  return deciding(scope, (decide) => (ops, rows) => accepted(ops, rows, decide(ops, rows), newTok))
}

/**
 * A decision of a home: each op gets a tok, and each erase begins a generation. What has them
 * already keeps them. Pure but for `newTok`.
 */
export function accepted(
  ops: readonly SealedOp[],
  rows: Rows,
  decided: Decision,
  newTok: () => string,
): Decision {
  const decision = withRows(ops, rows, decided)
  if (decision.log.length === 0) return decision
  const before = homeStateIn(rows.replica)
  const envelopes = new Map(ops.map(({ envelope }) => [envelope.opId, envelope]))
  const log = decision.log.map((row): LogRow => {
    const { kind, sources, attachments } = envelopes.get(row.opId) ?? {}
    const names = kind === 'put' ? sources : attachments && namedBeside(row) ? attachments : []
    if (row.place > 0 && !names?.length) return row
    return { tok: tokWith(row.place > 0 ? '' : newTok(), names), ...row }
  })
  // Of a log from before it was a home, nobody knows here where it begins: `begin` finds out.
  const hasBegun = before ? !decision.erase : rows.head.seq > 0 && !decision.erase
  if (hasBegun || decision.replica) {
    const after = decision.replica ? undefined : afterEmptied(before, decision)
    return { ...decision, log, ...(after && { replica: written(after) }) }
  }
  const erase = decision.erase ? log.find(({ kind }) => kind === 'erase') : undefined
  const state: HomeState = {
    generation: newTok(),
    since: erase?.seq ?? sinceOf(log[0]),
    erased: before ? [...before.erased, before.generation] : [],
    ...(before && afterErase(before)),
  }
  return { ...decision, log, replica: written(state) }
}

/** Whether what a message names is to be kept beside it. */
function namedBeside(row: LogRow): boolean {
  return row.body !== null && attachmentsOf(row) === undefined
}

/**
 * Which replicas of a scope hold nothing of all that is deleted in it, at their home: see
 * `SyncedStore.certify`.
 */
export async function replicasAt(store: Store, scope: Scope): Promise<Replicas> {
  const opened = store.open(scope)
  try {
    return replicasOf((await readState(opened)) ?? {})
  } finally {
    await opened.close()
  }
}

/** Where a log begins, by its first row: one that was copied need not begin with 1. */
function sinceOf(first: LogRow | undefined): number {
  if (!first) return 0
  return first.kind === 'erase' ? first.seq : first.seq - 1
}

/** Makes a home of a log that was there before. */
export async function begin(scope: ScopeStore, newTok: () => string): Promise<void> {
  const { rows } = await scope.changesSince(0)
  const state: HomeState = { generation: newTok(), since: sinceOf(rows[0]), erased: [] }
  await scope.commit([], (_, { replica }) => ({
    ...nothingWritten([]),
    ...(replica === undefined && { replica: written(state) }),
  }))
}

export interface PushOptions extends HomeParts {
  /**
   * Contract: pure; says why the home does not take an op; `conflict`, of a put alone: what is
   * there holds. Not asked about ops that were answered before. Default: all are taken.
   */
  readonly refuse?: (op: SyncOp, index: number) => PushRejection | 'conflict' | undefined
  /** Called where it wrote something. */
  readonly onWrite?: () => void
}

/**
 * Writes what a replica pushes, in one commit, and answers it: up to the first op that names an
 * attachment that is not here. Idempotent: an op that was answered before is answered the same.
 */
export async function answerPush(
  scope: ScopeStore,
  request: PushRequest,
  options: PushOptions,
): Promise<PushAnswer> {
  const { ops } = request
  const lacks = await lacking(scope, request)
  const waits = ops.findIndex(
    (op, index) =>
      op.envelope.attachments?.some((id) => lacks.has(id)) && options.refuse?.(op, index) === undefined,
  )
  if (waits < 0) return pushed(scope, request, options)
  const answer = await pushed(scope, { ...request, ops: ops.slice(0, waits) }, options)
  return 'erased' in answer ? answer : { ...answer, lacks: [...lacks] }
}

async function pushed(
  scope: ScopeStore,
  request: PushRequest,
  { newTok, refuse, onWrite }: PushOptions,
): Promise<PushAnswer> {
  const ops = pushedOps(request.ops)
  const push = async (): Promise<PushAnswer | undefined> => {
    let answer: PushAnswer | undefined
    let isWritten = false
    await scope.commit(ops, (given, rows) => {
      const isOther = rows.replica === undefined && rows.head.seq > 0
      const decided = isOther ? undefined : decidePush(request, given, rows, newTok, refuse)
      answer = decided?.answer
      isWritten = (decided?.decision.log.length ?? 0) > 0
      return decided?.decision ?? nothingWritten([])
    })
    if (isWritten) onWrite?.()
    return answer
  }
  const first = await push()
  if (first) return first
  await begin(scope, newTok)
  return (await push()) ?? Promise.reject(restless('push'))
}

/** What a home does with the ops of a push, in one transaction. */
export interface PushDecision {
  readonly decision: Decision
  readonly answer: PushAnswer
}

/**
 * Decides on a push. Idempotent: an op that was answered before is answered the same, and said to
 * be repeated.
 *
 * @param given as {@link pushedOps} gives them
 * @param refuse what the home does not take, by the place of the op
 */
export function decidePush(
  { generation, ops: pushed }: PushRequest,
  given: readonly SealedOp[],
  rows: Rows,
  newTok: () => string,
  refuse: NonNullable<PushOptions['refuse']> = () => undefined,
): PushDecision {
  const state = homeStateIn(rows.replica)
  if (state?.erased.includes(generation))
    return { decision: nothingWritten([]), answer: { erased: true, generation: state.generation } }
  const since = state?.since ?? 0
  const isErase = pushed[0]?.envelope.kind === 'erase' && generation !== NO_GENERATION
  // Of another log: had it taken this before, and were that erased since, nobody would know. The
  // replica asks for this one first.
  if (state && ![NO_GENERATION, state.generation].includes(generation) && !isErase)
    return {
      decision: nothingWritten([]),
      answer: { generation: state.generation, results: [], head: rows.head.seq - since },
    }
  const refused = pushed.map((op, index): OpResult | undefined => {
    const { opId, kind, key = '' } = op.envelope
    if (rows.results.has(opId)) return undefined
    // Of a log that it never saw, a replica has nothing to erase. Said again after an erase, it
    // would erase what came since.
    const reason = kind === 'erase' && generation === NO_GENERATION ? 'forbidden' : refuse(op, index)
    if (reason === undefined) return undefined
    if (reason === 'conflict')
      return { status: 'conflict', version: rows.registers.get(key)?.version ?? null }
    return { status: 'rejected', reason: reason as RejectReason }
  })
  const taken = given
    .slice(0, pushed.length)
    .flatMap((op, index) => (refused[index] === undefined ? shifted(op, since) : []))
  const decided = decide(taken, rows)
  const shown = withOlder(taken, rows, decided)
  const secret = secretBeside(given.slice(pushed.length), rows, decided)
  const own = shown.filter(({ key }) => key !== SECRET || !secret)
  const forbidden = pushed.flatMap(({ envelope: { opId } }, index) => {
    const result = refused[index]
    return result ? { opId, result } : []
  })
  const decision = accepted(
    taken,
    rows,
    {
      ...decided,
      ...(shown !== decided.registers && reindexed(rows, new Map(shown.map((row) => [row.key, row])))),
      registers: [...own, ...(secret ? [secret] : [])],
      refused: [...decided.refused, ...forbidden],
    },
    newTok,
  )
  const begun = homeStateIn(decision.replica?.state)
  if (decision.erase && begun) {
    // It may have been another log than the one that was known there.
    const erased = [...new Set([...begun.erased, generation])]
    const replica = written({ ...begun, erased })
    return { decision: { ...decision, replica }, answer: { erased: true, generation: begun.generation } }
  }
  // The first to push names the log.
  const after = begun && generation !== NO_GENERATION ? { ...begun, generation } : (begun ?? state)
  const named = begun && after ? { ...decision, replica: written(after) } : decision
  const results = new Map(taken.map(({ envelope }, index) => [envelope.opId, decision.results[index]]))
  const repeated = pushed.flatMap(({ envelope: { opId } }, index) =>
    rows.results.get(opId)?.status === 'accepted' ? index : [],
  )
  return {
    decision: named,
    answer: {
      generation: after?.generation ?? generation,
      results: pushed.map(({ envelope }, index) =>
        resultOf(refused[index] ?? results.get(envelope.opId), since),
      ),
      head: (decision.log.at(-1)?.seq ?? rows.head.seq) - since,
      ...(repeated.length > 0 && { repeated }),
    },
  }
}

/** Replicas count the seqs of contexts as all others. */
function shifted(op: SealedOp, since: number): SealedOp {
  const { contexts } = op.envelope
  if (since === 0 || !contexts) return op
  const envelope: Envelope = {
    ...op.envelope,
    contexts: contexts.map(({ hash, seq }) => ({ hash, seq: seq + since })),
  }
  return { ...op, envelope }
}

function resultOf(result: OpResult | undefined, since: number): PushResult {
  if (result?.status === 'accepted') return { seq: result.seq - since }
  if (result?.status === 'conflict') return { conflict: result.version }
  return { rejected: result?.reason ?? 'forbidden' }
}

export function restless(operation: string): PlimsollError {
  const reason = 'the log was erased again and again meanwhile; send the same again'
  return new PlimsollError('ERR_STORAGE', `${operation}: ${reason}`)
}
