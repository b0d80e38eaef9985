import { failure } from '../../kernel/context/failure.ts'
import type { Feature, KernelUser, Showing } from '../../kernel/feature.ts'
import { textOf } from '../../kernel/log/message.ts'
import { provide } from '../../kernel/slot.ts'
import { checkCount, checkId, checkOptions, checkText, invalid } from '../../kernel/text/json.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Recalled, RecallOptions, UserRecallOptions } from '../../ports/recall.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { PLACES } from '../places.ts'
import { readSessions } from '../read-sessions.ts'
import { Findable, type Finder, KeptWords, Searchable, UserFactLists, Words } from '../slots.ts'
import { type Finding, find, firstOf, type RecallSession, type RecallSources, search } from './find.ts'
import { type LexicalRecallOptions, lexicalRecall } from './lexical-recall.ts'
import { type RecallPage, recallPage } from './recall-page.ts'
import { recallSection } from './recall-section.ts'
import { BLOCK, type SessionIndex, type SessionRead, termsField } from './session-index.ts'
import type { VectorSearch, Vectors } from './vector-search.ts'

export interface RecallFeatureOptions extends LexicalRecallOptions {
  /** Finds by vectors too: `vectorSearch({ id, embed })`. Default: by words alone. */
  readonly vectors?: Vectors
  /** Most tokens of what is recalled, in the tail. Default: a sixteenth of the cap. */
  readonly tokens?: number
  /** Most sessions that recall of a user looks through. Default and most 256. */
  readonly sessions?: number
  /**
   * Messages after which it looks through no further session: the newest come first, those that are
   * named in their order. Default 100 000.
   */
  readonly messages?: number
}

/** Finds what was said in a session, and what is remembered there. */
export interface SessionRecall {
  /**
   * What a query finds in this session's log and among the facts that belong here, best first.
   * Rewound and forgotten messages are not found.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  find(query: string, options?: RecallOptions): Promise<readonly Recalled[]>
  /**
   * What a query finds beside what shows already, as text for a model: as many of the best results
   * as a tool's output may hold to be shown whole.
   *
   * @throws as {@link find}
   */
  page(query: string, options?: RecallOptions): Promise<RecallPage>
}

/** Finds what a user said in any session, and what is remembered of the user. */
export interface UserRecall {
  /**
   * What a query finds among the user's facts, and in the sessions that are named, as one ranking,
   * best first. A session's own facts are not looked through.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  find(query: string, options?: UserRecallOptions): Promise<readonly Recalled[]>
}

export interface RecallShape {
  readonly api: SessionRecall
  readonly user: UserRecall
  /**
   * Shows what is recalled: for this query, or, with `true`, for what the newest user message says.
   * What shows already is left out.
   */
  readonly context: string | true
  readonly needs: 'facts'
}

/** A session whose own log is read. */
interface OpenSession extends RecallSession {
  readonly index: SessionIndex
}

/** Results of which passages are shown, as far as they have room: none has room for more. */
const MOST_SHOWN = 200
/** Sessions that one call looks through. */
const MOST_SESSIONS = 256
const MOST_MESSAGES = 100_000
const SHARE = 1 / 16

