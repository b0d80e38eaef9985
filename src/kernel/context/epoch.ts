import type { EpochCause, EpochMark } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import type { Cover } from '../cover.ts'
import { markIn } from '../log/bodies.ts'
import { addedLate, type Conversation, fold } from '../log/fold.ts'
import type { Policy } from '../policy.ts'
import type { Call, Calls } from './call.ts'
import { exceededBy } from './cut.ts'
import { hashPrefix } from './prefix.ts'
import type { CurrentEpoch, Joined, View } from './view.ts'
import { NOTHING, type Window } from './window.ts'

/** The epoch in which a context is shown. */
export interface Epoch {
  readonly mark: EpochMark
  readonly place: number
}

/** The window in the current epoch and, where that epoch cannot go on, the cause of the next one. */
export interface Judged {
  readonly cause?: EpochCause
  /** Absent where nothing of it shows any more: the next one begins as the first of a lane. */
  readonly epoch?: CurrentEpoch
  readonly window: Window
}

/** As much of a lane as its epochs are judged and planned by. */
export interface EpochParts {
  readonly view: View
  readonly calls: Calls
  readonly policy: Policy
  readonly cover: Cover | undefined
}

/** Says whether the current epoch of a lane goes on. */
export class Judge {
  readonly #parts: EpochParts
  /** Origin of the conversation that was last found to have been added to at its end only. */
  #inOrder: object | undefined
  /** An epoch, and the origin of the conversation, of which nothing that showed was forgotten. */
  #unchanged: { readonly id: string; readonly origin: object } | undefined

  constructor(parts: EpochParts) {
    this.#parts = parts
  }

  /** Whether a rewind was taken back since the current epoch began. */
  get isUndone(): boolean {
    const { epoch, rows, isOutgrown } = this.#parts.view
    return epoch !== undefined && !isOutgrown && rewoundSince(rows, seenBy(epoch, rows)) === 'undo'
  }

  /**
   * Rounds that opened before all that is in memory, and were added to since the current epoch began. One that is newer than the first
   * that shows belongs into the window; where nothing shows, any does.
   */
  get joinedOutside(): Joined | undefined {
    const { epoch, rows, conversation, isOutgrown } = this.#parts.view
    const { loose, hidden, units } = conversation
    if (!epoch || isOutgrown || loose.length === 0) return undefined
    const seen = seenBy(epoch, rows)
    const late = loose.filter(({ id, seq }) => seq > seen && !hidden.has(id))
    const rounds = new Set(late.flatMap(({ round }) => round ?? []))
    const first = units[0]?.round
    return rounds.size === 0
      ? undefined
      : { rounds, after: rows.find(({ id }) => id === first)?.ordinal ?? 0 }
  }

  current(call: Call): Judged {
    const { view, cover } = this.#parts
    const { epoch, conversation, rows } = view
    if (!epoch) return { cause: 'start', window: NOTHING }
    if (view.isOutgrown) return { cause: 'window', window: NOTHING }
    const { mark } = epoch
    const seen = seenBy(epoch, rows)
    const rewound = rewoundSince(rows, seen)
    if (cover?.shown(epoch) === 'gone') return { cause: 'forget', window: NOTHING }
    // What is shown again may lie before the window, and what is hidden may be all of it.
    if (rewound === 'undo' || conversation.hidden.has(mark.windowFrom ?? ''))
      return { cause: 'rewind', window: NOTHING }
    const window = call.measure.layout(conversation).show(mark, rows)
    const cause =
      mark.head !== call.head.hash
        ? 'head'
        : (rewound ??
          (this.#isForgotten(call, mark, seen) ? 'forget' : undefined) ??
          (this.#hasRoomAgain(call, epoch, window) ? 'budget' : this.#breaks(call, epoch, seen, window)))
    return { ...(cause && { cause }), epoch, window }
  }

  /**
   * Whether anything was forgotten that showed in an epoch. What was forgotten before is in no hash of its prefix; so where rows are empty
   * that it began with, the hash says whether they were empty then.
   */
  #isForgotten({ measure }: Call, mark: EpochMark, seen: number): boolean {
    const { rows, opener, rewinds, conversation } = this.#parts.view
    const emptied = rows.filter(({ kind, body }) => kind === 'message' && body === null)
    if (emptied.length === 0) return false
    if (emptied.some(({ seq }) => seq > seen)) return true
    const { id } = mark
    const { origin } = conversation
    if (this.#unchanged?.id === id && this.#unchanged.origin === origin) return false
    const before = rows.filter((row) => row !== opener && row.seq <= seen)
    const { blocks } = measure.layout(fold([...rewinds, ...before], undefined, opener)).show(mark, rows)
    if (hashPrefix(mark.head, blocks) !== mark.prefixHash) return true
    this.#unchanged = { id, origin }
    return false
  }

  /** Whether the summary for which the epoch had no room would fit beside its window now. */
  #hasRoomAgain(call: Call, { place }: CurrentEpoch, window: Window): boolean {
    const { view, calls, cover } = this.#parts
    const withheld = cover?.withheld(view)
    if (!withheld) return false
    const then = calls.covering(call, withheld, place)
    return window.tokens + (calls.tail(then, window, place)?.tokens ?? 0) <= then.room
  }

  /** Why an epoch cannot go on with this window, if it cannot. */
  #breaks(call: Call, { place }: CurrentEpoch, seen: number, window: Window): EpochCause | undefined {
    const { room } = call
    const { view, calls, policy } = this.#parts
    const { units } = view.conversation
    if (this.#isLate(view.conversation, seen)) return 'late'
    // The newest unit always shows, whatever the limits.
    const isLimited = window.from < units.length - 1
    if (window.tokens > room || (isLimited && exceededBy(policy, units, window))) return 'window'
    const tokens = window.tokens + (calls.tail(call, window, place)?.tokens ?? 0)
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
    const { view, calls, cover, policy } = this.#parts
    const { cap, margin } = policy
    const reported = calls.reported() ?? measure.calibration
    if ((cap - margin - room + tokens) * reported <= cap * measure.calibration) return false
    const shown = view.epoch && cover?.shown(view.epoch)
    const least = shown && shown !== 'gone' ? ({ ...shown, pinsOnly: true } as const) : undefined
    const then = calls.covering({ ...call, measure: calls.measureBy(reported) }, least, place)
    return calls.floor(then, view.conversation, place).floor <= cap
  }
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
