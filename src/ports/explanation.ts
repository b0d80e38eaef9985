import type { Rule, SectionName } from './context.ts'
import type { Trust } from './message.ts'

/** Whose request it is. */
export type Provider = (typeof PROVIDERS)[number]
export const PROVIDERS = ['openai', 'anthropic'] as const

/** What put a piece of a request there. */
export interface Source {
  readonly section: SectionName | 'tools' | 'request'
  /**
   * The rule of the block; `tools` for the tools, `request` for the brace that opens the request.
   */
  readonly rule: Rule | 'tools' | 'request'
  /**
   * Ids of the entries that it shows; for system, memory and tools the key of their register; empty
   * for what Plimsoll added.
   */
  readonly records: readonly string[]
  /** By the policy's counter. Those of `request` are what the format adds once a request. */
  readonly tokens: number
  readonly trust: Trust
}

/** A stretch of a rendered request that comes from one source. */
export interface Span extends Source {
  /**
   * Where it begins and ends in {@link Explanation.text}, in UTF-16 units, as `slice` takes them.
   */
  readonly from: number
  readonly to: number
}

/** Where every character and every token of a request comes from. */
export interface Explanation {
  readonly provider: Provider
  /**
   * The request as JSON: exactly `JSON.stringify(toOpenAI(context))` or
   * `JSON.stringify(toAnthropic(context))`.
   */
  readonly text: string
  /**
   * In order, without gaps or overlaps. A source that another one interrupts has two spans; the
   * first has its tokens.
   */
  readonly spans: readonly Span[]
  /**
   * What the counter counted although this provider is not given it, such as what only another
   * provider understands. With the spans' tokens, theirs add up to the receipt's `used`.
   */
  readonly unrendered: readonly Source[]
}
