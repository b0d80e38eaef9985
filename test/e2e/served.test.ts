import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { findChromium, flags } from '../chromium.ts'
import { freePort, type Started, start } from '../started.ts'

const data = mkdtempSync(join(tmpdir(), 'plimsoll-page-'))
let server: Started
let browser: Browser
let context: BrowserContext
let errors: unknown[]

beforeAll(async () => {
  const port = String(await freePort())
  const executablePath = findChromium()
  ;[server, browser] = await Promise.all([
    start('npm', ['start', '--', '--port', port, '--data', data], /Plimsoll is at (\S+)/),
    chromium.launch({ args: flags, ...(executablePath && { executablePath }) }),
  ])
})

afterAll(async () => {
  await browser?.close()
  await server?.stop()
  rmSync(data, { recursive: true, force: true })
})

beforeEach(async () => {
  // A profile of its own, with a database of its own.
  context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1_280, height: 800 } })
  errors = []
})

afterEach(async () => {
  await context.close()
  expect(errors).toEqual([])
})

async function open(path = '/'): Promise<Page> {
  const page = await context.newPage()
  page.on('pageerror', (error) => errors.push(error))
  // Among them what the content security policy keeps from being loaded.
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(new URL(path, server.found).href)
  return page
}

it('npm start opens an assistant, which the edge answers by a scripted demo that says so', async () => {
  const page = await open()
  const field = page.getByRole('textbox', { name: 'Write a message' })
  await field.fill('Two seats to Turin.')
  await field.press('Enter')
  await expect
    .poll(() =>
      page
        .locator('[data-message]', { hasText: 'This is a scripted demo: no language model was called.' })
        .count(),
    )
    .toBe(1)
  await expect.poll(() => page.getByText('At the service', { exact: true }).count()).toBe(1)
})

it.each(['At the service', 'On this device'])('shows a reply once in each frame: %s', async (home) => {
  const page = await open()
  await page.getByText(home, { exact: true }).first().click()
  await page.evaluate(`{
    globalThis.counts = []
    const root = document.querySelector('plimsoll-chat').shadowRoot
    const look = () => {
      counts.push(root.querySelectorAll('.assistant .prose').length)
      requestAnimationFrame(look)
    }
    look()
  }`)
  const field = page.getByRole('textbox', { name: 'Write a message' })
  for (const count of [1, 2]) {
    await field.fill('Two seats to Turin.')
    await field.press('Enter')
    // The reply under way is busy; so is nothing else here.
    await expect
      .poll(async () => [
        await page.evaluate('counts.at(-1)'),
        await page.locator('.assistant[aria-busy=true]').count(),
      ])
      .toEqual([count, 0])
  }
  const counts = await page.evaluate<number[]>('counts')
  expect(counts).toEqual(counts.toSorted((one, other) => one - other))
})

it('the page of the API shows every route, and asks one, on a wide screen and a narrow one', async () => {
  const page = await open('/docs')
  const document = (await (await fetch(new URL('/openapi.json', server.found))).json()) as Document
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
  await expect.poll(() => page.locator('[part~=section-operation]').count()).toBe(operations.length)
  const health = page.locator('[id="get-/health"]')
  for (const width of [1_440, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await health.getByRole('button', { name: 'Try' }).click()
    await expect.poll(() => health.getByText('"ok"').first().isVisible()).toBe(true)
    // Nothing stands outside of the screen.
    const rights = await page
      .locator('.m-btn')
      .evaluateAll((buttons) =>
        (buttons as unknown as Shown[]).map((one) => one.getBoundingClientRect().right),
      )
    const right = Math.max(...rights)
    expect(right).toBeGreaterThan(0)
    expect(right).toBeLessThanOrEqual(width)
  }
})

/** As much of an element as says where it stands. */
interface Shown {
  getBoundingClientRect(): { readonly right: number }
}

interface Document {
  readonly paths: Readonly<Record<string, object>>
}
