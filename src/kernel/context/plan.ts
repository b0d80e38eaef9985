import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { EpochCause } from '../../ports/op.ts'
import type { WindowLimits } from '../../ports/session.ts'
import type { Covering, PlanAsk, Planned } from '../cover.ts'
import type { Rung } from '../feature.ts'
import type { Call } from './call.ts'
import { cutBack, exceededBy } from './cut.ts'
import type { EpochParts } from './epoch.ts'
import type { HeadParts } from './head.ts'
import type { CurrentEpoch, View } from './view.ts'
import type { Band, Window } from './window.ts'

/** What the next epoch shows. */
export interface Plan {
  readonly call: Call
  readonly band: Band
  readonly window: Window
  /** Index of the first unit that the band shows. */
  readonly from: number
  readonly covering?: Covering
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

const ALL: readonly Rung[] = [0]
const RUNGS: readonly Rung[] = [0, 1, 2]

/**
 * Plans the next epoch with the newest summary that holds and all that features show, by what was reported meanwhile; if nothing fits
 * so, by the calibration that holds, then with less of what features show, and at last with no more of the summary than its pins.
 *
 * @throws ERR_BUDGET_TOO_SMALL
 */
export async function planNext(parts: EpochParts, ask: NextAsk): Promise<Planned> {
  const { view, calls, cover } = parts
  const { prior, partsAt, make } = ask
  const reported = calls.reported() ?? ask.calibration
  const calibrations = reported > ask.calibration ? [reported, ask.calibration] : [reported]
  const usable = cover?.usable(view, prior)
  const rungs = Object.keys(partsAt(calibrations[0] as number, 0)).length > 0 ? RUNGS : ALL
  const shown: { readonly covering: Covering | undefined; readonly rung: Rung }[] = rungs.map((rung) => ({
    covering: usable,
    rung,
  }))
  if (usable) shown.push({ covering: { ...usable, pinsOnly: true }, rung: rungs.at(-1) ?? 0 })
  const attempts = shown.flatMap((one) => calibrations.map((calibration) => ({ ...one, calibration })))
  for (const [index, { covering, rung, calibration }] of attempts.entries()) {
    const call = make(calibration, partsAt(calibration, rung), covering)
    try {
      // A summary that has no room in this call is not replaced by one that knows less.
      if (covering?.pinsOnly)
        return { ...(await planWith(parts, ask, call, undefined)), withheld: covering.mark.id }
      return cover
        ? await cover.plan(askOf(parts, ask, call, covering))
        : await planWith(parts, ask, call, undefined)
    } catch (error) {
      if (index === attempts.length - 1 || !isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
    }
  }
  throw new Error('unreachable: the last attempt returns or throws')
}

function askOf(parts: EpochParts, ask: NextAsk, call: Call, covering: Covering | undefined): PlanAsk {
  const { cause, prior, mayWrite, written } = ask
  return {
    call,
    view: parts.view,
    cause,
    prior,
    covering,
    mayWrite,
    written,
    keep: keepOf(parts, call),
    plan: (target) => planWindow(parts, ask, call, covering, target),
  }
}

/** Cuts the window back to what the policy keeps. */
function planWith(
  parts: EpochParts,
  ask: NextAsk,
  call: Call,
  covering: Covering | undefined,
): Promise<Plan> {
  const { policy } = parts
  const keep = keepOf(parts, call)
  return planWindow(parts, ask, call, covering, {
    room: call.room,
    keep: policy.keep.tokens === undefined ? keep - call.head.tokens.memory : keep,
    limits: policy.keep,
  })
}

/** Tokens that memory and window are cut back to together: half of what there is; more where the newest user message fills most of it. */
export function keepOf({ view, policy }: Pick<EpochParts, 'view' | 'policy'>, call: Call): number {
  const { tokens } = policy.keep
  if (tokens !== undefined) return tokens
  const all = call.room + call.head.tokens.memory
  const user = call.measure.layout(view.conversation).newestUser()
  return Math.max(Math.floor(all / 2), user + Math.floor((all - user) / 4))
}

/** Where the next epoch's window begins, reading further back while that could show more. @throws ERR_BUDGET_TOO_SMALL */
async function planWindow(
  parts: EpochParts,
  { cause, prior: before }: Pick<NextAsk, 'cause' | 'prior'>,
  call: Call,
  covering: Covering | undefined,
  { room: most, keep, limits, mayFold = false }: PlanTarget,
): Promise<Plan> {
  const { view, calls, policy, cover } = parts
  const { place } = view.next
  // Where nothing shows any more of an epoch's window, the next one begins as in a new lane, further back.
  const prior = before && isEmpty(view, call, before) ? undefined : before?.mark
  for (;;) {
    const { conversation, rows, whole, opener } = view
    const { units } = conversation
    const layout = call.measure.layout(conversation)
    const shown = prior && layout.show(prior, rows)
    const closing = calls.tail(call, layout.newest(), place)?.tokens ?? 0
    const room = most - closing
    const sameSummary = prior?.summary === covering?.mark.id
    if (prior && shown && sameSummary && (cause === 'late' || cause === 'rewind' || cause === 'forget'))
      if (shown.tokens <= room && !exceededBy(policy, units, shown)) {
        const windowFrom = units[shown.from]?.row.id ?? prior.windowFrom
        const band = { windowFrom, cuts: prior.cuts }
        return { call, band, window: shown, from: shown.from, ...(covering && { covering }) }
      }
    const within = covering && cover?.within(covering, view, layout)
    // What a summary covers does not show again; what it does not cover may be of a round that opened before all that is in memory.
    const uncovered = within?.from ?? 0
    if (uncovered < 0 && !prior && !whole && !within?.hasAll) {
      await view.extend()
      continue
    }
    const start = Math.max(shown?.from ?? 0, uncovered < 0 ? units.length : uncovered)
    const opening = layout.openerOf(start)
    const cut =
      start >= units.length && units.length > 0 && start > 0 && uncovered < 0
        ? { windowFrom: null, cuts: {}, from: units.length }
        : cutBack(layout, policy, {
            start,
            oldBefore: layout.indexOf(prior?.cuts.oldBefore, rows),
            room,
            keep: Math.min(room, keep),
            limits,
            mayFold: mayFold || (opening !== undefined && within?.folds(opening) === true),
          })
    if (cut && cut.from <= (opener ? 1 : 0) && !prior && !whole && !within?.isRead) {
      await view.extend()
      continue
    }
    // Where nothing shows, the window begins after the newest entry.
    const band = cut && { windowFrom: cut.windowFrom ?? rows.at(-1)?.id ?? null, cuts: cut.cuts }
    const window = band && layout.show(band, rows)
    if (!cut || !band || !window || window.tokens > room) throw tooSmall(parts, call)
    return { call, band, window, from: cut.from, ...(covering && { covering }) }
  }
}

function isEmpty({ conversation, rows }: View, { measure }: Call, { mark }: CurrentEpoch): boolean {
  return measure.layout(conversation).show(mark, rows).units.length === 0
}

function tooSmall({ view, calls }: EpochParts, call: Call): PlimsollError {
  const breakdown = calls.floor(call, view.conversation, view.next.place)
  return new PlimsollError(
    'ERR_BUDGET_TOO_SMALL',
    `context: the floor of ${breakdown.floor} tokens is above the cap of ${breakdown.cap}`,
    { breakdown },
  )
}
