import { closed, deletesOf } from '../../forgetting/deletes.ts'
import { OWED, owedIn, putOwed } from '../../forgetting/owed.ts'
import { areAccepted, changedByOthers, TRIES } from '../../kernel/log/once.ts'
import { registerPages } from '../../kernel/log/register-pages.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import type { Host } from '../../ports/host.ts'
import type { Name } from '../../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { FACT } from './fact.ts'

/** Empties what the user's scope has of all that is owed. Idempotent. */
export async function emptyAllShared(userStore: ScopeStore, host: Host): Promise<void> {
  for (const id of Object.keys(owedIn(await userStore.register(OWED)))) await emptyShared(userStore, host, id)
}

/**
 * Empties the facts of the user of what one call forgets: those that are named, and those that
 * derive from what is. Idempotent.
 *
 * @param going Contract: told their keys before they are, again where that is tried again
 * @returns their keys, whenever they were emptied
 */
export async function emptyShared(
  userStore: ScopeStore,
  host: Host,
  id: string,
  going: (shared: readonly string[]) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const row = await userStore.register(OWED)
    const all = owedIn(row)
    const owed = all[id]
    if (!owed) return []
    const shared = owed.shared ?? (await sharedFrom(userStore, [...owed.names, ...owed.from]))
    if (shared.length > 0) await going(shared)
    if (owed.shared || shared.length === 0) return shared
    const noted = putOwed(host, row, { ...all, [id]: { ...owed, shared } })
    const results = await userStore.commit(
      [...deletesOf(host, shared.map(registerName)), sealOp(noted)],
      closed,
    )
    if (areAccepted(results)) return shared
  }
  throw changedByOthers('forget', 'facts of the user')
}

/** Keys of the user's live facts among these names, and of those that derive from any. */
export async function sharedFrom(userStore: ScopeStore, from: readonly string[]): Promise<readonly string[]> {
  const { indexed } = await userStore.head()
  if (!indexed) return []
  const rows: Pick<RegisterRow, 'key' | 'sources'>[] = []
  for await (const page of registerPages(userStore, FACT))
    rows.push(...page.map(({ key, sources = [] }) => ({ key, sources })))
  const names = new Set(from)
  const found = new Set<string>()
  for (let before = -1; before < found.size; ) {
    before = found.size
    for (const { key, sources = [] } of rows)
      if (names.has(registerName(key)) || sources.some((source) => names.has(source))) {
        found.add(key)
        names.add(registerName(key))
      }
  }
  return [...found]
}

export function registerName(key: string): Name {
  return `register:${key}`
}
