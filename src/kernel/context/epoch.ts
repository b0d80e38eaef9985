import type { EpochCause, EpochMark } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import type { Cover, Covering } from '../cover.ts'
import { markIn } from '../log/bodies.ts'
import { addedLate, fold, hiddenBy } from '../log/fold.ts'
import type { Policy } from '../policy.ts'
import type { Calls } from './call.ts'
import { cutPays, exceededBy } from './cut.ts'
import { keeper } from './keeper.ts'
import type { Call } from './measure.ts'
import { hashPrefix } from './prefix.ts'
import type { Secret } from './secret.ts'
import type { CurrentEpoch, Joined, View } from './view.ts'
import { NOTHING, type Window } from './window.ts'

/** The window in the current epoch and, where that cannot go on, the cause of the next one. */
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
  readonly secret: Secret
  readonly cover: Cover | undefined
}

/** Says whether the current epoch of a lane goes on. */
export class Judge {
  readonly #lane: EpochParts
  /** Of a conversation that grows at its end, asked once an epoch. */
  readonly #late = keeper<boolean>(1)
  readonly #forgotten = keeper<boolean>(1)
  readonly #rewound = keeper<'rewind' | 'undo' | undefined>(1)

  constructor(lane: EpochParts) {
    this.#lane = lane
  }

  /** Whether a rewind was taken back since the current epoch began. */
  get isUndone(): boolean {
    return this.#sinceEpoch() === 'undo'
  }

  #sinceEpoch(): 'rewind' | 'undo' | undefined {
    const { epoch, rows } = this.#lane.view
    return epoch && this.#rewound([epoch, rows], () => rewoundSince(rows, seenBy(epoch, rows)))
  }

  /**
   * Rounds from before all that is in memory that were added to since the current epoch began. One
   * that is newer than the first that shows belongs in the window; where nothing shows, any does.
   */
  get joinedOutside(): Joined | undefined {
    const { epoch, rows, conversation, isOutgrown } = this.#lane.view
    const { loose, units } = conversation
    if (!epoch || isOutgrown || loose.length === 0) return undefined
    const seen = seenBy(epoch, rows)
    const late = loose.filter(({ seq }) => seq > seen)
    const rounds = new Set(late.map(({ round }) => round as string))
    const [first] = units
    const after = rows.find(({ id }) => id === first?.round)?.ordinal ?? 0
    return { rounds, after }
  }

  /** @param covering what the current epoch shows in the place of messages */
  current(call: Call, covering: Covering | 'gone' | undefined): Judged {
    const { epoch, conversation, rows, isOutgrown } = this.#lane.view
    if (!epoch) return { cause: 'start', window: NOTHING }
    if (isOutgrown) return { cause: 'window', window: NOTHING }
    if (covering === 'gone') return { cause: 'forget', window: NOTHING }
    const { mark } = epoch
    const seen = seenBy(epoch, rows)
    const rewound = this.#sinceEpoch()
    // What is shown again may lie before the window, and what is hidden may be all of it.
    if (rewound === 'undo' || conversation.hidden.has(mark.windowFrom ?? ''))
      return { cause: 'rewind', window: NOTHING }
    const isMoved = (rows.findLast(({ id }) => id === mark.seen)?.ordinal ?? 0) !== mark.count
    // What a window begins with is not there any more, where its home refused that.
    if (isMoved && mark.windowFrom !== null && !rows.some(({ id }) => id === mark.windowFrom))
      return { cause: 'sync', window: NOTHING }
    const window = call.measure.layout(conversation).show(mark, rows)
    if (isMoved) return { cause: 'sync', epoch, window }
    const cause = this.#changed(call, epoch) ?? rewound ?? this.#end(call, epoch, seen, window, covering)
    return { ...(cause && { cause }), epoch, window }
  }

  /** Why what an epoch begins with is another now. */
  #changed({ head }: Call, { mark, seq }: CurrentEpoch): EpochCause | undefined {
    // Something was forgotten since: what the epoch's hashes were keyed by is gone.
    if (seq < this.#lane.secret.since) return 'forget'
    return mark.head === head.hash ? undefined : 'head'
  }

  /** Why an epoch that was not rewound cannot go on with this window, if it cannot. */
  #end(
    call: Call,
    epoch: CurrentEpoch,
    seen: number,
    window: Window,
    covering: Covering | undefined,
  ): EpochCause | undefined {
    const { view, calls, policy, cover } = this.#lane
    const { units, origin } = view.conversation
    if (this.#isForgotten(call, epoch.mark, seen)) return 'forget'
    const used = (then: Call): number => window.tokens + (calls.tail(then, window)?.tokens ?? 0)
    // The summary for which the epoch had no room might fit now.
    const withheld = cover?.withheld(view)
    const then = withheld && calls.covering(call, withheld)
    if (then && used(then) <= then.room) return 'budget'
    if (this.#late([origin, seen], () => addedLate(units, seen))) return 'late'
    // The newest unit always shows, whatever the limits.
    const isLimited = window.from < units.length - 1
    if (
      window.tokens > call.room ||
      (isLimited &&
        (exceededBy(policy, units, window) || (cover ? cover.isOver(call, window) : cutPays(policy, window))))
    )
      return 'window'
    const tokens = used(call)
    return tokens > call.room || this.#isReportedOver(call, tokens, covering) ? 'budget' : undefined
  }

  /**
   * Whether anything was forgotten that showed in an epoch. Where rows are empty that it began
   * with, the hash of its prefix says whether they were empty then.
   */
  #isForgotten({ measure }: Call, mark: EpochMark, seen: number): boolean {
    const { rows, opener, rewinds, conversation } = this.#lane.view
    const emptied = rows.filter(({ kind, body }) => kind === 'message' && body === null)
    if (emptied.length === 0) return false
    if (emptied.some(({ seq }) => seq > seen)) return true
    return this.#forgotten([mark.id, conversation.origin], () => {
      const before = rows.filter((row) => row !== opener && row.seq <= seen)
      const { blocks } = measure.layout(fold([...rewinds, ...before], undefined, opener)).show(mark, rows)
      return hashPrefix(this.#lane.secret, mark.head, blocks) !== mark.prefixHash
    })
  }

  /**
   * Whether by what a provider reported meanwhile the call would be above the cap, its margin
   * included. Not where nothing would fit by that report: then the epoch's own calibration stays.
   */
  #isReportedOver(call: Call, tokens: number, covering: Covering | undefined): boolean {
    const { calibration } = call.measure
    const { view, calls, policy } = this.#lane
    const { cap, margin } = policy
    const reported = calls.reported() ?? calibration
    if ((cap - margin - call.room + tokens) * reported <= cap * calibration) return false
    const then = calls.covering({ ...call, measure: calls.measureBy(reported) }, covering)
    return calls.floor(then, view.conversation).floor <= cap
  }
}

/** Seq of the newest entry that an epoch's writer had read. */
export function seenBy({ mark, seq }: CurrentEpoch, rows: readonly LogRow[]): number {
  return mark.seen === null ? 0 : (rows.findLast(({ id }) => id === mark.seen)?.seq ?? seq)
}

/** Whether a rewind after `seq` hides any of the rows, or shows any entry again. */
function rewoundSince(rows: readonly LogRow[], seq: number): 'rewind' | 'undo' | undefined {
  const since = rows.filter((row) => row.kind === 'rewind' && row.seq > seq)
  if (since.some((row) => 'undo' in (markIn(row) ?? {}))) return 'undo'
  const hidden = hiddenBy(since)
  return rows.some(({ id }) => hidden.has(id)) ? 'rewind' : undefined
}
