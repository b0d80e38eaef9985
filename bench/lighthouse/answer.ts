import { setTimeout as wait } from 'node:timers/promises'
import type { BrowserContext } from 'playwright'
import { withLong } from './long.ts'

/** Between two interactions. */
const PAUSE_MS = 60
/** What browsers tell of at least, in milliseconds. */
const LEAST_MS = 16

/** As much of Event Timing as is used here. */
interface EventTiming {
  readonly interactionId: number
  readonly duration: number
}

/**
 * Uses a conversation of that length for some seconds while a reply grows in it, by the keyboard
 * and with the pointer. Milliseconds from each interaction to the next paint, by the browser's own
 * Event Timing, in steps of 8; from the shortest to the longest.
 */
export async function answerLong(
  context: BrowserContext,
  messages: number,
  seconds: number,
): Promise<readonly number[]> {
  return withLong(context, messages, async (page) => {
    await page.evaluate(
      ({ leastMs, words }) => {
        const { document } = globalThis
        const chat = document.querySelector('plimsoll-chat')
        if (!chat) throw new Error('no widget')
        const times = new Map<number, number>()
        Object.assign(globalThis, { interactions: times })
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const { interactionId, duration } = entry as unknown as EventTiming
            if (interactionId) times.set(interactionId, Math.max(duration, times.get(interactionId) ?? 0))
          }
        }).observe({ type: 'event', durationThreshold: leastMs, buffered: true } as PerformanceObserverInit)
        // A word every 20 ms, as a fast model gives them; a list, code and emphasis among them.
        chat.model = async function* () {
          for (let at = 0; ; at++) {
            await new Promise((done) => setTimeout(done, 20))
            yield words[at % words.length] ?? ''
          }
        }
      },
      { leastMs: LEAST_MS, words: WORDS },
    )
    const field = page.locator('plimsoll-chat .composer textarea')
    await field.fill('Tell me all of it')
    await field.press('Enter')
    await page.locator('plimsoll-chat .message[aria-busy=true] .prose').waitFor()
    let done = 0
    for (const until = performance.now() + seconds * 1_000; performance.now() < until; done++) {
      if (done % 12 === 5) await page.locator('plimsoll-chat .to-memory').click()
      else if (done % 12 === 8) await page.locator('plimsoll-chat .side.memory .head button').click()
      else {
        await field.focus()
        await page.keyboard.press('a')
      }
      await wait(PAUSE_MS)
    }
    const told = await page.evaluate(() => [
      ...(globalThis as unknown as { interactions: Map<number, number> }).interactions.values(),
    ])
    // What was faster than browsers tell of counts as the least that they do.
    const rest = Array.from({ length: Math.max(0, done - told.length) }, () => LEAST_MS)
    return [...rest, ...told].sort((one, other) => one - other)
  })
}

const WORDS =
  'The **tide** turns at nine, and `depth` falls.\n\n- one\n- two\n\n```ts\nconst a = 1\n```\n\n'.split(
    /(?<= )|(?<=\n)/,
  )
