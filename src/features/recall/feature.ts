import { type Failure, failure } from '../../kernel/context/failure.ts'
import type { Feature, Showing } from '../../kernel/feature.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { textOf } from '../../kernel/log/message.ts'
import { provide } from '../../kernel/slot.ts'
import type { Fact } from '../../ports/fact.ts'
import type { RecallAcross, Recalled, RecallOptions, UserRecallOptions } from '../../ports/recall.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { checkCount, checkOptions, checkText, invalid } from '../../text/json.ts'
import { PLACES } from '../places.ts'
import { Findable, type Finder, Searchable, Words } from '../slots.ts'
import { checkSessions } from './check-sessions.ts'
import type { Finding, RecallSession, RecallSources } from './find.ts'
import type * as finding from './finding.ts'
import type { Recall } from './lexical-recall.ts'
import { BLOCK, type LexicalRecallOptions, termsKind } from './lexical-terms.ts'
import { type OtherSessions, Others, WordsReader } from './others.ts'
import type { RecallPage } from './recall-page.ts'
import type { SessionIndex } from './session-index.ts'
import type { VectorSearch, Vectors } from './vector-search.ts'

export interface RecallFeatureOptions extends LexicalRecallOptions {
  /** Finds by vectors too: `vectorSearch({ id, embed })`. Default: by words alone. */
  readonly vectors?: Vectors
  /** Most tokens of what is recalled, in the tail. Default: a sixteenth of the cap. */
  readonly tokens?: number
  /** Most sessions that a recall across sessions looks through. Default and most 256. */
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
   * What shows already is left out. With `sessions` it shows what other sessions of the user said,
   * too.
   */
  readonly context: string | true | RecallAcross
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
 * `recall()`, with what looks for a query loaded when the first one comes: by who has to show
 * something before that.
 */
export function recallWith(
  options: RecallFeatureOptions,
  load: () => Promise<typeof finding>,
): Feature<'recall', RecallShape> {
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
  let lexical: Recall | undefined
  const loaded = async (): Promise<typeof finding & { readonly lexical: Recall }> => {
    const all = await load()
    lexical ??= all.lexicalRecall(stemmer && { stemmer })
    return { ...all, lexical }
  }
  const openWith = (
    recall: Recall,
    sessionId: string,
    store: ScopeStore,
    vectorSearch: VectorSearch | undefined,
  ): OpenSession => ({
    sessionId,
    index: recall.open(store),
    messages: (ids) => Promise.all(ids.map((id) => readEntry(store, id))),
    ...(vectorSearch && { vectors: vectorSearch.open(store) }),
  })
  return {
    name: 'recall',
    needs: ['facts'],
    provides: [provide(WordsReader, { recall: async () => (await loaded()).lexical, sessions, messages })],
    ...(most !== undefined && { lane: () => ({ tokens: most }) }),
    user: (user) => {
      const vectorSearch = vectors?.(user.memory.host)
      return {
        find: async (query, asked) => {
          const { findAcross, lexical: recall } = await loaded()
          const parts = { recall, ...(vectorSearch && { vectorSearch }), messages, most: sessions }
          const open = (id: string) => openWith(recall, id, user.session(id), vectorSearch)
          return findAcross({ ...parts, open }, user, query, asked)
        },
      }
    },
    open: (session) => {
      const { store, sessionId, policy } = session
      const size = most ?? Math.floor(policy.cap * SHARE)
      const vectorSearch = vectors?.(session.memory.host)
      let opened: OpenSession | undefined
      /** What the context that is built asks of other sessions. */
      let far: { readonly given: object; readonly others: OtherSessions } | undefined
      /** Messages that were written here since words were put into a block. */
      let unindexed = 0
      const open = (recall: Recall): OpenSession =>
        (opened ??= openWith(recall, sessionId, store, vectorSearch))
      // What is not in a block is read from its rows: nothing is lost if this fails, and nobody
      // waits for it.
      const keepIndex = (): void => {
        unindexed = 0
        session.run(async () => open((await loaded()).lexical).index.keep()).catch(() => {})
      }
      /** What recalls did not wait for. The session's own calls do not wait for an embedder. */
      const catchUp = async ({ vectors, index }: OpenSession): Promise<void> => {
        if (vectors?.waits) await vectorSearch?.catchUp(vectors, () => session.run(() => index.read()))
      }
      const sources = (recall: Recall, facts: RecallSources['facts']): RecallSources => ({
        recall,
        ...(vectorSearch && { vectorSearch }),
        sessions: async () => ({ opened: [open(recall)], left: 0 }),
        facts,
      })
      /** What was found, and then what blocks lack. */
      const kept = async <Found>(found: Promise<Found>): Promise<Found> => {
        const result = await found
        // Blocks are gone after a delete, of no use to another stemmer, and missing where there was
        // no recall before.
        if (opened?.index.waits) keepIndex()
        if (opened) void catchUp(opened)
        return result
      }
      const own = async (): Promise<readonly Fact[]> =>
        (await Promise.all(session.all(Searchable).map((one) => one.read()))).flat()
      const findHere: Finder['find'] = async (query, asked, facts) => {
        const { find, lexical: recall } = await loaded()
        return kept(find(sources(recall, facts), query, asked))
      }
      const beside = async (
        query: string | true,
        first: number,
        { asked, ids }: Showing,
        more: Partial<RecallSources>,
      ): Promise<Finding> => {
        const { search, lexical: recall } = await loaded()
        const text = query === true ? (asked ? textOf(asked) : '') : query
        return kept(search({ ...sources(recall, own), skip: ids, ...more }, text, first))
      }
      /** Where to look beside this session. */
      const across = (
        given: object,
        asked: RecallAcross['sessions'],
        onFailure: (error: unknown) => void,
      ): Partial<RecallSources> => {
        const [others] = session.memory.all(Others)
        if (others) {
          if (far?.given !== given) far = { given, others: others() }
          return { elsewhere: { ...far.others, asked, by: sessionId, onFailure } }
        }
        return {
          messages,
          sessions: async () => {
            const { orMissing, othersOf, lexical: recall } = await loaded()
            const { ids, left } = await othersOf(session.user, asked, sessionId, sessions)
            const others = ids.map((id) =>
              orMissing(openWith(recall, id, session.user.session(id), vectorSearch), recall),
            )
            return { opened: [open(recall), ...others], left }
          },
        }
      }
      return {
        api: {
          find: (query, asked = {}) => session.run(() => findHere(query, asked, own)),
          page: (query, asked = {}) =>
            session.run(async () => {
              const { firstOf, recallPage } = await load()
              const first = firstOf(asked, MOST_SHOWN)
              const showing = await session.lane.showing()
              const skipped: Fact[] = []
              const onSkipped = (fact: Fact) => void skipped.push(fact)
              const found = await beside(query, first, showing, { onSkipped })
              return recallPage({ ...found, ranked: found.ranked.slice(0, first) }, skipped, policy)
            }),
        },
        provides: [
          provide(Findable, { find: findHere }),
          provide(Words, {
            kind: termsKind(stemmer),
            read: () =>
              session.run(async () => {
                const { lexical: recall } = await loaded()
                const read = await open(recall).index.read()
                const { seq, rewoundAt, index } = read
                const encode = (from: number, to: number) => recall.encode(read, from, to)
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
          check: (operation, given) => {
            const { query = true, sessions: asked } = asAcross(operation, given)
            far = undefined
            if (query !== true) checkText(operation, 'recall', query)
            if (asked !== undefined) checkSessions(operation, 'recall.sessions', asked, sessions)
          },
          tail: async ({ given, count, showing }) => {
            if (given === undefined) return undefined
            const { query = true, sessions: asked } = asAcross('context', given)
            const failures: Failure[] = []
            const onFailure = (error: unknown) => void failures.push(failure('recall', error))
            const more = asked && across(given as object, asked, onFailure)
            const found = await beside(query, MOST_SHOWN, showing(), more ?? {})
            if (found.failure) failures.push(failure('recall', found.failure.error, 'ERR_HOOK'))
            if (found.ranked.length === 0 && !asked) return { sections: [], failures }
            const { recallSection } = await load()
            const { text, trust, use } = await recallSection(found, size, count, asked !== undefined)
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

/** What a context was given, as what is looked for and where. @throws ERR_INVALID_ARGUMENT */
function asAcross(operation: string, given: unknown): Partial<RecallAcross> {
  if (typeof given !== 'object' || given === null) return { query: given as string | true }
  checkOptions(operation, 'recall', given, ['query', 'sessions'])
  const across = given as Partial<RecallAcross>
  if (across.sessions === undefined) throw invalid(operation, 'recall.sessions', 'must be given')
  return across
}
