import type { Feature } from '../kernel/feature.ts'
import type { Json } from '../ports/message.ts'
import { checkOptions } from '../text/json.ts'
import {
  type CheckpointOptions,
  type CheckpointShape,
  checkpoint,
  type InitialCheckpoint,
} from './checkpoint/feature.ts'
import { compaction } from './compaction/compaction.ts'
import type { CompactionOptions } from './compaction/compaction-options.ts'
import type { CompactionShape } from './compaction/feature.ts'
import { type FactsOptions, type FactsShape, facts } from './facts/feature.ts'
import { type ProfileOptions, type ProfileShape, profile } from './profile/feature.ts'
import { type SkillsOptions, type SkillsShape, skills } from './skills/feature.ts'

/** Options of each feature, by its name. @typeParam State what the checkpoint holds */
export interface StandardOptions<State = Json> {
  readonly profile?: ProfileOptions
  readonly skills?: SkillsOptions
  readonly facts?: FactsOptions
  readonly checkpoint?: CheckpointOptions<State>
  readonly compaction?: CompactionOptions
}

/**
 * The features of `standard()`. @typeParam Kept what the checkpoint is where nothing was kept yet
 */
export type StandardFeatures<State, Kept = State> = [
  Feature<'profile', ProfileShape>,
  Feature<'skills', SkillsShape>,
  Feature<'facts', FactsShape>,
  Feature<'checkpoint', CheckpointShape<State, Kept>>,
  Feature<'compaction', CompactionShape>,
]

/**
 * What most assistants use: profile, skills, facts, checkpoint and compaction. Recall is named
 * apart: `[...standard(), recall()]`.
 *
 * @param options those of each feature
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function standard<State>(
  options: StandardOptions<State> & { readonly checkpoint: InitialCheckpoint<State> },
): StandardFeatures<State>
export function standard(
  options?: StandardOptions & { readonly checkpoint?: { readonly schema?: never } },
): StandardFeatures<Json, Json | undefined>
export function standard<State>(options?: StandardOptions<State>): StandardFeatures<State, State | undefined>
export function standard<State>(
  options: StandardOptions<State> = {},
): StandardFeatures<State, State | undefined> {
  checkOptions('standard', 'options', options, ['profile', 'skills', 'facts', 'checkpoint', 'compaction'])
  return [
    profile(options.profile),
    skills(options.skills),
    facts(options.facts),
    checkpoint(options.checkpoint),
    compaction(options.compaction),
  ]
}
