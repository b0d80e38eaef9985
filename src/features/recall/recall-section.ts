import { lowerTrust } from '../../kernel/log/message.ts'
import type { SectionUse } from '../../ports/context.ts'
import type { Trust } from '../../ports/message.ts'
import type { Recalled } from '../../ports/recall.ts'
import { labelOf } from '../reference.ts'
import { bestAtEdges } from '../text/edges.ts'
import { visible } from '../text/visible.ts'
import { fitLines } from './fit-lines.ts'
import { speakerOf } from './speaker.ts'

/** Items that an overflow names; the rest is counted. */
const NAMED = 5

/**
 * Results as a section of the tail: as many of the best as fit, in strict order, the best at both
 * edges (ranks 1, 3, 5 … 6, 4, 2), where models read most carefully (Liu et al. 2023, Lost in the
 * Middle).
 */
export function recallSection(
  items: readonly Recalled[],
  size: number,
  count: (text: string) => number,
): { readonly text: string; readonly trust: Trust; readonly use: SectionUse } {
  const all = items.map(lineOf)
  const { lines, tokens } = fitLines(all, size, count)
  const left = items.slice(lines.length)
  const shown = [...bestAtEdges(lines)]
  if (left.length > 0) shown.push(`(${left.length} more did not fit)`)
  return {
    text: lines.length === 0 ? '' : shown.join('\n'),
    trust: items.slice(0, lines.length).reduce<Trust>((low, { trust }) => lowerTrust(low, trust), 'user'),
    use: {
      name: 'recall',
      cap: size,
      tokens,
      items: lines.length,
      overflow: {
        count: left.length,
        tokens: all.slice(lines.length).reduce((sum, line) => sum + count(line), 0),
        first: left.slice(0, NAMED).map(({ id }) => id),
      },
    },
  }
}

function lineOf(item: Recalled): string {
  const label = item.type === 'fact' ? `${labelOf(item)} ` : ''
  return visible(`- ${label}${speakerOf(item)} [${item.trust}]: ${item.text}`)
    .replace(/\s+/g, ' ')
    .trim()
}
