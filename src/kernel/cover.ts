import type { SummaryUse } from '../ports/context.ts'
import type { EpochCause, SummaryMark } from '../ports/op.ts'
import type { LogRow, Reads } from '../ports/store.ts'
import type { Gap } from './context/gaps.ts'
import type { Call } from './context/measure.ts'
import type { Plan, PlanTarget } from './context/plan.ts'
import type { CurrentEpoch, View } from './context/view.ts'
import type { Layout, Window } from './context/window.ts'
import type { Unit } from './log/fold.ts'

/** What stands for messages: a summary's mark, its seq, and its place in the lane's chain. */
export interface Covering {
  readonly mark: SummaryMark
  readonly seq: number
  readonly place: number
  /** Whether there is no room for more of it than what is pinned. Then it stands for nothing. */
  readonly pinsOnly?: true
}

/** How it stands to what is in memory. */
export interface Within {
  /** Index of the first unit that it does not cover; below 0: there is none. */
  readonly from: number
  /** Whether all that follows it is in memory. */
  readonly isRead: boolean
  /** Whether all that its writer had not read is in memory with the round that it belongs to. */
  readonly hasAll: boolean
  folds(opener: Unit): boolean
}

/** What a receipt says of it. */
export interface Account {
  /** Parts ranges where it begins and ends to cover messages. */
  part(gaps: readonly Gap[]): Promise<readonly Gap[]>
  covers(ordinal: number): boolean
  use(covers: SummaryUse['covers']): SummaryUse
}

/** What stands for messages that do not show: law 4. Of one lane of one session. */
export interface Cover {
  /** Reads in the snapshot of the view. `isReloaded`: what was read may be forgotten since. */
  refresh(reads: Reads, view: View, isReloaded: boolean): Promise<void>
  /** What the epoch that holds shows. `gone`: it was forgotten, and the epoch ends. */
  shown(epoch: CurrentEpoch): Covering | 'gone' | undefined
  /** What an epoch before this one showed, where its mark names something. */
  past(reads: Reads, id: string): Promise<Covering | undefined>
  /** What the epoch had no room for, and might have now. */
  withheld(view: View): Covering | undefined
  /** What the next epoch may show. @param prior the one before it, unless that shows nothing */
  usable(view: View, prior: CurrentEpoch | undefined): Covering | undefined
  within(covering: Covering, view: View, layout: Layout): Within
  account(covering: Covering, window: Window, rows: readonly LogRow[]): Account
  /**
   * Whether a window of more than its newest unit is to be cut though it is within the line and its
   * limits.
   */
  isOver(call: Call, window: Window): boolean
  /** As a section of the memory text; empty: nothing of it shows. */
  text(covering: Covering, tag: string): string
  /**
   * Plans by the kernel's planner; what it is to write first is written, and planned again, once a
   * call.
   */
  plan(ask: PlanAsk): Promise<Planned>
  /** Told once an epoch is durable. */
  began?(made: Began): void
  /** Told where an epoch goes on; nobody waits. */
  goesOn?(call: Call, window: Window): void
}

/** What a cover plans by. */
export interface PlanAsk {
  readonly call: Call
  readonly view: View
  readonly cause: EpochCause
  readonly prior: CurrentEpoch | undefined
  readonly covering: Covering | undefined
  /** Whether something may be written first. */
  readonly mayWrite: boolean
  /** What the write of this very call came to. */
  readonly written: unknown
  /** Tokens that memory and window are cut back to together. */
  readonly keep: number
  /** @throws ERR_BUDGET_TOO_SMALL */
  plan(target: PlanTarget): Promise<Plan>
}

/** Where the next epoch begins, or what is to be written before. */
export type Planned =
  | (Plan & { readonly refused?: readonly string[] })
  | { readonly write: () => Promise<unknown> }

/** An epoch that began, and what it began after. */
export interface Began {
  readonly cause: EpochCause
  readonly before: Pick<Plan, 'call' | 'window'>
  readonly after: Plan & { readonly refused?: readonly string[] }
  /** What the write of this very call came to. */
  readonly written: unknown
}
