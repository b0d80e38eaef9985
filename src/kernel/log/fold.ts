import type { Message, ToolCallPart, ToolResultPart } from '../../ports/message.ts'
import type { RewindMark } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import { markIn, messageIn } from './bodies.ts'
import { isBlank, partsOf } from './message.ts'

/**
 * The one pure rule that turns log rows into a conversation, whole or any suffix of it:
 *
 * - rounds show in the order of their first entry, and what belongs to a round shows inside it, so writers that race never
 *   interleave;
 * - a result joins the newest step of its round in which its call is unanswered; else it is not shown;
 * - rewinds are a set: what any rewind hides is hidden, unless that rewind was undone;
 * - forgotten messages keep their row and are not shown, nor are messages with nothing in them but reasoning; a user's empty
 *   message is.
 *
 * Rows of rounds that opened before the first row are `loose`: which of them shows where, only earlier rows could tell.
 *
 * @param opener the message that opened the round of the first rows, where other rows stand between it and them: nothing
 *   joins it, since its results may be among those.
 */
export function fold(
  rows: readonly LogRow[],
  open: (row: LogRow) => Message | undefined = messageIn,
  opener?: LogRow,
): Conversation {
  const hidden = hiddenBy(rows)
  const rounds = new Map<string, LogRow[]>()
  const loose: LogRow[] = []
  for (const row of opener ? [opener, ...rows] : rows) {
    if (row.kind !== 'message' || row.round === undefined) continue
    const round = row.round === row.id ? [] : rounds.get(row.round)
    if (round) rounds.set(row.round, round)
    ;(round ?? loose).push(row)
  }
  const into: Folding = { hidden, open, opener, units: [], unshown: [] }
  let end: OpenRound | undefined
  for (const [id, rows] of rounds) {
    end = openRound(id, rows[0], end)
    for (const row of rows) foldRow(row, end, into)
  }
  return { units: into.units, unshown: into.unshown, loose, hidden, end, origin: {} }
}

/**
 * The conversation with the rows that follow: only these are folded. Nothing, where they may change what showed before: then all
 * rows are to be folded anew.
 */
export function grow(
  before: Conversation,
  rows: readonly LogRow[],
  open: (row: LogRow) => Message | undefined,
): Conversation | undefined {
  const { hidden } = before
  const into: Folding = { hidden, open, units: [...before.units], unshown: [...before.unshown] }
  let round: OpenRound | undefined = before.end && { ...before.end, steps: [] }
  for (const row of rows) {
    if (row.kind === 'rewind') return undefined
    if (row.kind !== 'message' || row.round === undefined) continue
    if (row.round === row.id) round = openRound(row.id, row, round)
    if (row.round !== round?.id || !foldRow(row, round, into)) return undefined
    // What joins any step but the newest unit does not show at the end.
    round.steps = round.steps.filter((step) => step === into.units.at(-1))
  }
  return { ...before, units: into.units, unshown: into.unshown, end: round }
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
  readonly end: RoundEnd | undefined
  /** The same in conversations that only grew from one another. */
  readonly origin: object
}

interface RoundEnd {
  readonly id: string
  readonly roundPlace: number
  /** Ordinal of the message that opened it. */
  readonly opened: number
  /** Rows so far. */
  readonly rows: number
}

/** A round whose rows are being folded, and its steps so far, which results may join. */
interface OpenRound extends RoundEnd {
  rows: number
  steps: OpenUnit[]
}

/** What is never split: a message, or a step (an assistant message with the results of its calls). */
export interface Unit {
  readonly row: LogRow
  readonly message: Message
  /** Id of the round, and its place among the rounds in these rows. */
  readonly round: string
  readonly roundPlace: number
  /** Place of `row` among the rows of its round. */
  readonly place: number
  /** Rows that hold results of this step, in the log's order, each with the results that joined. */
  readonly results: readonly JoinedResults[]
  /** Calls of this step, and whether each was answered. */
  readonly calls: readonly Call[]
}

