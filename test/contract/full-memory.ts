/** Memories with every feature in use, or with those that a suite is about. */

import type { CheckpointOptions, CheckpointShape } from '../../src/features/checkpoint/feature.ts'
import type { CompactionOptions } from '../../src/features/compaction/compaction-options.ts'
import { settleOwed } from '../../src/forgetting/owed.ts'
import {
  type CompactionShape,
  checkpoint,
  compaction,
  createMemory,
  defaultCounter,
  type ExtractionOptions,
  extraction,
  type FactsOptions,
  type FactsShape,
  type Feature,
  facts,
  type Host,
  type Memory,
  type MemoryOptions,
  type ProfileOptions,
  type ProfileShape,
  profile,
  type RecallFeatureOptions,
  type RecallShape,
  type RetentionOptions,
  recall,
  retention,
  type Session,
  type SkillsOptions,
  type SkillsShape,
  skills,
  type User,
} from '../../src/index.ts'
import { createKernel } from '../../src/kernel/memory.ts'

/** The options of a memory, and those of each feature by its name. */
export interface FullMemoryOptions<State = unknown> extends MemoryOptions {
  readonly profile?: ProfileOptions
  readonly skills?: SkillsOptions
  readonly facts?: FactsOptions
  readonly checkpoint?: CheckpointOptions<State> & { readonly initial?: State | (() => State) }
  /** In place of the one of the platform. */
  readonly host?: Host
  /** Default: not in use. */
  readonly recall?: RecallFeatureOptions | undefined
  /** Default: not in use. */
  readonly compaction?: CompactionOptions | undefined
  /** Default: not in use. */
  readonly extraction?: ExtractionOptions | undefined
  /** Default: not in use. */
  readonly retention?: RetentionOptions | undefined
}

export interface FullShape<State = unknown> {
  readonly profile: ProfileShape
  readonly skills: SkillsShape
  readonly facts: FactsShape
  readonly checkpoint: CheckpointShape<State>
  readonly recall: RecallShape
  readonly compaction: CompactionShape
}

export type FullMemory<State = unknown> = Memory<FullShape<State>>
export type FullSession<State = unknown> = Session<FullShape<State>>
export type FullUser = User<FullShape>

/** What hashes are keyed by where a suite gives no other: two runs of it are to be equal. */
export const ONE_SECRET = 'a5'.repeat(32)

/**
 * A memory for suites about what features do together. Recall, compaction, extraction and
 * retention are in use where they are given: a suite that calls them gives them.
 */
export function fullMemory<State = unknown>(options: FullMemoryOptions<State>): FullMemory<State> {
  return memoryWith(
    ['profile', 'skills', 'facts', 'checkpoint', 'recall', 'compaction', 'extraction', 'retention'],
    options,
  )
}

/**
 * A memory for the suite of a feature: those named are in use, and what the suite calls of others
 * is not there. Recall, compaction, extraction and retention need their options.
 */
export function memoryWith<State = unknown>(
  names: readonly FeatureName[],
  options: FullMemoryOptions<State>,
): FullMemory<State> {
  const {
    profile: documents,
    skills: texts,
    facts: remembered,
    checkpoint: kept = {},
    recall: found,
    compaction: summaries,
    extraction: extracts,
    retention: times,
    host,
    ...rest
  } = options
  const features: Record<FeatureName, Feature | undefined> = {
    profile: profile(documents),
    skills: skills(texts),
    facts: facts(remembered),
    checkpoint: checkpoint<State>(kept as never),
    recall: found && recall(found),
    compaction: summaries && compaction(summaries),
    extraction: extracts && extraction(extracts),
    retention: times && retention(times),
  }
  const use = names.flatMap((name) => features[name] ?? [])
  const memory: Memory = host
    ? createKernel({ counter: defaultCounter, ...rest, host, settle: settleOwed, use })
    : createMemory({ newSecret: () => ONE_SECRET, ...rest, use })
  return memory as FullMemory<State>
}

type FeatureName =
  | 'profile'
  | 'skills'
  | 'facts'
  | 'checkpoint'
  | 'recall'
  | 'compaction'
  | 'extraction'
  | 'retention'
