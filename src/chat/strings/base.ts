/** The language of a tag: `de` of `de-AT`. */
export function baseOf(tag: string): string {
  return tag.replace(/-.*/s, '').toLowerCase()
}

/** The language of a tag, where a table has it; else English. */
export function languageIn(table: object, tag: string): string {
  const base = baseOf(tag)
  return Object.hasOwn(table, base) ? base : 'en'
}
