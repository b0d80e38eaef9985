import { SECRET } from '../kernel/context/secret.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { SealedOp } from '../ports/op.ts'
import { checkOptions, invalid } from '../ports/options.ts'
import type { Decision, Page as Entries, EntriesQuery, Reads, Rows } from '../ports/store.ts'
import type { LogStart, Newest, PullAnswer, PullRequest, SyncOp } from '../ports/sync.ts'
import { checkCount } from '../text/json.ts'
import { checkStart } from './check-start.ts'
import { bodyBytes, seqBefore, timeOf } from './newest.ts'
import { type Page, sentOf, writtenOver } from './page.ts'
import { misfit, relations, sourcesOf } from './rebase.ts'
import { asking, completed, duplicatesOf, isDelete, type Replica } from './replica.ts'
import type { Part } from './replica-scope.ts'
import { emptyRows } from './resets.ts'
import type { ScopeSync, Step } from './scope-sync.ts'
import { type Held, outboxRow, type ReplicaState, stateIn, type Waiting } from './state.ts'
import { writtenBy } from './write.ts'

/** At least one is given; of both, what is beyond either may leave. */
export interface KeepLocalOptions {
  /**
   * Of each session at least so many bytes of the newest messages and marks are here, as they are
   * stored (UTF-8); where twice as many are, the older ones leave the device.
   */
  readonly bytes?: number
  /**
   * Days: what was written in so many is here; where the oldest message is twice as old, what is
   * older leaves. By the times of messages, so not where these are encrypted around the synced
   * store: nothing of such a session is fetched then, and the status' `cause` says so.
   */
  readonly days?: number
}

type Start = NonNullable<PullRequest['start']>

/** Asks a home once. @throws what keeps it from answering */
export type Ask = (request: PullRequest) => Promise<PullAnswer>

/** Which part of a session's log a device has. What waits for the home never leaves it. */
export interface KeepLocal {
  /**
   * Where the log is to begin from now on; nothing: where it does.
   *
   * @param now Unix milliseconds
   */
  startOf(sync: ScopeSync, now: number): Promise<Start | undefined>
  /** Puts the log from there on in place of what is here. */
  startOver(sync: ScopeSync, start: Start, ask: Ask): Promise<Step>
  /** @param older puts a log that begins there in place of what is here */
  part(sync: ScopeSync, older: (start: number) => Promise<unknown>): Part
}

/*
 * The rules, which `test/sync` checks:
 *
 * - A log begins here after a seq, with what the home says that it came to there; all that is here
 *   is replaced by it in one transaction, and what waits is decided again behind it.
 * - Its ops and that are of one moment of the home's. A delete, which may take along what derives
 *   from it by rows that are not here, is never followed: the home is asked for all of it again.
 * - What waits and is in the log before that seq has arrived. Only the home knows that.
 * - A place that the home's log does not have any more, or that was left while it was asked, is
 *   dropped; what is here then waits, if the home lost it.
 * - A read that comes to what is not here gives nothing: it is fetched, and all is read again.
 */

const DAY_MS = 86_400_000
/** As far back as `Date` goes (ECMA-262, Time Range). */
const MOST_DAYS = 100_000_000
/** How often something is begun again, since the log or the device moved on meanwhile. */
const TRIES = 4
/** Most ops that may wait where what is older leaves the device: the home is told their names. */
const MOST_NAMED = 512
/** Fewest ops that are fetched where older ones are asked for. */
const LEAST_OLDER = 64

const NOTHING: Step = { hasMoved: false, refused: [] }

/**
 * Lets a device have the newest part of each session alone: older ops are fetched when something
 * reads them. What the user's sessions share is here as a whole.
 *
 * @throws ERR_INVALID_ARGUMENT: neither is given, or one is no whole number above 0, or more than
 * 100,000,000 days
 * @example
 * ```ts
 * import { dexieStore } from 'plimsoll/dexie'
 * import { httpTransport, keepLocal, sync } from 'plimsoll/sync'
 *
 * const transport = httpTransport({ url: 'https://memory.example.com', token: () => sessionToken() })
 * const keep = keepLocal({ days: 30, bytes: 2_000_000 })
 * const store = sync({ store: dexieStore({ name: 'assistant' }), transport, keep })
 * ```
 */
