import { baseOf } from './base.ts'
import type { ViewStrings } from './catalogue.ts'

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

export interface LoadedStrings {
  /** What was asked for, or `en`: half in each language would be neither. */
  readonly language: string
  /** Without what panels say. */
  readonly strings: ViewStrings
}

/**
 * Loads the one language that is asked for: by the launcher, beside the view that shows it.
 * @param language a BCP 47 tag; one without a catalogue gives English
 */
export async function loadStrings(language: string): Promise<LoadedStrings> {
  const isKnown = LANGUAGES.includes(baseOf(language))
  const load = CATALOGUES[isKnown ? baseOf(language) : 'en']
  return { language: isKnown ? language : 'en', strings: (await load?.()) as ViewStrings }
}
