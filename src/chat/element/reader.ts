import type { ShownMessage } from '../ports.ts'

/** Most messages that are in the DOM at a time. */
const WINDOW = 120
/**
 * By how many the window moves: each is redrawn in one frame, Markdown and all, and forty of
 * them take more than 50 ms.
 */
const STEP = 10
/**
 * At the end of a conversation, one message is drawn at first for so many pixels of the window:
 * where these do not fill it, all is drawn twice before anything shows.
 */
const TYPICAL_PX = 140
/** How many are drawn at first around one that was looked for. */
const AROUND = 30
/** Pixels above it. */
const ABOVE = 48
/** Pixels from the end within which a reader counts as being there. */
const NEAR_END = 48
/** At the end, older messages are let go of beyond the first number, down to the second. */
const MOST_KEPT = 400
const KEPT = 200

/** What the reader asks for. */
export interface ReaderHost {
  /** Of the window, in pixels. */
  readonly height: number
  readonly messages: () => readonly ShownMessage[]
  readonly hasOlder: () => boolean
  showOlder(): Promise<void>
  releaseOlder(messages: number): void
  /** Draws again, soon. */
  draw(): void
}

/**
 * Where somebody reads in a list that may be any length: which messages are drawn, and what stays
 * where it is while there come others before or after it. A list whose end is in sight stays at its
 * end.
 */
export class Reader {
  readonly #host: ReaderHost
  #scroller: HTMLElement | undefined
  #isAtEnd = true
  /** Id of the first message that is drawn, once the reader left the end. */
  #first: string | undefined
  #anchor: { readonly id: string; readonly top: number } | undefined
  /**
   * Where it was put. Browsers put it on whole pixels: measured again from there, the anchor would
   * wander by a part of one each time.
   */
  #settledAt: number | undefined
  /**
   * Whether it is to go elsewhere with the next drawing: what scrolls before that is of no account.
   */
  #isGoing = false
  /** Whether older messages are read for one of them: nobody scrolls to them meanwhile. */
  isSeeking = false
  /** Messages that are drawn away from the end. */
  #drawn = WINDOW
  #isReadingOlder = false
  /** Messages that are drawn at the end. */
  #atEnd: number
  /** How many times over they are to fill what is seen, beside what one must scroll to leave. */
  #fills = 1
  /** Whether more are to be drawn than are: until then nobody knows whether they fill it. */
  #isGrowing = false
  /** How many there were when older ones were read since they did not fill what is seen. */
  #filledFrom = 0
  readonly #resizes = new ResizeObserver(() => this.settle())

  constructor(host: ReaderHost) {
    this.#host = host
    this.#atEnd = Math.ceil(host.height / TYPICAL_PX)
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd
  }

  get isReadingOlder(): boolean {
    return this.#isReadingOlder
  }