export function keepLocal(options: KeepLocalOptions): KeepLocal {
  checkOptions('keepLocal', 'options', options, ['bytes', 'days'])
  const { bytes, days } = options
  if (bytes === undefined && days === undefined)
    throw invalid('keepLocal', 'options', 'must have bytes or days')
  for (const [name, value] of Object.entries(options))
    if (value !== undefined) checkCount('keepLocal', name, value, 1)
  // What comes before is no time to a home, which would take no request.
  if (days !== undefined && days > MOST_DAYS)
    throw invalid('keepLocal', 'days', `must be at most ${MOST_DAYS}`)
  const newest = (now: number, times = 1): Newest => ({
    ...(bytes !== undefined && { bytes: times * bytes }),
    ...(days !== undefined && { since: Math.floor(now - times * days * DAY_MS) }),
  })
  const sizes = new WeakMap<ScopeSync, Size>()
  return {
    startOf: async (sync, now) => {
      const { state, waiting } = await sync.replica.refreshed()
      const { after = 0, seq, erasing } = state
      if (erasing) return undefined
      if (sync.isPartial) return after
      if (waiting.length > MOST_NAMED || (seq > 0 && sync.isWide)) return undefined
      if (seq === 0) return newest(now)
      const size = await sizeOf(sync, state, sizes.get(sync), days !== undefined)
      sizes.set(sync, size)
      const most = newest(now, 2)
      const isLong = size.bytes >= (most.bytes ?? Infinity) || size.oldest < (most.since ?? -Infinity)
      const start = isLong ? await seqBefore(sync.replica.store, seq, newest(now)) : after
      return start > after ? start : undefined
    },
    startOver,
    part: (sync, older) => {
      const reading: Part['reading'] = (work) => readingWhole(sync, older, work)
      return {
        reading,
        fetched: async (ops, reads) => {
          if ((await sync.replica.refreshed()).state.after === undefined) return
          for (const id of roundsOf(ops))
            await reading((whole) => whole(reads).entries({ from: id, first: 1 }))
        },
      }
    },
  }
}

/** How much is here of a log, up to a seq. */
interface Size {
  /** Of the log, and where it begins. */
  readonly place: string
  readonly seq: number
  readonly bytes: number
  /** When its first message was written. */
  readonly oldest: number
}

/** @param known as it was before: only what came since is read */
async function sizeOf(
  { replica }: ScopeSync,
  { generation, after = 0, seq }: ReplicaState,
  known: Size | undefined,
  isTimed: boolean,
): Promise<Size> {
  const place = `${after} ${generation}`
  const isSame = known?.place === place && known.seq <= seq
  let { seq: at, bytes, oldest } = isSame ? known : { seq: after, bytes: 0, oldest: Infinity }
  while (at < seq) {
    const { rows } = await replica.store.changesSince(at)
    for (const row of rows) {
      if (row.seq > seq) break
      bytes += bodyBytes(row)
      if (isTimed && oldest === Infinity) oldest = timeOf(row) ?? oldest
    }
    at = rows.at(-1)?.seq ?? seq
  }
  return { place, seq, bytes, oldest }
}

