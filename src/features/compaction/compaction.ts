import type { Feature } from '../../kernel/feature.ts'
import { writeSummary } from './author.ts'
import type { CompactionOptions } from './compaction-options.ts'
import { type CompactionShape, compactionWith } from './feature.ts'

/**
 * Summarises what leaves the window: by a model, or by the deterministic extract. Adds
 * `session.compaction`. A summary is accepted only if it passes checks of size, names and rule
 * words; else the model is asked once more, and then the extract stands. It shows in the memory
 * section, and the log stays as it is.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function compaction(options: CompactionOptions = {}): Feature<'compaction', CompactionShape> {
  return compactionWith(options, writeSummary)
}
