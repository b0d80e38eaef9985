import { SECRET } from '../kernel/context/secret.ts'
import { decide, nothingWritten, reindexed } from '../kernel/log/decide.ts'
import { newSecret } from '../platform/secret.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Envelope, OpResult, RejectReason, SealedOp } from '../ports/op.ts'
import {
  type Changes,
  type Decision,
  hasBody,
  isEntry,
  type LogRow,
  type RegisterRow,
  type ReplicaChange,
  type Rows,
  type ScopeStore,
  type Store,
} from '../ports/store.ts'
import type {
  PullAnswer,
  PulledOp,
  PullRequest,
  PushAnswer,
  PushRejection,
  PushRequest,
  PushResult,
  SyncOp,
} from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { knownOp } from './known-op.ts'
import { opsIn, pulledOp } from './pulled.ts'
import { tokOf, tokWith } from './tok.ts'
import { withOlder, withRows } from './write.ts'

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
  /**
   * Contract: a fresh random string each time, of at least 64 bits, without a space. Default: 96
   * bits in hex.
   */
  readonly newTok: () => string
}

export function newTok(): string {
  return newSecret().slice(0, 24)
}

/**
 * Generation of a home to which nothing was ever written: it is stored nowhere, so that a look
 * leaves no trace. A replica may name it, as if it knew no log.
 */
export const NO_GENERATION = ''
/** Most ops of one answer to a pull. */
export const PULL_OPS = 512
/** Most bytes of it, as JSON, unless its first op alone has more. */
export const PULL_BYTES = 900_000

/** Number of the row of the outbox that holds the state too: a home sends nothing itself. */
const STATE_ROW = 1

/** The state of a home. @returns nothing, where it has none yet */
export function homeStateIn(text: string | undefined): HomeState | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as HomeState)
}

/** Reads state without a transaction, which would tell others of a change. */
async function readState(scope: ScopeStore): Promise<HomeState | undefined> {
  if (!scope.outbox) throw new PlimsollError('ERR_NOT_CONFIGURED', 'sync: the store cannot be a home')
  const rows = await scope.outbox(0)
  return homeStateIn(rows.find(({ order }) => order === STATE_ROW)?.value)
}