async function startOver(sync: ScopeSync, start: Start, ask: Ask): Promise<Step> {
  const { state, waiting } = await sync.replica.refreshed()
  const named = typeof start === 'object' ? waiting : (await sync.acceptedUpTo(start)).slice(0, MOST_NAMED)
  const request: PullRequest = {
    ...sync.pullAt(state),
    start,
    ...(named.length > 0 && { waiting: named.map(({ envelope }) => envelope.opId) }),
  }
  const first = await ask(request)
  if ('reset' in first) return sync.pulled(request, first)
  if (!first.start) {
    // What it comes to is too much for an answer.
    if (state.after !== undefined && start !== 0) return startOver(sync, 0, ask)
    // A home that does not know of this any more gives all again.
    const all = { reset: 'too-old', generation: first.generation } as const
    return sync.pulled(request, state.after === undefined ? first : all)
  }
  checkStart(first.start, request.waiting)
  const ops = [...first.ops]
  let last = first
  while (last.cursor < last.head) {
    const place = { generation: first.generation, cursor: last.cursor, anchor: last.anchor }
    const next = await ask(place)
    if ('reset' in next || next.generation !== place.generation || next.from !== place.cursor) return NOTHING
    // What it takes along of what was told before, only the home knows.
    const isLate = next.ops.some((op, index) => isDeleteOp(op) && next.from + 1 + index > first.head)
    if (isLate) return NOTHING
    // Else it might go on without an end.
    if (next.ops.length === 0) throw misfit(`nothing comes after ${next.from}, before ${next.head}`)
    ops.push(...next.ops)
    last = next
  }
  const { cursor, anchor } = last
  const page: Page = { generation: first.generation, ops: ops as SyncOp[], cursor, anchor }
  const refused = await written(sync.replica, request, first.from, first.start, page)
  if (refused) sync.isPartial = false
  // The same again and again is asked for less and less often.
  const isNews = cursor > state.seq || first.from !== (state.after ?? 0) || first.start.arrived.length > 0
  return { hasMoved: refused !== undefined && isNews, refused: refused ?? [] }
}

function isDeleteOp(op: SyncOp | { readonly opId: string }): boolean {
  return 'envelope' in op && isDelete(op)
}

/** @returns what is refused by it; nothing, where the replica is not where it was when it asked */
async function written(
  replica: Replica,
  asked: PullRequest,
  from: number,
  start: LogStart,
  page: Page,
): Promise<readonly Waiting[] | undefined> {
  for (let left = TRIES; left > 0; left--) {
    const view = await replica.view()
    const { generation, seq, anchor, erasing } = view.state
    if (generation !== asked.generation || seq !== asked.cursor || anchor !== asked.anchor || erasing)
      return undefined
    // What was written since may have come before the place, too.
    const isNamed = ({ envelope }: Waiting) => asked.waiting?.includes(envelope.opId)
    if (typeof asked.start === 'object' && !view.waiting.every(isNamed)) return undefined
    const held = await replica.held(view.waiting)
    if (!held) continue
    const refused = duplicatesOf(held, page.ops)
    const keys = new Set([...view.waiting.flatMap(writtenBy), SECRET])
    const ops = [...held.map(({ op }) => op), ...[...keys].map(asking)]
    const isWritten = await replica.write(view, ops as readonly unknown[] as readonly SealedOp[], (rows) =>
      // What was to be fetched of the log is listed again.
      completed(
        startPage(from, start, page, held, rows, refused),
        page.ops,
        { ...view, wanted: [] },
        [],
        replica.notesOf(refused.flatMap(({ envelope }) => envelope.ids)),
      ),
    )
    if (isWritten) return refused
  }
  return undefined
}

/**
 * A log that begins at a place, in place of all that was here, and behind it what waits.
 *
 * @param from the seq of that place
 * @param held as `applyPage` takes it, and `refused`
 * @throws ERR_STORAGE: the page does not follow that place
 */
