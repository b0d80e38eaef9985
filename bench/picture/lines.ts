import { shorten } from '../../src/replay/words.ts'
import { element, type Point, pathData, round, short } from './chart.ts'
import { colour, framed, line, words } from './frame.ts'

export interface Lines {
  readonly title: string
  readonly xUnit: string
  readonly yUnit: string
  /** By both axes on a logarithmic scale, so all numbers are above 0. Ours comes first. */
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[]
}

const HEIGHT = 420
/** Letters of a name. */
const NAME = 28
const [LEFT, RIGHT, TOP, BOTTOM] = [90, 600, 60, 370]

/** The powers of ten around these numbers. */
function powers(numbers: readonly number[]): readonly number[] {
  const [first, last] = [
    Math.floor(Math.log10(Math.min(...numbers))),
    Math.ceil(Math.log10(Math.max(...numbers))),
  ]
  return Array.from({ length: Math.max(last - first, 1) + 1 }, (_, index) => 10 ** (first + index))
}

/** Where a number is between the first and the last power. */
const share = (value: number, among: readonly number[]): number =>
  Math.log10(value / (among[0] ?? 1)) / Math.log10((among.at(-1) ?? 10) / (among[0] ?? 1))

/** Contract: the same lines give the same bytes. */
export function drawLines({ title, xUnit, yUnit, series }: Lines): string {
  const points = series.flatMap((one) => one.points)
  const [xs, ys] = [powers(points.map(({ x }) => x)), powers(points.map(({ y }) => y))]
  const place = ({ x, y }: Point): Point => ({
    x: round(LEFT + share(x, xs) * (RIGHT - LEFT)),
    y: round(BOTTOM - share(y, ys) * (BOTTOM - TOP)),
  })
  const grid = ys.map((y) => {
    const at = place({ x: xs[0] ?? 1, y }).y
    return `${line([LEFT, at], [RIGHT, at], 'grid')}${words(LEFT - 8, at + 4, short(y), 'muted end')}`
  })
  const feet = xs.map((x) => words(place({ x, y: ys[0] ?? 1 }).x, BOTTOM + 22, short(x), 'muted middle'))
  const drawn = series.map((one, index) => {
    const y = TOP + 14 + index * 22
    const path = element('path', { d: pathData([one.points.map(place)]) })
    const sample = line([RIGHT + 24, y - 4], [RIGHT + 48, y - 4], '')
    return element(
      'g',
      { class: colour(index) },
      `${path}${sample}${words(RIGHT + 56, y, shorten(one.name, NAME))}`,
    )
  })
  const axes = [words(20, TOP - 10, yUnit, 'muted'), words(RIGHT, BOTTOM + 42, xUnit, 'muted end')]
  return framed(title, HEIGHT, [...grid, ...feet, ...axes, ...drawn])
}
