import { SECRET } from '../kernel/context/secret.ts'
import { decide, nothingWritten } from '../kernel/log/decide.ts'
import type { OpResult, SealedOp } from '../ports/op.ts'
import type { Decision, RegisterRow, Rows, ScopeStore, Store } from '../ports/store.ts'
import type { PushAnswer, PushRejection, PushRequest, PushResult, SyncOp } from '../ports/sync.ts'
import { withRows } from './write.ts'

/** What a home knows of itself. */
export interface HomeState {
  /** Of the log as it is: another one after each erase. */
  readonly generation: string
  /** Seq of the erase with which it began; 0: none. Replicas count from there. */
  readonly since: number
  /** Generations that were erased. */
  readonly erased: readonly string[]
}

export interface HomeParts {
  /** Contract: a fresh random string each time, of at least 64 bits. */
  readonly newTok: () => string
}

/** The state of a home to which nothing was written under sync. @returns nothing, where it has none yet */
export function homeStateIn(text: string | undefined): HomeState | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as HomeState)
}

/**
 * A store whose scopes are homes: replicas can follow them. All that is written goes through it, so
 * that each op that is accepted gets a `tok`.
 */
export function homeStore(store: Store, parts: HomeParts): Store {
  return {
    open: (scope) => homeScope(store.open(scope), parts),
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
  }
}

/** As {@link homeStore}, of one scope. */
export function homeScope(scope: ScopeStore, { newTok }: HomeParts): ScopeStore {
  return {
    commit: (ops, decide) =>
      scope.commit(ops, (given, rows) => accepted(given, rows, decide(given, rows), newTok)),
    entries: (query) => scope.entries(query),
    head: () => scope.head(),
    register: (key) => scope.register(key),
    registers: (prefix, after) => scope.registers(prefix, after),
    indexed: (group, query) => scope.indexed(group, query),
    sums: (groups) => scope.sums(groups),
    changesSince: (seq) => scope.changesSince(seq),
    attach: (attachment, at) => scope.attach(attachment, at),
    attachment: (id) => scope.attachment(id),
    derive: (row, seq) => scope.derive(row, seq),
    derived: (prefix, after) => scope.derived(prefix, after),
    close: () => scope.close(),
    ...(scope.snapshot && {
      snapshot: (work) => (scope.snapshot as NonNullable<typeof scope.snapshot>)(work),
    }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}

/** A decision of a home: each op gets a tok, and each erase begins a generation. Pure but for `newTok`. */
export function accepted(
  ops: readonly SealedOp[],
  rows: Rows,
  decided: Decision,
  newTok: () => string,
): Decision {
  const decision = withRows(ops, rows, decided)
  if (decision.log.length === 0) return decision
  const before = homeStateIn(rows.replica)
  const log = decision.log.map((row) => (row.place === 0 ? { ...row, tok: newTok() } : row))
  if (before && !decision.erase) return { ...decision, log }
  const erase = decision.erase ? log.find(({ kind }) => kind === 'erase') : undefined
  const state: HomeState = {
    generation: newTok(),
    since: erase?.seq ?? before?.since ?? 0,
    erased: before ? [...before.erased, ...(erase ? [before.generation] : [])] : [],
  }
  return { ...decision, log, replica: { state: JSON.stringify(state) } }
}

/** What a home does with the ops of a push, in one transaction. */
export interface PushDecision {
  readonly decision: Decision
  readonly answer: PushAnswer
}

/**
 * Decides on a push. Idempotent: an op that was answered before is answered the same.
 *
 * @param refuse what the home does not take, by the place of the op
 */
export function decidePush(
  { generation, ops: pushed }: PushRequest,
  ops: readonly SealedOp[],
  rows: Rows,
  newTok: () => string,
  refuse: (op: SyncOp, index: number) => PushRejection | undefined = () => undefined,
): PushDecision {
  const state = homeStateIn(rows.replica)
  if (state?.erased.includes(generation))
    return { decision: nothingWritten([]), answer: { erased: true, generation: state.generation } }
  const since = state?.since ?? 0
  const refused = pushed.map((op, index) =>
    rows.results.has(op.envelope.opId) ? undefined : refuse(op, index),
  )
  const taken = ops.filter((_, index) => refused[index] === undefined)
  const decided = decide(taken, rows)
  const hasSecret = rows.registers.get(SECRET)?.body != null
  let given = hasSecret
  const registers = pushed.flatMap(({ envelope: { opId, kind }, beside }) => {
    const row = decided.log.find((one) => one.opId === opId)
    return (beside ?? []).flatMap(({ key, body }): RegisterRow[] => {
      if (!row || key !== SECRET || (given && kind !== 'delete')) return []
      given = true
      return [{ key, version: opId, seq: row.seq, body }]
    })
  })
  const decision = accepted(
    taken,
    rows,
    { ...decided, registers: [...decided.registers, ...registers] },
    newTok,
  )
  const after = homeStateIn(decision.replica?.state) ?? state
  if (decision.erase)
    return { decision, answer: { erased: true, generation: after?.generation ?? generation } }
  const results = new Map(taken.map(({ envelope }, index) => [envelope.opId, decision.results[index]]))
  return {
    decision,
    answer: {
      generation: after?.generation ?? generation,
      results: pushed.map(({ envelope }, index) => {
        const rejected = refused[index]
        return rejected ? { rejected } : resultOf(results.get(envelope.opId), since)
      }),
      head: (decision.log.at(-1)?.seq ?? rows.head.seq) - since,
    },
  }
}

function resultOf(result: OpResult | undefined, since: number): PushResult {
  if (result?.status === 'accepted') return { seq: result.seq - since }
  if (result?.status === 'conflict') return { conflict: result.version }
  return { rejected: result?.reason ?? 'forbidden' }
}
