/** The store in a browser: one page of a Chromium with a profile on disk, all subjects in turns. */
import { rmSync } from 'node:fs'
import { median, quantile, round } from '../stats.ts'
import { BenchPage } from './chromium.ts'
import type { Times } from './page/turns.ts'
import { BUDGET, type Durability, EXCHANGE_BYTES, LAST } from './page-orders.ts'
import { temporaryFolder } from './temporary.ts'

export interface BrowserPlan {
  readonly appends: number
  readonly calls: number
  readonly reopens: number
  readonly ends: number
  /** Messages in the small and in the large log. */
  readonly sizes: readonly [small: number, large: number]
  readonly imports: { readonly messages: number; readonly batch: number; readonly laps: number }
}

/** One subject of one part. Times in milliseconds. */
export interface BrowserRow {
  readonly part: Part
  readonly what: string
  readonly durability: Durability | 'reads only'
  /** Messages in the log, where there are several sizes. */
  readonly messages?: number
  readonly samples: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export type Part = 'append' | 'call' | 'reopen' | 'end' | 'import'

export interface BrowserReport {
  readonly chromium: string
  readonly exchangeBytes: readonly number[]
  readonly budgetTokens: number
  /** Messages that the peers read, and the mean that ours showed in a call. */
  readonly reads: { readonly peers: number; readonly ours: number }
  readonly imports: BrowserPlan['imports']
  readonly fills: readonly { readonly messages: number; readonly seconds: number }[]
  readonly rows: readonly BrowserRow[]
}

/** Messages that one append of a filling holds. */
const FILL_BATCH = 2_000
/** Messages between two words about how far it is. */
const FILL_PART = 100_000

export async function measureBrowser(
  plan: BrowserPlan,
  progress: (line: string) => void,
): Promise<BrowserReport> {
  const profile = temporaryFolder()
  const page = await BenchPage.open(profile)
  try {
    const rows: BrowserRow[] = []
    let shows = 0
    for (const durability of ['strict', 'relaxed'] as const) {
      progress(`browser: appends, ${durability}`)
      rows.push(...rowsOf('append', durability, await page.call('measureAppends', durability, plan.appends)))
      progress(`browser: calls, ${durability}`)
      const { times, context, ...shown } = await page.call('measureCalls', durability, plan.calls)
      shows = shown.shows
      const part = { 'plimsoll, its context() alone': [...context] }
      rows.push(...rowsOf('call', durability, { ...times, ...part }))
    }
    progress('browser: reopens')
    rows.push(...rowsOf('reopen', 'reads only', await page.call('measureReopens', plan.reopens)))
    progress('browser: imports')
    const { messages, batch, laps } = plan.imports
    rows.push(...rowsOf('import', 'strict', await page.call('measureImports', messages, batch, laps)))
    const fills: { messages: number; seconds: number }[] = []
    for (const size of plan.sizes) fills.push({ messages: size, seconds: await fill(page, size, progress) })
    progress('browser: ends of logs')
    for (const [what, times] of Object.entries(await page.call('measureEnds', plan.sizes, plan.ends)))
      for (const size of plan.sizes) {
        const found = rowsOf('end', 'reads only', { [what]: times[`${size}`] ?? [] })
        rows.push(...found.map((row) => ({ ...row, messages: size })))
      }
    return {
      chromium: page.version,
      exchangeBytes: EXCHANGE_BYTES,
      budgetTokens: BUDGET,
      reads: { peers: LAST, ours: round(shows) },
      imports: plan.imports,
      fills,
      rows,
    }
  } finally {
    await page.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

async function fill(page: BenchPage, size: number, progress: (line: string) => void): Promise<number> {
  let ms = 0
  for (let from = 0; from < size; from += FILL_PART) {
    const to = Math.min(size, from + FILL_PART)
    ms += await page.call('fillLog', size, from / 2, to / 2, FILL_BATCH)
    progress(`browser: ${to} of ${size} messages, ${Math.round(ms / 1_000)} s`)
  }
  return round(ms / 1_000)
}

function rowsOf(part: Part, durability: BrowserRow['durability'], times: Times): BrowserRow[] {
  return Object.entries(times).map(([what, samples]) => ({
    part,
    what,
    durability,
    samples: samples.length,
    p50Ms: round(median(samples), 4),
    p99Ms: round(quantile(samples, 0.99), 4),
  }))
}
