/**
 * `npm run test:tutorials`: the tutorials, each from an empty folder with the packed library.
 * Writes the files that a page names, runs its `bash` blocks, and compares what they print with
 * what it says; of the browser's, the page is opened in Chromium too. Needs a registry; about two
 * minutes.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { findChromium, flags } from '../chromium.ts'
import { outputsOf, patternOf, stepsOf } from '../page-commands.ts'
import { freePort } from '../started.ts'
import { packed, root } from './library.ts'

/** A file that a page has one write: its name, and its text. */
const FILE = /^<!-- file: (\S+) -->\n(?:<!--[^>]*-->\n)*```\w+\n(.*?)^```$/gms
/** Of the page of the checkout, in the folder beside it. */
const TARBALL = /\S+\/plimsoll-[\d.]+\.tgz/g
const PORT = /\b(4173|8799)\b/g

/** Says something on a page, and looks whether it is there after a reload. */
async function converse(url: string): Promise<void> {
  const executablePath = findChromium()
  const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
  try {
    const tab = await browser.newPage()
    await tab.goto(url)
    await tab.getByLabel('Message').fill('When is the train?')
    await tab.getByRole('button').click()
    for (const isAgain of [false, true]) {
      if (isAgain) await tab.reload()
      await tab.getByText('user: When is the train?').waitFor()
      await tab.getByText('assistant: At 9:40.').waitFor()
      await tab.getByText(/^\d+ of 4000 tokens$/).waitFor()
    }
  } finally {
    await browser.close()
  }
}

/** Runs a page in a folder. @throws what differs from what it says */
async function walk(folder: string, tarball: string, page: string): Promise<void> {
  mkdirSync(folder)
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  for (const [, name = '', code = ''] of text.matchAll(FILE)) writeFileSync(join(folder, name), code)
  const port = await freePort()
  const steps = stepsOf(text)
  const blocks = steps.map(({ commands }) =>
    commands.replaceAll(TARBALL, tarball).replaceAll(PORT, String(port)),
  )
  const opened = page === 'start-browser.md' ? () => converse(`http://localhost:${port}`) : async () => {}
  const outputs = await outputsOf(blocks, { cwd: folder, beforeEnd: opened })
  for (const [index, { commands, shown }] of steps.entries())
    if (!patternOf(shown).test(outputs[index] ?? ''))
      throw new Error(`${commands}prints\n${outputs[index]}\nand not\n${shown}${logsIn(folder)}`)
}

function logsIn(folder: string): string {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
  return logs.map((name) => `\n${name}:\n${readFileSync(join(folder, name), 'utf8')}`).join('')
}

const asked = process.argv[2] ?? ''
const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-tutorials-'))
let failures = 0
try {
  const tarball = packed(workplace, '--ignore-scripts')
  const pages = readdirSync(join(root, 'docs')).filter((name) => /^start-.*\.md$/.test(name))
  for (const page of pages.filter((name) => name.includes(asked))) {
    const started = Date.now()
    try {
      await walk(join(workplace, page), tarball, page)
      console.log(`ok      ${page}: ${((Date.now() - started) / 1000).toFixed(0)} s`)
    } catch (error) {
      failures++
      console.log(`FAILED  ${page}: ${(error as Error).message}`)
    }
  }
} finally {
  rmSync(workplace, { recursive: true, force: true, maxRetries: 5 })
}
process.exitCode = failures === 0 ? 0 : 1
