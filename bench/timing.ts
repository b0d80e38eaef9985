import { totalmem } from 'node:os'
import { Cell } from './cells.ts'
import { mean, median, quantile, round } from './stats.ts'

/** The subjects, in the order of the report: files in `subjects/`. */
const SUBJECTS: readonly string[] = [
  'plimsoll',
  'limit',
  'openai-agents',
  'mastra-contiguous',
  'mastra-best-fit',
  'ai',
  'langchain',
]

export const PACKAGES = ['@langchain/core', 'ai', '@mastra/core', '@openai/agents-core']

/**
 * Histories above this size take some 5 GiB for all subjects together, and more while they are
 * made.
 */
const MEMORY_FOR_LARGE_GIB = 10
const LARGE = 100_000

const LEAST_WARM_UP_MS = 400

export interface TimingOptions {
  readonly sizes: readonly number[]
  /** Time that one cell gets, in rounds that alternate with the other cells of its size. */
  readonly cellMs: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

/** One figure: a step of a subject at a size. Times in microseconds. */
export interface Row {
  readonly subject: string
  readonly what: string
  readonly size: number
  readonly calls: number
  readonly p50: number | undefined
  readonly p99: number | undefined
  /** Mean of what a call showed. */
  readonly messages?: number
  readonly tokens?: number
  /** Median of adding one exchange, before the call. */
  readonly append?: number
  /**
   * How long the history took to make, per message, and the resident memory of the process after
   * it.
   */
  readonly fillPerMessage?: number
  readonly residentMiB?: number
  /** Why there is no figure, or fewer calls than elsewhere. */
  readonly note?: string
}

/**
 * All cells, size after size; the cells of a size take turns, so that a slow minute of the machine
 * hits them all.
 */
export async function time(options: TimingOptions): Promise<Row[]> {
  const rows: Row[] = []
  const dropped = new Map<string, string>()
  for (const size of options.sizes) {
    const cells = await startAll(size, dropped, rows, options)
    for (const cell of cells) await cell.warmUp(Math.max(LEAST_WARM_UP_MS, options.cellMs / 5))
    for (let round = 0; round < options.rounds; round++) {
      for (const cell of cells) await cell.run(options.cellMs / options.rounds)
    }
    for (const cell of cells) await cell.runCold(options.cellMs / 4)
    for (const cell of cells) {
      cell.end()
      rows.push(...rowsOf(cell))
      if (cell.stopped) dropped.set(cell.name, `${cell.stopped} with ${size} messages`)
    }
  }
  const place = ({ subject }: Row) => SUBJECTS.indexOf(subject)
  return rows.sort((a, b) => a.size - b.size || place(a) - place(b))
}

/** The cells that have their history; for the others a row that says why not. */
async function startAll(
  size: number,
  dropped: Map<string, string>,
  rows: Row[],
  { progress }: TimingOptions,
) {
  const cells: Cell[] = []
  for (const name of SUBJECTS) {
    try {
      const reason = dropped.get(name) ?? tooLarge(size)
      if (reason !== undefined) throw new Error(`not run: ${reason}`)
      const cell = await Cell.start(name, size)
      const { ms, residentMiB } = cell.fill
      progress(`${size} messages: ${name} filled in ${Math.round(ms)} ms, ${residentMiB} MiB`)
      cells.push(cell)
    } catch (error) {
      const note = (error as Error).message
      rows.push({ subject: name, what: name, size, calls: 0, p50: undefined, p99: undefined, note })
    }
  }
  return cells
}

function tooLarge(size: number): string | undefined {
  const fits = size <= LARGE || totalmem() / 2 ** 30 >= MEMORY_FOR_LARGE_GIB
  return fits ? undefined : `all histories of this size need ${MEMORY_FOR_LARGE_GIB} GiB of memory`
}

function rowsOf({ name, size, fill, samples, stepNames, coldName, stopped }: Cell): Row[] {
  const rows = stepNames.map((what, index): Row => {
    const times = samples.steps[index] ?? []
    return {
      subject: name,
      what,
      size,
      ...percentiles(times),
      ...(times.length > 0 && { messages: round(mean(samples.messages)) }),
      ...(samples.tokens.length > 0 && { tokens: Math.round(mean(samples.tokens)) }),
      ...(index === 0 && {
        ...(times.length > 0 && { append: microseconds(median(samples.appends)) }),
        fillPerMessage: microseconds(fill.ms / fill.messages),
        residentMiB: fill.residentMiB,
      }),
      ...(stopped && { note: stopped }),
    }
  })
  if (coldName) rows.push({ subject: name, what: coldName, size, ...percentiles(samples.cold) })
  return rows
}

function percentiles(times: readonly number[]): Pick<Row, 'calls' | 'p50' | 'p99'> {
  if (times.length === 0) return { calls: 0, p50: undefined, p99: undefined }
  return {
    calls: times.length,
    p50: microseconds(median(times)),
    p99: microseconds(quantile(times, 0.99)),
  }
}

const microseconds = (milliseconds: number): number => round(milliseconds * 1_000, 4)
