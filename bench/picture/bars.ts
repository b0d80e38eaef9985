import { shorten } from '../../src/replay/words.ts'
import { element, round, short } from './chart.ts'
import { colour, framed, WIDTH, words } from './frame.ts'

export interface Bars {
  readonly title: string
  readonly unit: string
  /** Drawn in this order. */
  readonly bars: readonly { readonly name: string; readonly value: number; readonly isOurs: boolean }[]
}

/** A picture for docs/benchmarks.md. */
export interface Picture {
  readonly file: string
  readonly title: string
  readonly svg: string
}

/** A picture of bars as a report has it. */
export function plotBars(file: string, bars: Bars): Picture {
  return { file, title: bars.title, svg: drawBars(bars) }
}

const LEFT = 380
/** Letters of a name. */
const NAME = 50
const ROW = 24

/** Contract: the same bars give the same bytes; lengths are in proportion to the values. */
export function drawBars({ title, unit, bars }: Bars): string {
  const most = Math.max(...bars.map(({ value }) => value))
  const rows = bars.map(({ name, value, isOurs }, index) => {
    const y = 48 + index * ROW
    const width = round((value / most) * (WIDTH - LEFT - 90))
    const bar = element('rect', { class: colour(isOurs ? 0 : 1), x: LEFT, y, width, height: ROW - 8 })
    const figure = words(LEFT + width + 8, y + 13, `${short(value)} ${unit}`)
    return `${words(LEFT - 10, y + 13, shorten(name, NAME), 'end')}${bar}${figure}`
  })
  return framed(title, 62 + bars.length * ROW, rows)
}
