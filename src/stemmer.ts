import * as peer from 'stemmer'
import { needPeer } from './ports/peer.ts'
import type { Stemmer } from './ports/stemmer.ts'

export type { Stemmer } from './ports/stemmer.ts'

/**
 * Words whose stems are kept. A text of any size has few that are not among the newest of these.
 */
const MOST_KEPT = 16_384

const kept = new Map<string, string>()

/**
 * English, by Porter's algorithm, from the optional peer `stemmer`. Words of other languages pass
 * nearly unchanged.
 *
 * @example
 * ```ts
 * import { englishStemmer } from 'plimsoll/stemmer'
 * englishStemmer.stem('walking') // 'walk'
 * ```
 */
export const englishStemmer: Stemmer = {
  id: 'porter-2.0',
  stem(word) {
    let stem = kept.get(word)
    if (stem === undefined) {
      if (kept.size === MOST_KEPT) kept.clear()
      needPeer('plimsoll/stemmer', '`stemmer` 2', peer.stemmer)
      stem = peer.stemmer(word)
      kept.set(word, stem)
    }
    return stem
  },
}
