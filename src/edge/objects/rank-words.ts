import { type KeptRead, keptIn, othersOf } from '../../features/recall/across-sessions.ts'
import type { OthersAsk, OthersFound, ReadsWords } from '../../features/recall/others.ts'
import { countWords, searchWords } from '../../features/recall/search-words.ts'
import { KeptWords } from '../../features/slots.ts'
import type { KernelUser } from '../../kernel/feature.ts'

/**
 * What words that are kept with a user find, for one of the user's sessions. No other session is
 * called: those of which nothing is kept are counted.
 */
export async function rankWords(
  user: KernelUser,
  { recall, sessions: mostSessions, messages }: ReadsWords,
  { query, sessions, by, corpus, most }: OthersAsk,
): Promise<OthersFound> {
  const [words] = user.memory.all(KeptWords)
  const { ids, left } = await othersOf(user, sessions, by, mostSessions)
  const searched: (KeptRead & { readonly sessionId: string })[] = []
  let size = 0
  for (const sessionId of ids) {
    if (!words || size >= messages) break
    const kept = await keptIn(words, recall, sessionId)
    if (!kept) continue
    searched.push({ ...kept, sessionId })
    size += kept.index.size
  }
  const found = searchWords(recall, searched, [], query, most, corpus).flatMap(({ index, ...one }) => {
    const { sessionId, asOf } = searched[index] ?? {}
    return sessionId !== undefined && asOf !== undefined ? [{ ...one, sessionId, asOf }] : []
  })
  const counted = { searched: searched.length, missing: left + ids.length - searched.length }
  const asOf = searched.reduce((least, one) => Math.min(least, one.asOf), Number.POSITIVE_INFINITY)
  return {
    found,
    corpus: countWords(recall, searched, [], query),
    others: { ...counted, ...(searched.length > 0 && { asOf }) },
  }
}
