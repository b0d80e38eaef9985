import type { PluralKey, Strings, TextKey } from './catalogue.ts'

const RIGHT_TO_LEFT = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi'])
const DAY_MS = 86_400_000

/** Words, numbers and dates of one language. */
export class Words {
  /**
   * A BCP 47 tag: what was asked for, which may be more than the language of the texts (`de-AT`).
   */
  readonly language: string
  readonly #strings: Strings
  readonly #plurals: Intl.PluralRules
  readonly #numbers: Intl.NumberFormat
  readonly #percent: Intl.NumberFormat
  readonly #time: Intl.DateTimeFormat
  readonly #day: Intl.DateTimeFormat
  readonly #date: Intl.DateTimeFormat
  readonly #relative: Intl.RelativeTimeFormat

  /**
   * @param readers what the reader prefers, as BCP 47 tags, the best first: of the same language
   * the first says how numbers and dates are written, and the first of all which clock shows
   */
  constructor(language: string, strings: Strings, readers: readonly string[] = []) {
    this.language = language
    this.#strings = strings
    const locale = readers.find((reader) => baseOf(reader) === baseOf(language)) ?? language
    const { hourCycle } = new Intl.DateTimeFormat(readers[0] ?? locale, { hour: 'numeric' }).resolvedOptions()
    this.#plurals = new Intl.PluralRules(language)
    this.#numbers = new Intl.NumberFormat(locale)
    this.#percent = new Intl.NumberFormat(locale, { style: 'percent' })
    this.#time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', ...(hourCycle && { hourCycle }) })
    this.#day = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' })
    this.#date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
    this.#relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  }

  get direction(): 'ltr' | 'rtl' {
    return directionOf(this.language)
  }

  text(key: TextKey, values: Readonly<Record<string, string>> = {}): string {
    return filled(this.#strings[key], values)
  }

  /** A text in the form that goes with `count`, which is its `{count}`. */
  counted(key: PluralKey, count: number): string {
    const forms = this.#strings[key]
    return filled(forms[this.#plurals.select(count)] ?? forms.other, { count: this.number(count) })
  }

  number(value: number): string {
    return this.#numbers.format(value)
  }

  /** @param share 0 to 1 */
  percent(share: number): string {
    return this.#percent.format(share)
  }

  time(milliseconds: number): string {
    return this.#time.format(milliseconds)
  }

  date(milliseconds: number): string {
    return this.#date.format(milliseconds)
  }

  /** `today`, `yesterday`, else the day with its month. */
  day(milliseconds: number, now: number): string {
    const days = Math.round((midnight(milliseconds) - midnight(now)) / DAY_MS)
    if (days <= 0 && days >= -1) return this.#relative.format(days, 'day')
    const isThisYear = new Date(milliseconds).getFullYear() === new Date(now).getFullYear()
    return (isThisYear ? this.#day : this.#date).format(milliseconds)
  }
}

export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(baseOf(language)) ? 'rtl' : 'ltr'
}

/** The language of a tag: `de` of `de-AT`. */
export function baseOf(tag: string): string {
  return tag.split('-', 1)[0]?.toLowerCase() ?? ''
}

function midnight(milliseconds: number): number {
  return new Date(milliseconds).setHours(0, 0, 0, 0)
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}
