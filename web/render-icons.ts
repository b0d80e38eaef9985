/** `npm run build:icons`: draws the icons of `public/` from `icon.svg` beside them, in Chromium. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { chromium } from 'playwright'
import { findChromium, flags } from '../test/chromium.ts'

const icons = { 'icon-192.png': 192, 'icon-512.png': 512, 'apple-touch-icon.png': 180 }

const folder = resolve(import.meta.dirname, 'public')
const picture = readFileSync(resolve(folder, 'icon.svg'), 'utf8')
const executablePath = findChromium()
const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
for (const [name, size] of Object.entries(icons)) {
  const page = await browser.newPage({ viewport: { width: size, height: size } })
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${picture}`)
  await page.screenshot({ path: resolve(folder, name) })
  await page.close()
}
await browser.close()
