import { type Fact, type Store, utf8Bound } from '../../../src/index.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }

export function rememberingSession<State>(store: Store): FullSession<State> {
  return fullMemory<State>({ store, budget: 16_000, counter: utf8Bound }).session(SCOPE)
}

/** The texts of all of the session's own facts that hold, in order. */
export async function rememberedIn(store: Store): Promise<readonly string[]> {
  const rows = await store.open(SCOPE).registers('fact/')
  const facts = rows.map(({ body }) => JSON.parse(body ?? 'null') as Fact)
  return facts.flatMap(({ text, supersededBy }) => (supersededBy === undefined ? text : [])).sort()
}
