/**
 * What is ranked, best first, with the best at both ends: ranks 1, 3, 5 … 6, 4, 2. Models read the
 * ends of a long text better than its middle (Liu et al., Lost in the Middle, 2023).
 */
export function bestAtEdges<Item>(ranked: readonly Item[]): readonly Item[] {
  const odd = ranked.filter((_, index) => index % 2 === 0)
  const even = ranked.filter((_, index) => index % 2 === 1)
  return [...odd, ...even.reverse()]
}
