/**
 * What any chart needs: round ticks, lines with fewer points, path data, and text that stays text.
 */

export interface Point {
  readonly x: number
  readonly y: number
}

/** A line without gaps. */
export type Run = readonly Point[]

/**
 * Multiples of 1, 2 or 5 times a power of ten, whole numbers only: from 0 to `most`, at most
 * `count` above 0.
 */
export function ticks(most: number, count: number): readonly number[] {
  const rough = Math.max(1, most / count)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10)
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step)
}

/** At most three digits: 950, 16k, 1.25M. */
export function short(number: number): string {
  const round = Number(number.toPrecision(3))
  if (round >= 1e6) return `${round / 1e6}M`
  return round >= 1e3 ? `${round / 1e3}k` : String(round)
}

/**
 * The line through `values`, in order, with gaps where they are `undefined`. Of more than `most`
 * values it keeps the lowest and the highest of each of `most / 2` stretches.
 */
export function runsOf(values: readonly (number | undefined)[], most: number): readonly Run[] {
  const runs: Point[][] = []
  let before = -1
  for (const index of thin(values, most)) {
    const between = values.slice(before + 1, index)
    const gap = between.length > 0 && between.every((value) => value === undefined)
    if (before < 0 || gap) runs.push([])
    runs.at(-1)?.push({ x: index, y: values[index] as number })
    before = index
  }
  return runs
}

function thin(values: readonly (number | undefined)[], most: number): readonly number[] {
  const indices = [...values.keys()].filter((index) => values[index] !== undefined)
  if (values.length <= most) return indices
  const length = (2 * values.length) / most
  const kept = new Map<number, { low: number; high: number }>()
  for (const index of indices) {
    const value = values[index] as number
    const stretch = kept.get(Math.floor(index / length)) ?? { low: index, high: index }
    if (value < (values[stretch.low] as number)) stretch.low = index
    if (value > (values[stretch.high] as number)) stretch.high = index
    kept.set(Math.floor(index / length), stretch)
  }
  return [
    ...new Set([...kept.values()].flatMap(({ low, high }) => [Math.min(low, high), Math.max(low, high)])),
  ]
}

/** The parts of a line that are at or below `top`, each up to its next point above. */
export function below(runs: readonly Run[], top: number): readonly Run[] {
  return runs.flatMap((run) => {
    const parts: Point[][] = []
    let last = -2
    for (const [index, point] of run.entries()) {
      if (![run[index - 1], point, run[index + 1]].some((near) => near && near.y <= top)) continue
      if (last < index - 1) parts.push([])
      parts.at(-1)?.push(point)
      last = index
    }
    return parts
  })
}

/** Where a line passes `top` upwards or begins above it, and how high it gets before it is back. */
export function exits(
  runs: readonly Run[],
  top: number,
): readonly { readonly x: number; readonly peak: number }[] {
  const found: { x: number; peak: number }[] = []
  for (const run of runs) {
    let before: Point | undefined
    for (const point of run) {
      const last = found.at(-1)
      if (point.y > top && before && before.y > top && last) last.peak = Math.max(last.peak, point.y)
      else if (point.y > top) {
        const slope = before ? (point.x - before.x) / (point.y - before.y) : 0
        found.push({ x: point.x - slope * (point.y - top), peak: point.y })
      }
      before = point
    }
  }
  return found
}

/**
 * Path data of lines, to a tenth of a unit. A point alone becomes a dot where line caps are round.
 */
export function pathData(runs: readonly Run[]): string {
  return runs
    .map((run) => {
      let data = ''
      let [beforeX, beforeY] = [0, 0]
      for (const { x, y } of run) {
        const [nowX, nowY] = [Math.round(x * 10), Math.round(y * 10)]
        const pair = `${decimal(nowX - beforeX)} ${decimal(nowY - beforeY)}`
        data += data === '' ? `M${pair}l` : ` ${pair}`
        ;[beforeX, beforeY] = [nowX, nowY]
      }
      return run.length === 1 ? `${data.slice(0, -1)}h0` : data
    })
    .join('')
    .replaceAll(/ (?=-)|(?<=l) /g, '')
}

function decimal(tenths: number): string {
  return String(tenths / 10).replace(/^(-?)0\./, '$1.')
}

/**
 * Moves labels down and then up until they are `gap` apart, none below `bottom`; keeps their order.
 */
export function spread(places: readonly number[], gap: number, bottom: number): readonly number[] {
  const order = [...places.keys()].sort((one, other) => (places[one] as number) - (places[other] as number))
  const moved = [...places]
  let least = Number.NEGATIVE_INFINITY
  for (const index of order) {
    moved[index] = Math.max(least, moved[index] as number)
    least = (moved[index] as number) + gap
  }
  let most = bottom
  for (const index of order.reverse()) {
    moved[index] = Math.min(most, moved[index] as number)
    most = (moved[index] as number) - gap
  }
  return moved
}

/**
 * Text for XML: markup escaped; what XML forbids, and what turns the reading order round, replaced.
 */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|\p{Bidi_Control}/gu, '\uFFFD')
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export function element(
  name: string,
  attributes: { readonly [name: string]: string | number },
  content = '',
): string {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`)
  return `<${name}${list.join('')}${content === '' ? '/' : `>${content}</${name}`}>`
}

/** To a tenth, as finer differences do not show. */
export function round(value: number): number {
  return Math.round(value * 10) / 10
}
