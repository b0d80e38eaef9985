import type { CheckpointShape } from '../features/checkpoint/feature.ts'
import type { CompactionShape } from '../features/compaction/feature.ts'
import type { FactsShape } from '../features/facts/feature.ts'
import type { ProfileShape } from '../features/profile/feature.ts'
import type { RecallShape } from '../features/recall/feature.ts'
import type { SkillsShape } from '../features/skills/feature.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Memory, Session, User } from '../ports/memory.ts'
import type { Json } from '../ports/message.ts'

/** The features that there are routes for. Any of them may be in use. */
export interface EdgeFeatures {
  readonly profile: ProfileShape
  readonly skills: SkillsShape
  readonly facts: FactsShape
  readonly checkpoint: CheckpointShape<Json, Json | undefined>
  readonly recall: RecallShape
  readonly compaction: CompactionShape
}

export type EdgeMemory = Memory<Partial<EdgeFeatures>>
export type EdgeSession = Session<Partial<EdgeFeatures>>
export type EdgeUser = User<Partial<EdgeFeatures>>

/**
 * The same session or user with a feature that a call is about. @throws ERR_NOT_CONFIGURED: it is
 * not in use
 */
export function using<Name extends keyof EdgeFeatures & keyof EdgeSession>(
  session: EdgeSession,
  name: Name,
): Session<Pick<EdgeFeatures, Name>>
export function using<Name extends keyof EdgeFeatures & keyof EdgeUser>(
  user: EdgeUser,
  name: Name,
): User<Pick<EdgeFeatures, Name>>
export function using(asked: object, name: keyof EdgeFeatures): unknown {
  if ((asked as EdgeUser)[name as keyof EdgeUser] !== undefined) return asked
  throw new PlimsollError('ERR_NOT_CONFIGURED', `${name}: add ${name}() to what the memory has in use`)
}
