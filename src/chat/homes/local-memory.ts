/** The memory behind sessions that are kept in this browser; loaded when something is written, looked for or asked of it. */
import { createMemory } from '../../create-memory.ts'
import { recall } from '../../features/recall/feature.ts'
import { standard } from '../../features/standard.ts'
import type { SessionOf } from '../../kernel/types.ts'
import type { Budget } from '../../ports/context.ts'
import type { Store } from '../../ports/store.ts'
import type { ChatPlatform } from '../settings.ts'

const BUDGET: Budget = { contextWindow: 16_000, maxOutputTokens: 2_000 }

export interface LocalMemoryOptions {
  readonly store: Store
  readonly system: string | undefined
  readonly budget: Budget | undefined
  readonly platform: Pick<ChatPlatform, 'now' | 'newId'>
}

export type LocalMemory = ReturnType<typeof localMemory>
export type LocalMemorySession = SessionOf<LocalMemory>

export function localMemory({ store, system, budget = BUDGET, platform }: LocalMemoryOptions) {
  const { newId, now } = platform
  return createMemory({
    store,
    budget,
    // What leaves the window is summarised by the extract: whether a model may be called for it, the page did not say.
    use: [...standard(), recall()],
    clock: now,
    newId,
    ...(system !== undefined && { system }),
  })
}
