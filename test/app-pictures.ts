/**
 * `node test/app-pictures.ts`: the pictures of docs/app.md and of the page's manifest, from a real
 * run of the page as any host serves it, and with an edge. Built first, into folders of its own.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright'
import { findChromium, flags } from './chromium.ts'
import { EdgeProcess } from './e2e/support/edge-process.ts'
import { buildPage, ChatScreen, servePage } from './e2e/support/pwa.ts'

const DOCS = 'docs/app'
const PUBLIC = 'web/public'

const executablePath = findChromium()
const built = await buildPage('static')
const host = await servePage(built)
const withEdge = await buildPage('production')
const edge = await EdgeProcess.start({}, withEdge.folder)
const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })

/** A new visitor's page, as large as a phone or as a desk. */
async function visit(
  colorScheme: 'light' | 'dark',
  isPhone = false,
  url = host.resolvedUrls?.local[0] ?? '',
): Promise<{ readonly page: Page; readonly chat: ChatScreen }> {
  const context = await browser.newContext({
    locale: 'en-GB',
    colorScheme,
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
    hasTouch: isPhone,
    viewport: isPhone ? { width: 360, height: 740 } : { width: 1_280, height: 800 },
  })
  const page = await context.newPage()
  await page.goto(url)
  await page.locator('.worlds button').waitFor()
  return { page, chat: new ChatScreen(page) }
}

/** The two windows of a conversation, one of them cut off. */
async function unplugged(page: Page): Promise<void> {
  const unplug = page.locator('.unplug')
  await unplug.getByRole('button', { name: 'Begin' }).click()
  const [laptop, phone] = ['Laptop', 'Phone'].map((name) => page.getByRole('region', { name }))
  await laptop?.getByLabel('Message').fill('Two seats to Turin, please.')
  await page.keyboard.press('Enter')
  await phone?.locator('li').nth(1).waitFor()
  await unplug.locator('.same').first().waitFor()
  await unplug.getByRole('slider').press('ArrowLeft')
  await phone?.getByLabel('Message').fill('And a bicycle.')
  await page.keyboard.press('Enter')
  await phone?.getByText('And a bicycle.').waitFor()
  await unplug.locator('.hash:not(.same)').first().waitFor()
}

async function remember({ page, chat }: Awaited<ReturnType<typeof visit>>): Promise<void> {
  await page.getByRole('button', { name: 'Remember that I prefer window seats.' }).click()
  await page.locator('.chip').waitFor()
  await page.locator('[data-message]').nth(2).waitFor()
  await chat.say('What do you remember about my seat?')
  await page.locator('.prose', { hasText: 'I remember' }).waitFor()
}

try {
  mkdirSync(DOCS, { recursive: true })
  const desk = await visit('light')
  await desk.page.screenshot({ path: join(PUBLIC, 'screenshot-wide.png') })
  // Below, the field for messages would stand over them.
  await desk.page.setViewportSize({ width: 1_280, height: 1_600 })
  await desk.page.locator('.race').screenshot({ path: join(DOCS, 'race.png') })
  await desk.page.getByRole('button', { name: 'Remember it' }).click()
  await desk.page.getByRole('button', { name: 'Forget it' }).click()
  await desk.page.locator('.worlds').screenshot({ path: join(DOCS, 'worlds.png') })
  await desk.page.setViewportSize({ width: 1_280, height: 800 })
  await remember(desk)
  await desk.chat.button('Memory').click()
  await desk.page.locator('.fact').waitFor()
  await desk.page.screenshot({ path: join(DOCS, 'memory.png') })
  await desk.page.keyboard.press('Escape')
  await desk.chat.button('Inspector').click()
  await desk.page
    .locator('plimsoll-inspector')
    .getByText(/Call \d of \d/)
    .first()
    .waitFor()
  await desk.page.screenshot({ path: join(DOCS, 'inspector.png') })

  const served = await visit('light', false, edge.url)
  await served.page.setViewportSize({ width: 1_280, height: 1_600 })
  await unplugged(served.page)
  await served.page.locator('.unplug').screenshot({ path: 'docs/unplug.png' })
  await served.page.locator('.unplug').getByRole('button', { name: 'End, and erase' }).click()

  const phone = await visit('dark', true)
  await phone.page.screenshot({ path: join(PUBLIC, 'screenshot-narrow.png') })
  await remember(phone)
  await phone.chat.button('More').click()
  await phone.page.screenshot({ path: join(DOCS, 'phone.png') })
} finally {
  await browser.close()
  await Promise.all([host.close(), edge.stop()])
  built.remove()
  withEdge.remove()
}
