/**
 * The picture of a race: tokens of every call against the line, and below it what the calls have
 * cost so far. It stands alone: no script, no font, nothing to load, and no id that could meet
 * another one.
 */
import { shortenName } from '../../src/cli/draw.ts'
import { READ, WRITE } from '../../src/features/compaction/price.ts'
import type { EpochCause } from '../../src/ports/op.ts'
import { costOf } from '../../src/replay/cost.ts'
import { RACERS, type RacedCall, type Racer } from '../../src/replay/race.ts'
import { grouped } from '../../src/replay/words.ts'
import {
  below,
  element,
  escapeXml,
  exits,
  pathData,
  type Run,
  round,
  runsOf,
  short,
  spread,
  ticks,
} from './chart.ts'
import { ARROW, CAUSES, CROSS, LINES, SHAPES, STYLE } from './style.ts'

export interface Plot {
  readonly conversation: string
  /** What raced, in a line. */
  readonly settings: string
  /** The line, in tokens. */
  readonly budget: number
  readonly calls: readonly Pick<RacedCall, 'outcomes'>[]
}

const WIDTH = 880
const HEIGHT = 640
const MARGIN = 20
const LEFT = 62
const SPAN = 680
const RIGHT = LEFT + SPAN
/**
 * The panels, with the most points of a line. The upper one is as high as `lines` lines, at most.
 */
const TOKENS = { top: 182, bottom: 422, points: SPAN, lines: 2.25 }
const COST = { top: 462, bottom: 582, points: SPAN / 4 }
/** Width of a letter where words are largest. */
const LETTER = 11
/** Letters of a conversation's id. */
const NAME = 44

/** One policy over all calls. */
interface Series {
  readonly name: Racer
  /** Tokens of each call; `undefined` for a refused one. */
  readonly tokens: readonly (number | undefined)[]
  /** Cost of each call and all before it; a refused one costs nothing. */
  readonly costs: readonly number[]
  readonly epochs: readonly { readonly index: number; readonly cause: EpochCause }[]
  readonly refused: readonly number[]
  readonly mostTokens: number
  readonly total: number
}

interface Scene {
  /** Plimsoll, and those behind it. */
  readonly front: Series
  readonly behind: readonly Series[]
  readonly budget: number
  readonly calls: number
  readonly xOf: (index: number) => number
}

