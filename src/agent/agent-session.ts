import type { CompactionShape } from '../features/compaction/feature.ts'
import type { FactsShape } from '../features/facts/feature.ts'
import type { RecallShape } from '../features/recall/feature.ts'
import type { SkillsShape } from '../features/skills/feature.ts'
import type { Session } from '../ports/memory.ts'

/** A session as an agent uses it: what of these features is in use, it can use. */
export type AgentSession = Session<{
  facts?: FactsShape
  recall?: RecallShape
  skills?: SkillsShape
  compaction?: CompactionShape
}>

/**
 * A session with all that memory tools need. A tool is offered only where its own feature is there.
 */
export type ToolSession = Session<{ facts: FactsShape; recall: RecallShape; skills: SkillsShape }>
