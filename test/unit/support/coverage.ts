import { expect } from 'vitest'
import type { Context } from '../../../src/index.ts'
import { shown as idsShown } from './messages.ts'

/** Law 4: of all messages of the log, given by id in its order, each is shown or listed as omitted, and never both. */
export function expectAllAccounted(context: Context, ids: readonly string[]): void {
  const shown = new Set(idsShown(context))
  const omitted = context.receipt.omitted.flatMap(({ from, to, count }) => {
    const range = ids.slice(ids.indexOf(from), ids.indexOf(to) + 1)
    expect(range.length).toBe(count)
    return range
  })
  expect(new Set(omitted).size).toBe(omitted.length)
  expect(omitted.filter((id) => shown.has(id))).toEqual([])
  expect(omitted.length + shown.size).toBe(ids.length)
}
