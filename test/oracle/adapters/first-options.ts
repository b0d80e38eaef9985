/** A configuration as options of 0.1.0. */
import type { World } from '../adapter.ts'
import type { Configuration } from '../configuration.ts'
import type { FirstLibrary } from './first-library.ts'
import { compactionOf, extractOf, hostOf, onCutOf, recallOf, SCHEMA } from './parts.ts'

/** Options of a memory, its store and counter aside. */
export function optionsOf(library: FirstLibrary, configuration: Configuration, world: World): object {
  const { counter: _, compaction, extract, recall, checkpoint, onCut, ...rest } = configuration
  return {
    ...rest,
    host: hostOf(world),
    onDemand: async () => library.onDemand,
    ...(onCut && { onCut: onCutOf(onCut, world) }),
    ...(compaction && { compaction: compactionOf(compaction, world) }),
    ...(extract && { extract: extractOf(extract, library.extractFacts, world) }),
    ...(recall && { recall: library.lexicalRecall(recallOf(recall, library)) }),
    ...(checkpoint && {
      checkpoint: {
        ...(checkpoint.schema && { schema: SCHEMA }),
        ...(checkpoint.default !== undefined && { defaultState: checkpoint.default }),
      },
    }),
  }
}
