import { SECRET } from '../kernel/context/secret.ts'
import { nothingWritten } from '../kernel/log/decide.ts'
import {
  type Head,
  hasBody,
  isEntry,
  type LogRow,
  type RegisterRow,
  type ScopeStore,
} from '../ports/store.ts'
import type { Confirmations, Newest, PullAnswer, PulledOp, PullRequest } from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { begin, type HomeParts, restless } from './home.ts'
import { confirmedBy, type HomeState, isNews, readState, written } from './home-state.ts'
import { seqBefore } from './newest.ts'
import { opsIn, pulledOp } from './pulled.ts'
import { readStart } from './read-start.ts'
import { NO_GENERATION } from './state.ts'
import { tokOf } from './tok.ts'

/** Most ops of one answer to a pull. */
export const PULL_OPS = 512
/** Most bytes of it, as JSON, unless its first op alone has more: without that, where it begins. */
export const PULL_BYTES = 900_000

export interface PullOptions extends HomeParts {
  /**
   * Most bytes of ops and of where the log begins, as JSON; the first op may have more. Default
   * {@link PULL_BYTES}; 0: no ops.
   */
  readonly bytes?: number
}

/** Looks, at most so often, while others erase the log. */
const LOOKS = 4

/** Gives a replica the next ops of the log, or those from another place on. */
export async function answerPull(
  scope: ScopeStore,
  request: PullRequest,
  { newTok, bytes = PULL_BYTES }: PullOptions,
): Promise<PullAnswer> {
  const { generation = NO_GENERATION, cursor, anchor, start } = request
  if ((await scope.head()).seq === 0) {
    if (cursor > 0) return { reset: 'diverged', generation }
    return { generation, from: 0, ops: [], cursor: 0, anchor: '', head: 0 }
  }
  const most = Math.min(request.limit ?? PULL_OPS, PULL_OPS)
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
    const page = await readPage(scope, state.since, cursor, { most, units: start === undefined ? bytes : 0 })
    if (!page) {
      misplaced = state.generation
      continue
    }
    const [tok, seen, seenTok] = anchor.split(' ')
    const isSeen = seen === undefined || (await tokAt(scope, state.since + Number(seen))) === seenTok
    if (tok !== page.anchor || !isSeen) return { reset: 'diverged', ...reset }
    const answer =
      start === undefined
        ? await answerOf(scope, request, state, page, most, bytes)
        : await answerFrom(scope, request, state, start, most, bytes)
    if (answer) return { ...answer, ...(await confirmations(scope, request, state)) }
  }
  throw restless('pull')
}

/** What is known of replicas, with what the place of this one says. */
async function confirmations(
  scope: ScopeStore,
  { generation, replica, cursor }: PullRequest,
  state: HomeState,
): Promise<Confirmations> {
  let { replicas, emptiedAt } = state
  // Of who knows no log by its name, nobody knows what it holds of another one.
  if (replica === undefined || generation !== state.generation) return {}
  if (isNews(state, replica, cursor))
    await scope.commit([], (_, rows) => {
      const after = confirmedBy(rows, generation, replica, cursor)
      if (after) ({ replicas, emptiedAt } = after)
      return { ...nothingWritten([]), ...(after && { replica: written(after) }) }
    })
  return { ...(replicas && { replicas }), ...(emptiedAt !== undefined && { emptiedAt }) }
}

export interface PullPage {
  /** That of the cursor. */
  readonly anchor: string
  /** Messages up to there. */
  readonly ordinal: number
  /** After it. */
  readonly rows: readonly LogRow[]
  readonly head: Head
}

/**
 * The rows after a cursor: those of `most` ops or more, unless their bodies have that many UTF-16
 * units before. @returns nothing where the log has no such place
 */
