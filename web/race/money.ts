import { directionOf } from '../../src/chat/strings/words.ts'

/**
 * Amounts of US dollars as a language writes them: `$0.85`, `0,85 $`, `0,85 $US`. What stands for
 * the currency keeps its own direction: amid Arabic, `US$` would show as `$US`.
 */
export function dollars(amount: number, locale: string): string {
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    // A short conversation costs less than a cent.
    ...(amount < 0.01 && { maximumSignificantDigits: 2 }),
  })
    .formatToParts(amount)
    .map(({ type, value }) =>
      type === 'currency' && directionOf(locale) === 'rtl' ? `\u2068${value}\u2069` : value,
    )
    .join('')
}
