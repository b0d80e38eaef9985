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

/** A hundred rows of a hundred pixels, as much as a reader sees of them. */
function list() {
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
    messages: () => messages,
    hasOlder: () => false,
    showOlder: async () => {},
    releaseOlder: () => {},
    draw: () => {},
  })
  reader.follow(scroller as unknown as HTMLElement)
  return { reader, scroller }
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

it('draws the newest ten first, and ten more at a time until they fill what is seen twice', () => {
  const { reader, scroller } = list()
  const drawn: number[] = []
  for (let times = 0; times < 3; times++) {
    const { from, to } = reader.range()
    drawn.push(to - from)
    scroller.scrollHeight = 60 * (to - from)
    reader.settle()
  }
  expect(drawn).toEqual([10, 20, 20])
})
