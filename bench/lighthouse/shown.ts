import { snapshot } from 'lighthouse'
import puppeteer, { type Page } from 'puppeteer-core'
import { type Verdict, verdictsOf } from './audit.ts'

/** A state of a page, and how one comes there. */
export interface ShownState {
  readonly name: string
  readonly url: string
  reach(page: Page): Promise<unknown>
}

/** What Lighthouse says of a page as it shows then, by the browser that listens on a port. */
export async function auditShown(
  { url, reach }: ShownState,
  port: number,
  scheme: 'light' | 'dark',
): Promise<Verdict[]> {
  const browser = await puppeteer.connect({ browserURL: `http://127.0.0.1:${port}`, defaultViewport: null })
  const page = await browser.newPage()
  try {
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: scheme },
      // What moves in is judged where it comes to.
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ])
    await page.goto(url)
    await reach(page)
    return verdictsOf(
      await snapshot(page, {
        flags: { logLevel: 'error', onlyCategories: ['accessibility', 'best-practices'] },
      }),
    )
  } finally {
    await page.close()
    await browser.disconnect()
  }
}

/** The page of the edge with its inspector open, and with a conversation; the one-tag page. */
export function states(app: string, tagged: string): readonly ShownState[] {
  return [
    {
      name: 'the inspector beside the chat',
      url: app,
      reach: async (page) => {
        await page.locator('>>> #inspect').click()
        await page.waitForSelector('>>> .timeline')
      },
    },
    {
      name: 'a conversation of the app',
      url: app,
      reach: async (page) => {
        await say(page)
        await page.waitForSelector('>>> .message.assistant .foot')
      },
    },
    {
      name: 'the one-tag page, its chat open',
      url: tagged,
      reach: async (page) => {
        await page.locator('>>> .launcher').click()
        await say(page)
        await page.waitForSelector('>>> .message.assistant .foot')
      },
    },
  ]
}

async function say(page: Page): Promise<void> {
  const field = await page.waitForSelector('>>> .composer textarea')
  await field?.type('Hello')
  await field?.press('Enter')
}
