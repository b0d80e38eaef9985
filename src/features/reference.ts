import { hashText } from '../text/hash.ts'

const FIRST = 100_000
const COUNT = 900_000

/**
 * What a model calls a fact, made from its id: the same in every context and as long as the fact is
 * there, whatever else is remembered or forgotten. Always `f` and six digits, for six are as few
 * tokens as four. Two of a hundred facts have the same once in two hundred sessions: who takes one
 * looks for a second.
 */
export function referenceOf(id: string): string {
  return `f${FIRST + (Number.parseInt(hashText(id).slice(0, 12), 16) % COUNT)}`
}

/** What stands before a fact that shows: its reference, and where its kind has one its status. */
export function labelOf({ id, kind, status }: { id: string; kind?: string; status?: string }): string {
  // Only blockers that are open show.
  const state = status ?? (kind === 'blocker' ? 'open' : undefined)
  return state === undefined ? `[${referenceOf(id)}]` : `[${referenceOf(id)} · ${state}]`
}
