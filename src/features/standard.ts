import type { Feature } from '../kernel/feature.ts'
import { checkOptions } from '../kernel/text/json.ts'
import type { Json } from '../ports/message.ts'
import { type CheckpointShape, checkpoint } from './checkpoint/feature.ts'
import type { CompactionOptions } from './compaction/compaction-options.ts'
import { type CompactionShape, compaction } from './compaction/feature.ts'
import { type FactsOptions, type FactsShape, facts } from './facts/feature.ts'
import { type ProfileOptions, type ProfileShape, profile } from './profile/feature.ts'
import { type SkillsOptions, type SkillsShape, skills } from './skills/feature.ts'

export interface StandardOptions {
  readonly profile?: ProfileOptions
  readonly skills?: SkillsOptions
  readonly facts?: FactsOptions
  readonly checkpoint?: Parameters<typeof checkpoint<Json>>[0]
  readonly compaction?: CompactionOptions
}

/**
 * What most assistants use: profile, skills, facts, checkpoint and compaction. Recall is named apart: `[...standard(), recall()]`.
 *
 * @param options those of each feature
 */
export function standard(
  options: StandardOptions = {},
): [
  Feature<'profile', ProfileShape>,
  Feature<'skills', SkillsShape>,
  Feature<'facts', FactsShape>,
  Feature<'checkpoint', CheckpointShape<Json, Json | undefined>>,
  Feature<'compaction', CompactionShape>,
] {
  checkOptions('standard', 'options', options, ['profile', 'skills', 'facts', 'checkpoint', 'compaction'])
  return [
    profile(options.profile),
    skills(options.skills),
    facts(options.facts),
    checkpoint<Json>(options.checkpoint),
    compaction(options.compaction),
  ]
}
