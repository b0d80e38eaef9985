import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, BrowserContext } from 'playwright'
import { VIEWPORT } from '../widgets/plan.ts'
import { watched } from '../widgets/watched.ts'
import { withLong } from './long.ts'

/** Between two turns of the wheel. */
const TURN_MS = 30

export interface Scrolled {
  /** Messages between the end and where it came to. */
  readonly passed: number
  /** Every task of a page's main thread, as the trace has them. */
  readonly tasks: readonly Task[]
}

/**
 * Milliseconds by the clock, and of the processor: a machine that does other things too makes the
 * first one longer.
 */
export interface Task {
  readonly ms: number
  readonly cpuMs: number
}

/**
 * Scrolls up a conversation of that length for some seconds, as fast as the wheel turns, with a
 * trace running.
 */
export async function scrollLong(
  context: BrowserContext,
  messages: number,
  seconds: number,
): Promise<Scrolled> {
  const browser = context.browser()
  if (!browser) throw new Error('nothing to trace')
  return withLong(context, messages, async (page) => {
    await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2)
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
    for (const until = performance.now() + seconds * 1_000; performance.now() < until; ) {
      await page.mouse.wheel(0, -VIEWPORT.height)
      await wait(TURN_MS)
    }
    const tasks = tasksIn(await browser.stopTracing())
    return { passed: messages - (await watched(page).settled()), tasks }
  })
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds by the clock, and of the processor. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

type Trace = Awaited<ReturnType<Browser['stopTracing']>>

/** Those of all main threads of pages. */
function tasksIn(trace: Trace): Task[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] }
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  )
  return traceEvents
    .filter((event) => event.name === 'RunTask' && event.ph === 'X' && main.has(threadOf(event)))
    .map(({ dur = 0, tdur = 0 }) => ({ ms: dur / 1_000, cpuMs: tdur / 1_000 }))
}
