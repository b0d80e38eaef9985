import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Reader } from '../../../src/chat/element/reader.ts'
import type { ShownMessage } from '../../../src/chat/ports.ts'

beforeEach(() => {
  class NoResizes {
    observe(): void {}
    disconnect(): void {}
  }
  vi.stubGlobal('ResizeObserver', NoResizes)
})

afterEach(() => {
  vi.unstubAllGlobals()
})

const NONE = { hasOlder: () => false, showOlder: async () => {} }

/** A hundred rows of a hundred pixels, as much as a reader sees of them. */
function list(older: { readonly hasOlder: () => boolean; readonly showOlder: () => Promise<void> } = NONE) {
  const scroller = {
    scrollTop: 0,
    clientHeight: 500,
    scrollHeight: 10_000,
    firstElementChild: {},
    getBoundingClientRect: () => ({ top: 0 }),
    querySelectorAll: () => rows,
  }
  const rows = Array.from({ length: 100 }, (_, place) => ({
    dataset: { message: `m${place}` },
    offsetHeight: 100,
    getBoundingClientRect: () => ({ top: 100 * place - scroller.scrollTop }),
  }))
  const messages = rows.map(
    ({ dataset }) => ({ message: { id: dataset.message } }) as unknown as ShownMessage,
  )
  const reader = new Reader({
    height: 700,
    messages: () => messages,
    ...older,
    releaseOlder: () => {},
    draw: () => {},
  })
  const drawn = (): void => {
    reader.follow(scroller as unknown as HTMLElement)
    reader.settle()
  }
  reader.follow(scroller as unknown as HTMLElement)
  return { reader, scroller, drawn }
}

it('leaves a reader who went away and came back where that is', () => {
  const { reader, scroller } = list()
  const scrollTo = (top: number): void => {
    scroller.scrollTop = top
    reader.scrolled()
  }
  scrollTo(3_000)
  reader.settle()
  scrollTo(3_700)
  scrollTo(3_000)
  reader.settle()
  expect(scroller.scrollTop).toBe(3_000)
})

it('draws the newest first, as many as the window may hold, ten more at a time until they fill what is seen, and twice when it is told', () => {
  const { reader, scroller, drawn } = list()
  const draw = (): number => {
    const { from, to } = reader.range()
    scroller.scrollHeight = Math.max(scroller.clientHeight, 60 * (to - from))
    drawn()
    // What changes its size before it is drawn again.
    reader.settle()
    return to - from
  }
  expect([draw(), draw(), draw()]).toEqual([5, 15, 15])
  reader.fillTwice()
  expect([draw(), draw()]).toEqual([25, 25])
})

it('reads older messages where all that are here do not fill what is seen, once where that fails', async () => {
  let asked = 0
  const showOlder = async (): Promise<void> => {
    asked++
  }
  const { reader, scroller, drawn } = list({ hasOlder: () => true, showOlder })
  scroller.clientHeight = 5_000
  scroller.scrollHeight = 5_000
  for (let times = 0; times < 13; times++) {
    drawn()
    await Promise.resolve()
  }
  expect(reader.range()).toEqual({ from: 0, to: 100 })
  expect(asked).toBe(1)
})
