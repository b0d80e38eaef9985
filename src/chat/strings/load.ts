import { baseOf, languageIn } from './base.ts'
import type { ViewStrings } from './catalogue.ts'

type Load = () => Promise<Readonly<Record<string, ViewStrings>>>

/** By the name that each exports. */
const CATALOGUES: Readonly<Record<string, Load>> = {
  ar: () => import('./ar.ts'),
  de: () => import('./de.ts'),
  en: () => import('./en.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
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
  const known = languageIn(CATALOGUES, language)
  const { [known]: strings } = await (CATALOGUES[known] as Load)()
  return { language: known === baseOf(language) ? language : known, strings: strings as ViewStrings }
}