/**
 * Finds what was said long ago, by its words: BM25 over each message alone and within its
 * neighbours, the same on every store; with `vectors` by its meaning as well. Adds
 * `session.recall`, `memory.user(…).recall` and `context({ recall })`, which shows what it finds in
 * the tail. Needs `facts()` in use.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function recall(options: RecallFeatureOptions = {}): Feature<'recall', RecallShape> {
  checkOptions('recall', 'options', options, ['stemmer', 'vectors', 'tokens', 'sessions', 'messages'])
  const { tokens: most, sessions = MOST_SESSIONS, messages = MOST_MESSAGES, stemmer, vectors } = options
  if (checkCount('recall', 'sessions', sessions, 1) > MOST_SESSIONS)
    throw invalid('recall', 'sessions', `must be 1 to ${MOST_SESSIONS}`)
  checkCount('recall', 'messages', messages, 1)
  if (most !== undefined) checkCount('recall', 'tokens', most, 0)
  if (vectors !== undefined && typeof vectors !== 'function')
    throw invalid('recall', 'vectors', 'must be what vectorSearch() gives')
  if (stemmer !== undefined && (typeof stemmer?.stem !== 'function' || typeof stemmer.id !== 'string'))
    throw invalid('recall', 'stemmer', 'must have an id and stem()')
  const lexical = lexicalRecall(stemmer && { stemmer })
  const openWith = (
    sessionId: string,
    store: ScopeStore,
    vectorSearch: VectorSearch | undefined,
  ): OpenSession => ({
    sessionId,
    store,
    index: lexical.open(store),
    ...(vectorSearch && { vectors: vectorSearch.open(store) }),
  })
  return {
    name: 'recall',
    needs: ['facts'],
    derive: (message) => [termsField(lexical.id), lexical.termsOf(message)],
    ...(most !== undefined && { lane: () => ({ tokens: most }) }),
    user: (user) => {
      const vectorSearch = vectors?.(user.memory.host)
      const parts = { recall: lexical, ...(vectorSearch && { vectorSearch }), messages }
      const open = (sessionId: string) => openWith(sessionId, user.session(sessionId), vectorSearch)
      return { find: (query, asked) => findOf({ ...parts, open, most: sessions }, user, query, asked) }
    },
    open: (session) => {
      const { store, sessionId, policy } = session
      const size = most ?? Math.floor(policy.cap * SHARE)
      const vectorSearch = vectors?.(session.memory.host)
      let opened: OpenSession | undefined
      /** Messages that were written here since words were put into a block. */
      let unindexed = 0
      const open = (): OpenSession => (opened ??= openWith(sessionId, store, vectorSearch))
      // What is not in a block is read from its rows: nothing is lost if this fails, and nobody
      // waits for it.
      const keepIndex = (): void => {
        unindexed = 0
        session.run(() => open().index.keep()).catch(() => {})
      }
      /** What recalls did not wait for. The session's own calls do not wait for an embedder. */
      const catchUp = async ({ vectors, index }: OpenSession): Promise<void> => {
        if (vectors?.waits) await vectorSearch?.catchUp(vectors, () => session.run(() => index.read()))
      }
      const sources = (facts: RecallSources['facts']): RecallSources => ({
        recall: lexical,
        ...(vectorSearch && { vectorSearch }),
        sessions: async () => [open()],
        facts,
      })
      /** What was found, and then what blocks lack. */
      const kept = async <Found>(found: Promise<Found>): Promise<Found> => {
        const result = await found
        // Blocks are gone after a delete, of no use to another stemmer, and missing where there was
        // no recall before.
        if (open().index.waits) keepIndex()
        void catchUp(open())
        return result
      }
      const own = async (): Promise<readonly Fact[]> =>
        (await Promise.all(session.all(Searchable).map((one) => one.read()))).flat()
      const findHere: Finder['find'] = (query, asked, facts) => kept(find(sources(facts), query, asked))
      const beside = (
        query: string | true,
        first: number,
        { asked, ids }: Showing,
        onSkipped?: RecallSources['onSkipped'],
      ): Promise<Finding> =>
        kept(
          search(
            { ...sources(own), skip: ids, ...(onSkipped && { onSkipped }) },
            query === true ? (asked ? textOf(asked) : '') : query,
            first,
          ),
        )
      return {
        api: {
          find: (query, asked = {}) => session.run(() => findHere(query, asked, own)),
          page: (query, asked = {}) =>
            session.run(async () => {
              const first = firstOf(asked, MOST_SHOWN)
              const showing = await session.lane.showing()
              const skipped: Fact[] = []
              const found = await beside(query, first, showing, (fact) => skipped.push(fact))
              return recallPage({ ...found, ranked: found.ranked.slice(0, first) }, skipped, policy)
            }),
        },
        provides: [
          provide(Findable, { find: findHere }),
          provide(Words, {
            kind: lexical.id,
            read: () =>
              session.run(async () => {
                const read = await open().index.read()
                const { seq, rewoundAt, index } = read
                const encode = (from: number, to: number) => lexical.encode(read, from, to)
                return { size: index.size, seq, rewoundAt, encode }
              }),
          }),
        ],
        write: {
          after: ({ messages }) => {
            unindexed += messages.length
            if (unindexed >= BLOCK) keepIndex()
          },
        },
        show: {
          check: (operation, query) => {
            if (query !== true) checkText(operation, 'recall', query)
          },
          tail: async ({ given: query, count, showing }) => {
            if (query === undefined) return undefined
            const found = await beside(query, MOST_SHOWN, showing())
            const failures = found.failure ? [failure('recall', found.failure.error, 'ERR_HOOK')] : []
            if (found.ranked.length === 0) return { sections: [], failures }
            const { text, trust, use } = await recallSection(found, size, count)
            return {
              sections: [{ in: 'tail', at: PLACES.recall, name: 'recall', text, trust, use }],
              failures,
            }
          },
        },
      }
    },
  }
}

async function findOf(
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
    const ids = sessions === 'all' ? await newestOf(user, most) : sessions
    if (!Array.isArray(ids) || ids.length > most)
      throw invalid('recall', 'sessions', `must be all or a list of at most ${most} ids`)
    return ids.map((sessionId: string) => keptOr(open(checkId('recall', 'sessions', sessionId))))
  }
  const [words] = user.memory.all(KeptWords)
  /** A session whose log is read only where its words are not kept with the user. */
  const keptOr = (session: RecallSession): RecallSession => {
    if (!words) return session
    const read = async (): Promise<SessionRead> => {
      const kept = await words.of(session.sessionId)
      const index = kept?.kind === parts.recall.id ? parts.recall.decode(kept.blocks) : undefined
      if (!kept || !index) return session.index.read()
      return { index, seq: 0, dropped: 0, hidden: new Set(), rewoundAt: 0, asOf: kept.asOf }
    }
    return { ...session, index: { read } }
  }
  return find({ ...parts, sessions: opened, facts }, query, asked)
}

/** Ids of the newest sessions of a user. */
async function newestOf({ store }: KernelUser, most: number): Promise<readonly string[]> {
  const found: { readonly sessionId: string; readonly createdAt: number }[] = []
  for (let after: string | undefined; ; ) {
    const page = await readSessions(store, after)
    found.push(...page)
    after = page.at(-1)?.sessionId
    if (after === undefined) break
  }
  return found
    .sort((one, other) => other.createdAt - one.createdAt)
    .slice(0, most)
    .map(({ sessionId }) => sessionId)
}
