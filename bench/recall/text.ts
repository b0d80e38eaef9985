import { type Machine, machineLine } from '../machine.ts'
import { type Goal, goalTable, table, time } from '../table.ts'
import type { Measured } from './goals.ts'
import { ALL_FILES, type Found } from './known-items.ts'
import type { Quality } from './quality.ts'
import type { Size } from './sizes.ts'
import type { Speed } from './speed.ts'
import type { Latency } from './speed-cell.ts'
import type { AppendCost, Reopen } from './stores.ts'

export interface RecallReport extends Measured {
  readonly machine: Machine
  /** Of the conversation whose times are measured. */
  readonly messages: number
  /** Of the rankings of ours in each conversation: equal where they are. */
  readonly sha256: string
  readonly goals: readonly Goal[]
}

export function recallText(report: RecallReport): string {
  const { quality, knownItems, speed, stores, sizes, messages } = report
  return [
    machineLine(report.machine),
    `LoCoMo, percent: evidence within 700 and 2 000 tokens, among the first 10, MRR; categories 1 to 4\n${qualityTable(quality)}`,
    `SHA-256 of plimsoll's rankings in each conversation: ${report.sha256}\n`,
    `By category: B700 / B2000\n${categoryTable(quality)}`,
    ...(knownItems.length > 0
      ? [
          `Known items in recordings, percent: recall@1 / recall@10 / MRR; amid: in a long text's middle, which plimsoll does not index\n${knownItemTable(knownItems)}`,
        ]
      : []),
    `${messages} messages of 250 characters, sentences of LoCoMo drawn at random; top 10\n${speedTable(speed)}`,
    `Appends with recall and without, in turns: medians of one append, of the ratios of pairs, and the ratio of sums\n${appendTable(stores.appends)}`,
    `First recall of a session that nothing was read of yet, over a new connection or a new store object\n${reopenTable(stores.reopens)}`,
    `esbuild --bundle --minify --format=esm --platform=browser, gzip -9\n${sizeTable(sizes)}`,
    `Goals\n${goalTable(report.goals)}`,
  ].join('\n')
}

const nameOf = ({ system, scope }: Quality): string => `${system}, ${scope}`

function qualityTable(quality: readonly Quality[]): string {
  const lines = quality.map((row) => {
    const { all } = row.scores
    return [nameOf(row), ...[all?.b700, all?.b2000, all?.r10, all?.mrr].map((value) => percent(value))]
  })
  return table([['', 'B700', 'B2000', 'R@10', 'MRR'], ...lines])
}

function categoryTable(quality: readonly Quality[]): string {
  const categories = Object.keys(quality[0]?.scores ?? {})
  const counts = categories.map((name) => `${name} (${quality[0]?.scores[name]?.questions})`)
  const lines = quality.map((row) => [
    nameOf(row),
    ...categories.map((name) => `${percent(row.scores[name]?.b700)} / ${percent(row.scores[name]?.b2000)}`),
  ])
  return table([['', ...counts], ...lines])
}

function knownItemTable(found: readonly Found[]): string {
  const knownItems = found.filter(({ file }) => file === ALL_FILES)
  const systems = [...new Set(knownItems.map(({ system }) => system))]
  const of = ({ scope, kind }: Found) => `${kind}, in ${scope}`
  const lines = [...new Map(knownItems.map((row) => [of(row), row.queries]))].map(([name, queries]) => [
    name,
    `${queries}`,
    ...systems.map((system) => {
      const row = knownItems.find((one) => one.system === system && of(one) === name)
      return `${percent(row?.r1)} / ${percent(row?.r10)} / ${percent(row?.mrr)}`
    }),
  ])
  return table([['', 'queries', ...systems], ...lines])
}

function speedTable(speed: readonly Speed[]): string {
  const took = (ms: number | undefined) => (ms === undefined ? '-' : time(ms * 1_000))
  const latency = (times: Latency | undefined) =>
    [times?.p50, times?.p95, times?.p99].map((ms) => took(ms)).join(' / ')
  const size = (mebibytes: number | undefined) => (mebibytes === undefined ? '-' : `${mebibytes} MiB`)
  const rows: [string, (row: Speed) => string][] = [
    ['index all, first of a process', ({ firstMs }) => took(firstMs)],
    ['index all, later', ({ indexMs }) => took(indexMs)],
    ['add one', ({ addMs }) => took(addMs)],
    ['add one and ask', ({ addAndAskMs }) => took(addAndAskMs)],
    ['heap', ({ heapMiB }) => size(heapMiB)],
    ['three rarest words, p50 / p95 / p99', ({ rareWords }) => latency(rareWords)],
    ['three words, p50 / p95 / p99', ({ words }) => latency(words)],
    ['a question, p50 / p95 / p99', ({ questions }) => latency(questions)],
    ['encode', ({ encodeMs }) => took(encodeMs)],
    ['encoded', ({ encodedMiB }) => size(encodedMiB)],
    ['load', ({ loadMs }) => took(loadMs)],
    ['note', ({ note }) => note ?? ''],
  ]
  const lines = rows.map(([what, cell]) => [what, ...speed.map(cell)])
  return table([['', ...speed.map(({ system }) => system)], ...lines])
}

function appendTable(appends: readonly AppendCost[]): string {
  const lines = appends.map(({ place, what, batch, pairs, withoutMs, withMs, ratio, ratioOfSums }) => [
    `${place}: ${what}`,
    `${batch}`,
    `${pairs}`,
    time(withoutMs * 1_000),
    time(withMs * 1_000),
    `${ratio}`,
    `${ratioOfSums}`,
  ])
  return table([['', 'at once', 'pairs', 'without', 'with', 'ratio', 'of sums'], ...lines])
}

function reopenTable(reopens: readonly Reopen[]): string {
  const lines = reopens.map(({ place, messages, p50Ms, rows, blocks, blockKiB, stemmed }) => [
    `${place}, ${messages} messages`,
    time(p50Ms * 1_000),
    `${rows}`,
    `${blocks} (${blockKiB} KiB)`,
    `${stemmed}`,
  ])
  return table([['', 'p50', 'log rows', 'blocks', 'words stemmed'], ...lines])
}

function sizeTable(sizes: readonly Size[]): string {
  const head = ['', 'gzip KiB', 'minified KiB', 'left outside']
  const lines = sizes.map(({ name, gzipKiB, minifiedKiB, external }) => [
    name,
    `${gzipKiB}`,
    `${minifiedKiB}`,
    external.join(' '),
  ])
  return table([head, ...lines])
}

const percent = (value: number | undefined): string => value?.toFixed(1) ?? '-'
