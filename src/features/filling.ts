import type { Section } from '../kernel/feature.ts'
import type { SectionUse } from '../ports/context.ts'
import { headOf } from '../text/text.ts'
import { longestHead } from './text/longest-head.ts'

/** Items that an overflow names; the rest is counted. */
export const NAMED = 5

/** A section that is filled in strict order, up to the first item that does not fit. */
export class Filling {
  readonly name: SectionUse['name']
  readonly lines: string[] = []
  readonly #size: number
  readonly #count: (text: string) => number
  readonly #first: string[] = []
  #tokens = 0
  #items = 0
  #left = 0
  #missing = 0
  #full = false

  constructor(name: SectionUse['name'], size: number, count: (text: string) => number) {
    this.name = name
    this.#size = size
    this.#count = count
  }

  get items(): number {
    return this.#items
  }

  /** Takes an item, if it fits; from the first on that does not, none does. */
  fits(line: string): boolean {
    const tokens = this.#count(`${line}\n`)
    this.#full ||= this.#tokens + tokens > this.#size
    if (!this.#full) this.#add(line, tokens)
    return !this.#full
  }

  /** Counts an item that does not show. */
  leave(id: string, line: string): void {
    this.#leave(id, this.#count(`${line}\n`))
  }

  take(id: string, line: string, isOffered = true): void {
    if (!isOffered || !this.fits(line)) this.leave(id, line)
  }

  /** Takes as much of a text as fits, and says how much does not. */
  takePart(id: string, heading: string, text: string): void {
    const whole = `${heading}${text}`
    const tokens = this.#count(`${whole}\n\n`)
    if (!this.#full && this.#tokens + tokens <= this.#size) {
      this.#add(whole, tokens)
      return
    }
    const isFirst = !this.#full
    this.#leave(id, tokens)
    if (!isFirst) return
    const cut = (head: string): string =>
      `${heading}${head}\n(${text.length - head.length} more characters do not fit here)`
    const costOf = (head: string): number => this.#count(`${cut(head)}\n\n`)
    const length = longestHead(text, (head) => this.#tokens + costOf(head) <= this.#size)
    if (length === 0) return
    const head = headOf(text, length)
    const shown = costOf(head)
    this.#missing -= Math.min(shown, this.#missing)
    this.#add(cut(head), shown)
  }

  /** The section, with {@link use}; none where there is nothing to say of it. */
  section(
    shown: Pick<Section, 'in' | 'at' | 'trust'> & { readonly text: string },
    count?: number,
    tokens?: number,
  ): readonly Section[] {
    const use = this.use(count, tokens)
    if (use.items === 0 && use.overflow.count === 0) return []
    return [{ ...shown, text: use.items > 0 ? shown.text : '', name: this.name, use }]
  }

  /** @param count, tokens what there is in all, where that is more than what was offered. */
  use(count = this.#items + this.#left, tokens = 0): SectionUse {
    const left = Math.max(this.#left, count - this.#items)
    return {
      name: this.name,
      cap: this.#size,
      tokens: this.#tokens,
      items: this.#items,
      overflow: {
        count: left,
        tokens: left === 0 ? 0 : Math.max(this.#missing, tokens - this.#tokens),
        first: this.#first,
      },
    }
  }

  #add(line: string, tokens: number): void {
    this.lines.push(line)
    this.#tokens += tokens
    this.#items++
  }

  #leave(id: string, tokens: number): void {
    this.#full = true
    this.#left++
    this.#missing += tokens
    if (this.#first.length < NAMED) this.#first.push(id)
  }
}
