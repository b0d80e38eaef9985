/**
 * `npm run test:site`, after `npm run docs`: Lighthouse's accessibility of pages of the site, in
 * light and in dark; it must be 100.
 */

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright'
import { findChromium, flags } from '../../test/chromium.ts'
import { freePort } from '../../test/started.ts'
import { audit } from './audit.ts'
import { serveFolders } from './folders.ts'

/** One of each kind: prose, tables, figures, code, the reference, and that of HTTP. */
const PAGES = [
  ...['docs/index', 'README', 'docs/context', 'docs/benchmarks', 'docs/start-node', 'docs/glossary'],
  ...['site/reference/index', 'site/reference/http'],
]
const folder = resolve(import.meta.dirname, '../../site/dist')
if (!existsSync(join(folder, 'docs/index.html'))) throw new Error('the site is not built: npm run docs')
const executablePath = findChromium()
if (!executablePath) throw new Error('no Chromium: run `node test/chromium.ts`')

const { url, close } = await serveFolders([folder])
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
      const verdicts = await audit(`${url}/${page}.html`, debugging)
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
close()
process.exitCode = failures === 0 ? 0 : 1
