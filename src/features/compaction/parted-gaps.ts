import { type Gap, lastBefore } from '../../kernel/context/gaps.ts'
import type { Reads } from '../../ports/store.ts'

/** Between the message of an ordinal and the one after it, whose id is given. */
export interface Border {
  readonly last: number
  readonly next: string | undefined
}

/** Ranges, parted at borders. */
export async function partGaps(
  store: Reads,
  gaps: readonly Gap[],
  borders: readonly Border[],
): Promise<readonly Gap[]> {
  let parted = gaps
  for (const border of borders) parted = await partAt(store, parted, border)
  return parted
}

async function partAt(store: Reads, gaps: readonly Gap[], { last, next }: Border): Promise<readonly Gap[]> {
  const gap = gaps.find((one) => one.first <= last && last < one.last)
  if (!gap || next === undefined) return gaps
  const to = (await lastBefore(store, next)) ?? gap.from
  const parts = [
    { ...gap, to, last },
    { ...gap, from: next, first: last + 1 },
  ]
  return gaps.flatMap((one) => (one === gap ? parts : one))
}
