import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright'

const RELOADS = 5
/** So long a service worker is waited for. */
const LIMIT_MS = 15_000

/**
 * Milliseconds to the first contentful paint of each reload without a network, or why there is
 * none.
 */
export async function paintOffline(
  context: BrowserContext,
  url: string,
  cut: () => Promise<unknown>,
): Promise<number[] | string> {
  const page = await context.newPage()
  try {
    await page.goto(url, { waitUntil: 'load' })
    const ready = page.evaluate(() => navigator.serviceWorker.ready.then(() => true))
    if (!(await Promise.race([ready, wait(LIMIT_MS, false)]))) return 'the page has no service worker'
    await context.setOffline(true)
    await cut()
    const paints: number[] = []
    for (let times = 0; times < RELOADS; times++) {
      const response = await page.reload({ waitUntil: 'load' })
      if (!response?.fromServiceWorker()) return 'the service worker did not answer'
      paints.push(await firstPaint(page))
    }
    return paints
  } finally {
    await context.setOffline(false)
    await page.close()
  }
}

const firstPaint = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) =>
        new PerformanceObserver((list, observer) => {
          const [paint] = list.getEntriesByName('first-contentful-paint')
          if (!paint) return
          observer.disconnect()
          resolve(paint.startTime)
        }).observe({ type: 'paint', buffered: true }),
      ),
  )
