import { describe, expect, it } from 'vitest'
import { charsPerToken, type Store } from '../../src/index.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { start as startSession } from '../../src/operations/start/start.ts'
import { fullMemory } from '../contract/full-memory.ts'

const DAY = 86_400_000
/** 2026-11-22. */
const TODAY = 20_779 * DAY
/**
 * SHA-256 of the start without budget and etag. It changes with what the library says at a start,
 * so only on purpose.
 */
const GOLDEN = '1b3507799a2b34727ced1da8bc9c690df3d662964494a55ac8fdfe3faf31d77e'

/**
 * Facts of both scopes, of two projects and of none: more than there is room for, some due,
 * doubtful or ended.
 */
const FACTS = Array.from({ length: 90 }, (_, index) => ({
  id: `fact ${index} ${['é', 'é漢', '🚆'][index % 3]}`,
  kind: (['constraint', 'preference', 'blocker', 'correction', 'finding'] as const)[index % 5] ?? 'finding',
  text: `Room ${index} of house ${index % 7} has ${index * 3} chairs, "new" ones.\n${'\u2028```'.repeat(index % 4)}`,
  pinned: index % 2 === 0,
  priority: index % 10,
  confidence: (index % 11) / 10,
  createdAt: TODAY - (index % 4),
  reviewAt: TODAY + ((index % 40) - 30) * DAY,
  ...(index % 6 === 0 && { expiresAt: TODAY + ((index % 9) - 4) * DAY }),
  ...(index % 3 > 0 && { project: index % 3 === 1 ? 'one' : 'another/1' }),
}))

/**
 * The start of a session is the same bytes on this store as on any other, whatever the order of
 * writing.
 */
export function describeStart(name: string, open: () => Store): void {
  describe(`the start of a session on ${name}`, () => {
    it.each([
      ['as they came', FACTS],
      ['the other way round', [...FACTS].reverse()],
    ])('is the same bytes, with facts %s', async (_, facts) => {
      let ids = 0
      const memory = fullMemory({
        store: open(),
        budget: 16_000,
        counter: charsPerToken(4),
        facts: { caps: { perHour: 1_000 } },
        clock: () => TODAY + 5,
        newId: () => `id-${++ids}`,
      })
      const session = memory.session({ userId: 'ada', sessionId: 'trip' })
      for (const fact of facts) await session.facts.remember(fact)
      await session.facts.resolve('fact 22 é漢')
      await forget(session, 'fact 40 é漢')
      for (const skill of ['chairs', 'beds', 'tables'])
        await memory
          .user({ userId: 'ada' })
          .skills.set({ name: skill, description: `On ${skill}.`, text: '' })
      const start = await startSession(session, { project: 'another/1', budgetTokens: 1_000 })
      expect(start.overflow.pinned.count).toBeGreaterThan(0)
      expect(start.etag).toBe(GOLDEN)
    })
  })
}
