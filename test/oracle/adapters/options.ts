/** A configuration as options of a kernel, with features in use. */
import type { World } from '../adapter.ts'
import type { Configuration } from '../configuration.ts'
import type { LibraryLike } from './library.ts'
import { compactionOf, extractOf, hostOf, onCutOf, recallOf, SCHEMA } from './parts.ts'

/** Options of a memory, its store and counter aside. */
export function optionsOf(library: LibraryLike, configuration: Configuration, world: World): object {
  const { budget, system, window, toolOutput, onCut, development } = configuration
  return {
    budget,
    host: hostOf(world),
    use: featuresOf(library, configuration, world),
    ...(system !== undefined && { system }),
    ...(window && { window }),
    ...(toolOutput && { toolOutput }),
    ...(onCut && { onCut: onCutOf(onCut, world) }),
    ...(development && { laws: () => new library.LawChecker() }),
  }
}

/** What every memory of a history has, and what it was given. */
function featuresOf(library: LibraryLike, configuration: Configuration, world: World): readonly object[] {
  const { sections = {}, facts, extract, checkpoint, compaction, recall, retention = {} } = configuration
  const size = (name: string, option: string): object =>
    sections[name] === undefined ? {} : { [option]: sections[name] }
  const extracts = extract && { extract: extractOf(extract, library.extractFacts, world) }
  const features = [
    library.profile(size('profile', 'tokens')),
    library.skills({ ...size('skills', 'indexTokens'), ...size('loaded', 'loadedTokens') }),
    library.facts({
      ...facts,
      ...(!library.extraction && extracts),
      ...size('facts', 'tokens'),
      ...size('pins', 'pinnedTokens'),
      ...size('news', 'newsTokens'),
    }),
    library.checkpoint({
      ...(checkpoint?.schema && { schema: SCHEMA }),
      ...(checkpoint?.default !== undefined && { initial: checkpoint.default }),
      ...size('checkpoint', 'excerptTokens'),
    }),
  ]
  if (extracts && library.extraction) features.push(library.extraction(extracts))
  if (compaction) features.push(library.compaction(compactionOf(compaction, world)))
  if (recall) features.push(library.recall({ ...recallOf(recall, library), ...size('recall', 'tokens') }))
  if (Object.keys(retention).length > 0) features.push(library.retention(retention))
  return features
}