export interface JoinedResults {
  readonly row: LogRow
  readonly message: Message
  readonly joined: readonly { readonly part: ToolResultPart; readonly index: number; readonly call: Call }[]
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

/** What rows are folded by, and into. */
interface Folding extends Pick<Conversation, 'hidden'> {
  readonly open: (row: LogRow) => Message | undefined
  readonly opener?: LogRow | undefined
  readonly units: Unit[]
  readonly unshown: Unshown[]
}

function openRound(id: string, first: LogRow | undefined, before: RoundEnd | undefined): OpenRound {
  return { id, roundPlace: (before?.roundPlace ?? -1) + 1, opened: first?.ordinal ?? 0, rows: 0, steps: [] }
}

/** @returns false for results of which not all joined one of the steps */
function foldRow(row: LogRow, round: OpenRound, { hidden, open, opener, units, unshown }: Folding): boolean {
  const { id, roundPlace, opened, steps } = round
  const place = round.rows++
  const leaveOut = (reason: Unshown['reason']): boolean => {
    unshown.push({ row, reason, opened })
    return true
  }
  if (hidden.has(row.id)) return leaveOut('rewound')
  const message = open(row)
  if (!message) return leaveOut(row.unreadable ? 'unreadable' : 'forgotten')
  if (message.role === 'tool') {
    const outcomes = join(row, message, steps)
    if (outcomes.has('joined')) return outcomes.size === 1
    leaveOut(outcomes.has('duplicate') ? 'duplicate' : 'orphan')
    return false
  }
  if (message.role !== 'user' && isBlank(message)) return leaveOut('empty')
  const calls = row === opener ? [] : callsOf(message)
  const unit: OpenUnit = { row, message, round: id, roundPlace, place, results: [], calls }
  units.push(unit)
  if (calls.length > 0) steps.push(unit)
  return true
}

/** Messages of units, in the order in which they show; one that holds results of two steps only once. */
export function messagesOf(units: readonly Unit[]): Message[] {
  return [
    ...new Set(units.flatMap(({ message, results }) => [message, ...results.map((one) => one.message)])),
  ]
}

function callsOf(message: Message): Call[] {
  return partsOf(message).flatMap((part, index) =>
    part.type === 'tool-call' ? [{ part, index, answered: false }] : [],
  )
}

type Outcome = 'joined' | 'duplicate' | 'orphan'

/** Joins each result to its step. @returns what became of them */
function join(row: LogRow, message: Message, steps: readonly OpenUnit[]): ReadonlySet<Outcome> {
  const outcomes = partsOf(message).flatMap((part, index): Outcome | [] => {
    if (part.type !== 'tool-result') return []
    let isKnown = false
    for (let at = steps.length - 1; at >= 0; at--) {
      const { calls, results } = steps[at] as OpenUnit
      const named = calls.filter((call) => call.part.id === part.callId)
      const call = named.find(({ answered }) => !answered)
      isKnown ||= named.length > 0
      if (!call) continue
      call.answered = true
      const joined = results.at(-1)?.row === row ? (results.pop()?.joined ?? []) : []
      results.push({ row, message, joined: [...joined, { part, index, call }] })
      return 'joined'
    }
    return isKnown ? 'duplicate' : 'orphan'
  })
  return new Set(outcomes)
}

/** Ids hidden by the rewinds among these rows that were not taken back. */
export function hiddenBy(rows: readonly LogRow[]): ReadonlySet<string> {
  const rewinds = rows.flatMap((row) =>
    row.kind === 'rewind' ? [(markIn(row) as RewindMark | undefined) ?? []].flat() : [],
  )
  const undone = new Set(rewinds.flatMap((mark) => ('undo' in mark ? mark.undo : [])))
  return new Set(rewinds.flatMap((mark) => ('hides' in mark && !undone.has(mark.id) ? mark.hides : [])))
}

/** Calls of the newest step that have no result: what a conversation waits for. */
export function pendingCalls(units: readonly Unit[]): readonly Call[] {
  return units.at(-1)?.calls.filter((call) => !call.answered) ?? []
}

/**
 * Whether anything after `seq` was added elsewhere than at the end of what showed at that time: to an older round, or a
 * late result to an older step. Rows shown are `units` and their results, in the order in which they show.
 */
export function addedLate(units: readonly Unit[], seq: number): boolean {
  let newest = 0
  // Ordinals number messages in the log's order. One that follows a newer one was there when the newer one came.
  const isLate = (row: LogRow): boolean => {
    if (row.ordinal < newest) return true
    if (row.seq > seq) newest = row.ordinal
    return false
  }
  return units.some(({ row, results }) => isLate(row) || results.some((result) => isLate(result.row)))
}
