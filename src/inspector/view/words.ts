import { shorten, visible } from '../../replay/words.ts'
import type { Strings } from '../strings/strings.ts'

/** Numbers and hostile texts, as they are shown. */
export interface Words {
  readonly strings: Strings
  count(number: number): string
  share(part: number, of: number): string
  /** Any text on one line, short, with escapes for what could hide or turn it. */
  label(text: string, length?: number): string
  /** Any text, with the same escapes; its lines stay. */
  body(text: string): string
}

const LABEL = 80

export function wordsIn(strings: Strings): Words {
  const numbers = new Intl.NumberFormat(strings.locale, { maximumFractionDigits: 0 })
  const shares = new Intl.NumberFormat(strings.locale, { style: 'percent', maximumFractionDigits: 0 })
  return {
    strings,
    count: (number) => numbers.format(number),
    share: (part, of) => shares.format(of === 0 ? 0 : part / of),
    label: (text, length = LABEL) => visible(shorten(text, length)),
    body: (text) => text.split('\n').map(visible).join('\n'),
  }
}
