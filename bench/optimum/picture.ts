/**
 * The picture of the bench: a row for each policy, a point for each floor, cost over optimum on a
 * scale that doubles. It stands alone: no script, no font, nothing to load.
 */

import type { Ratio } from '../optimum.ts'
import { element, escapeXml } from '../picture/chart.ts'

const WIDTH = 760
const LEFT = 150
const RIGHT = 730
const TOP = 78
const ROW = 34
/** Doublings that the scale shows. */
const MOST = 4
const SHAPES = ['circle', 'square', 'diamond'] as const
/** What a reader needs to know of each policy. */
const HINTS: { readonly [Policy in Ratio['policy']]: string } = {
  plimsoll: 'plimsoll',
  mastra: 'Mastra, band',
  sessions: 'agents/sessions',
  sliding: 'sliding window',
  masked: 'outputs masked',
  pruned: 'pruneMessages',
  full: 'everything',
}

export function drawRatios(
  ratios: readonly Pick<Ratio, 'policy' | 'floor' | 'ratio'>[],
  floors: readonly number[],
): string {
  const policies = [...new Set(ratios.map(({ policy }) => policy))]
  const bottom = TOP + policies.length * ROW
  const xOf = (ratio: number): number =>
    Math.round((LEFT + (Math.min(MOST, Math.log2(Math.max(1, ratio))) / MOST) * (RIGHT - LEFT)) * 10) / 10
  const scale = Array.from({ length: MOST + 1 }, (_, power) => {
    const x = xOf(2 ** power)
    const line = element('path', { class: 'grid', d: `M${x} ${TOP}V${bottom}` })
    return line + text(x, bottom + 18, `${2 ** power}`, 'middle')
  })
  const rows = policies.map((policy, index) => {
    const y = TOP + (index + 0.5) * ROW
    const points = ratios
      .filter((ratio) => ratio.policy === policy)
      .map(({ floor, ratio }) => {
        const title = element('title', {}, `${HINTS[policy]}, floor ${floor}: ${ratio.toFixed(2)}`)
        return mark(floors.indexOf(floor), xOf(ratio), y, title, policy === 'plimsoll')
      })
    return text(LEFT - 12, y + 4, HINTS[policy], 'end') + points.join('')
  })
  const legend = floors.map((floor, index) => {
    const x = LEFT + index * 150
    return mark(index, x, 52, '', false) + text(x + 14, 56, `floor ${floor} tokens`, 'start')
  })
  const about = 'Cost of input over the least that a window could have cost which knew the recording'
  return element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${WIDTH} ${bottom + 34}`, role: 'img' },
    [
      element('title', {}, about),
      element('style', {}, STYLE),
      text(20, 26, about, 'start'),
      ...legend,
      ...scale,
      ...rows,
    ].join('\n'),
  )
}

function mark(shape: number, x: number, y: number, title: string, isOurs: boolean): string {
  const of = isOurs ? 'ours' : 'other'
  if (SHAPES[shape] === 'circle') return element('circle', { class: of, cx: x, cy: y, r: 5 }, title)
  const d = SHAPES[shape] === 'square' ? `M${x - 5} ${y - 5}h10v10h-10z` : `M${x} ${y - 7}l7 7-7 7-7-7z`
  return element('path', { class: of, d }, title)
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return element('text', { x, y, 'text-anchor': anchor }, escapeXml(words))
}

const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.grid { stroke: #8884 }
.ours { fill: #0065bd }
.other { fill: none; stroke: #c24e00; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .ours { fill: #58a6ff }
  .other { stroke: #f0883e }
}
`
