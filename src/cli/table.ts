import type { Figures } from '../replay/figures.ts'
import { POLICIES, type PolicyName } from '../replay/policy.ts'
import { grouped, percent } from '../replay/words.ts'

export type FiguresByPolicy = { readonly [Name in PolicyName]: Figures }

/** Rows that say nothing where nothing is summarised. */
const OF_SUMMARIES = new Set(['with summaries', 'covered a call'])

const ROWS: readonly (readonly [string, (figures: Figures) => string])[] = [
  ['model calls', ({ calls }) => grouped(calls)],
  ['refused', ({ refused }) => grouped(refused)],
  ['mean tokens', ({ meanTokens }) => grouped(meanTokens)],
  ['most tokens', ({ maxTokens }) => grouped(maxTokens)],
  ['calls over the line', ({ overCap }) => grouped(overCap)],
  ['lint errors', ({ lintErrors }) => grouped(lintErrors)],
  ['prefix share', ({ prefixShare }) => optional(prefixShare)],
  ['cost a call', ({ costPerCall }) => grouped(costPerCall)],
  ['cost / optimum', ({ optimum }) => optimum?.ratio.toFixed(3) ?? '-'],
  ['with summaries', ({ costPerCall, summaries }) => grouped(summaries?.costPerCall ?? costPerCall)],
  ['omitted a call', (figures) => each(figures.omitted, figures)],
  ['covered a call', (figures) => each(figures.covered, figures)],
  ['capped a call', (figures) => each(figures.capped, figures)],
  ['epochs', ({ epochs }) => grouped(Object.values(epochs).reduce((sum, count) => sum + count, 0))],
  ['retained share', ({ retainedShare }) => optional(retainedShare)],
]

/** The policies side by side, the chosen one marked, then what the numbers leave out. */
export function drawTable(figures: FiguresByPolicy, chosen: PolicyName): string {
  const summarised = POLICIES.some((name) => figures[name].summaries)
  const rows = ROWS.filter(([name]) => summarised || !OF_SUMMARIES.has(name))
  const title = Math.max(...rows.map(([name]) => name.length))
  const columns = POLICIES.map((name) => {
    const cells = [name === chosen ? `*${name}` : name, ...rows.map(([, cell]) => cell(figures[name]))]
    const width = Math.max(...cells.map((cell) => cell.length))
    return cells.map((cell) => cell.padStart(width))
  })
  const names = ['', ...rows.map(([name]) => name)].map((name) => name.padEnd(title))
  const lines = names.map((name, row) => [name, ...columns.map((cells) => cells[row])].join('   '))
  const notes = [
    ...POLICIES.flatMap((name) => noteOf(name, figures[name])),
    ...POLICIES.flatMap((name) => list(`epochs of ${name}`, figures[name].epochs)),
    ...POLICIES.flatMap((name) => list(`lint errors of ${name}`, figures[name].lintErrorsByRule)),
  ]
  return `${[...lines, ...notes].join('\n')}\n`
}

/** What the summaries took, and who wrote them. */
function noteOf(name: PolicyName, { summaries }: Figures): readonly string[] {
  if (!summaries) return []
  const { calls, refused, inputTokens, cachedTokens, outputTokens, byModel, byExtract, without } = summaries
  return [
    `summaries of ${name}: model ${grouped(byModel)}, extract ${grouped(byExtract)}, epochs without ${grouped(without)}`,
    `calls for summaries: ${grouped(calls)}, refused ${grouped(refused)}, tokens in ${grouped(inputTokens)}, cached ${grouped(cachedTokens)}, out ${grouped(outputTokens)}`,
  ]
}

function list(title: string, counts: { readonly [name: string]: number }): readonly string[] {
  const entries = Object.entries(counts).sort(([, one], [, other]) => other - one)
  if (entries.length === 0) return []
  return [`${title}: ${entries.map(([name, count]) => `${name} ${grouped(count)}`).join(', ')}`]
}

function each(sum: number, { calls, refused }: Figures): string {
  return calls === refused ? '-' : (sum / (calls - refused)).toFixed(1)
}

function optional(share: number | null): string {
  return share === null ? '-' : percent(share)
}
