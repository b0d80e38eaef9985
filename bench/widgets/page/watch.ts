/**
 * Runs in every page before its own scripts, and says what is on the screen by asking which
 * elements are hit at points of the viewport. It knows nothing of any widget but that each message
 * begins with its number. Asking takes long where very much is mounted, so that it asks until it
 * has found a message, and then looks at that one.
 */

/** So long a message must stay where it is, with frames coming. */
const STILL_MS = 500
/** A gap between two frames that shows a page at work. */
const BUSY_MS = 100
/** Where it looks: parts of the width, and pixels between two points. */
const COLUMNS = [0.3, 0.6]
const STEP_PX = 16
const MESH_PX = 80

/** A message that begins on the screen. */
interface Found {
  readonly number: number
  readonly element: Element
}

let tasks: number[] = []
new PerformanceObserver((list) => {
  tasks.push(...list.getEntries().map(({ duration }) => duration))
}).observe({ type: 'longtask', buffered: true })

const widgetWatch = {
  /**
   * Resolves once the message of that number stays on the screen: milliseconds from the navigation
   * to the first frame that showed it there.
   */
  async opened(newest: number): Promise<number> {
    const { since } = await stillness('from the bottom', newest)
    return since
  },

  /** Resolves once nothing moves: the number of the topmost message. */
  async settled(): Promise<number> {
    const { number } = await stillness('from the top')
    return number
  },

  /**
   * Milliseconds of the longest task since this was last asked; 0 where none was longer than 50.
   */
  longestTask(): number {
    const longest = Math.max(0, ...tasks)
    tasks = []
    return longest
  },
}

export type WidgetWatch = typeof widgetWatch

Object.assign(globalThis, { widgetWatch })

type Order = 'from the top' | 'from the bottom'

/**
 * Resolves once the first message in that order, which must be the one asked for, stayed where it
 * is.
 */
function stillness(order: Order, asked?: number): Promise<{ since: number; number: number }> {
  return new Promise((resolve) => {
    let found: Found | undefined
    let top = 0
    let since = 0
    let lookedAt = performance.now()
    const look = (): void => {
      const now = performance.now()
      const isBusy = now - lookedAt > BUSY_MS
      if (found && !isOnScreen(found)) found = undefined
      if (!found) {
        found = search(order)
        if (found && asked !== undefined && found.number !== asked) found = undefined
        since = 0
      } else {
        const before = top
        top = found.element.getBoundingClientRect().top
        if (top !== before || isBusy) since = 0
        else if (since === 0) since = now
        else if (now - since >= STILL_MS) {
          resolve({ since, number: found.number })
          return
        }
      }
      lookedAt = performance.now()
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
}

/**
 * The first message in that order. Pages that draw while they load are asked in each of their
 * frames: as long as a wide mesh of points finds no message, the narrow one is not asked.
 */
function search(order: Order): Found | undefined {
  if (!searchAt(order, MESH_PX)) return undefined
  return searchAt(order, STEP_PX)
}

function searchAt(order: Order, step: number): Found | undefined {
  const points = Array.from({ length: Math.floor(innerHeight / step) }, (_, index) => (index + 0.5) * step)
  for (const y of order === 'from the top' ? points : points.reverse())
    for (const column of COLUMNS) {
      const element = hit(innerWidth * column, y)
      const number = element && numberOf(element)
      if (number) return { number, element }
    }
  return undefined
}

function isOnScreen({ element, number }: Found): boolean {
  if (!element.isConnected || numberOf(element) !== number) return false
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

/** The innermost element at a point, in shadow trees too. */
function hit(x: number, y: number): Element | undefined {
  let found = document.elementFromPoint(x, y)
  for (let root = found?.shadowRoot; root; root = found?.shadowRoot) {
    const inner = root.elementFromPoint(x, y)
    if (!inner || inner === found) break
    found = inner
  }
  return found ?? undefined
}

/** Of the message that begins with the element's own text. */
function numberOf({ childNodes }: Element): number | undefined {
  for (const node of childNodes) {
    const number = node instanceof Text && /^\s*Message (\d+):/.exec(node.data)?.[1]
    if (number) return Number(number)
  }
  return undefined
}
