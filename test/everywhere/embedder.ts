import {
  type VectorSearchOptions,
  type Vectors,
  vectorSearch,
} from '../../src/features/recall/vector-search.ts'
import type { Embedder } from '../../src/ports/embedder.ts'

/** Words of one meaning each: those of a line are near to each other, and to no others. */
const MEANINGS = [
  ['car', 'automobile', 'vehicle'],
  ['dog', 'puppy', 'hound'],
  ['train', 'trains', 'railway'],
  ['seat', 'seats', 'place'],
  ['rain', 'weather', 'umbrella'],
]

/** An embedder that knows a few words, the same everywhere, and notes what it is asked for. */
export interface NotingEmbedder extends Embedder {
  readonly asked: { readonly texts: readonly string[]; readonly use: string }[]
  /** Texts that were embedded to be kept. */
  readonly passages: readonly string[]
}

/** @param before awaited before each answer, for example to fail */
export function notingEmbedder(
  id = 'meanings',
  before: (texts: readonly string[]) => Promise<void> | void = () => {},
): NotingEmbedder {
  const asked: { readonly texts: readonly string[]; readonly use: string }[] = []
  return {
    id,
    asked,
    get passages() {
      return asked.filter(({ use }) => use === 'passage').flatMap(({ texts }) => texts)
    },
    async embed(texts, use) {
      asked.push({ texts, use })
      await before(texts)
      return texts.map(vectorOf)
    },
  }
}

/** For `recall({ vectors })`. */
export function vectorsBy(
  { id, embed }: Embedder,
  more: Pick<VectorSearchOptions, 'onFailure'> = {},
): Vectors {
  return vectorSearch({ id, embed, ...more })
}

/** How much of each meaning a text has, and a little of all its letters. */
export function vectorOf(text: string): readonly number[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  return [
    ...MEANINGS.map((meaning) => words.filter((word) => meaning.includes(word)).length),
    ([...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 97) / 970,
  ]
}
