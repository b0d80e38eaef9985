import { readTop } from '../features/facts/fact-lists.ts'
import type { KnownFact } from '../features/facts/known-facts.ts'
import type { HeadParts } from '../kernel/context/head.ts'
import type { KernelSession, TailPart } from '../kernel/feature.ts'
import type { ScopeStore } from '../ports/store.ts'

/** The newest facts of each scope, among which those are looked for that stood in a past tail. */
const NEWEST = 64
const ALL = { user: Infinity, session: Infinity }

/**
 * What facts showed in the tail when only the first that were made of those that hold now were
 * known.
 *
 * @param parts what its epoch froze
 * @param isOf Contract: whether a tail of that version was recorded
 * @returns undefined: none was
 */
export async function pastNews(
  session: KernelSession,
  { facts: frozen }: HeadParts,
  count: (text: string) => number,
  isOf: (version: string) => boolean,
): Promise<TailPart | undefined> {
  const show = session.parts.find(({ name }) => name === 'facts')?.part.show
  const known = show?.since ? await newest(session) : []
  for (let length = known.length; length > 0; length--) {
    const recent = known.slice(0, length)
    const part = show?.since?.(frozen, { recent, pinned: [], shown: [], asOf: ALL }, count)
    if (part?.sections.every(({ version = '' }) => isOf(version))) return part
  }
  return undefined
}

/**
 * Facts of the user and of the session, the first that was made first; none that waits for its
 * home, where another may be known by the name of its op.
 */
async function newest({ user, store, project, memory }: KernelSession): Promise<readonly KnownFact[]> {
  const read = async (scope: KnownFact['scope'], from: ScopeStore): Promise<readonly KnownFact[]> => {
    const { confirmed = Infinity } = await from.head()
    const rows = await readTop(from, 'recent', project, NEWEST, memory.host.now())
    return rows.filter(({ seq }) => seq <= confirmed).map((row) => ({ ...row, scope }))
  }
  const found = await Promise.all([read('user', user.store), read('session', store)])
  return found.flat().sort((one, other) => one.fact.createdAt - other.fact.createdAt || one.seq - other.seq)
}
