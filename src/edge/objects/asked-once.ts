import type { OtherSessions } from '../../features/recall/others.ts'
import type { LogRow } from '../../ports/store.ts'

/**
 * Other sessions, each of whose answers is kept. What fails is asked again.
 */
export function askedOnce({ rank, messages }: OtherSessions): OtherSessions {
  let ranked: ReturnType<OtherSessions['rank']> | undefined
  const read = new Map<string, LogRow | undefined>()
  return {
    rank: (ask) => {
      ranked ??= rank(ask).catch((error) => {
        ranked = undefined
        throw error
      })
      return ranked
    },
    messages: async (sessionId, ids) => {
      const keyOf = (id: string): string => JSON.stringify([sessionId, id])
      const unread = ids.filter((id) => !read.has(keyOf(id)))
      const rows = unread.length > 0 ? await messages(sessionId, unread) : []
      unread.forEach((id, at) => {
        read.set(keyOf(id), rows[at])
      })
      return ids.map((id) => read.get(keyOf(id)))
    },
  }
}
