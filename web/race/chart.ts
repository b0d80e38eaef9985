import { html, svg, type TemplateResult } from 'lit/html.js'
import type { Billed, BilledCall, Bills } from '../../src/replay/bills.ts'

/** From the first row to the last. */
export const BILLED = ['plimsoll', 'full', 'optimum'] as const satisfies readonly Billed[]

/** Whether a call was not made: it would not have fitted under the line. */
export function isRefused({ tokens }: Pick<BilledCall, 'tokens'>): boolean {
  return tokens === 0
}

/** Tokens at the top of the drawing. */
export function highest({ budget, calls }: Bills): number {
  return Math.max(budget * 1.25, ...BILLED.flatMap((name) => calls[name].map(({ tokens }) => tokens)))
}

/** Of the drawing, in its own units; it is stretched to where it stands. */
const WIDTH = 600
const HEIGHT = 200

/**
 * Tokens of each call up to the one that shows; the rest of each line is faint. A single call has
 * level lines.
 */
export function chart(bills: Bills, shown: number, lineLabel: string): TemplateResult {
  const { budget, calls } = bills
  const count = calls.full.length
  const most = highest(bills)
  const x = (call: number): number => Math.round((call / Math.max(1, count - 1)) * WIDTH)
  const y = (tokens: number): number => Math.round((1 - tokens / most) * HEIGHT)
  const level = count === 1 ? `H${WIDTH}` : ''
  const path = (name: Billed, to: number): string =>
    calls[name]
      .slice(0, to)
      .map((made, call, all) => {
        if (isRefused(made)) return ''
        const before = all[call - 1]
        return `${before && !isRefused(before) ? 'L' : 'M'}${x(call)} ${y(made.tokens)}${level}`
      })
      .join('')
  const points = calls.plimsoll.slice(0, shown + 1).map(({ tokens }, call) => `L${x(call)} ${y(tokens)}`)
  const area = `M0 ${HEIGHT}${points.join('')}${level}V${HEIGHT}Z`
  const line = y(budget)
  const isOver = (calls.full[shown]?.tokens ?? 0) > budget
  return html`<div class="race-chart">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      ${BILLED.map((name) => svg`<path class="ahead ${name}" d=${path(name, count)} />`)}
      <path class="fill" d="${area}" />
      <line class="limit ${isOver ? 'broken' : ''}" x1="0" x2=${WIDTH} y1=${line} y2=${line} />
      ${BILLED.map((name) => svg`<path class=${name} d=${path(name, shown + 1)} />`)}
      <line class="place" x1=${x(shown)} x2=${x(shown)} y1="0" y2=${HEIGHT} />
    </svg>
    <p class="race-limit">${lineLabel}</p>
  </div>`
}
