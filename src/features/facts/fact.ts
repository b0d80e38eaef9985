import { valueIn } from '../../kernel/log/bodies.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Name } from '../../ports/op.ts'
import type { RegisterRow } from '../../ports/store.ts'

/** Index of all facts that hold, whatever their project: not superseded, resolved or swept. */
export const LIVE = 'fact'

/** What the keys of facts begin with. */
export const FACT = 'fact/'

/** Key of a fact's register. */
export function factKey(id: string): string {
  return `${FACT}${id}`
}

/** A fact's source as the store names it: a message, or a fact. */
export function sourceName(source: string): Name {
  return source.startsWith(FACT) ? `register:${source}` : `entry:${source}`
}

/** The fact in a register, unless it was forgotten. */
export function factIn(row: Pick<RegisterRow, 'key' | 'body'>): Fact | undefined {
  return (valueIn(row) as unknown as Fact | null | undefined) ?? undefined
}

/** Where a register stands in a list. */
export interface Place {
  readonly order: string
  readonly key: string
}

/** A fact as it stands in a list. */
export interface FactRow extends Place {
  readonly fact: Fact
  readonly seq: number
}
