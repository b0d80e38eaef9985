import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { build, preview } from 'vite'
import { expect, it } from 'vitest'
import { findChromium, flags } from '../chromium.ts'

it('the offline assistant opens and answers with the network off', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-offline-'))
  const configFile = 'examples/pages/offline/vite.config.ts'
  await build({ configFile, logLevel: 'error', build: { outDir: folder } })
  const host = await preview({
    configFile,
    logLevel: 'error',
    build: { outDir: folder },
    preview: { host: '127.0.0.1', port: 0 },
  })
  const executablePath = findChromium()
  const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
  const context = await browser.newContext({ locale: 'en-GB' })
  try {
    const page = await context.newPage()
    await page.goto(host.resolvedUrls?.local[0] ?? '')
    await page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
    await context.setOffline(true)
    await page.reload()
    await page.getByRole('textbox', { name: 'Write a message' }).fill('Are you there?')
    await page.keyboard.press('Enter')
    const replies = page.locator('[data-message]', { hasText: 'This is a scripted demo' })
    await expect.poll(() => replies.count()).toBe(1)
  } finally {
    await browser.close()
    await host.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
