import type { EpochCause, EpochMark } from '../ports/op.ts'
import type { LogRow } from '../ports/store.ts'
import { markIn } from './bodies.ts'
import type { Call, Calls } from './call.ts'
import { addedLate, type Conversation, fold } from './fold.ts'
import type { Policy } from './policy.ts'
import { hashPrefix } from './prefix.ts'
import { holds } from './summary.ts'
import type { CurrentEpoch, View } from './view.ts'
import { type Band, exceeds, type Layout, NOTHING, type Window } from './window.ts'

/** The epoch in which a context is shown. */
export interface Epoch {
  readonly mark: EpochMark
  readonly place: number
}

/** Says whether the current epoch of a lane goes on. */
export class EpochJudge {
  readonly #view: View
  readonly #calls: Calls
  readonly #policy: Policy
  /** Origin of the conversation that was last found to have been added to at its end only. */
  #inOrder: object | undefined
  /** An epoch, and the origin of the conversation, of which nothing that showed was forgotten. */
  #unchanged: { readonly id: string; readonly origin: object } | undefined

  constructor(view: View, calls: Calls, policy: Policy) {
    this.#view = view
    this.#calls = calls
    this.#policy = policy
  }

  /** Whether a rewind was taken back since the current epoch began. */
  get isUndone(): boolean {
    const { epoch, rows } = this.#view
    return epoch !== undefined && rewoundSince(rows, seenBy(epoch, rows)) === 'undo'
  }

  /**
   * Rounds that opened before all that is in memory, and were added to since the current epoch began. One that is newer than the first that
   * shows belongs into the window; where nothing shows, any does.
   */
  get joinedOutside(): { readonly rounds: ReadonlySet<string>; readonly after: number } | undefined {
    const { epoch, rows, conversation } = this.#view
    const { loose, hidden, units } = conversation
    if (!epoch || loose.length === 0) return undefined
    const seen = seenBy(epoch, rows)
    const late = loose.filter(({ id, seq }) => seq > seen && !hidden.has(id))
    const rounds = new Set(late.flatMap(({ round }) => round ?? []))
    const first = units[0]?.round
    return rounds.size === 0
      ? undefined
      : { rounds, after: rows.find(({ id }) => id === first)?.ordinal ?? 0 }
  }

