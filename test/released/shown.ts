/** What a released version showed of what it left, and what a later one has to show of it. */
import { createMemory, type Store, standard } from '../../src/index.ts'

export function memoryOver(store: Store) {
  return createMemory({ store, system: 'You book trains.', budget: 2_400, use: standard() })
}

/** Without what belongs to one version: hashes, lanes, and what a context takes. */
export async function shownIn(memory: ReturnType<typeof memoryOver>): Promise<object> {
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const history = await session.history({ messages: 1_000 })
  const facts = await session.facts.list()
  const checkpoint = await session.checkpoint.get()
  return JSON.parse(JSON.stringify({ history, facts, checkpoint }))
}
