import type { en } from './en.ts'

/** A text by the plural category of its `{count}`, as `Intl.PluralRules` names them. */
export type Plural = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/**
 * Every word that the widget shows. `{name}` in a text is replaced by a value; keep it in yours.
 */
export type Strings = {
  readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural
}

/** Key of a text without a count. */
export type TextKey = {
  [Key in keyof Strings]: Strings[Key] extends string ? Key : never
}[keyof Strings]

/** Key of a text that goes with a count. */
export type PluralKey = Exclude<keyof Strings, TextKey>