/** Contract: the same plot gives the same bytes. */
export function drawPlot({ conversation, settings, budget, calls }: Plot): string {
  const scene: Scene = {
    front: seriesOf('plimsoll', calls),
    behind: RACERS.filter((name) => name !== 'plimsoll').map((name) => seriesOf(name, calls)),
    budget,
    calls: calls.length,
    xOf: (index) => LEFT + ((index + 0.5) / calls.length) * SPAN,
  }
  const count = `, ${grouped(calls.length)} model calls`
  const picture = [
    element('title', {}, escapeXml(`${conversation}${count}: ${settings}`)),
    element('desc', {}, escapeXml(describe(scene))),
    element('style', {}, STYLE),
    element('rect', { class: 'page', width: WIDTH, height: HEIGHT }),
    text(MARGIN, 36, 'title', escapeXml(shortenName(conversation, NAME)) + wide(count)),
    text(MARGIN, 62, 'muted', escapeXml(settings)),
    legend(scene),
    tokensPanel(scene),
    costPanel(scene),
    callAxis(scene),
  ]
  const size = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` }
  const root = { xmlns: 'http://www.w3.org/2000/svg', ...size, role: 'img' }
  return element('svg', root, `\n${picture.join('\n')}\n`)
}

function seriesOf(name: Racer, calls: Plot['calls']): Series {
  const tokens: (number | undefined)[] = []
  const costs: number[] = []
  const epochs: Series['epochs'][number][] = []
  const refused: number[] = []
  let [mostTokens, total] = [0, 0]
  for (const [index, { outcomes }] of calls.entries()) {
    const outcome = outcomes[name]
    if ('reason' in outcome) {
      tokens.push(undefined)
      refused.push(index)
    } else {
      tokens.push(outcome.tokens)
      if (outcome.cause) epochs.push({ index, cause: outcome.cause })
      mostTokens = Math.max(mostTokens, outcome.tokens)
      total += costOf(outcome.tokens, outcome.hit)
    }
    costs.push(total)
  }
  return { name, tokens, costs, epochs, refused, mostTokens, total }
}

/** The picture in words. */
function describe({ front, behind, budget }: Scene): string {
  const sentences = [front, ...behind].map(({ name, tokens, epochs, mostTokens, refused, total }) => {
    const over = tokens.filter((value) => value !== undefined && value > budget).length
    const figures = [
      `at most ${grouped(mostTokens)} tokens`,
      `calls over the line: ${grouped(over)}`,
      `refused: ${grouped(refused.length)}`,
      `cost: ${grouped(total)}`,
      ...CAUSES.map((cause) => ({ cause, count: countOf(epochs, cause) }))
        .filter(({ count }) => count > 0)
        .map(({ cause, count }) => `epochs by ${cause}: ${grouped(count)}`),
    ]
    return `${name}: ${figures.join(', ')}.`
  })
  const panels = `Above: tokens of each model call, the line at ${grouped(budget)}. Below: cost of all calls so far.`
  return [panels, ...sentences].join(' ')
}

function countOf(epochs: Series['epochs'], cause: EpochCause): number {
  return epochs.filter((epoch) => epoch.cause === cause).length
}

function legend({ front, behind }: Scene): string {
  const samples = [front, ...behind].map(({ name }, index) => {
    const x = MARGIN + index * 168
    const style = name === front.name ? 'front' : 'behind'
    return path(`${style} ${name}`, `M${x} 89h24`) + text(x + 32, 94, '', `${name} ${wide(LINES[name].hint)}`)
  })
  const marks: string[] = []
  let x = MARGIN + 5
  const add = (words: string, style = '', shape = ''): void => {
    if (shape !== '') marks.push(path(style, `M${x} 117${shape}`))
    marks.push(text(shape === '' ? MARGIN : x + 13, 122, '', words))
    x += words.length * LETTER + (shape === '' ? 12 : 30)
  }
  if (front.epochs.length > 0) add('new epoch:')
  for (const cause of CAUSES) {
    const count = countOf(front.epochs, cause)
    if (count > 0) add(`${cause} (${grouped(count)})`, `epoch ${front.name}`, SHAPES[cause])
  }
  const refused = front.refused.length
  if (refused > 0) add(`refused (${grouped(refused)})`, 'refused', CROSS)
  return [...samples, ...marks].join('')
}

function tokensPanel({ front, behind, budget, xOf }: Scene): string {
  const { top, bottom } = TOKENS
  const mostTokens = Math.max(...[front, ...behind].map((series) => series.mostTokens))
  const most = Math.min(budget * TOKENS.lines, Math.max(budget * 1.25, mostTokens * 1.05))
  const yOf = (tokens: number): number => bottom - (tokens / most) * (bottom - top)
  const lines = [...behind, front].map(({ name, tokens }) => ({
    name,
    runs: runsOf(tokens, TOKENS.points),
  }))
  const drawn = lines.map(({ name, runs }) => {
    const data = project(below(runs, most), xOf, yOf)
    if (name !== front.name) return path(`behind ${name}`, pathData(data))
    const area = project(runs, xOf, yOf).map((run) => [
      { x: run[0]?.x ?? 0, y: bottom },
      ...run,
      { x: run.at(-1)?.x ?? 0, y: bottom },
    ])
    return path(`area ${name}`, pathData(area)) + path(`front ${name}`, pathData(data))
  })
  const mark = (shape: string, index: number, tokens: number): string =>
    `M${round(xOf(index))} ${round(yOf(tokens))}${shape}`
  const epochs = CAUSES.map((cause) => {
    const indices = front.epochs.filter((epoch) => epoch.cause === cause).map(({ index }) => index)
    const marks = indices.map((index) => mark(SHAPES[cause], index, front.tokens[index] ?? 0))
    return path(`epoch ${front.name}`, marks.join(''))
  })
  const refused = front.refused.map((index) => mark(CROSS, index, budget))
  const line = round(yOf(budget))
  const leaves = mostTokens > most ? '; ▲ a line leaves the picture, with its peak' : ''
  // An inner picture cuts off what is above the panel. A clip path would need an id.
  const inner = [element('title', {}, 'tokens a call'), ...drawn]
  const size = { x: LEFT, y: top, width: SPAN, height: bottom - top }
  return [
    element('rect', { class: 'over', ...size, height: round(line - top) }),
    grid(ticks(most, 5), yOf),
    text(MARGIN, top - 30, 'muted', `tokens a call${wide(leaves)}`),
    element('svg', { ...size, viewBox: `${LEFT} ${top} ${SPAN} ${bottom - top}` }, inner.join('')),
    path('line', `M${LEFT} ${line}H${RIGHT}`),
    text(RIGHT + 8, line, 'bold', `the line<tspan x="${RIGHT + 8}" dy="1.2em">${grouped(budget)}</tspan>`),
    leaving(lines, most, xOf),
    ...epochs,
    path('refused', refused.join('')),
  ].join('\n')
}

/**
 * An arrow where a line leaves the panel, with name and peak where there is room, for the highest
 * peaks first.
 */
function leaving(
  lines: readonly { readonly name: Racer; readonly runs: readonly Run[] }[],
  most: number,
  xOf: Scene['xOf'],
): string {
  const places = new Map<string, { x: number; peak: number; names: Racer[] }>()
  for (const { name, runs } of lines) {
    for (const exit of exits(runs, most)) {
      const x = round(xOf(exit.x))
      const key = `${x} ${exit.peak}`
      const place = places.get(key) ?? { x, peak: exit.peak, names: [] }
      places.set(key, { ...place, names: [...place.names, name] })
    }
  }
  const sorted = [...places.values()].sort((one, other) => other.peak - one.peak)
  const arrows = lines.map(({ name }) => {
    const own = sorted.filter(({ names }) => names[0] === name)
    return path(`exit ${name}`, own.map(({ x }) => `M${x} ${TOKENS.top}${ARROW}`).join(''))
  })
  const taken: { readonly from: number; readonly to: number }[] = []
  const labels = sorted.map(({ x, peak, names }) => {
    const words = names.join(', ')
    const width = (words.length + 7) * LETTER * 0.65
    const from = Math.min(x - 5, WIDTH - width)
    const to = from + width
    if (taken.some((other) => from < other.to && other.from < to)) return ''
    taken.push({ from, to })
    return text(round(from), TOKENS.top - 11, names[0] ?? '', `${wide(`${words} `)}${short(peak)}`)
  })
  return [...arrows, ...labels].join('')
}

function costPanel({ front, behind, xOf }: Scene): string {
  const { top, bottom } = COST
  const all = [...behind, front]
  const most = Math.max(1, ...all.map(({ total }) => total)) * 1.05
  const yOf = (cost: number): number => bottom - (cost / most) * (bottom - top)
  const lines = all.map((series) => {
    const data = project(runsOf(series.costs, COST.points), xOf, yOf)
    return path(`${series === front ? 'front' : 'behind'} ${series.name}`, pathData(data))
  })
  const ends = all.map(({ total }) => yOf(total))
  const places = spread(ends, 21, bottom)
  const labels = all.map(({ name, total }, index) => {
    const style = name === front.name ? `bold ${name}` : name
    return text(RIGHT + 8, round((places[index] ?? 0) + 5), style, `${name} ${wide(short(total))}`)
  })
  const prices = wide(`: ${READ} for one that repeats the previous request, ${WRITE} for a fresh one`)
  return [
    grid(ticks(most, 5), yOf),
    text(MARGIN, top - 12, 'muted', `cost so far, in tokens${prices}`),
    ...lines,
    ...labels,
  ].join('\n')
}

function callAxis({ calls, xOf }: Scene): string {
  const numbers = ticks(calls - 1, 8).map((call) =>
    text(round(xOf(call)), COST.bottom + 20, 'muted middle', grouped(call)),
  )
  return numbers.join('') + text(LEFT + SPAN / 2, COST.bottom + 44, 'muted middle', 'model call')
}

function grid(values: readonly number[], yOf: (value: number) => number): string {
  const lines = values.map((value) => `M${LEFT} ${round(yOf(value))}H${RIGHT}`).join('')
  const numbers = values.map((value) => text(LEFT - 8, round(yOf(value) + 5), 'muted end', short(value)))
  return path('grid', lines) + numbers.join('')
}

function project(
  runs: readonly Run[],
  xOf: (x: number) => number,
  yOf: (y: number) => number,
): readonly Run[] {
  return runs.map((run) => run.map(({ x, y }) => ({ x: xOf(x), y: yOf(y) })))
}

function path(style: string, data: string): string {
  return data === '' ? '' : element('path', { class: style, d: data })
}

/** Contract: `content` is XML already. */
function text(x: number, y: number, style: string, content: string): string {
  return element('text', { x, y, ...(style !== '' && { class: style }) }, content)
}

/** What a small picture leaves out. */
function wide(words: string): string {
  return element('tspan', { class: 'wide' }, words)
}
