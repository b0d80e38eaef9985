import { round } from '../stats.ts'
import type { Goal } from '../table.ts'
import type { BrowserReport, BrowserRow, Part } from './browser.ts'
import { APPEND_AND_READ, OPEN_AND_READ, OURS, SAME_INDEXES, SAME_JOB } from './page-orders.ts'

/** How many times the p50 of a peer that of ours is. */
export interface BrowserRatio {
  readonly part: Part
  readonly durability: BrowserRow['durability']
  readonly peer: string
  readonly ratio: number
}

const MOST: readonly { readonly part: Part; readonly peer: string; readonly most: number }[] = [
  { part: 'append', peer: SAME_JOB, most: 1.15 },
  { part: 'call', peer: APPEND_AND_READ, most: 0.8 },
  { part: 'reopen', peer: OPEN_AND_READ, most: 1.5 },
  { part: 'import', peer: SAME_INDEXES, most: 1.1 },
]
const MOST_GROWTH = 1.4

export function browserRatios(rows: readonly BrowserRow[]): BrowserRatio[] {
  return rows.flatMap(({ part, what, durability, p50Ms }): BrowserRatio[] => {
    const ours = rows.find((row) => row.part === part && row.durability === durability && row.what === OURS)
    if (!ours || what.startsWith(OURS)) return []
    return [{ part, durability, peer: what, ratio: round(ours.p50Ms / p50Ms) }]
  })
}

export function browserGoals({ rows }: BrowserReport): Goal[] {
  const ratios = browserRatios(rows)
  const most = MOST.flatMap(({ part, peer, most }) =>
    ratios
      .filter((ratio) => ratio.part === part && ratio.peer === peer)
      .map(({ durability, ratio }) => ({
        goal: `browser, ${part}, ${durability}: p50 <= ${most} x ${peer}`,
        measured: `${ratio} x`,
        holds: ratio <= most,
      })),
  )
  return [...most, ...flat(rows)]
}

/** The first read of the end of a log is the one that the goal is about. */
function flat(rows: readonly BrowserRow[]): Goal[] {
  const [small] = rows.filter(({ part }) => part === 'end')
  const large = rows.findLast(({ part, what }) => part === 'end' && what === small?.what)
  if (!small || !large) return []
  const ratio = large.p50Ms / small.p50Ms
  return [
    {
      goal: `browser, ${small.what}: p50 of ${large.messages} messages <= ${MOST_GROWTH} x that of ${small.messages}`,
      measured: `${ratio.toFixed(2)} x`,
      holds: ratio <= MOST_GROWTH,
    },
  ]
}
