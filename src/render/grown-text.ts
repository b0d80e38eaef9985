import { beginsWith, isSame } from '../kernel/context/keeper.ts'
import type { Block } from '../ports/context.ts'

/** JSON of what blocks are shown as, each item after a comma. */
export interface Grown {
  readonly fence: string
  readonly blocks: Block[]
  /** Where the text of each block ends; that of results stands with the last ones of their step. */
  readonly ends: number[]
  text: string
}

/**
 * The text of blocks, of which those that were written before are only copied: together where
 * others follow them, else step by step.
 *
 * @param before what was written last: it grows, or is read
 * @param write a pure function of the blocks, and for system texts of the fence: of a message with
 * the results that follow it
 */
export function grownText(
  before: Grown | undefined,
  blocks: readonly Block[],
  fence: string,
  write: (step: readonly Block[]) => string,
): Grown {
  const goesOn = before?.fence === fence && beginsWith(blocks, before.blocks)
  const grown: Grown = goesOn ? before : { fence, blocks: [], ends: [], text: '' }
  const written = goesOn || !before ? undefined : reader(before, fence)
  for (let from = grown.blocks.length; from < blocks.length; from = grown.blocks.length) {
    let to = from + 1
    while (blocks[to]?.role === 'tool') to++
    const step = blocks.slice(from, to)
    const text = written?.(step) ?? write(step)
    for (const block of step) {
      grown.blocks.push(block)
      grown.ends.push(grown.text.length)
    }
    grown.text += text
    grown.ends[to - 1] = grown.text.length
  }
  return grown
}

/** Finds what was written of a step. */
function reader(before: Grown, fence: string): (step: readonly Block[]) => string | undefined {
  const { blocks, ends, text } = before
  const places = new Map(blocks.map((block, index) => [block, index]))
  return (step) => {
    const [first] = step as [Block]
    const from = places.get(first)
    if (from === undefined || first.role === 'tool') return undefined
    if (first.role === 'system' && before.fence !== fence) return undefined
    const to = from + step.length
    const isWhole = isSame(blocks.slice(from, to), step) && blocks[to]?.role !== 'tool'
    return isWhole ? text.slice(ends[from - 1] ?? 0, ends[to - 1]) : undefined
  }
}
