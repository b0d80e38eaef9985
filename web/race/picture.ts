/** The share card: the end of a race as a picture, drawn in the page, which sends nothing. */
import type { Billed, Bills } from '../../src/replay/bills.ts'
import { BILLED, highest, isRefused } from './chart.ts'

export interface Card {
  readonly bills: Bills
  readonly title: string
  readonly line: string
  readonly rows: readonly { readonly name: Billed; readonly label: string; readonly bill: string }[]
  /** That its figures are estimates, and what they assume. */
  readonly assumed: string
  readonly source: string
  readonly direction: 'ltr' | 'rtl'
}

const WIDTH = 1_200
const HEIGHT = 630
const EDGE = 60
const COLOURS = { plimsoll: '#7cc0ee', full: '#f0b26b', optimum: '#9fd8a4' } as const
const GROUND = '#12171c'
const TEXT = '#e8edf2'
const QUIET = '#aeb8c2'
const LIMIT = '#ff6b62'
const FONT = 'system-ui, sans-serif'

/** Saves it as a file. */
export function savePicture(card: Card): void {
  const canvas = document.createElement('canvas')
  canvas.width = WIDTH
  canvas.height = HEIGHT
  const context = canvas.getContext('2d')
  if (!context) return
  drawCard(context, card)
  canvas.toBlob((blob) => {
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = 'plimsoll-race.png'
    link.click()
    // The browser reads it after the click.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }, 'image/png')
}

export function drawCard(
  context: CanvasRenderingContext2D,
  { bills, title, line, rows, assumed, source, direction }: Card,
): void {
  const { budget, calls } = bills
  const start = direction === 'rtl' ? WIDTH - EDGE : EDGE
  const end = direction === 'rtl' ? EDGE : WIDTH - EDGE
  context.direction = direction
  context.fillStyle = GROUND
  context.fillRect(0, 0, WIDTH, HEIGHT)
  const say = (
    text: string,
    x: number,
    y: number,
    font: string,
    colour: string,
    align: CanvasTextAlign,
  ): void => {
    context.font = `${font} ${FONT}`
    context.fillStyle = colour
    context.textAlign = align
    context.fillText(text, x, y, WIDTH - 2 * EDGE)
  }
  say('Plimsoll', start, 76, '600 30px', COLOURS.plimsoll, 'start')
  say(title, start, 124, '600 40px', TEXT, 'start')
  const top = 165
  const height = 215
  const most = highest(bills)
  const last = Math.max(1, calls.full.length - 1)
  const y = (tokens: number): number => top + (1 - tokens / most) * height
  const x = (call: number): number => EDGE + (call / last) * (WIDTH - 2 * EDGE)
  for (const name of BILLED) {
    context.beginPath()
    let isAhead = true
    for (const [call, made] of calls[name].entries()) {
      if (isRefused(made)) isAhead = true
      else {
        if (isAhead) context.moveTo(x(call), y(made.tokens))
        isAhead = false
        context.lineTo(x(call), y(made.tokens))
        // A single call has a level line.
        if (calls[name].length === 1) context.lineTo(WIDTH - EDGE, y(made.tokens))
      }
    }
    context.strokeStyle = COLOURS[name]
    context.setLineDash(name === 'optimum' ? [6, 6] : [])
    context.lineWidth = 3
    context.stroke()
  }
  context.setLineDash([])
  context.fillStyle = LIMIT
  context.fillRect(EDGE, y(budget) - 1.5, WIDTH - 2 * EDGE, 3)
  say(line, start, y(budget) - 10, '22px', LIMIT, 'start')
  for (const [place, { name, label, bill }] of rows.entries()) {
    const at = 434 + place * 44
    say(label, start, at, '28px', COLOURS[name], 'start')
    say(bill, end, at, '600 30px', TEXT, 'end')
  }
  say(assumed, start, HEIGHT - 62, '20px', QUIET, 'start')
  say(source, start, HEIGHT - 32, '20px', QUIET, 'start')
}