export function startPage(
  from: number,
  { ordinal, first, registers, marks, arrived: known }: LogStart,
  { generation, ops, cursor, anchor }: Page,
  held: readonly Held[],
  rows: Rows,
  refused: readonly Waiting[],
): Decision {
  const { after: _, ...before } = stateIn(rows.replica)
  const to = { seq: from, ordinal, ...(first !== undefined && { first }) }
  const empty = emptyRows(rows)
  const stood = {
    registers: new Map(registers.map((row) => [row.key, row] as const)),
    marks: new Map(marks.map((mark) => [mark.slot, mark] as const)),
  }
  const arrived = new Set([...known, ...ops.map(({ envelope }) => envelope.opId)])
  const state: ReplicaState = {
    ...before,
    generation,
    seq: cursor,
    anchor,
    ...(from > 0 && { after: from }),
  }
  const { decision, replica } = writtenOver({
    rows: { ...empty, deleted: rows.deleted },
    base: {
      ...empty,
      head: { ...empty.head, ...to, marks: stood.marks },
      registers: stood.registers,
      dependents: relations(new Map(), new Set(), registers.flatMap(sourcesOf)),
    },
    before: stood,
    ops,
    left: held.filter(({ waiting }) => !arrived.has(waiting.envelope.opId)),
    kept: held.map(({ waiting }) => waiting),
    refused,
    state,
  })
  return {
    ...decision,
    erase: true,
    replica: {
      ...replica,
      sent: sentOf(held, replica.outbox),
      outbox: replica.outbox.map(outboxRow),
      rebase: { to, registers: [], slots: [] },
      kept: 'all',
    },
  }
}

async function readingWhole<Result>(
  sync: ScopeSync,
  older: (start: number) => Promise<unknown>,
  work: (whole: (reads: Reads) => Reads) => Promise<Result>,
): Promise<Result> {
  const { replica } = sync
  for (let tries = TRIES; ; ) {
    const { after = 0, seq } = (await replica.refreshed()).state
    const found = new Found(after, seq)
    const outcome = await work((reads) => found.whole(reads)).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    // Another tab may have let go of what was read to its end.
    const { after: now = 0 } = found.isAtEnd ? (await replica.view()).state : { after }
    if (found.start === undefined && now === after) {
      if ('error' in outcome) throw outcome.error
      return outcome.value
    }
    if (found.start === undefined) continue
    if (tries-- === 0) throw new PlimsollError('ERR_OFFLINE', 'sync: what is older could not be fetched')
    sync.isWide = true
    await older(found.start)
    const { after: left = 0 } = (await replica.view()).state
    if (left < after) tries = TRIES
  }
}

/** What reads of a part of a log came to. */
class Found {
  readonly #from: number
  readonly #seq: number
  /** Where the log would have to begin; nothing: it does. */
  start: number | undefined
  /** Whether anything was read up to where the log begins here. */
  isAtEnd = false

  constructor(after: number, seq: number) {
    this.#from = after
    this.#seq = seq
  }

  whole(reads: Reads): Reads {
    const has = async (id: string) => (await reads.entries({ from: id, first: 1 })).rows.length > 0
    return {
      ...reads,
      entries: async (query = {}) => {
        const page = await reads.entries(query)
        return (await this.#isHere(query, page, has)) ? page : this.#missing(this.#olderFor(query))
      },
      changesSince: async (seq) => {
        const changes = await reads.changesSince(seq)
        this.isAtEnd ||= seq < this.#from || this.#from === 0
        return seq < this.#from ? this.#missing(seq) : changes
      },
    }
  }

  /** Whether all that matches stands where the log is here. */
  async #isHere(
    { from, after = from, first }: EntriesQuery,
    { rows, more }: Entries,
    has: (id: string) => Promise<boolean>,
  ): Promise<boolean> {
    const isHere = after === undefined ? first === undefined && more : rows.length > 0 || (await has(after))
    this.isAtEnd ||= !isHere
    return isHere || this.#from === 0
  }

  /** From the newest back, what is here doubles with each page. */
  #olderFor({ from, after = from, first }: EntriesQuery): number {
    const isFromFirst = after === undefined && first !== undefined
    const older = Math.max(LEAST_OLDER, this.#seq - this.#from)
    return isFromFirst ? 0 : Math.max(0, this.#from - older)
  }

  #missing(start: number): never {
    this.start = start
    throw new Error('it is not here')
  }
}

/** The rounds that ops join, but for those that they open. */
function roundsOf(ops: readonly SealedOp[]): ReadonlySet<string> {
  const opened = new Set(ops.flatMap(({ envelope: { ids } }) => ids))
  const rounds = ops.flatMap(({ envelope: { round } }) => round ?? [])
  return new Set(rounds.filter((id) => !opened.has(id)))
}
