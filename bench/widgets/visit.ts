/** One visit to a widget's page: opened, measured, scrolled up, measured again, closed. */
import { setTimeout as wait } from 'node:timers/promises'
import { type BrowserContext, type CDPSession, errors } from 'playwright'
import { MESSAGES, VIEWPORT } from './plan.ts'
import type { Fill } from './subjects/plimsoll/fill.ts'
import { watched } from './watched.ts'

declare const fill: Fill

/** What a page holds, after its garbage was collected. */
export interface Held {
  /**
   * Bytes of the JavaScript heap, those of buffers outside of it, and those of the DOM's own
   * objects.
   */
  readonly heap: number
  readonly buffers: number
  readonly dom: number
  readonly nodes: number
  readonly listeners: number
}

export interface Visit {
  /** Milliseconds from the navigation until the newest message stood on the screen. */
  readonly openMs: number
  readonly opening: Work
  readonly opened: Held
  /** Number of the topmost message after scrolling. */
  readonly topmost: number
  readonly scrolling: Work
  readonly scrolled: Held
}

/** What a page's main thread did. */
export interface Work {
  /**
   * Milliseconds of the processor: on a machine that does other things too, steadier than the
   * clock.
   */
  readonly cpuMs: number
  /** Milliseconds, by the clock, of its longest task; 0 where none took more than 50. */
  readonly longestTaskMs: number
}

/** Viewport heights that it scrolls up. */
export const SCROLLED = 5
/**
 * What comes after the newest message stands still, for example parts that are loaded when the page
 * is idle.
 */
const AFTER_MS = 1_500
const LIMIT_MS = 120_000

/** @returns why not, where the page did not come to rest in time */
export async function visit(
  context: BrowserContext,
  url: string,
  afterOpening: () => void,
): Promise<Visit | string> {
  const page = await context.newPage()
  try {
    page.setDefaultTimeout(LIMIT_MS)
    const watch = watched(page)
    const session = await context.newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const work = async (before = 0): Promise<Work> => ({
      cpuMs: (await cpuMs(session)) - before,
      longestTaskMs: await watch.longestTask(),
    })
    await page.goto(url, { waitUntil: 'commit' })
    const openMs = await inTime(watch.opened(MESSAGES))
    await wait(AFTER_MS)
    afterOpening()
    const opening = await work()
    const opened = await held(session)
    const { cpuMs: before } = await work()
    await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2)
    for (let times = 0; times < SCROLLED; times++) {
      await page.mouse.wheel(0, -VIEWPORT.height)
      await inTime(watch.settled())
    }
    const topmost = await watch.settled()
    const scrolling = await work(before)
    return { openMs, opening, opened, topmost, scrolling, scrolled: await held(session) }
  } catch (error) {
    if (error instanceof errors.TimeoutError) return error.message
    throw error
  } finally {
    await page.close()
  }
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const ended = new AbortController()
  const late = wait(LIMIT_MS, undefined, { signal: ended.signal }).then(() => {
    throw new errors.TimeoutError(`not at rest within ${LIMIT_MS / 1_000} s`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    late.catch(() => {})
    work.catch(() => {})
    ended.abort()
  }
}

/** Milliseconds that all tasks of a page's main thread took so far. */
async function cpuMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
}

async function held(session: CDPSession): Promise<Held> {
  // What the first collection lets go of, a finalizer may give back only then.
  for (let times = 0; times < 3; times++) await session.send('HeapProfiler.collectGarbage')
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
  return {
    heap: usedSize,
    buffers: backingStorageSize,
    dom: embedderHeapUsedSize,
    nodes,
    listeners: jsEventListeners,
  }
}

/** Has a page put its messages where the widget will look for them. */
export async function fillPage(context: BrowserContext, url: string, messages: number): Promise<void> {
  const page = await context.newPage()
  await page.goto(url)
  await page.waitForFunction(() => 'fill' in globalThis)
  await page.evaluate((count) => fill(count), messages)
  await page.close()
}
