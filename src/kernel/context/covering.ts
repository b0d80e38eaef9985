import type { SummaryMark } from '../../ports/op.ts'

/** What stands for messages: a summary's mark, where that stands in the log, and its place in the lane's chain. */
export interface Covering {
  readonly mark: SummaryMark
  readonly seq: number
  readonly place: number
  /** Whether there is no room for more of it than what is pinned. Then it stands for nothing. */
  readonly pinsOnly?: true
}

/** The first entry in the log's order that a summary may not cover, and the messages before it. */
export function endOf({ upto, count, apart }: SummaryMark): {
  readonly from: string
  readonly count: number
} {
  return apart ?? { from: upto, count }
}

/** What it really stands for. */
export function wholly(covering: Covering | undefined): Covering | undefined {
  return covering?.pinsOnly ? undefined : covering
}
