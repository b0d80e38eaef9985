import { expect } from 'vitest'
import type { Context } from '../../../src/index.ts'
import { shown as idsShown } from './messages.ts'

/**
 * Law 4: of all messages of the log, given by id in its order, each is shown, or covered by the
 * summary that is shown, or listed as omitted, and never two of these.
 */
export function expectAllAccounted(context: Context, ids: readonly string[]): void {
  const { omitted, summary } = context.receipt
  const memory = context.blocks.find(({ section }) => section === 'memory')
  // Without a summary it holds what is pinned, of one that has no room.
  if (summary) expect(memory?.from).toEqual([summary.id])
  const shown = new Set(idsShown(context).filter((id) => !memory?.from.includes(id)))
  const ranges = [...omitted, ...(summary?.covers ?? [])].flatMap(({ from, to, count }) => {
    const range = ids.slice(ids.indexOf(from), ids.indexOf(to) + 1)
    expect(range.length).toBe(count)
    return range
  })
  expect(new Set(ranges).size).toBe(ranges.length)
  expect(ranges.filter((id) => shown.has(id))).toEqual([])
  expect(ranges.length + shown.size).toBe(ids.length)
}
