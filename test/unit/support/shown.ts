import type { Conversation } from '../../../src/kernel/log/fold.ts'
import type { Shown } from './reference.ts'

/** What a conversation shows, as the reference says it. */
export function shownIn({ units }: Pick<Conversation, 'units'>): Shown[] {
  return units.map(({ row, round, calls, results }) => ({
    id: row.id,
    round,
    calls: calls.map(({ answered }) => answered),
    results: results.flatMap((result) =>
      result.joined.map(({ index, call }) => [result.row.id, index, call.index] as const),
    ),
  }))
}
