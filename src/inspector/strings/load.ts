import { english } from './en.ts'
import type { Strings } from './strings.ts'

const LANGUAGES: Readonly<Record<string, () => Promise<Strings>>> = {
  ar: async () => (await import('./ar.ts')).arabic,
  de: async () => (await import('./de.ts')).german,
  es: async () => (await import('./es.ts')).spanish,
  fr: async () => (await import('./fr.ts')).french,
  ja: async () => (await import('./ja.ts')).japanese,
}

/**
 * Loads the words of one language, those of the chat widget; of any other, English.
 *
 * @param language a BCP 47 tag
 */
export async function loadStrings(language: string): Promise<Strings> {
  const base = language.split('-', 1)[0]?.toLowerCase() ?? ''
  const load = Object.hasOwn(LANGUAGES, base) ? LANGUAGES[base] : undefined
  return load ? load() : english
}
