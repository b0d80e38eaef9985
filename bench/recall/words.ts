/**
 * Words for queries: letters and digits, lower-case, from three characters; by no engine's own
 * rules.
 */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length >= 3)
}

/** In how many of the texts each word is. */
export function frequencies(texts: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const text of texts) {
    for (const word of new Set(wordsOf(text))) found.set(word, (found.get(word) ?? 0) + 1)
  }
  return found
}

/** The so many rarest of some words, in their order; fewer where there are fewer. */
export function rarest(
  words: readonly string[],
  count: number,
  frequency: ReadonlyMap<string, number>,
): string[] {
  const rank = (word: string) => frequency.get(word) ?? 0
  const different = [...new Set(words)]
  const chosen = new Set([...different].sort((one, other) => rank(one) - rank(other)).slice(0, count))
  return different.filter((word) => chosen.has(word))
}
