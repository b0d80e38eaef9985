/**
 * `npm run test:site`, after `npm run docs`: Lighthouse's accessibility of pages of the site, in
 * light and in dark; it must be 100.
 */

import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, resolve } from 'node:path'
import { chromium } from 'playwright'
import { findChromium, flags } from '../../test/chromium.ts'
import { freePort } from '../../test/started.ts'
import { audit } from './audit.ts'

/** One of each kind: prose, tables, figures, code, the reference, and that of HTTP. */
const PAGES = [
  ...['docs/index', 'README', 'docs/context', 'docs/benchmarks', 'docs/start-node', 'docs/glossary'],
  ...['site/reference/index', 'site/reference/http'],
]
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}
const folder = resolve(import.meta.dirname, '../../site/dist')
if (!existsSync(join(folder, 'docs/index.html'))) throw new Error('the site is not built: npm run docs')
const executablePath = findChromium()
if (!executablePath) throw new Error('no Chromium: run `node test/chromium.ts`')

const server = createServer((request, response) => {
  const file = join(folder, decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname))
  if (!file.startsWith(folder) || !existsSync(file)) return void response.writeHead(404).end()
  response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
  response.end(readFileSync(file))
})
const port = await freePort()
await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
let failures = 0
for (const theme of ['light', 'dark'] as const) {
  const debugging = await freePort()
  const browser = await chromium.launch({
    executablePath,
    args: [
      ...flags,
      `--remote-debugging-port=${debugging}`,
      ...(theme === 'dark' ? ['--force-dark-mode'] : []),
    ],
  })
  try {
    for (const page of PAGES) {
      const verdicts = await audit(`http://127.0.0.1:${port}/${page}.html`, debugging)
      for (const { title, score, problems } of verdicts.filter(({ title }) => title === 'Accessibility')) {
        console.log(`${score === 100 ? 'ok     ' : 'FAILED '} ${theme} ${page}: ${title} ${score} of 100`)
        for (const problem of problems) console.log(`          ${problem}`)
        if (score < 100) failures++
      }
    }
  } finally {
    await browser.close()
  }
}
server.close()
process.exitCode = failures === 0 ? 0 : 1
