import { keptIn, othersOf } from '../../features/recall/across-sessions.ts'
import type { OthersAsk, OthersFound, ReadsWords } from '../../features/recall/others.ts'
import { readUpTo } from '../../features/recall/read-up-to.ts'
import { countWords, searchWords } from '../../features/recall/search-words.ts'
import { KeptWords } from '../../features/slots.ts'
import type { KernelUser } from '../../kernel/feature.ts'

/**
 * What words that are kept with a user find, for one of the user's sessions. Others of which
 * nothing is kept are not read, but counted.
 */
export async function rankWords(
  user: KernelUser,
  { recall: recallOf, sessions: mostSessions, messages }: ReadsWords,
  { query, sessions, by, corpus, most }: OthersAsk,
): Promise<OthersFound> {
  const recall = await recallOf()
  const [words] = user.memory.all(KeptWords)
  const { ids, left } = await othersOf(user, sessions, by, mostSessions)
  const searched = await readUpTo(words ? ids : [], messages, async (sessionId) => {
    const kept = words && (await keptIn(words, recall, sessionId))
    return kept && { ...kept, sessionId }
  })
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
