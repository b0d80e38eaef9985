import { type ModelPrices, priceOf } from '../models/prices.ts'
import type { EndedRun } from '../turn/turns-options.ts'

/** A run of the edge's agent that has ended, as a log has it: ids and sizes, never content. */
export interface RunLine extends EndedRun {
  readonly object: 'session'
  /** Of the Durable Object, which names nobody. */
  readonly id: string
  /** Dollars, for what the provider reported. Absent: the settings have no prices. */
  readonly cost?: number
}

/** Where runs are told. */
export interface RunSettings {
  /** Contract: told of each run of the agent that has ended; must not throw. Default: nobody is. */
  readonly onRun?: (line: RunLine) => void
  /** What the model costs. Default: no line has a `cost`. */
  readonly prices?: ModelPrices
}

export function tellRun({ onRun, prices }: RunSettings, id: string, end: EndedRun): void {
  onRun?.({ object: 'session', id, ...end, ...(prices && { cost: priceOf(end, prices) }) })
}
