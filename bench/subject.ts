import type { Exchange } from './history.ts'
import type { Request } from './pairs/check.ts'

/** Something that is measured: Plimsoll, the limit, or a peer. */
export interface Subject {
  /**
   * What each step of {@link Open} is called in the report. A step is timed from the start of the
   * first.
   */
  readonly steps: readonly string[]
  /**
   * Contract: keeps the whole history, in the shape that it works on, and is warm when it resolves.
   */
  open(history: Iterable<Exchange>): Promise<Open>
  /** Names what {@link Open.cold} measures. */
  readonly cold?: string
}

export interface Open {
  /** Adds one exchange; reported beside the steps, never part of them. */
  append(exchange: Exchange): unknown
  /** What a call consists of, in order. A step that returns a promise is awaited. */
  readonly steps: readonly (() => unknown)[]
  /** What the last call showed. */
  shown(): Shown
  /** One call as after a restart, in milliseconds; an exchange was appended since the last. */
  cold?(): Promise<number>
}

export interface Shown {
  /** Messages, the system message not counted. */
  readonly messages: number
  /** By the subject's own count, where it has one. */
  readonly tokens?: number
}

/**
 * What a library would send for a history, system messages left out; `undefined` when it refuses.
 */
export type Build = (history: Exchange, budget: number) => Promise<Request | undefined>

export const BUDGET = 8_000