function written(state: HomeState): ReplicaChange {
  const value = JSON.stringify(state)
  return { state: value, outbox: [{ order: STATE_ROW, value }] }
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
    ...(scope.outbox && {
      outbox: (after) => (scope.outbox as NonNullable<typeof scope.outbox>)(after),
    }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
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
  const sources = new Map(ops.map(({ envelope }) => [envelope.opId, envelope.sources]))
  const log = decision.log.map((row) =>
    row.place === 0 ? { tok: tokWith(newTok(), row.kind === 'put' && sources.get(row.opId)), ...row } : row,
  )
  // Of a log from before it was a home, nobody knows here where it begins: `begin` finds out.
  const hasBegun = before ? !decision.erase : rows.head.seq > 0 && !decision.erase
  if (hasBegun || decision.replica) return { ...decision, log }
  const erase = decision.erase ? log.find(({ kind }) => kind === 'erase') : undefined
  const state: HomeState = {
    generation: newTok(),
    since: erase?.seq ?? sinceOf(log[0]),
    erased: before ? [...before.erased, before.generation] : [],
  }
  return { ...decision, log, replica: written(state) }
}

/** Where a log begins, by its first row: one that was copied need not begin with 1. */
function sinceOf(first: LogRow | undefined): number {
  if (!first) return 0
  return first.kind === 'erase' ? first.seq : first.seq - 1
}

/** Makes a home of a log that was there before. */
async function begin(scope: ScopeStore, newTok: () => string): Promise<void> {
  const { rows } = await scope.changesSince(0)
  const state: HomeState = { generation: newTok(), since: sinceOf(rows[0]), erased: [] }
  await scope.commit([], (_, { replica }) => ({
    ...nothingWritten([]),
    ...(replica === undefined && { replica: written(state) }),
  }))
}

export interface PushOptions extends HomeParts {
  /**
   * Contract: pure; says why the home does not take an op. Not asked about ops that were answered
   * before. Default: all are taken.
   */
  readonly refuse?: (op: SyncOp, index: number) => PushRejection | undefined
  /** Called where it wrote something. */
  readonly onWrite?: () => void
}

/**
 * Writes what a replica pushes, in one commit, and answers it. Idempotent: an op that was answered
 * before is answered the same.
 */
export async function answerPush(
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

/**
 * What a commit is given for a push: the ops, and after them the secrets beside them, since a store
 * may have to seal these too, and has to read the one that is there.
 */
export function pushedOps(pushed: readonly SyncOp[]): readonly SealedOp[] {
  const secrets = pushed.flatMap(({ envelope: { opId }, beside = [] }) =>
    beside.flatMap(({ key, body }): SealedOp[] =>
      key === SECRET ? [{ envelope: { opId, kind: 'put', ids: [key], key }, bodies: [body] }] : [],
    ),
  )
  return [...pushed.map(knownOp), ...secrets]
}

/** What a home does with the ops of a push, in one transaction. */
export interface PushDecision {
  readonly decision: Decision
  readonly answer: PushAnswer
}

/**
 * Decides on a push. Idempotent: an op that was answered before is answered the same.
 *
 * @param given as {@link pushedOps} gives them
 * @param refuse what the home does not take, by the place of the op
 */
export function decidePush(
  { generation, ops: pushed }: PushRequest,
  given: readonly SealedOp[],
  rows: Rows,
  newTok: () => string,
  refuse: (op: SyncOp, index: number) => PushRejection | undefined = () => undefined,
): PushDecision {
  const state = homeStateIn(rows.replica)
  if (state?.erased.includes(generation))
    return { decision: nothingWritten([]), answer: { erased: true, generation: state.generation } }
  const since = state?.since ?? 0
  const refused = pushed.map((op, index) => {
    const { opId, kind } = op.envelope
    if (rows.results.has(opId)) return undefined
    // Of a log that it never saw, a replica has nothing to erase. Said again after an erase, it
    // would erase what came since.
    return kind === 'erase' && generation === NO_GENERATION ? 'forbidden' : refuse(op, index)
  })
  const taken = given
    .slice(0, pushed.length)
    .flatMap((op, index) => (refused[index] === undefined ? shifted(op, since) : []))
  const decided = decide(taken, rows)
  const shown = withOlder(taken, rows, decided)
  let hasSecret = rows.registers.get(SECRET)?.body != null
  const registers = given.slice(pushed.length).flatMap(({ envelope: { opId }, bodies }): RegisterRow[] => {
    const row = decided.log.find((one) => one.opId === opId)
    if (!row || (hasSecret && row.kind !== 'delete')) return []
    hasSecret = true
    return [{ key: SECRET, version: opId, seq: row.seq, body: bodies[0] ?? null }]
  })
  const own = shown.filter(({ key }) => key !== SECRET || registers.length === 0)
  const forbidden = pushed.flatMap(({ envelope: { opId } }, index) => {
    const reason = refused[index] as RejectReason | undefined
    return reason === undefined ? [] : [{ opId, result: { status: 'rejected', reason } as const }]
  })
  const decision = accepted(
    taken,
    rows,
    {
      ...decided,
      ...(shown !== decided.registers && reindexed(rows, new Map(shown.map((row) => [row.key, row])))),
      registers: [...own, ...registers.slice(-1)],
      refused: [...decided.refused, ...forbidden],
    },
    newTok,
  )
  const after = homeStateIn(decision.replica?.state) ?? state
  if (decision.erase && after) {
    // A home that was restored may have erased another log than the one that was known there.
    const erased = [...new Set([...after.erased, generation])]
    const replica = written({ ...after, erased })
    return { decision: { ...decision, replica }, answer: { erased: true, generation: after.generation } }
  }
  const results = new Map(taken.map(({ envelope }, index) => [envelope.opId, decision.results[index]]))
  return {
    decision,
    answer: {
      generation: after?.generation ?? NO_GENERATION,
      results: pushed.map(({ envelope }, index) => {
        const rejected = refused[index]
        return rejected ? { rejected } : resultOf(results.get(envelope.opId), since)
      }),
      head: (decision.log.at(-1)?.seq ?? rows.head.seq) - since,
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

export interface PullOptions extends HomeParts {
  /** Most bytes of ops, as JSON; the first may have more. Default {@link PULL_BYTES}; 0: no ops. */
  readonly bytes?: number
}

/** Looks, at most so often, while others erase the log. */
const LOOKS = 4

/** Gives a replica the next ops of the log. */
export async function answerPull(
  scope: ScopeStore,
  request: PullRequest,
  { newTok, bytes = PULL_BYTES }: PullOptions,
): Promise<PullAnswer> {
  const { generation = NO_GENERATION, cursor, anchor } = request
  if ((await scope.head()).seq === 0) {
    if (generation !== NO_GENERATION || cursor > 0) return { reset: 'diverged', generation: NO_GENERATION }
    return { generation: NO_GENERATION, from: 0, ops: [], cursor: 0, anchor: '', head: 0 }
  }
  let misplaced: string | undefined
  for (let look = 0; look < LOOKS; look++) {
    const state = await readState(scope)
    if (!state) {
      await begin(scope, newTok)
      continue
    }
    const reset = { generation: state.generation }
    if (generation !== NO_GENERATION && generation !== state.generation)
      return { reset: state.erased.includes(generation) ? 'erased' : 'diverged', ...reset }
    // Unless it was erased since the state was read, the log does not go on from there.
    if (misplaced === state.generation) return { reset: 'diverged', ...reset }
    const page = await readPage(scope, state.since, cursor)
    if (!page) {
      misplaced = state.generation
      continue
    }
    if (anchor !== page.anchor) return { reset: 'diverged', ...reset }
    return answerOf(scope, request, state, page, bytes)
  }
  throw restless('pull')
}

interface PullPage {
  /** That of the cursor. */
  readonly anchor: string
  /** After it. */
  readonly rows: readonly LogRow[]
  readonly head: number
}

/** The rows after a cursor. @returns nothing where the log has no such place */
async function readPage(scope: ScopeStore, since: number, cursor: number): Promise<PullPage | undefined> {
  const at = since + cursor
  const from = ({ rows, head }: Changes, seq: number): boolean =>
    rows[0] ? rows[0].seq === seq + 1 && rows[0].kind !== 'erase' : head.seq === seq
  if (cursor === 0) {
    const changes = await scope.changesSince(at)
    return from(changes, at) ? { anchor: '', rows: changes.rows, head: changes.head.seq } : undefined
  }
  const changes = await scope.changesSince(at - 1)
  const [first] = changes.rows
  if (!first || !from(changes, at - 1)) return undefined
  const rows = changes.rows.filter(({ seq }) => seq > at)
  const page = { anchor: tokOf(first), rows, head: changes.head.seq }
  if (rows.length > 0 || !changes.more) return page
  const next = await scope.changesSince(at)
  return from(next, at) ? { ...page, rows: next.rows, head: next.head.seq } : undefined
}

async function answerOf(
  scope: ScopeStore,
  { cursor, anchor, limit = PULL_OPS, known = [] }: PullRequest,
  { generation, since }: HomeState,
  page: PullPage,
  bytes: number,
): Promise<PullAnswer> {
  const isKnown = (seq: number): boolean => known.some(({ from, to }) => from <= seq && seq <= to)
  const ops: PulledOp[] = []
  let last: LogRow | undefined
  let size = 0
  const secret = await scope.register(SECRET)
  for (const rows of opsIn(page.rows).slice(0, Math.min(limit, PULL_OPS))) {
    const [row] = rows as [LogRow]
    const { opId, kind, id } = row
    const register = kind === 'put' ? await scope.register(id) : undefined
    // What is beside it, or forgotten, may differ from what is there.
    const isSame = secret?.version !== opId && !isForgotten(rows, register)
    const op = isSame && isKnown(row.seq - since) ? { opId } : pulledOp(rows, since, register, secret)
    size += utf8Length(JSON.stringify(op))
    if (size > bytes && (ops.length > 0 || bytes === 0)) break
    ops.push(op)
    last = row
  }
  return {
    generation,
    from: cursor,
    ops,
    cursor: last ? last.seq - since : cursor,
    anchor: last ? tokOf(last) : anchor,
    head: page.head - since,
  }
}

/** Whether the value of an op is not here any more, though no later one took its place. */
function isForgotten(rows: readonly LogRow[], register: RegisterRow | undefined): boolean {
  const [{ opId }] = rows as [LogRow]
  return register
    ? register.version === opId && !hasBody(register)
    : rows.some((row) => isEntry(row) && !hasBody(row))
}

function restless(operation: string): PlimsollError {
  const reason = 'the log was erased again and again meanwhile; send the same again'
  return new PlimsollError('ERR_STORAGE', `${operation}: ${reason}`)
}
