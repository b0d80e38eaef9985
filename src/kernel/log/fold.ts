import type { Message, SessionMessage, ToolCallPart, ToolResultPart } from '../../ports/message.ts'
import type { RewindMark } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { markIn, messageIn } from './bodies.ts'
import { isBlank, partsOf } from './message.ts'

/**
 * The one pure rule that turns log rows into a conversation, whole or any suffix of it:
 *
 * - rounds show in the order of their first entry, and what belongs to a round shows inside it, so
 *   writers that race never interleave;
 * - a result joins the newest step of its round in which its call is unanswered; else it is not
 *   shown;
 * - rewinds are a set: what any rewind hides is hidden, unless that rewind was undone;
 * - forgotten messages keep their row and are not shown, nor are messages with nothing in them but
 *   reasoning; a user's empty message is.
 *
 * Rows of rounds that opened before the first row are `loose`: which of them shows where, only
 * earlier rows could tell.
 *
 * @param opener the message that opened the round of the first rows, where other rows stand between
 * it and them: nothing joins it, since its results may be among those.
 */
export function fold(
  rows: readonly LogRow[],
  open: (row: LogRow) => Message | undefined = messageIn,
  opener?: LogRow,
): Conversation {
  const hidden = hiddenBy(rows)
  const rounds = new Map<string, OpenRound>()
  const loose: LogRow[] = []
  for (const row of opener ? [opener, ...rows] : rows) {
    if (row.round === undefined) continue
    if (row.round === row.id) rounds.set(row.id, openRound(row, [], []))
    const round = rounds.get(row.round)
    if (round) foldRow(row, round, hidden, open, opener)
    else loose.push(row)
  }
  const all = [...rounds.values()]
  const units = all.flatMap((round) => round.units)
  const unshown = all.flatMap((round) => round.unshown)
  return { units, unshown, loose, hidden, end: all.at(-1), origin: {} }
}

/**
 * The conversation with the rows that follow: only these are folded. Nothing, where they may change
 * what showed before: then all rows must be folded again.
 */
export function grow(
  before: Conversation,
  rows: readonly LogRow[],
  open: (row: LogRow) => Message | undefined,
): Conversation | undefined {
  const units = [...before.units]
  const unshown = [...before.unshown]
  let round: OpenRound | undefined = before.end && { ...before.end, steps: [], units, unshown }
  for (const row of rows) {
    if (row.kind === 'rewind') return undefined
    if (row.round === undefined) continue
    if (row.round === row.id) round = openRound(row, units, unshown)
    if (row.round !== round?.id || !foldRow(row, round, before.hidden, open)) return undefined
    // What joins any step but the newest unit does not show at the end.
    round.steps = round.steps.filter((step) => step === units.at(-1))
  }
  return { ...before, units, unshown, end: round }
}

export interface Conversation {
  /** What shows, in the order in which it shows. */
  readonly units: readonly Unit[]
  /** Messages that do not, with the reason, round after round. */
  readonly unshown: readonly Unshown[]
  readonly loose: readonly LogRow[]
  /** Ids that a rewind in these rows hides. */
  readonly hidden: ReadonlySet<string>
  /** The newest round. */
  readonly end: OpenRound | undefined
  /** The same in conversations that only grew from one another. */
  readonly origin: object
}

/** A round whose rows are being folded. */
interface OpenRound {
  readonly id: string
  /** Ordinal of the message that opened it. */
  readonly opened: number
  /** Steps so far, which results may join. */
  steps: OpenUnit[]
  readonly units: Unit[]
  readonly unshown: Unshown[]
}

/**
 * What is never split: a message, or a step (an assistant message with the results of its calls).
 */
export interface Unit {
  readonly row: LogRow
  readonly message: Message
  /** Id of the round. */
  readonly round: string
  /** Rows that hold results of this step, in the log's order, each with the results that joined. */
  readonly results: readonly JoinedResults[]
  /** Calls of this step, and whether each was answered. */
  readonly calls: readonly Call[]
}

export interface JoinedResults {
  readonly row: LogRow
  readonly message: Message
  readonly joined: { readonly part: ToolResultPart; readonly index: number; readonly call: Call }[]
}

export interface Call {
  readonly part: ToolCallPart
  /** Place of the call in its message's parts. */
  readonly index: number
  answered: boolean
}

export interface Unshown {
  readonly row: LogRow
  readonly reason: 'rewound' | 'forgotten' | 'unreadable' | 'orphan' | 'duplicate' | 'empty'
  /** Ordinal of the message that opened its round. */
  readonly opened: number
}

