import type { Feature } from '../../kernel/feature.ts'
import { type RecallFeatureOptions, type RecallShape, recallWith } from './feature.ts'
import * as finding from './finding.ts'

/**
 * Finds what was said long ago, by its words: BM25 over each message alone and within its
 * neighbours, the same on every store; with `vectors` by its meaning as well. Adds
 * `session.recall`, `memory.user(…).recall` and `context({ recall })`, which shows what it finds in
 * the tail. Needs `facts()` in use.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function recall(options: RecallFeatureOptions = {}): Feature<'recall', RecallShape> {
  return recallWith(options, async () => finding)
}
