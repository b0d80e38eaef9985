/**
 * Every suite, one after the other, each in a process of its own; what they measured goes into
 * docs/benchmarks.md, and their pictures beside it. One that fails or takes too long is named
 * there, with the reason.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import type { BenchOptions, BenchReport } from './bench.ts'
import { benches } from './benches.ts'
import { runChild } from './child.ts'
import { type Suite, withRun } from './picture/page.ts'

const PAGE = new URL('../docs/benchmarks.md', import.meta.url)
const PLOTS = new URL('../docs/plots/', import.meta.url)
/** A suite is given up after this long. */
const LIMITS_MS = { quick: 240_000, full: 1_800_000 }
/** They read LoCoMo in `--data`; all others read recordings: `--transcripts`, else `--data`. */
const LOCOMO = ['recall', 'shown']
/** Draws one picture from recordings, to a file that is named. */
const APART = ['picture']

/** @returns whether every suite came to its end */
export async function runAll({ progress, ...options }: BenchOptions): Promise<boolean> {
  const run = {
    date: new Date().toISOString().slice(0, 10),
    isQuick: options.quick,
    load: loadavg()[0] ?? 0,
    cores: availableParallelism(),
  }
  const suites: Suite[] = []
  for (const name of Object.keys(benches).filter((one) => !APART.includes(one))) {
    progress(`== ${name}`)
    const data = LOCOMO.includes(name) ? options.data : (options.transcripts ?? options.data)
    suites.push(await runSuite(name, { ...options, ...(data !== undefined && { data }) }))
  }
  await writeFile(PAGE, withRun(await readFile(PAGE, 'utf8'), { ...run, suites }))
  for (const { name, seconds, missing } of suites)
    progress(`${name}: ${seconds.toFixed(0)} s${missing === undefined ? '' : `, not measured: ${missing}`}`)
  return suites.every(({ missing }) => missing === undefined || missing.startsWith('no '))
}

async function runSuite(name: string, options: Omit<BenchOptions, 'progress'>): Promise<Suite> {
  const about = benches[name]?.about ?? ''
  const started = performance.now()
  const limitMs = options.quick ? LIMITS_MS.quick : LIMITS_MS.full
  const { messages, stopped } = await runChild<BenchReport>('suite.ts', [name, JSON.stringify(options)], {
    limitMs,
  })
  const seconds = (performance.now() - started) / 1_000
  const [report] = messages
  if (!report) return { name, about, seconds, missing: stopped ?? 'it sent no report' }
  const { skipped } = report.json as { readonly skipped?: string }
  if (skipped !== undefined) return { name, about, seconds, missing: skipped }
  const plots = await Promise.all(
    (report.plots ?? []).map(async ({ file, title, svg }) => {
      await mkdir(PLOTS, { recursive: true })
      await writeFile(new URL(file, PLOTS), svg)
      return { file: `plots/${file}`, title }
    }),
  )
  return { name, about, seconds, text: report.text, plots }
}
