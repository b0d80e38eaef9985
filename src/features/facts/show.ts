import type { Json } from '../../ports/message.ts'
import type { HeadPart, Rung, ShowPart } from '../../kernel/feature.ts'
import { idIn, type Known, type LongTerm } from './known.ts'
import {
  type Extent,
  newsSince,
  type Remembered,
  remember,
  type SectionSizes,
  stillHolds,
} from './remembered.ts'

const EXTENTS: { readonly [rung in Rung]: Extent } = { 0: 'all', 1: 'pinned', 2: 'profile' }

export function longTermShow(longTerm: LongTerm, sizes: SectionSizes): ShowPart<Known> {
  return {
    read: ({ registersAt, own, mayWrite }) => longTerm.read(registersAt, own, mayWrite),
    holds: (frozen, known) => stillHolds(recordIn(frozen), known),
    head: (known, { count, rung }) => partOf(remember(known, sizes, count, EXTENTS[rung])),
    since: (frozen, known, count) => {
      const news = newsSince(recordIn(frozen), known, sizes.news, count)
      return (
        news && {
          sections: [{ ...news.section, in: 'tail', at: 0 }],
          uses: [news.use],
          ids: news.ids,
        }
      )
    },
  }
}

function recordIn(part: HeadPart | undefined): Remembered | undefined {
  return part?.record as unknown as Remembered | undefined
}

function partOf(remembered: Remembered | undefined): HeadPart | undefined {
  if (!remembered) return undefined
  const { system, memory, facts, sources, uses } = remembered
  return {
    sections: [
      { in: 'system', at: 0, name: 'profile', text: system, trust: 'user' },
      ...memory.map((section, at) => ({ ...section, in: 'memory' as const, at })),
    ],
    uses,
    record: remembered as unknown as Json,
    sources: [...sources, ...facts.flatMap(([name]) => (name.startsWith('user:') ? name : []))],
    ids: facts.map(([name]) => idIn(name)),
  }
}
