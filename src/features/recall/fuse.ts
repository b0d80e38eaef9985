import type { Ranked } from './rank.ts'

/**
 * Of reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009): how little a first place is more
 * than a second.
 */
const K = 60

/**
 * Several rankings as one: each passage counts 1 / (60 + its place) in each ranking that has it,
 * whatever it scored there. Of two with the same score, the one that an earlier ranking has comes
 * first. Pure.
 */
export function fuse(rankings: readonly (readonly Ranked[])[]): readonly Ranked[] {
  const fused = new Map<string, { readonly index: number; readonly id: string; passages: number[] }>()
  for (const ranking of rankings)
    ranking
      .flatMap((one) => one.passages.map((score, part) => ({ one, part, score })))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .forEach(({ one: { index, id, passages }, part }, place) => {
        const key = `${index} ${id}`
        const known = fused.get(key) ?? { index, id, passages: [] }
        while (known.passages.length < passages.length) known.passages.push(0)
        known.passages[part] = (known.passages[part] as number) + 1 / (K + place + 1)
        fused.set(key, known)
      })
  return [...fused.values()]
    .map((one): Ranked => ({ ...one, score: Math.max(...one.passages) }))
    .sort((one, other) => other.score - one.score)
}
