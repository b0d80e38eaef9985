import { baseOf } from '../base.ts'
import type { Words } from '../words.ts'
import type { PanelStrings } from './catalogue.ts'
import { PanelWords } from './words.ts'

const CATALOGUES: Readonly<Record<string, () => Promise<PanelStrings>>> = {
  ar: async () => (await import('./ar.ts')).ar,
  de: async () => (await import('./de.ts')).de,
  en: async () => (await import('./en.ts')).en,
  es: async () => (await import('./es.ts')).es,
  fr: async () => (await import('./fr.ts')).fr,
  ja: async () => (await import('./ja.ts')).ja,
}

/** The words of a view with those of its panels, in the same language. */
export async function loadPanelWords(words: Words): Promise<PanelWords> {
  return new PanelWords(words, (await CATALOGUES[baseOf(words.language)]?.()) as PanelStrings)
}