async function readPage(
  scope: ScopeStore,
  since: number,
  cursor: number,
  { most, units }: { readonly most: number; readonly units: number },
): Promise<PullPage | undefined> {
  const at = since + cursor
  // From the op of the cursor itself, by which its place is known.
  let last = cursor === 0 ? at : at - 1
  let page: (PullPage & { readonly rows: LogRow[] }) | undefined
  for (let left = units; ; ) {
    const { rows, head, more } = await scope.changesSince(last)
    const [first] = rows
    const isNext = first ? first.seq === last + 1 && first.kind !== 'erase' : head.seq === last
    if (!isNext || (!page && !first && cursor > 0)) return page?.rows.length ? page : undefined
    const isAt = cursor > 0 && first !== undefined
    const { anchor, ordinal } = page ?? {
      anchor: isAt ? tokOf(first) : '',
      ordinal: isAt ? (rows.findLast(({ seq }) => seq === at)?.ordinal ?? 0) : 0,
    }
    const found = rows.filter(({ seq }) => seq > at)
    page = { anchor, ordinal, rows: [...(page?.rows ?? []), ...found], head }
    last = rows.at(-1)?.seq ?? last
    for (const { body } of found) left -= body?.length ?? 0
    if (!more || last - at >= most || (left <= 0 && page.rows.length > 0)) return page
  }
}

/** What follows another place, and what the log comes to there; nothing: others wrote since. */
async function answerFrom(
  scope: ScopeStore,
  request: PullRequest,
  state: HomeState,
  start: number | Newest,
  most: number,
  bytes: number,
): Promise<PullAnswer | undefined> {
  const { since, generation } = state
  const { seq } = await scope.head()
  const before = typeof start === 'number' ? since + start : await seqBefore(scope, seq, start)
  const at = Math.min(seq, Math.max(since, before))
  const cursor = at - since
  const page = await readPage(scope, since, cursor, { most, units: bytes })
  if (!page) return undefined
  const isFirst = cursor === 0 && request.cursor === 0
  const found = isFirst ? undefined : await readStart(scope, since, at, page, request.waiting, bytes)
  if (!found) {
    // Nothing is left out, or what it comes to is too much for an answer.
    const own = isFirst ? page : await readPage(scope, since, request.cursor, { most, units: bytes })
    return own && answerOf(scope, request, state, own, most, bytes)
  }
  const { left, ...told } = found
  const next = { cursor, anchor: page.anchor }
  const answer = await answerOf(scope, next, state, page, most, Math.max(1, left))
  // Registers and ops are to be of one moment, and of one log.
  const isSame =
    (await readState(scope))?.generation === generation && (await scope.head()).seq === page.head.seq
  return isSame ? { ...answer, ...told } : undefined
}

async function answerOf(
  scope: ScopeStore,
  { cursor, anchor, known = [] }: Pick<PullRequest, 'cursor' | 'anchor' | 'known'>,
  { generation, since }: HomeState,
  page: PullPage,
  most: number,
  bytes: number,
): Promise<PullAnswer> {
  const isKnown = (seq: number): boolean => known.some(({ from, to }) => from <= seq && seq <= to)
  const ops: PulledOp[] = []
  let last: LogRow | undefined
  let size = 0
  const secret = await scope.register(SECRET)
  for (const rows of opsIn(page.rows).slice(0, most)) {
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
  const head = page.head.seq - since
  const place = { cursor: last ? last.seq - since : cursor, head }
  if (!last || last.seq === page.head.seq)
    return { generation, from: cursor, ops, ...place, anchor: last ? tokOf(last) : anchor }
  // What the page has of what was forgotten or written over later holds only in this log.
  const newest = await tokAt(scope, page.head.seq)
  return { generation, from: cursor, ops, ...place, anchor: `${tokOf(last)} ${head} ${newest}` }
}

/** What a seq of the log is known by, if it has it. */
async function tokAt(scope: ScopeStore, seq: number): Promise<string | undefined> {
  const { rows } = await scope.changesSince(seq - 1)
  return rows[0]?.seq === seq ? tokOf(rows[0]) : undefined
}

/** Whether the value of an op is not here any more, though no later one took its place. */
function isForgotten(rows: readonly LogRow[], register: RegisterRow | undefined): boolean {
  const [{ opId }] = rows as [LogRow]
  return register
    ? register.version === opId && !hasBody(register)
    : rows.some((row) => isEntry(row) && !hasBody(row))
}
