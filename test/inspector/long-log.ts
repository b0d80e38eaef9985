/**
 * How long the inspector takes to read a log and to let its policies race, and the longest task of
 * its page meanwhile, in Chromium with the element as it is published.
 * `npm run test:inspector [-- <log> [times]]`: without a log, its own sample as often as makes 50
 * MB.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright'
import { build, type Rolldown } from 'vite'
import { sampleLog } from '../../src/inspector/model/sample.ts'
import { findChromium, flags } from '../chromium.ts'

const MB = 1_000_000
const BYTES = 50 * MB
const ORIGIN = 'http://inspector.test/'
/** From which on a task counts as long, in milliseconds. */
const LONG = 50

const [path, times] = process.argv.slice(2)
const log = path === undefined ? sampleLog() : readFileSync(path, 'utf8')
const copies = times === undefined ? (path === undefined ? Math.ceil(BYTES / log.length) : 1) : Number(times)

const entry = fileURLToPath(new URL('../../src/inspector/define.ts', import.meta.url))
const built = (await build({
  configFile: false,
  logLevel: 'error',
  build: { write: false, rollupOptions: { input: entry }, target: 'es2022' },
})) as Rolldown.RolldownOutput
const code = built.output[0].code

const executablePath = findChromium()
const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } })
await page.route(`${ORIGIN}**`, (route) =>
  route.request().url().endsWith('.js')
    ? route.fulfill({ contentType: 'text/javascript', body: code })
    : route.fulfill({
        contentType: 'text/html',
        body: '<!doctype html><title>Inspector</title><plimsoll-inspector></plimsoll-inspector><script type="module" src="define.js"></script>',
      }),
)
await page.goto(ORIGIN)
await page.evaluate(
  ({ log, copies }) => {
    const parts = Array.from({ length: copies }, () => log)
    Object.assign(globalThis, { file: new File(parts, 'log.jsonl') })
  },
  { log, copies },
)
await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
const figures = await page.evaluate(async () => {
  const { file, document } = globalThis as unknown as Page
  const inspector = document.querySelector('plimsoll-inspector')
  const began = performance.now()
  let readMs = 0
  const opened = inspector.open(file)
  const watch = setInterval(() => {
    const isRacing = inspector.shadowRoot.querySelector('.work')?.textContent.includes('Racing')
    if (isRacing && readMs === 0) readMs = performance.now() - began
  }, 20)
  await opened
  clearInterval(watch)
  const ms = performance.now() - began
  return { bytes: file.size, readSeconds: readMs / 1_000, seconds: ms / 1_000 }
})
const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
  traceEvents: readonly TraceEvent[]
}
const version = browser.version()
await browser.close()

/** As much of the page as is used here. */
interface Page {
  readonly file: File
  readonly document: {
    querySelector(name: string): {
      open(file: File): Promise<void>
      readonly shadowRoot: { querySelector(name: string): { readonly textContent: string } | null }
    }
  }
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds: by the clock, and of the thread's own time on a processor. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

const threadOf = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`
const renderers = new Set(
  traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
    .map(threadOf),
)
const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && renderers.has(threadOf(event)))
const ms = (of: (task: TraceEvent) => number | undefined) =>
  tasks.map((task) => (of(task) ?? 0) / 1_000).sort((one, other) => other - one)
const [clock, processor] = [ms(({ dur }) => dur), ms(({ tdur }) => tdur)]
const round = (value = 0) => Number(value.toFixed(1))
console.log(
  JSON.stringify({
    chromium: version,
    elementGzipKiB: round(gzipSync(code, { level: 9 }).length / 1024),
    megabytes: round(figures.bytes / MB),
    readSeconds: round(figures.readSeconds),
    seconds: round(figures.seconds),
    tasks: tasks.length,
    longestTaskMs: { processor: round(processor[0]), clock: round(clock[0]) },
    longTasks: {
      processor: processor.filter((task) => task > LONG).length,
      clock: clock.filter((task) => task > LONG).length,
    },
  }),
)
