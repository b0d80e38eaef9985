import type { Goal } from '../table.ts'
import type { Figures, WidgetRow } from './measure.ts'
import { OURS, PACKAGE, PAGED } from './subjects.ts'

/** Of the peer that pages, too. */
const MOST_TIME = 1
const MOST_MEMORY = 2

export function widgetsGoals(rows: readonly WidgetRow[]): Goal[] {
  const paged = rows.find(({ name }) => name === PAGED)
  return [OURS, PACKAGE].flatMap((asked) => {
    const ours = rows.find(({ name }) => name === asked)
    const goal = (what: string, measured: number | undefined, most: number): Goal[] =>
      measured === undefined
        ? []
        : [
            {
              goal: `${asked}: ${what} at most ${most} of ${PAGED}`,
              measured: measured.toFixed(2),
              // Another run differs in the second place.
              holds: Number(measured.toFixed(2)) <= most,
            },
          ]
    const memory = (of: 'opened' | 'scrolled'): number | undefined => {
      const [own, other]: (Figures | undefined)[] = [ours?.[of], paged?.[of]]
      return own && other && own.heapMiB / other.heapMiB
    }
    return [
      ...goal('opens in', ours?.openOfPaged, MOST_TIME),
      ...goal('memory, opened,', memory('opened'), MOST_MEMORY),
      ...goal('memory, scrolled,', memory('scrolled'), MOST_MEMORY),
    ]
  })
}
