import type { ViewStrings } from './catalogue.ts'
import { baseOf, Words } from './words.ts'

const CATALOGUES: Readonly<Record<string, () => Promise<ViewStrings>>> = {
  ar: async () => (await import('./ar.ts')).ar,
  de: async () => (await import('./de.ts')).de,
  en: async () => (await import('./en.ts')).en,
  es: async () => (await import('./es.ts')).es,
  fr: async () => (await import('./fr.ts')).fr,
  ja: async () => (await import('./ja.ts')).ja,
}

/** Languages that come with the widget. */
export const LANGUAGES: readonly string[] = Object.keys(CATALOGUES)

/**
 * Loads the one language that is asked for, without what panels say.
 * @param language a BCP 47 tag; one without a catalogue shows English
 * @param own texts that win over the catalogue's
 * @param readers what the reader prefers, for numbers, dates and the clock; default: what the
 * browser says
 */
export async function loadWords(
  language: string,
  own: Partial<ViewStrings> = {},
  readers: readonly string[] = globalThis.navigator?.languages ?? [],
): Promise<Words> {
  const base = baseOf(language)
  const load = Object.hasOwn(CATALOGUES, base) ? CATALOGUES[base] : undefined
  const strings = await (load ?? CATALOGUES.en)?.()
  // Without a catalogue the numbers are English too: half of each would be neither.
  const shown = load && isTag(language) ? language : 'en'
  return new Words(shown, { ...strings, ...own } as ViewStrings, readers.filter(isTag))
}

function isTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0
  } catch {
    return false
  }
}
