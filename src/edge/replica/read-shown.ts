import { readEntry } from '../../kernel/log/entries.ts'
import { hiddenBy } from '../../kernel/log/fold.ts'
import { readRewinds } from '../../kernel/log/history.ts'
import type { LogRow, ScopeStore } from '../../ports/store.ts'

/** Messages by their ids; undefined: it is not there, or a rewind hides it. */
export async function readShown(
  store: ScopeStore,
  ids: readonly string[],
): Promise<readonly (LogRow | undefined)[]> {
  const hidden = hiddenBy(await readRewinds(store))
  return Promise.all(ids.map((id) => (hidden.has(id) ? undefined : readEntry(store, id))))
}
