import { type Context, isPlimsollError } from '../src/index.ts'

/** How many messages of the log a context shows, how many its summary stands for, and how many it leaves out. */
export function messagesIn({ blocks, receipt }: Context): {
  readonly shown: number
  readonly summarised: number
  readonly omitted: number
} {
  return {
    shown: new Set(blocks.flatMap(({ section, from }) => (section === 'memory' ? [] : from))).size,
    summarised: sum(receipt.summary?.covers ?? []),
    omitted: sum(receipt.omitted),
  }
}

function sum(ranges: readonly { readonly count: number }[]): number {
  return ranges.reduce((total, { count }) => total + count, 0)
}

/** The least context and the room for it, where there was no room for even that. */
export function shortageIn(error: Error): { readonly floor: number; readonly cap: number } | undefined {
  return isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL') ? error.breakdown : undefined
}
