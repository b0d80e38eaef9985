import { HEAD_KEY, SHARED } from '../kernel/log/message.ts'
import { registerPages } from '../kernel/log/register-pages.ts'
import { idIn, type Name } from '../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'

/** Keys under which heads show what is renewed, and within them its own. */
const RENEWED = /^((?:profile|skill)\/.*)@/su

/** What a register of the user is whose name may be given again once it was removed. */
export interface Renewable {
  /** Of the op that wrote it first since it was removed. */
  readonly since: string
}

/** Key under which heads name what they show of a register, until it is removed. */
export function shownKey(key: string, { since }: Renewable): string {
  return `${key}@${encodeURIComponent(since)}`
}

/** The same as a source. */
export function shownName(key: string, value: Renewable): Name {
  return `${SHARED}${shownKey(key, value)}`
}

/** Heads that show what the user has no more. */
export interface HeadsShowing {
  /** Keys of all of them. */
  readonly heads: readonly string[]
  /**
   * Those that show what was first written elsewhere under one of the names: it came with an
   * import, or from a device that had not heard. With the keys under which they show it.
   */
  readonly others: readonly OtherHead[]
}

interface OtherHead extends RegisterRow {
  readonly shown: readonly string[]
}

/** Heads of a session that show any of these registers of the user. */
export async function headsShowing(
  store: Pick<ScopeStore, 'registers'>,
  keys: readonly string[],
): Promise<HeadsShowing> {
  const heads: string[] = []
  const others: OtherHead[] = []
  const own = keys.map(ownKey)
  for await (const page of registerPages(store, HEAD_KEY))
    for (const row of page) {
      const shown = row.sources
        ?.flatMap((name) => idIn('user', name) ?? [])
        .filter((one) => own.includes(ownKey(one)))
      if (!shown?.length) continue
      heads.push(row.key)
      if (!shown.some((one) => keys.includes(one))) others.push({ ...row, shown })
    }
  // In the order of their writing: that of their keys is one of hashes of texts.
  return { heads, others: others.sort((one, other) => one.seq - other.seq) }
}

/** The key of a register, by the one under which heads show it. */
export function ownKey(shown: string): string {
  return RENEWED.exec(shown)?.[1] ?? shown
}
