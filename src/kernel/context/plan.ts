import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { EpochCause } from '../../ports/op.ts'
import type { WindowLimits } from '../../ports/session.ts'
import type { Covering, Planned } from '../cover.ts'
import type { Rung } from '../feature.ts'
import { cutBack, exceededBy } from './cut.ts'
import type { EpochParts } from './epoch.ts'
import type { HeadParts } from './head.ts'
import type { Call } from './measure.ts'
import type { CurrentEpoch } from './view.ts'
import type { Band, Window } from './window.ts'

/** What the next epoch shows. */
export interface Plan {
  readonly call: Call
  readonly band: Band
  readonly window: Window
  /** Index of the first unit that the band shows. */
  readonly from: number
  readonly covering: Covering | undefined
  /** Id of the summary that would hold, but has no room. */
  readonly withheld?: string
}

/** What a plan has to keep to. */
export interface PlanTarget {
  /** Tokens for window and tail. */
  readonly room: number
  /** Tokens to which the window is cut back. */
  readonly keep: number
  /** What else it is cut back to. */
  readonly limits: WindowLimits
  /** Whether the user message of a cut round may be left to the summary that is to be written. */
  readonly mayFold?: boolean
}

/** What the next epoch is planned by. */
export interface NextAsk {
  /** Calibration of the epoch that held. */
  readonly calibration: number
  readonly cause: EpochCause
  /** The epoch before, unless nothing of it shows any more. */
  readonly prior: CurrentEpoch | undefined
  /** What features show at a calibration and a rung. */
  readonly partsAt: (calibration: number, rung: Rung) => HeadParts
  readonly make: (calibration: number, parts: HeadParts, covering: Covering | undefined) => Call
  readonly mayWrite: boolean
  readonly written: unknown
}

/** All that is in memory. */
export const WHOLE: Band = { windowFrom: null, cuts: {} }
const RUNGS: readonly Rung[] = [0, 1, 2]
/**
 * After these the window stays where it was, as long as it fits: for a lane's first, at the log's
 * beginning.
 */
const KEEPING: readonly EpochCause[] = ['start', 'late', 'sync', 'rewind', 'forget']

/**
 * Plans the next epoch with the newest summary that holds and all that features show, by what was
 * reported meanwhile; if nothing fits, by the calibration that holds, then with less of what
 * features show, and with the pins of the summary alone before pinned facts go too.
 *
 * @throws ERR_BUDGET_TOO_SMALL
 */
export async function planNext(lane: EpochParts, ask: NextAsk): Promise<Planned> {
  const { view, calls, cover } = lane
  const { calibration, prior, partsAt, make } = ask
  const reported = calls.reported() ?? calibration
  const covering = cover?.usable(view, prior)
  const steps: { readonly rung: Rung; readonly covering: Covering | undefined }[] = RUNGS.flatMap((rung) =>
    covering && rung > 0
      ? [
          { rung, covering },
          { rung, covering: { ...covering, pinsOnly: true } },
        ]
      : { rung, covering },
  )
  let refusal: unknown
  for (const { rung, covering } of steps)
    for (const by of new Set([reported, Math.min(reported, calibration)]))
      try {
        return await planCall(lane, ask, make(by, partsAt(by, rung), covering), covering)
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
        refusal = error
      }
  throw refusal
}

async function planCall(
  lane: EpochParts,
  ask: NextAsk,
  call: Call,
  covering: Covering | undefined,
): Promise<Planned> {
  const { view, policy, cover } = lane
  const keep = keepOf(lane, call)
  if (cover && !covering?.pinsOnly) {
    const plan = (target: PlanTarget): Promise<Plan> => planWindow(lane, ask, call, covering, target)
    return cover.plan({ ...ask, call, view, covering, keep, plan })
  }
  const plan = await planWindow(lane, ask, call, undefined, {
    room: call.room,
    keep: policy.keep.tokens === undefined ? keep - call.head.tokens.memory : keep,
    limits: policy.keep,
  })
  // A summary that has no room in this call is not replaced by one that knows less.
  return covering ? { ...plan, withheld: covering.mark.id } : plan
}

/** Tokens that memory and window are cut back to: half of all; more beside a long user message. */
export function keepOf({ view, policy }: Pick<EpochParts, 'view' | 'policy'>, call: Call): number {
  const { tokens } = policy.keep
  if (tokens !== undefined) return tokens
  const all = call.room + call.head.tokens.memory
  const user = call.measure.layout(view.conversation).newestUser()
  return Math.max(Math.floor(all / 2), user + Math.floor((all - user) / 4))
}

/** Where the window begins; reads back while that could show more. @throws ERR_BUDGET_TOO_SMALL */
async function planWindow(
  { view, calls, policy, cover }: EpochParts,
  { cause, prior: before }: NextAsk,
  call: Call,
  covering: Covering | undefined,
  { room: most, keep, limits, mayFold = false }: PlanTarget,
): Promise<Plan> {
  const { measure } = call
  const held = before && measure.layout(view.conversation).show(before.mark, view.rows)
  // Where nothing shows any more of an epoch, the next one begins as in a new lane, further back.
  const prior = held?.units[0] && before?.mark
  for (;;) {
    const { conversation, rows, whole, opener } = view
    const { units } = conversation
    const layout = measure.layout(conversation)
    const room = most - (calls.tail(call, layout.newest())?.tokens ?? 0)
    // Where nothing shows, the window begins after the newest entry.
    const beginning = (from: number): string | null => units[from]?.row.id ?? rows.at(-1)?.id ?? null
    const mayExtend = !prior && !whole
    const { cuts } = prior ?? WHOLE
    const shown = layout.show(prior ?? WHOLE, rows)
    const { from } = shown
    const goesOn = KEEPING.includes(cause) && prior?.summary === covering?.mark.id
    if (goesOn && shown.tokens <= room && !exceededBy(policy, units, shown)) {
      if (!mayExtend)
        return { call, covering, band: { windowFrom: beginning(from), cuts }, window: shown, from }
      await view.extend()
      continue
    }
    const within = covering && cover?.within(covering, view, layout)
    // What a summary covers does not show again; what it does not may be of a round from before.
    const uncovered = within?.from ?? 0
    if (uncovered < 0 && mayExtend && !within?.hasAll) {
      await view.extend()
      continue
    }
    const start = Math.max(from, uncovered)
    const opening = layout.openerOf(start)
    const cut =
      uncovered < 0
        ? { windowFrom: null, cuts: {}, from: units.length }
        : cutBack(layout, policy, {
            start,
            oldBefore: layout.indexOf(prior?.cuts.oldBefore, rows),
            room,
            keep: Math.min(room, keep),
            limits,
            mayFold: mayFold || Boolean(opening && within?.folds(opening)),
          })
    if (cut && cut.from <= (opener ? 1 : 0) && mayExtend && !within?.isRead) {
      await view.extend()
      continue
    }
    if (cut) {
      const band = { windowFrom: beginning(cut.from), cuts: cut.cuts }
      const window = layout.show(band, rows)
      if (window.tokens <= room) return { call, covering, band, window, from: cut.from }
    }
    const breakdown = calls.floor(call, conversation)
    throw new PlimsollError(
      'ERR_BUDGET_TOO_SMALL',
      `context: the floor of ${breakdown.floor} tokens is above the cap of ${breakdown.cap}`,
      { breakdown },
    )
  }
}
