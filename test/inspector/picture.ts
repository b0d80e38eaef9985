/**
 * `node test/inspector/picture.ts FILE`: README's picture, the inspector over `examples/trip.jsonl`
 * with the line at 3 000 tokens by o200k, as `npm run demo` has it.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright'
import { createServer } from 'vite'
import { findChromium, flags } from '../chromium.ts'

const [path = 'docs/inspector.png'] = process.argv.slice(2)
const root = fileURLToPath(new URL('../../', import.meta.url))
const log = readFileSync(new URL('../../examples/trip.jsonl', import.meta.url), 'utf8')
const PAGE = `<!doctype html><style>body { margin: 0 }</style>
<plimsoll-inspector budget="3000"></plimsoll-inspector>
<script type="module">
  import '/src/inspector/define.ts'
  import { loadO200k } from '/src/counters/o200k.ts'
  document.querySelector('plimsoll-inspector').counter = await loadO200k()
  document.documentElement.dataset.ready = ''
</script>`
const executablePath = findChromium()
const server = await createServer({
  configFile: false,
  root,
  logLevel: 'error',
  // What it finds late would load the page again.
  optimizeDeps: { noDiscovery: true },
})
const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
try {
  await server.listen()
  const page = await browser.newPage({ viewport: { width: 1_000, height: 536 } })
  const url = new URL('picture', server.resolvedUrls?.local[0]).href
  await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
  await page.goto(url)
  await page.locator('html[data-ready]').waitFor({ state: 'attached' })
  await page.locator('plimsoll-inspector').evaluate(async (inspector, text) => {
    await (inspector as unknown as { open(file: File): Promise<void> }).open(new File([text], 'trip.jsonl'))
  }, log)
  // The call that is the nearest to the line.
  for (let call = 1; call < 15; call++) await page.getByRole('slider').press('ArrowRight')
  await page.screenshot({ path })
} finally {
  await browser.close()
  await server.close()
}
