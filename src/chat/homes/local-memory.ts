/**
 * The memory behind sessions that are kept in this browser; loaded when something is written,
 * looked for or asked of it.
 */
import { createMemory } from '../../create-memory.ts'
import { checkpoint } from '../../features/checkpoint/feature.ts'
import { refused, type SummaryWriter } from '../../features/compaction/compactor.ts'
import { type CompactionShape, compactionWith } from '../../features/compaction/feature.ts'
import { type FactsShape, facts } from '../../features/facts/feature.ts'
import { type ProfileShape, profile } from '../../features/profile/feature.ts'
import { type RecallShape, recallWith } from '../../features/recall/feature.ts'
import { type SkillsShape, skills } from '../../features/skills/feature.ts'
import type { Budget } from '../../ports/context.ts'
import type { Memory, SessionOf } from '../../ports/memory.ts'
import type { Store } from '../../ports/store.ts'
import type { ChatPlatform } from '../settings.ts'
import { loaded } from './load.ts'

export { titleSession } from '../../operations/sessions.ts'

/** Short conversations need no summary. Where it cannot be loaded, the next epoch asks again. */
const writeLater: SummaryWriter = async (...given) => {
  const author = await import('../../features/compaction/author.ts').catch(() => undefined)
  return author?.writeSummary(...given) ?? refused(['what writes it could not be loaded'])
}

const loadFinding = () => loaded(() => import('../../features/recall/finding.ts'))

const BUDGET: Budget = { contextWindow: 16_000, maxOutputTokens: 2_000 }

export interface LocalMemoryOptions {
  readonly store: Store
  readonly system: string | undefined
  readonly budget: Budget | undefined
  readonly platform: Pick<ChatPlatform, 'now' | 'newId'>
}

/** What is in use here. */
export interface LocalFeatures {
  readonly profile: ProfileShape
  readonly skills: SkillsShape
  readonly facts: FactsShape
  readonly recall: RecallShape
  readonly compaction: CompactionShape
}

export type LocalMemory = Memory<LocalFeatures>
export type LocalMemorySession = SessionOf<LocalMemory>

export function localMemory({ store, system, budget = BUDGET, platform }: LocalMemoryOptions): LocalMemory {
  const { newId, now } = platform
  return createMemory({
    store,
    budget,
    // What `standard()` has. What leaves the window is summarised by the extract: whether a model
    // may be called for it, the page did not say.
    use: [
      profile(),
      skills(),
      facts(),
      checkpoint(),
      compactionWith({}, writeLater),
      recallWith({}, loadFinding),
    ],
    clock: now,
    newId,
    ...(system !== undefined && { system }),
  })
}
