import { type Machine, machineLine } from '../machine.ts'
import { type Goal, goalTable, table, time } from '../table.ts'
import type { Accuracy, Adversity } from './accuracy.ts'
import type { Exactness } from './exactness.ts'
import type { Measured } from './goals.ts'
import type { Beside, Growth } from './growth.ts'
import type { LoadRow } from './load.ts'
import type { Size } from './sizes.ts'
import type { Speed, Turn } from './throughput.ts'
import { sizeText } from './units.ts'

export interface TokensReport extends Measured {
  readonly machine: Machine
  readonly turns: readonly Turn[]
  readonly load: readonly LoadRow[]
  readonly goals: readonly Goal[]
}

export function tokensText(report: TokensReport): string {
  const { speeds, turns, exactness, growth, beside, accuracy, adversity, load, sizes } = report
  return [
    machineLine(report.machine),
    `MB/s of UTF-8; and one turn of 300 characters of prose, p50 / p99\n${speedTable(speeds, turns)}`,
    `Encodings set beside gpt-tokenizer's\n${exactnessTable(exactness)}`,
    `Growth of one call with its size in UTF-16 units; sizes double until one takes too long\n${growthTable(growth)}`,
    besideLine(beside),
    `Estimates over exact counts; errors of messages of some 2 000 characters\n${accuracyTable(accuracy)}`,
    `Estimates over exact counts, adversarial families, least and most\n${adversityTable(adversity)}`,
    `Import and first count, and MiB that stay; medians over processes\n${loadTable(load)}`,
    `esbuild --bundle --minify --format=esm --platform=browser, gzip -9\n${sizeTable(sizes)}`,
    `Goals\n${goalTable(report.goals)}`,
  ].join('\n')
}

function speedTable(speeds: readonly Speed[], turns: readonly Turn[]): string {
  const corpora = [...new Set(speeds.map(({ corpus }) => corpus))]
  const lines = turns.map(({ subject, p50, p99 }) => {
    const speedOn = (name: string) =>
      speeds.find(({ subject: of, corpus }) => of === subject && corpus === name)?.megabytes
    return [subject, ...corpora.map((corpus) => `${speedOn(corpus)}`), time(p50), time(p99)]
  })
  return table([['', ...corpora, 'turn p50', 'turn p99'], ...lines])
}

function exactnessTable(exactness: readonly Exactness[]): string {
  const head = ['', 'texts', 'tokens', 'unlike', 'left out', 'first']
  const lines = exactness.map(({ source, texts, tokens, mismatches, leftOut, first }) => [
    source,
    `${texts}`,
    `${tokens}`,
    `${mismatches}`,
    `${leftOut}`,
    first ?? '',
  ])
  return table([head, ...lines])
}

function growthTable(growth: readonly Growth[]): string {
  const head = ['', 'counter', 'largest', 'time there', 'exponent', 'note']
  const lines = growth.map(({ library, family, times, exponent, note }) => {
    const last = times.at(-1)
    return [
      family,
      library,
      last ? sizeText(last.size) : '-',
      last ? time(last.ms * 1_000) : '-',
      exponent?.toFixed(2) ?? '-',
      note ?? '',
    ]
  })
  return table([head, ...lines])
}

function besideLine({ family, size, oursMs, theirsMs }: Beside): string {
  const took = (ms: number | undefined) => (ms === undefined ? 'too long' : time(ms * 1_000))
  return `${sizeText(size)} of '${family}': plimsoll o200k ${took(oursMs)}, gpt-tokenizer ${took(theirsMs)}\n`
}

function accuracyTable(accuracy: readonly Accuracy[]): string {
  const head = ['', 'corpus', 'in total', 'error p1', 'p50', 'p99']
  const lines = accuracy.map(({ counter, corpus, total, p1, p50, p99 }) => [
    counter,
    corpus,
    `${total} x`,
    `${p1} %`,
    `${p50} %`,
    `${p99} %`,
  ])
  return table([head, ...lines])
}

function adversityTable(adversity: readonly Adversity[]): string {
  const counters = [...new Set(adversity.map(({ counter }) => counter))]
  const families = [...new Set(adversity.map(({ family }) => family))]
  const lines = families.map((family) => {
    const ratios = counters.map((name) => {
      const row = adversity.find(({ counter, family: of }) => counter === name && of === family)
      return `${row?.least} .. ${row?.most}`
    })
    return [family, ...ratios]
  })
  return table([['', ...counters], ...lines])
}

function loadTable(load: readonly LoadRow[]): string {
  const head = ['', 'ms', 'blocked ms', 'heap', 'external', 'of it buffers', 'resident', 'note']
  const lines = load.map((row) => [
    row.what,
    ...[row.ms, row.blockedMs, row.heapMiB, row.externalMiB, row.arrayBuffersMiB, row.residentMiB].map(
      (value) => (value === undefined ? '-' : `${value}`),
    ),
    row.note ?? '',
  ])
  return table([head, ...lines])
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
