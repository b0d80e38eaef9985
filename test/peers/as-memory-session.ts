import type { AgentInputItem } from '@openai/agents'
import { PlimsollSession } from '../../src/bridges/openai-agents/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import { mapStore } from '../../src/stores/map.ts'

/** The bridge where the tests of OpenAI Agents make its own session. */
export class MemorySession extends PlimsollSession {
  constructor({
    sessionId = 'trip',
    initialItems = [],
  }: { sessionId?: string; initialItems?: AgentInputItem[] }) {
    super(createMemory({ store: mapStore() }).session({ userId: 'ada', sessionId }))
    if (initialItems.length > 0) void this.addItems(initialItems)
  }
}
