import type { Context } from '../../ports/context.ts'
import type { Usage } from '../../ports/model.ts'

/** What the calls of the model took in one run. */
export interface Spent extends Required<Usage> {
  /** Id of the model. Absent: it was not called. */
  model?: string
  calls: number
  /** Of these, calls of which the provider did not say what they took: failed ones, for example. */
  unreported: number
  /** Of the newest call's context: tokens by the memory's own count, and its epoch. */
  tokens?: number
  epoch?: string
}

const COUNTED = ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens'] as const

/** What was spent before the first call, to be added to. */
export function nothingSpent(): { -readonly [Field in keyof Spent]: Spent[Field] } {
  return {
    ...{ calls: 0, unreported: 0 },
    ...{ inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 },
  }
}

/** Adds one call of the model. */
export function addCall(
  spent: ReturnType<typeof nothingSpent>,
  model: string,
  usage: Usage,
  { epoch, receipt }: Context,
): void {
  spent.model = model
  spent.calls++
  if (usage.inputTokens === undefined) spent.unreported++
  for (const name of COUNTED) spent[name] += usage[name] ?? 0
  spent.tokens = receipt.used
  spent.epoch = epoch
}
