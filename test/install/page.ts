/** The page of `apps/page`, built by Vite as an app's would be, and opened in Chromium. */
import assert from 'node:assert/strict'
import { chromium } from 'playwright'
import { build, preview } from 'vite'
import { findChromium, flags } from '../chromium.ts'

/** What a page with the chat and the inspector comes to. */
export interface Shown {
  /** Whether the reply is shown as Markdown, and its code in colours. */
  readonly markdown: boolean
  readonly code: boolean
  /** The errors of the page that nobody caught, each once or more often. */
  readonly refusals: readonly RegExp[]
}

/** @throws AssertionError: the page of this folder comes to something else */
export async function show(root: string, expected: Shown): Promise<void> {
  const settings = { root, configFile: false as const, logLevel: 'error' as const }
  await build({ ...settings, build: { target: 'es2023', chunkSizeWarningLimit: 10_000 } })
  const server = await preview({ ...settings, preview: { host: '127.0.0.1', port: 0 } })
  const executablePath = findChromium()
  const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
  try {
    const tab = await browser.newPage()
    const told: string[] = []
    tab.on('pageerror', ({ message }) => told.push(message))
    await tab.goto(server.resolvedUrls?.local[0] ?? '')
    const reply = tab.locator('plimsoll-chat').getByText('bold').last()
    await reply.waitFor()
    await tab.locator('plimsoll-inspector').getByRole('button').first().waitFor()
    // What is loaded with the first Markdown, and with the first code in it.
    const colours = tab.locator('plimsoll-chat .hljs-keyword')
    if (expected.code) await colours.first().waitFor()
    else await expectSoon(() => told.length > 0)
    assert.equal((await tab.locator('plimsoll-chat strong').count()) > 0, expected.markdown)
    assert.equal((await colours.count()) > 0, expected.code)
    for (const message of told)
      assert.equal(
        expected.refusals.some((one) => one.test(message)),
        true,
        message,
      )
    for (const refusal of expected.refusals)
      assert.equal(
        told.some((message) => refusal.test(message)),
        true,
      )
  } finally {
    await browser.close()
    await server.close()
  }
}

async function expectSoon(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 100 && !holds(); tries++) await new Promise((done) => setTimeout(done, 100))
}
