import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
  context = await browser.newContext({ viewport: { width: 1_280, height: 800 } })
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

const textsOf = (page: Page): Promise<string[]> => page.locator('.message .text').allTextContents()
const summaryOf = async (page: Page): Promise<string> =>
  (await page.locator('#context p').allTextContents()).join('\n')

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Your message').fill(text)
  await page.keyboard.press('Enter')
}

/** Adds 50 messages, so many times. */
async function fill(page: Page, times: number): Promise<void> {
  const button = page.locator('#fill')
  for (let time = 0; time < times; time++) {
    await button.click()
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('false')
  }
}

describe('the page', () => {
  it('replies by a script and says so, and the focus stays where it was typed', async () => {
    const page = await open()
    await send(page, 'Two seats to Turin.')
    await expect.poll(() => textsOf(page)).toHaveLength(2)
    expect(await textsOf(page)).toEqual([
      'Two seats to Turin.',
      expect.stringMatching(
        /^The log holds 1 message\. A model would now be given all of them: \d+ of 1,750/,
      ),
    ])
    expect(await page.locator('.message .speaker').allTextContents()).toEqual([
      expect.stringMatching(/^You /),
      expect.stringMatching(/^Scripted reply /),
    ])
    expect(await page.locator('header').textContent()).toContain('Scripted replies, no model is called.')
    await expect.poll(() => page.locator('#announcements').textContent()).toMatch(/^Scripted reply: The log/)
    await page.keyboard.type('And back.')
    expect(await page.getByLabel('Your message').inputValue()).toBe('And back.')
  })

  it('takes what is typed and sent while a reply is being made', async () => {
    const page = await open()
    const sent = ['one', 'two', 'three']
    for (const text of sent) await send(page, text)
    const own = async () => (await textsOf(page)).filter((text) => sent.includes(text))
    await expect.poll(own).toEqual(sent)
    await expect.poll(async () => (await textsOf(page)).at(-1)).toMatch(/^The log holds [345] messages/)
    await expect.poll(() => page.getByText('A scripted reply is being made.').isVisible()).toBe(false)
  })

  it('has the conversation after a reload', async () => {
    const page = await open()
    await send(page, 'Two seats to Turin.')
    await expect.poll(() => textsOf(page)).toHaveLength(2)
    const before = await textsOf(page)
    const context = await summaryOf(page)
    await page.reload()
    await expect.poll(() => textsOf(page)).toEqual(before)
    await expect.poll(() => summaryOf(page)).toBe(context)
    expect(context).toContain('2 messages shown, 0 left out.')
    expect(await page.locator('#store-status').textContent()).toBe('Saved in this browser.')
  })

  it('shows in a second tab what the first one writes, without a reload', async () => {
    const [one, other] = [await open(), await open()]
    await send(one, 'Written in the first tab.')
    await expect.poll(() => textsOf(other)).toHaveLength(2)
    await send(other, 'Written in the second tab.')
    await expect.poll(() => textsOf(one)).toHaveLength(4)
    expect(await textsOf(other)).toEqual(await textsOf(one))
    await expect.poll(() => summaryOf(other)).toContain('4 messages shown')
    await expect.poll(() => summaryOf(one)).toBe(await summaryOf(other))
    const third = await open()
    await expect.poll(() => textsOf(third)).toEqual(await textsOf(one))
  })

  it('keeps the bar under the line whatever is added, and says how many messages are summarised', async () => {
    const page = await open()
    // Every bar that is drawn, from now on.
    await page.evaluate(`
      globalThis.drawn = []
      const bar = document.querySelector('.bar')
      new MutationObserver(() => {
        const used = bar.querySelector('.format').getBoundingClientRect().right
        drawn.push(used - bar.querySelector('.line').getBoundingClientRect().left)
      }).observe(bar, { childList: true })
    `)
    await fill(page, 4)
    await expect.poll(() => page.locator('.message').count()).toBe(100)
    const parts = /(\d+) messages shown, (\d+) summarised, (\d+) left out, \d+ outputs? shortened/
    await expect
      .poll(async () => {
        const [, shown, summarised, omitted] = parts.exec(await summaryOf(page)) ?? []
        return Number(shown) + Number(summarised) + Number(omitted)
      })
      .toBe(200)
    expect(await summaryOf(page)).toMatch(/Epoch \d+, begun because the window was full, and was cut back\./)
    const drawn = await page.evaluate<number[]>('drawn')
    expect(drawn.length).toBeGreaterThan(10)
    expect(Math.max(...drawn)).toBeLessThan(0)
    const [, shown] = parts.exec(await summaryOf(page)) ?? []
    expect(await page.locator('.divider ~ .message').count()).toBe(Number(shown))
  })

  it('shows the newest messages of a long history, and older ones when asked', async () => {
    const page = await open()
    await fill(page, 3)
    await page.reload()
    await expect.poll(() => page.locator('.message').count()).toBe(100)
    const newest = await textsOf(page)
    await page.getByRole('button', { name: 'Load older messages' }).click()
    await expect.poll(() => page.locator('.message').count()).toBe(150)
    expect((await textsOf(page)).slice(50)).toEqual(newest)
    expect(await page.getByRole('button', { name: 'Load older messages' }).isVisible()).toBe(false)
    await send(page, 'One more.')
    await expect.poll(() => page.locator('.message').count()).toBe(152)
  })

  it('shows markup in a message as the text that it is', async () => {
    const page = await open()
    const text =
      '<img src=x onerror="document.title = 1"><b>bold</b> &amp; <script>document.title = 2</script>'
    await send(page, text)
    await expect.poll(() => textsOf(page)).toHaveLength(2)
    await page.reload()
    await expect.poll(async () => (await textsOf(page))[0]).toBe(text)
    expect(await page.locator('.message img, .message b, .message script').count()).toBe(0)
    expect(await page.title()).toBe('Plimsoll')
  })

  it('says how far a message passes the line, and goes on with the next one', async () => {
    const page = await open()
    await send(page, 'Turin and back. '.repeat(600))
    await expect
      .poll(async () => (await textsOf(page))[1])
      .toMatch(/^A model could not be called: even the least/)
    expect(await summaryOf(page)).toContain('No context fits')
    await send(page, 'Only to Turin.')
    await expect.poll(async () => (await textsOf(page)).at(-1)).toMatch(/^The log holds 3 messages/)
    expect(await summaryOf(page)).toMatch(/\d+ of 1,750 tokens/)
  })

  it('says that its database was deleted, and goes on without it once that is accepted', async () => {
    const page = await open()
    await send(page, 'Two seats to Turin.')
    await expect.poll(() => textsOf(page)).toHaveLength(2)
    await page.evaluate(
      `new Promise((done) => { indexedDB.deleteDatabase('plimsoll-page').onsuccess = () => done() })`,
    )
    await send(page, 'Still there?')
    await expect.poll(() => page.locator('#store-status').textContent()).toMatch(/^Lost: /)
    expect(await page.getByLabel('Your message').inputValue()).toBe('Still there?')
    expect(await textsOf(page)).toHaveLength(2)
    await page.getByRole('button', { name: 'Go on without it' }).click()
    await expect.poll(() => textsOf(page)).toEqual([])
    await page.getByLabel('Your message').press('Enter')
    await expect.poll(() => textsOf(page)).toHaveLength(2)
    expect(await page.locator('#store-status').textContent()).toBe('Saved in this browser.')
  })
})

describe('the page of the API', () => {
  for (const width of [1_440, 390])
    it(`shows every route, and asks one, on a screen of ${width} pixels`, async () => {
      const page = await open('/docs')
      await page.setViewportSize({ width, height: 844 })
      const document = (await (await fetch(new URL('/openapi.json', server.found))).json()) as Document
      const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
      await expect.poll(() => page.locator('[part~=section-operation]').count()).toBe(operations.length)
      const health = page.locator('[id="get-/health"]')
      await health.getByRole('button', { name: 'Try' }).click()
      await expect.poll(() => health.getByText('"ok"').first().isVisible()).toBe(true)
      // Nothing stands outside of the screen.
      const boxes = await Promise.all(
        (await page.locator('.m-btn').all()).map((button) => button.boundingBox()),
      )
      const right = Math.max(...boxes.map((box) => (box ? box.x + box.width : 0)))
      expect(right).toBeGreaterThan(0)
      expect(right).toBeLessThanOrEqual(width)
    })
})

interface Document {
  readonly paths: Readonly<Record<string, object>>
}
