/** `node test/unplug-picture.ts FILE`: the picture of docs/sync.md, from a real run. */
import { chromium } from 'playwright'
import { createServer } from 'vite'
import { findChromium, flags } from './chromium.ts'

const [path = 'docs/unplug.png'] = process.argv.slice(2)
const executablePath = findChromium()
const server = await createServer({ configFile: 'examples/pages/vite.config.ts', logLevel: 'error' })
const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
try {
  await server.listen()
  const page = await browser.newPage({ viewport: { width: 960, height: 600 } })
  await page.goto(new URL('unplug/', server.resolvedUrls?.local[0]).href)
  const [laptop, phone] = ['Laptop', 'Phone'].map((name) => page.getByRole('region', { name }))
  await laptop?.getByLabel('Message').fill('Two seats to Turin, please.')
  await page.keyboard.press('Enter')
  await phone?.locator('.messages li').nth(1).waitFor()
  await page.getByRole('slider').press('ArrowLeft')
  await phone?.getByLabel('Message').fill('And a bicycle.')
  await page.keyboard.press('Enter')
  await phone?.getByText('And a bicycle.').waitFor()
  await page.locator('.hash:not(.same)').first().waitFor()
  await page.screenshot({ path, fullPage: true })
} finally {
  await browser.close()
  await server.close()
}