interface OpenUnit extends Unit {
  readonly results: JoinedResults[]
}

function openRound({ id, ordinal }: LogRow, units: Unit[], unshown: Unshown[]): OpenRound {
  return { id, opened: ordinal, steps: [], units, unshown }
}

/** @returns false for results of which not all joined one of the steps */
function foldRow(
  row: LogRow,
  round: OpenRound,
  hidden: ReadonlySet<string>,
  open: (row: LogRow) => Message | undefined,
  opener?: LogRow,
): boolean {
  const { id, opened, steps, units, unshown } = round
  const leaveOut = (reason: Unshown['reason']): boolean => {
    unshown.push({ row, reason, opened })
    return reason !== 'duplicate' && reason !== 'orphan'
  }
  if (hidden.has(row.id)) return leaveOut('rewound')
  const message = open(row)
  if (!message) return leaveOut(row.unreadable ? 'unreadable' : 'forgotten')
  if (message.role === 'tool') {
    const outcomes = join(row, message, steps)
    if (outcomes.has('joined')) return outcomes.size === 1
    return leaveOut(outcomes.has('duplicate') ? 'duplicate' : 'orphan')
  }
  if (message.role !== 'user' && isBlank(message)) return leaveOut('empty')
  const calls = row === opener ? [] : callsOf(message)
  const unit: OpenUnit = { row, message, round: id, results: [], calls }
  units.push(unit)
  if (calls.length > 0) steps.push(unit)
  return true
}

/** Joins each result to its step. @returns what became of them */
function join(row: LogRow, message: Message, steps: readonly OpenUnit[]) {
  const outcomes = new Set<'joined' | 'duplicate' | 'orphan'>()
  partsOf(message).forEach((part, index) => {
    if (part.type !== 'tool-result') return
    const isNamed = (call: Call) => call.part.id === part.callId
    const waits = (call: Call) => isNamed(call) && !call.answered
    const step = steps.findLast(({ calls }) => calls.some(waits))
    const call = step?.calls.find(waits)
    if (!step || !call) {
      outcomes.add(steps.some(({ calls }) => calls.some(isNamed)) ? 'duplicate' : 'orphan')
      return
    }
    call.answered = true
    if (step.results.at(-1)?.row !== row) step.results.push({ row, message, joined: [] })
    step.results.at(-1)?.joined.push({ part, index, call })
    outcomes.add('joined')
  })
  return outcomes
}

function callsOf(message: Message): Call[] {
  return partsOf(message).flatMap((part, index) =>
    part.type === 'tool-call' ? [{ part, index, answered: false }] : [],
  )
}

/**
 * Messages of units, in the order in which they show; one that holds results of two steps only
 * once. Where a home has confirmed anything, each says whether it is there.
 */
export function messagesOf(units: readonly Unit[], confirmed?: number): SessionMessage[] {
  const shown = units.flatMap((unit) => [unit, ...unit.results])
  const seqs = new Map(shown.map(({ message, row }) => [message, row.seq]))
  return [...seqs].map(([message, seq]) =>
    confirmed === undefined ? message : { ...message, delivery: seq > confirmed ? 'local' : 'sent' },
  )
}

/** Ids hidden by the rewinds among these rows that were not taken back. */
export function hiddenBy(rows: readonly LogRow[]): ReadonlySet<string> {
  const rewinds = rows.flatMap((row) => (row.kind === 'rewind' ? ((markIn(row) as RewindMark) ?? []) : []))
  const undone = new Set(rewinds.map((mark) => 'undo' in mark && mark.undo))
  return new Set(rewinds.flatMap((mark) => ('hides' in mark && !undone.has(mark.id) ? mark.hides : [])))
}

/** Calls of the newest step that have no result: what a conversation waits for. */
export function pendingCalls(units: readonly Unit[]): readonly Call[] {
  return units.at(-1)?.calls.filter((call) => !call.answered) ?? []
}

/**
 * Whether anything after `seq` was added elsewhere than at the end of what showed at that time: to
 * an older round, or a late result to an older step. Rows shown are `units` and their results, in
 * the order in which they show.
 */
export function addedLate(units: readonly Unit[], seq: number): boolean {
  let newest = 0
  // Ordinals number messages in the log's order. One that follows a newer one was there when the
  // newer one came.
  const isLate = (row: LogRow): boolean => {
    if (row.ordinal < newest) return true
    if (row.seq > seq) newest = row.ordinal
    return false
  }
  return units.some(({ row, results }) => isLate(row) || results.some((result) => isLate(result.row)))
}
