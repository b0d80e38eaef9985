import type { en } from './en.ts'

/** A text by the plural category of its `{count}`, as `Intl.PluralRules` names them. */
export type Plural = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/** The texts of every language, by those of English. */
export type Catalogue<English> = {
  readonly [Key in keyof English]: English[Key] extends string ? string : Plural
}

/** The words of the conversation and of what stands around it. */
export type ViewStrings = Catalogue<typeof en>

/** Key of a text without a count. */
export type TextKey<All = ViewStrings> = {
  [Key in keyof All]: All[Key] extends string ? Key : never
}[keyof All]
