/** The language of a tag: `de` of `de-AT`. */
export function baseOf(tag: string): string {
  return tag.split('-', 1)[0]?.toLowerCase() ?? ''
}
