import { baseOf } from './base.ts'
import type { TextKey, ViewStrings } from './catalogue.ts'
import type { LoadedStrings } from './load.ts'

const RIGHT_TO_LEFT = /^(?:arc?|ckb|dv|fa|he|ku|ps|sd|u[gr]|yi)$/
const DAY_MS = 86_400_000
/** As high as a word. */
const BLANK = '\u00a0'

/** Words, numbers and dates of one language. */
export class Words {
  /**
   * A BCP 47 tag: what was asked for, which may be more than the language of the texts (`de-AT`).
   */
  readonly language: string
  /** Whether times and days are blank for now: the first takes the browser ten milliseconds. */
  isHasty = false
  readonly strings: ViewStrings
  readonly readers: readonly string[]
  readonly #locale: string
  readonly #clock: string
  // Each takes milliseconds to make, and few of them are needed at first.
  #time: Intl.DateTimeFormat | undefined
  #day: Intl.DateTimeFormat | undefined
  #date: Intl.DateTimeFormat | undefined
  #relative: Intl.RelativeTimeFormat | undefined

  /**
   * @param readers what the reader prefers, as BCP 47 tags, the best first: of the same language
   * the first says how numbers and dates are written, and the first of all which clock shows
   */
  constructor(language: string, strings: ViewStrings, readers: readonly string[] = []) {
    this.language = language
    this.strings = strings
    this.readers = readers
    this.#locale = readers.find((reader) => baseOf(reader) === baseOf(language)) ?? language
    this.#clock = readers[0] ?? this.#locale
  }

  get direction(): 'ltr' | 'rtl' {
    return directionOf(this.language)
  }

  text(key: TextKey, values: Readonly<Record<string, string>> = {}): string {
    return filled(this.strings[key], values)
  }

  number(value: number): string {
    return value.toLocaleString(this.#locale)
  }

  /** @param share 0 to 1 */
  percent(share: number): string {
    return share.toLocaleString(this.#locale, { style: 'percent' })
  }

  time(milliseconds: number): string {
    if (this.isHasty) return BLANK
    this.#time ??= timeFormat(this.#locale, this.#clock)
    return this.#time.format(milliseconds)
  }

  date(milliseconds: number): string {
    this.#date ??= new Intl.DateTimeFormat(this.#locale, { dateStyle: 'medium' })
    return this.#date.format(milliseconds)
  }

  /** `today`, `yesterday`, else the day with its month. */
  day(milliseconds: number, now: number): string {
    if (this.isHasty) return BLANK
    const days = Math.round((midnight(milliseconds) - midnight(now)) / DAY_MS)
    if (days <= 0 && days >= -1) {
      this.#relative ??= new Intl.RelativeTimeFormat(this.#locale, { numeric: 'auto' })
      return this.#relative.format(days, 'day')
    }
    if (new Date(milliseconds).getFullYear() !== new Date(now).getFullYear()) return this.date(milliseconds)
    this.#day ??= new Intl.DateTimeFormat(this.#locale, { weekday: 'long', day: 'numeric', month: 'long' })
    return this.#day.format(milliseconds)
  }
}

/**
 * @param own texts that win over the catalogue's
 * @param readers what the reader prefers, for numbers, dates and the clock; default: what the
 * browser says
 */
export function wordsOf(
  { language, strings }: LoadedStrings,
  own: Partial<ViewStrings> = {},
  readers: readonly string[] = globalThis.navigator?.languages ?? [],
): Words {
  return new Words(isTag(language) ? language : 'en', { ...strings, ...own }, readers.filter(isTag))
}

function isTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0
  } catch {
    return false
  }
}

export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.test(baseOf(language)) ? 'rtl' : 'ltr'
}

/** How the time is written in a language, by the clock that is usual in another one. */
function timeFormat(locale: string, clock: string): Intl.DateTimeFormat {
  if (clock === locale) return new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  const { hourCycle } = new Intl.DateTimeFormat(clock, { hour: 'numeric' }).resolvedOptions()
  return new Intl.DateTimeFormat(locale, { timeStyle: 'short', ...(hourCycle && { hourCycle }) })
}

export function midnight(milliseconds: number): number {
  return new Date(milliseconds).setHours(0, 0, 0, 0)
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
