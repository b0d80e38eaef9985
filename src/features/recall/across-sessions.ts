import type { KernelUser } from '../../kernel/feature.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Recalled, UserRecallOptions } from '../../ports/recall.ts'
import { checkOptions } from '../../text/json.ts'
import { readSessions } from '../read-sessions.ts'
import { KeptWords, UserFactLists, type UserWords } from '../slots.ts'
import { checkSessions } from './check-sessions.ts'
import { find, type RecallSession, type RecallSources } from './find.ts'
import type { Recall } from './lexical-recall.ts'
import type { SessionRead } from './session-index.ts'

/** What is kept elsewhere of a session. */
export type KeptRead = SessionRead & { readonly asOf: number }

/** What a query finds in a user's sessions. @throws ERR_INVALID_ARGUMENT */
export async function findAcross(
  {
    open,
    most,
    ...parts
  }: Pick<RecallSources, 'recall' | 'vectorSearch' | 'messages'> & {
    readonly open: (sessionId: string) => RecallSession
    /** Sessions that are looked through. */
    readonly most: number
  },
  user: KernelUser,
  query: string,
  options: UserRecallOptions = {},
): Promise<readonly Recalled[]> {
  checkOptions('recall', 'options', options, ['sessions', 'first'])
  const { sessions = [], ...asked } = options
  const facts = async (): Promise<readonly Fact[]> =>
    (await Promise.all(user.memory.all(UserFactLists).map((read) => read(user)))).flat()
  const opened = async () => {
    checkSessions('recall', 'sessions', sessions, most)
    const ids = sessions === 'all' ? (await newestOf(user)).slice(0, most) : [...new Set(sessions)]
    return { opened: ids.map((sessionId) => keptOr(open(sessionId))), left: 0 }
  }
  const [words] = user.memory.all(KeptWords)
  /** A session whose log is read only where its words are not kept with the user. */
  const keptOr = (session: RecallSession): RecallSession => {
    if (!words) return session
    const read = async (): Promise<SessionRead> => {
      const kept = await keptIn(words, parts.recall, session.sessionId)
      return kept ?? session.index.read()
    }
    return { ...session, index: { read }, messages: (ids) => words.messages(session.sessionId, ids) }
  }
  return find({ ...parts, sessions: opened, facts }, query, asked)
}

/** What is kept with a user of a session's words; undefined: it is read itself. */
export async function keptIn(
  words: UserWords,
  recall: Recall,
  sessionId: string,
): Promise<KeptRead | undefined> {
  const kept = await words.of(sessionId)
  const index = kept?.kind === recall.id ? recall.decode(kept.blocks) : undefined
  if (!kept || !index) return undefined
  return { index, seq: 0, dropped: 0, hidden: new Set(), rewoundAt: 0, asOf: kept.asOf }
}

/** One that cannot be fetched now counts as missing, and the rest is found. */
export function orMissing<Session extends RecallSession>(session: Session, { decode }: Recall): Session {
  const read = (): Promise<SessionRead> =>
    session.index.read().catch((error) => {
      const index = isPlimsollError(error, 'ERR_OFFLINE') ? decode([]) : undefined
      if (!index) throw error
      return { index, seq: 0, dropped: 0, hidden: new Set(), rewoundAt: 0 }
    })
  return { ...session, index: { read } }
}

/** Other sessions of a user than one, as many as are looked through, and how many are left. */
export async function othersOf(
  user: KernelUser,
  asked: 'all' | readonly string[],
  by: string,
  most: number,
): Promise<{ readonly ids: readonly string[]; readonly left: number }> {
  const named = asked === 'all' ? await newestOf(user) : asked
  const others = [...new Set(named)].filter((id) => id !== by)
  const ids = others.slice(0, most)
  return { ids, left: others.length - ids.length }
}

/** Ids of a user's sessions, the newest first. */
async function newestOf({ store }: KernelUser): Promise<readonly string[]> {
  const found: { readonly sessionId: string; readonly createdAt: number }[] = []
  for (let after: string | undefined; ; ) {
    const page = await readSessions(store, after)
    found.push(...page)
    after = page.at(-1)?.sessionId
    if (after === undefined) break
  }
  return found.sort((one, other) => other.createdAt - one.createdAt).map(({ sessionId }) => sessionId)
}
