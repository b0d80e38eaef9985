import { type Browser, chromium, type Locator, type Page } from 'playwright'
import { createServer, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findHeadless, flags } from '../chromium.ts'
import { builtTag } from '../tag.ts'

let server: ViteDevServer
let browser: Browser

beforeAll(async () => {
  // The one tag is served as it is built.
  builtTag()
  const executablePath = findHeadless()
  ;[server, browser] = await Promise.all([
    createServer({
      configFile: 'examples/pages/vite.config.ts',
      logLevel: 'error',
      server: { host: '127.0.0.1', port: 0 },
    }).then((made) => made.listen()),
    chromium.launch({ args: flags, ...(executablePath && { executablePath }) }),
  ])
})

afterAll(async () => {
  await browser?.close()
  await server?.close()
})

it.each([
  ['React', 'react/'],
  ['Vue', 'vue/'],
])('the %s page answers, says what a call would take, and has it all after a reload', async (name, path) => {
  const page = await browser.newPage()
  const errors: unknown[] = []
  page.on('pageerror', (error) => errors.push(error))
  const url = new URL(path, server.resolvedUrls?.local[0]).href
  await page.goto(url)
  await expect.poll(() => page.getByRole('heading').textContent()).toBe(`A memory in ${name}`)
  await page.getByLabel('Message').fill('To Turin, please.')
  await page.keyboard.press('Enter')
  const texts = (): Promise<string[]> => page.locator('.messages li').allTextContents()
  const said = [
    'To Turin, please.',
    expect.stringMatching(/^A model would have been given \d+ of 500 tokens/),
  ]
  await expect.poll(texts).toEqual(said)
  await expect.poll(() => page.getByText(/^\s*\d+ of 500 tokens, 4 blocks\s*$/).count()).toBe(1)
  await page.reload()
  await expect.poll(texts).toEqual(said)
  expect(errors).toEqual([])
  await page.close()
})

/** Replies of the script among the messages; what is read out says them once more. */
const replies = (page: Page): Locator =>
  page.locator('[data-message]', { hasText: 'This is a scripted demo' })

it('the page without a bundler has a chat by one tag, which answers and tells the page', async () => {
  const page = await browser.newPage({ locale: 'en-GB' })
  const errors: unknown[] = []
  page.on('pageerror', (error) => errors.push(error))
  await page.goto(new URL('plain/', server.resolvedUrls?.local[0]).href)
  await page.getByRole('button', { name: 'Open chat' }).click()
  await page.getByRole('textbox', { name: 'Write a message' }).fill('Do you have a lamp?')
  await page.keyboard.press('Enter')
  await expect.poll(() => replies(page).count()).toBe(1)
  await expect
    .poll(() => page.getByRole('status').first().textContent())
    .toBe('The page was told of a message by the assistant.')
  expect(errors).toEqual([])
  await page.close()
})
