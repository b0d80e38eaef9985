import { valueIn } from '../../kernel/log/bodies.ts'
import { lowerTrust } from '../../kernel/log/message.ts'
import { FACT, type Fact } from '../../ports/fact.ts'
import type { IndexEntry, Name } from '../../ports/op.ts'
import type { RegisterRow } from '../../ports/store.ts'

export { FACT }

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

/**
 * Whether one of two facts counts for more: it is more trusted, or of the same trust somebody asked
 * for it, where the other was extracted.
 */
export function outranks(one: Fact, other: Fact): boolean {
  if (one.trust !== other.trust) return lowerTrust(one.trust, other.trust) === other.trust
  return other.extracted === true && !one.extracted
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
  readonly version: string
  readonly index: readonly IndexEntry[]
}
