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

/** How long it took to fill a log, relaxed, by appends of many messages. */
export interface BrowserFill {
  readonly wanted: number
  readonly messages: number
  readonly seconds: number
}

export type Part = 'append' | 'call' | 'reopen' | 'end' | 'import'

export interface BrowserReport {
  readonly chromium: string
  readonly exchangeBytes: readonly number[]
  readonly budgetTokens: number
  /** Messages that the peers read, and the mean that ours showed in a call. */
  readonly reads: { readonly peers: number; readonly ours: number }
  readonly imports: BrowserPlan['imports']
  readonly fills: readonly BrowserFill[]
  readonly rows: readonly BrowserRow[]
}

/** Messages that one append of a filling holds. */
const FILL_BATCH = 5_000
/** Messages between two words about how far it is. */
const FILL_PART = 50_000
/** A log that takes longer to fill stays as long as it is by then. */
const FILL_LIMIT_MS = 210_000

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
    const fills: BrowserFill[] = []
    for (const size of plan.sizes) fills.push(await fill(page, size, progress))
    progress('browser: ends of logs')
    for (const [what, times] of Object.entries(await page.call('measureEnds', plan.sizes, plan.ends)))
      for (const { wanted, messages } of fills) {
        const found = rowsOf('end', 'reads only', { [what]: times[`${wanted}`] ?? [] })
        rows.push(...found.map((row) => ({ ...row, messages })))
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

async function fill(page: BenchPage, wanted: number, progress: (line: string) => void): Promise<BrowserFill> {
  let messages = 0
  for (let ms = 0; ; ) {
    const to = Math.min(wanted, messages + FILL_PART)
    ms += await page.call('fillLog', wanted, messages / 2, to / 2, FILL_BATCH)
    messages = to
    progress(`browser: ${messages} of ${wanted} messages, ${Math.round(ms / 1_000)} s`)
    if (messages === wanted || ms > FILL_LIMIT_MS) return { wanted, messages, seconds: round(ms / 1_000) }
  }
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