  /** Follows a scroller whose only child is the list. Contract: called after each drawing. */
  follow(scroller: HTMLElement): void {
    this.#isGrowing = false
    if (scroller === this.#scroller) return
    this.#resizes.disconnect()
    this.#scroller = scroller
    this.#resizes.observe(scroller)
    if (scroller.firstElementChild) this.#resizes.observe(scroller.firstElementChild)
  }

  disconnect(): void {
    this.#resizes.disconnect()
    this.#scroller = undefined
  }

  /** The part of the messages that is to be drawn. */
  range(): { readonly from: number; readonly to: number } {
    const { length } = this.#host.messages()
    const from = this.#isAtEnd ? Math.max(0, length - this.#atEnd) : this.#firstPlace()
    return { from, to: Math.min(length, this.#isAtEnd ? length : from + this.#drawn) }
  }

  /** Has as much drawn above what is seen as well, where a reader may scroll next. */
  fillTwice(): void {
    this.#fills = 2
    // Of who has just begun to scroll, nobody has heard yet.
    if (this.#isAtEnd && this.#scroller?.scrollTop === this.#settledAt) this.settle()
  }

  /** To the newest message. */
  toEnd(): void {
    this.#isAtEnd = true
    this.#isGoing = true
    this.#first = undefined
    this.#anchor = undefined
    this.#host.draw()
  }

  /** To the message of that place, with some before and after it. */
  toPlace(place: number): void {
    const row = this.#host.messages()[place]
    if (!row) return
    this.#isAtEnd = false
    this.#isGoing = true
    this.#drawn = AROUND
    this.#anchor = { id: row.message.id, top: ABOVE }
    this.#moveTo(Math.max(0, place - STEP))
  }

  /** Puts what was read back where it was, after the list or its frame has changed. */
  settle(): void {
    const scroller = this.#scroller
    // What an empty conversation shows is read from its beginning.
    if (!scroller || this.#host.messages().length === 0) return
    if (this.#isAtEnd) {
      this.#isGoing = false
      if (this.range().from > 0) {
        if (!this.#isGrowing && scroller.scrollHeight <= this.#fills * scroller.clientHeight + NEAR_END) {
          this.#isGrowing = true
          this.#atEnd += STEP
          this.#host.draw()
        }
      } else if (scroller.scrollHeight <= scroller.clientHeight) this.#fill()
      scroller.scrollTop = scroller.scrollHeight
      this.#settledAt = scroller.scrollTop
      return
    }
    const anchor = this.#anchor
    const row = anchor && rowsIn(scroller).find(({ dataset }) => dataset.message === anchor.id)
    if (!anchor || !row) return
    scroller.scrollTop += topOf(row, scroller) - anchor.top
    this.#settledAt = scroller.scrollTop
    if (this.#drawn < WINDOW && !this.#isGrowing) {
      this.#isGrowing = true
      this.#drawn += STEP
      this.#host.draw()
    }
    if (!this.#isGoing) return
    this.#isGoing = false
    // It may be the end, or near it, and where nothing moved nobody is told.
    this.scrolled()
  }

  /** Contract: called for each scroll event of the scroller. */
  scrolled(): void {
    const scroller = this.#scroller
    if (!scroller || this.isSeeking || this.#isGoing || this.#host.messages().length === 0) return
    const { from, to } = this.range()
    const messages = this.#host.messages()
    const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight
    const wasAtEnd = this.#isAtEnd
    // What has grown since it was put at the end is no scrolling: it is put there again.
    const isWherePut = wasAtEnd && scroller.scrollTop === this.#settledAt
    this.#isAtEnd = to === messages.length && (below < NEAR_END || isWherePut)
    if (this.#isAtEnd) {
      this.#first = undefined
      this.#anchor = undefined
      if (!wasAtEnd) this.#host.draw()
      this.#release()
      return
    }
    if (wasAtEnd) {
      this.#first = messages[from]?.message.id
      this.#host.draw()
    }
    if (!this.#anchor || scroller.scrollTop !== this.#settledAt) {
      this.#anchor = anchorIn(scroller)
      this.#settledAt = undefined
    }
    if (scroller.scrollTop < scroller.clientHeight) this.#earlier(from)
    else if (below < scroller.clientHeight && to < messages.length) this.#moveTo(from + STEP)
  }

  /** Lets go of what is far above a reader at the end. */
  #release(): void {
    if (this.#host.messages().length > MOST_KEPT) this.#host.releaseOlder(KEPT)
  }

  #earlier(from: number): void {
    if (from > 0) this.#moveTo(Math.max(0, from - STEP))
    else if (this.#host.hasOlder() && !this.#isReadingOlder) void this.#readOlder()
  }

  /** Where nothing scrolls, nobody could reach what is older. */
  #fill(): void {
    const { length } = this.#host.messages()
    // Where that failed, it is said, and not asked for again and again.
    if (length === this.#filledFrom || !this.#host.hasOlder() || this.#isReadingOlder) return
    this.#filledFrom = length
    void this.#readOlder()
  }

  async #readOlder(): Promise<void> {
    this.#isReadingOlder = true
    this.#host.draw()
    try {
      await this.#host.showOlder()
    } finally {
      this.#isReadingOlder = false
      this.#host.draw()
    }
    // The window may now grow upwards without another scroll event.
    if (!this.#isAtEnd) this.scrolled()
  }

  #moveTo(from: number): void {
    this.#first = this.#host.messages()[from]?.message.id
    this.#host.draw()
  }

  #firstPlace(): number {
    const messages = this.#host.messages()
    const place = messages.findIndex(({ message }) => message.id === this.#first)
    return place >= 0 ? place : Math.max(0, messages.length - this.#atEnd)
  }
}

function rowsIn(scroller: HTMLElement): readonly HTMLElement[] {
  return [...scroller.querySelectorAll<HTMLElement>('[data-message]')]
}

/** The first row in sight. */
function anchorIn(scroller: HTMLElement): { readonly id: string; readonly top: number } | undefined {
  const row = rowsIn(scroller).find((each) => topOf(each, scroller) + each.offsetHeight > 0)
  return row?.dataset.message === undefined
    ? undefined
    : { id: row.dataset.message, top: topOf(row, scroller) }
}

function topOf(row: HTMLElement, scroller: HTMLElement): number {
  return row.getBoundingClientRect().top - scroller.getBoundingClientRect().top
}
