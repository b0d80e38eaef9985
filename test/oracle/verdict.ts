/** What two builds make of a history. */
import type { History } from './commands.ts'
import { compared, type Difference, told } from './compare.ts'
import { broken } from './judge.ts'
import { play, type Result, type Side } from './play.ts'

export type Verdict =
  /** Up to the step from which on other ways are wanted, if there is one. */
  | { readonly status: 'same'; readonly until?: number }
  /** The frozen build breaks a law in it: then it need not be the same. */
  | { readonly status: 'lawless'; readonly lines: readonly string[] }
  | { readonly status: 'different'; readonly difference: Difference; readonly lines: readonly string[] }

export interface Judged {
  readonly verdict: Verdict
  /** What the frozen build made of it. */
  readonly result: Result
}

export async function judged(history: History, frozen: Side, built: Side): Promise<Judged> {
  const result = await play(history, frozen)
  const lines = broken(history, result)
  if (lines.length > 0) return { verdict: { status: 'lawless', lines }, result }
  const other = await play(history, built)
  const { difference, ...rest } = compared(result, other)
  if (!difference) return { verdict: { status: 'same', ...rest }, result }
  const verdict = { status: 'different', difference, lines: broken(history, other) } as const
  return { verdict, result }
}

/** A verdict in a few lines. */
export function verdictTold(verdict: Verdict): string {
  if (verdict.status === 'same') return 'the same'
  if (verdict.status === 'lawless') return verdict.lines.join('\n')
  return [told(verdict.difference), ...verdict.lines.map((line) => `  by now ${line}`)].join('\n')
}
