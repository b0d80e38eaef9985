import { READ, WRITE } from '../features/compaction/price.ts'
import { costOf } from '../replay/cost.ts'
import type { CallFigures } from '../replay/figures.ts'
import type { Refusal } from '../replay/policy.ts'
import { grouped, percent, shorten } from '../replay/words.ts'

/** One call, as it is drawn. */
export interface Drawn {
  readonly call: number
  readonly answers: string
  readonly outcome: Refusal | CallFigures
}

export interface Canvas {
  readonly columns: number
  readonly colour: boolean
}

const FILL = { tools: '▚', system: '▓', memory: '▒', window: '█', tail: '░' } as const
export const LEGEND = `a line a call: ▚ tools  ▓ system  ▒ memory  █ window  ░ tail  | the line  ◆ a new epoch, and why
hit: share read from the provider's cache; cost: ${READ} a token read from there, ${WRITE} a fresh one`

/** Calls that are drawn one by one at the beginning and at the end of a long conversation. */
const FIRST = 40
const LAST = 20
/** Columns for what is over the line, if anything is. */
const OVER = 5
/** Columns for all but the bar and what the call answers. */
const FIGURES = 54
const SHORTEST_LABEL = 8
const SPARKS = '▁▂▃▄▅▆▇█'
const LONGEST_SPARKLINE = 60

/** A line for each call, at most 60; the calls between are one sparkline. */
export function drawBars(calls: readonly Drawn[], cap: number, canvas: Canvas): string {
  const over = calls.some(({ outcome }) => 'tokens' in outcome && outcome.tokens > cap) ? OVER : 0
  const draw = (some: readonly Drawn[]): string =>
    some.map((call) => `${drawBar(call, { cap, over }, canvas)}\n`).join('')
  if (calls.length <= FIRST + LAST) return draw(calls)
  const between = calls.slice(FIRST, -LAST)
  const skipped = `     ${sparkline(between, cap, LONGEST_SPARKLINE)} ${between.length} calls between\n`
  return draw(calls.slice(0, FIRST)) + skipped + draw(calls.slice(-LAST))
}

interface Scale {
  readonly cap: number
  /** Columns after the line. */
  readonly over: number
}

function drawBar({ call, answers, outcome }: Drawn, scale: Scale, canvas: Canvas): string {
  const { cap, over } = scale
  const paint = painter(canvas.colour)
  const room = canvas.columns - FIGURES - over
  const width = Math.max(12, Math.min(40, Math.round(room / 2)))
  const number = String(call).padStart(4)
  const label = room - width < SHORTEST_LABEL ? '' : shorten(answers, room - width)
  if ('reason' in outcome) {
    const floor = outcome.floor === undefined ? '' : ` floor ${grouped(outcome.floor)}`
    return `${number} ${' '.repeat(width)}${paint('|', BOLD)} ${paint(`refused${floor}`, RED)}  ${label}`
  }
  const { tokens, hit, cause } = outcome
  const hitShare = percent(tokens === 0 ? 0 : hit / tokens, 0)
  const cost = grouped(costOf(tokens, hit))
  const figures = [
    grouped(tokens).padStart(7),
    percent(tokens / cap, 0).padStart(4),
    ` hit ${hitShare.padStart(4)}`,
    ` cost ${cost.padStart(6)}`,
  ].join(' ')
  const epoch = cause ? paint(`◆ ${cause}`.padEnd(8), YELLOW) : ' '.repeat(8)
  return `${number} ${bar(outcome, scale, width, paint)} ${figures} ${epoch} ${label}`.trimEnd()
}

/**
 * Section after section, the line's mark at column `width`; what was read from the cache is dim.
 */
function bar(
  { tokens, sections, hit }: CallFigures,
  { cap, over }: Scale,
  width: number,
  paint: (text: string, style: string) => string,
): string {
  const columnOf = (sum: number): number => Math.min(width + over, Math.round((sum / cap) * width))
  const cells: string[] = []
  let sum = 0
  for (const { name, tokens: held } of sections) {
    sum += held
    while (cells.length < columnOf(sum)) cells.push(FILL[name])
  }
  if (tokens > cap && columnOf(tokens) === width + over) cells[width + over - 1] = '›'
  while (cells.length < width + over) cells.push(' ')
  const cached = columnOf(hit)
  const shade = (from: number, to: number): string => {
    const edge = Math.min(Math.max(cached, from), to)
    const read = paint(cells.slice(from, edge).join(''), DIM)
    return read + paint(cells.slice(edge, to).join(''), tokens > cap ? RED : CYAN)
  }
  return `${shade(0, width)}${paint('|', BOLD)}${shade(width, width + over)}`
}

/**
 * One character for each call, or for the fullest of a few neighbours; `×` for a refused one, `!`
 * over the line.
 */
export function sparkline(calls: readonly Drawn[], cap: number, width: number): string {
  const group = Math.ceil(calls.length / width)
  const marks: string[] = []
  for (let start = 0; start < calls.length; start += group) {
    const outcomes = calls.slice(start, start + group).map(({ outcome }) => outcome)
    const built = outcomes.flatMap((outcome) => ('tokens' in outcome ? [outcome.tokens] : []))
    const fill = Math.max(...built) / cap
    if (built.length < outcomes.length) marks.push('×')
    else if (fill > 1) marks.push('!')
    else marks.push(SPARKS[Math.min(SPARKS.length - 1, Math.floor(fill * SPARKS.length))] ?? ' ')
  }
  return marks.join('')
}

/** The end of a path tells conversations apart better than its beginning. */
export function shortenName(name: string, length: number): string {
  return shorten(name.length > length ? `…${name.slice(1 - length)}` : name, length)
}

const BOLD = '1'
const DIM = '2'
const RED = '31'
const YELLOW = '33'
const CYAN = '36'

function painter(colour: boolean): (text: string, style: string) => string {
  return (text, style) => (colour && text !== '' ? `\u001b[${style}m${text}\u001b[0m` : text)
}
