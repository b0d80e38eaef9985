/**
 * How results of the site's search are ordered. The page gets these functions as text, so each
 * uses nothing but its arguments.
 */
export const ranking = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },

  /** Words that are in every question, and on every page, find nothing. */
  processTerm: (term: string): string | null =>
    /^(an?|and|are|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|there|to|what|when|where|which|with|you)$/i.test(
      term,
    )
      ? null
      : term.toLowerCase(),

  /** Guides are before their parts, both before the reference, and the changelog is last. */
  boostDocument(id: string, _term: string, fields?: Record<string, unknown>): number {
    if (id.includes('CHANGELOG')) return 0.1
    if (/\/(site\/reference|CONTRIBUTING|docs\/benchmarks)/.test(id)) return 0.5
    return (fields?.titles as readonly string[] | undefined)?.length === 0 ? 1.5 : 1
  },
}