  /** The window in the current epoch and, where that epoch cannot go on, the cause of the next one. */
  current(call: Call): { readonly cause?: EpochCause; readonly epoch?: Epoch; readonly window: Window } {
    const { epoch, conversation, rows } = this.#view
    const layout = call.measure.layout(conversation)
    if (!epoch) return { cause: 'start', window: NOTHING }
    const { mark } = epoch
    const seen = seenBy(epoch, rows)
    const rewound = rewoundSince(rows, seen)
    if (mark.summary !== undefined && !this.#view.summary) return { cause: 'forget', window: NOTHING }
    // What is shown again may lie before the window, and what is hidden may be all of it.
    if (rewound === 'undo' || conversation.hidden.has(mark.windowFrom ?? ''))
      return { cause: 'rewind', window: NOTHING }
    const window = show(layout, rows, mark)
    if (mark.head !== call.head.hash) return { cause: 'head', epoch, window }
    const cause =
      rewound ??
      (this.#isForgotten(call, mark, seen) ? 'forget' : undefined) ??
      (this.#hasRoomAgain(call, epoch, window) ? 'budget' : this.#breaks(call, epoch, seen, window))
    return { ...(cause && { cause }), epoch, window }
  }

  /**
   * Whether anything was forgotten that showed in an epoch. What was forgotten before is in no hash of its prefix; so where rows are empty
   * that it began with, the hash says whether they were empty then.
   */
  #isForgotten({ measure }: Call, mark: EpochMark, seen: number): boolean {
    const { rows, opener, rewinds, conversation } = this.#view
    const emptied = rows.filter(({ kind, body }) => kind === 'message' && body === null)
    if (emptied.length === 0) return false
    if (emptied.some(({ seq }) => seq > seen)) return true
    const { id } = mark
    const { origin } = conversation
    if (this.#unchanged?.id === id && this.#unchanged.origin === origin) return false
    const before = rows.filter((row) => row !== opener && row.seq <= seen)
    const { blocks } = show(measure.layout(fold([...rewinds, ...before], undefined, opener)), rows, mark)
    if (hashPrefix(mark.head, blocks) !== mark.prefixHash) return true
    this.#unchanged = { id, origin }
    return false
  }

  /** Whether the summary for which the epoch had no room would fit beside its window now. */
  #hasRoomAgain(call: Call, { mark, place }: Epoch, window: Window): boolean {
    const { latest, rows, epoch } = this.#view
    if (mark.withheld === undefined || !latest || !holds(latest.mark, rows)) return false
    if (latest.mark.id !== mark.withheld && latest.seq < (epoch?.seq ?? 0)) return false
    const { system, tools } = call.head
    const { remembered } = call.head
    const texts = this.#calls.texts({}, place, { summary: latest, remembered })
    const then = this.#calls.with(call.measure, { ...texts, system, tools }, call.tail)
    return window.tokens + (this.#calls.tail(then, window, place)?.tokens ?? 0) <= then.room
  }

  /** Why an epoch cannot go on with this window, if it cannot. */
  #breaks(call: Call, { place }: Epoch, seen: number, window: Window): EpochCause | undefined {
    const { room } = call
    const { conversation } = this.#view
    const { max } = this.#policy
    if (this.#isLate(conversation, seen)) return 'late'
    // The newest unit always shows, whatever the limits.
    const limited = window.from < conversation.units.length - 1
    if (
      window.tokens > room ||
      (limited && (window.tokens > (max.tokens ?? room) || exceeds(conversation.units, window.from, max)))
    )
      return 'window'
    const closing = this.#calls.tail(call, window, place)
    const tokens = window.tokens + (closing?.tokens ?? 0)
    return tokens > room || this.#isReportedOver(call, tokens, place) ? 'budget' : undefined
  }

  /** Whether anything was added but at the end since an epoch began; what a conversation grew by, is at its end. */
  #isLate({ units, origin }: Conversation, seen: number): boolean {
    if (this.#inOrder === origin) return false
    if (addedLate(units, seen)) return true
    this.#inOrder = origin
    return false
  }

  /**
   * Whether by what a provider reported meanwhile the call would be above the cap itself, its margin included. Not where nothing would
   * fit by that report: then the epoch's own calibration stays.
   */
  #isReportedOver(call: Call, tokens: number, place: number): boolean {
    const { measure, room } = call
    const { cap, margin } = this.#policy
    const reported = this.#calls.reported() ?? measure.calibration
    if ((cap - margin - room + tokens) * reported <= cap * measure.calibration) return false
    const { system, tools, remembered } = call.head
    const { memory } = this.#view
    const summary = memory && { ...memory, pinsOnly: true as const }
    const least = this.#calls.texts({}, place, { summary, remembered })
    const texts = { ...least, system, tools }
    const then = this.#calls.with(this.#calls.measureBy(reported), texts, call.tail)
    return this.#calls.floor(then, this.#view.conversation, place).floor <= cap
  }
}

/** The window of a band. */
export function show(layout: Layout, rows: readonly LogRow[], { windowFrom, cuts }: Band): Window {
  const from = layout.indexOf(windowFrom, rows)
  const old = cuts.oldBefore === undefined ? 0 : layout.indexOf(cuts.oldBefore, rows)
  return layout.window(from < 0 ? layout.units.length : from, old < 0 ? layout.units.length : old, cuts)
}

/** Seq of the newest entry that an epoch's writer had read. */
export function seenBy({ mark, seq }: CurrentEpoch, rows: readonly LogRow[]): number {
  return mark.seen === null ? 0 : (rows.findLast(({ id }) => id === mark.seen)?.seq ?? seq)
}

/** Whether a rewind after `seq` hides any of the rows, or shows any entry again. */
function rewoundSince(rows: readonly LogRow[], seq: number): 'rewind' | 'undo' | undefined {
  let rewound: 'rewind' | undefined
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index] as LogRow
    if (row.seq <= seq) break
    if (row.kind !== 'rewind') continue
    const mark = markIn(row)
    if (mark?.type !== 'rewind') continue
    if ('undo' in mark) return 'undo'
    const hides = new Set(mark.hides)
    if (rows.some(({ id }) => hides.has(id))) rewound = 'rewind'
  }
  return rewound
}
