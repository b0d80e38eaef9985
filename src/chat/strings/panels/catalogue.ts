import type { Catalogue, TextKey, ViewStrings } from '../catalogue.ts'
import type { en } from './en.ts'

/** The words of panels, which are loaded when one is opened. */
export type PanelStrings = Catalogue<typeof en>

/**
 * Every word that the widget shows. `{name}` in a text is replaced by a value; keep it in yours.
 */
export type Strings = ViewStrings & PanelStrings

/** Key of a text without a count. */
export type PanelTextKey = TextKey<Strings>

/** Key of a text that goes with a count. */
export type PluralKey = Exclude<keyof Strings, PanelTextKey>
