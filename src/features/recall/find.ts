import { messageIn } from '../../kernel/log/bodies.ts'
import type { SearchedSessions } from '../../ports/context.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Message } from '../../ports/message.ts'
import type { Recalled, RecallOptions } from '../../ports/recall.ts'
import type { LogRow } from '../../ports/store.ts'
import { checkCount, checkOptions, checkText, invalid } from '../../text/json.ts'
import type { Recall } from './lexical-recall.ts'
import type { Corpus, OtherSessions } from './others.ts'
import type { Ranked } from './rank.ts'
import { readUpTo } from './read-up-to.ts'
import { recallText } from './recall-text.ts'
import { countWords, searchWords } from './search-words.ts'
import type { SessionIndex } from './session-index.ts'
import type { SessionVectors } from './session-vectors.ts'
import type { Near, NearSession, VectorSearch } from './vector-search.ts'

const FIRST = 10
const MOST = 200

/** Results that are read at once. */
export const AT_ONCE = 16

const NONE: ReadonlySet<string> = new Set()

/** A session, as recall opens it. */
export interface RecallSession {
  readonly sessionId: string
  readonly index: Pick<SessionIndex, 'read'>
  /** As {@link UserWords.messages}, of what its index shows. */
  readonly messages: (ids: readonly string[]) => Promise<readonly (LogRow | undefined)[]>
  /** Where there is an embedder. */
  readonly vectors?: SessionVectors
}

/** Where to look. */
export interface RecallSources {
  readonly recall: Recall
  readonly vectorSearch?: VectorSearch
  readonly sessions: () => Promise<{
    readonly opened: readonly RecallSession[]
    /** Of those that were asked for, how many are not among these. */
    readonly left: number
  }>
  readonly facts: () => Promise<readonly Fact[]>
  /** Ids of messages and facts that are left out: they show already. */
  readonly skip?: ReadonlySet<string>
  /** Told of the facts among these that the query would have found. */
  readonly onSkipped?: (fact: Fact) => void
  /** After how many messages no further session is looked through. Default: all are. */
  readonly messages?: number
  /** Sessions that live elsewhere, to be ranked with the first of these, which asks. */
  readonly elsewhere?: Elsewhere
}

/** A session's others. */
export interface Elsewhere extends Pick<OtherSessions, 'messages'> {
  readonly asked: 'all' | readonly string[]
  /** The session that asks. */
  readonly by: string
  readonly rank: OtherSessions['rank']
  /** Told where they could not be asked: what else was found shows. */
  readonly onFailure: (error: unknown) => void
}

/** Something that was found, as it is read. */
export interface Found extends Recalled {
  /** Of a message's text or a fact's, what each passage scores, in their order. */
  readonly passages: readonly number[]
  /** Whether it is a message of another session than the one that is searched first. */
  readonly isOther: boolean
}

/** What a query finds, before any of it is read. */
export interface Finding {
  /** Best first. */
  readonly ranked: readonly Ranked[]
  /** Why it was found by words alone, or by some vectors only. */
  readonly failure?: Near['failure']
  /** What was searched beside the first session; undefined: it could not be asked for. */
  readonly others: SearchedSessions | undefined
  /** Reads some of these; undefined, where one is gone or has no words. */
  read(some: readonly Ranked[]): Promise<readonly (Found | undefined)[]>
}

/**
 * What a query finds, best first, as {@link search} ranks it.
 *
 * @throws ERR_INVALID_ARGUMENT: the query is no text
 */
export async function find(
  sources: RecallSources,
  query: string,
  options: RecallOptions,
): Promise<readonly Recalled[]> {
  const first = firstOf(options)
  const { ranked, read } = await search(sources, query, 2 * first)
  const items: Recalled[] = []
  for (let at = 0; at < ranked.length && items.length < first; at += AT_ONCE)
    for (const found of await read(ranked.slice(at, at + AT_ONCE)))
      if (found && items.length < first) {
        const { passages, isOther, ...item } = found
        items.push(item)
      }
  return items
}

/** How many results are asked for. @throws ERR_INVALID_ARGUMENT */
export function firstOf(options: RecallOptions, byDefault = FIRST): number {
  checkOptions('recall', 'options', options, ['first'])
  const { first = byDefault } = options
  if (checkCount('recall', 'first', first) < 1 || first > MOST)
    throw invalid('recall', 'first', `must be 1 to ${MOST}`)
  return first
}

/**
 * Ranks messages, by their passages alone and among their neighbours, and facts, which speak for
 * the messages that they were taken from; with an embedder, beside what is nearest by vectors.
 *
 * @param most results, beside those that are skipped
 * @throws ERR_INVALID_ARGUMENT: the query is no text
 */
export async function search(
  {
    recall,
    vectorSearch,
    sessions,
    facts,
    skip = NONE,
    onSkipped,
    messages = Number.POSITIVE_INFINITY,
    elsewhere,
  }: RecallSources,
  query: string,
  most: number,
): Promise<Finding> {
  checkText('recall', 'query', query)
  const [{ opened, left }, known] = await Promise.all([sessions(), facts()])
  const searched = await readUpTo(opened, messages, ({ index }) => index.read())
  const byId = new Map(known.map((fact) => [fact.id, fact]))
  const limit = (vectorSearch ? MOST : most) + skip.size
  const far =
    elsewhere && (await askOthers(elsewhere, query, countWords(recall, searched, known, query), limit))
  const here = searchWords(recall, searched, known, query, limit, far?.corpus)
  const read = searched.map(({ asOf }, index): Home => ({ ...(opened[index] as RecallSession), asOf }))
  const homes = [...read, ...(far?.homes ?? [])]
  // Of two with the same score the one here comes first.
  const byWords = far
    ? [...here, ...far.placedFrom(read.length)].sort((one, other) => other.score - one.score).slice(0, limit)
    : here
  const near = await vectorSearch?.near(
    query,
    searched.map((one, index) => ({ ...one, ...(one.asOf === undefined && vectorsOf(opened[index])) })),
    known,
    byWords,
    skip.size,
  )
  const found = near?.ranked ?? byWords
  // Of one that holds nothing nobody here knows: it may be on its way, or there is none.
  const full = searched.slice(1).filter(({ seq, asOf }) => seq > 0 || asOf !== undefined).length
  // Ids of messages are those of one session: what shows is of the first.
  const isSkipped = ({ index, id }: Ranked): boolean => index < 1 && skip.has(id)
  for (const one of found) {
    const fact = isSkipped(one) && byId.get(one.id)
    if (fact) onSkipped?.(fact)
  }
  return {
    ranked: found.filter((one) => !isSkipped(one)),
    read: (some) => readSome(some, homes, byId),
    others: elsewhere ? far?.others : { searched: full, missing: left + opened.length - 1 - full },
    ...(near?.failure && { failure: near.failure }),
  }
}

/** Where messages of one session are read. */
interface Home extends Pick<RecallSession, 'sessionId' | 'messages'> {
  readonly asOf: number | undefined
}

/** What other sessions have, or none of them, where they could not be asked. */
async function askOthers(
  { asked, by, rank, messages, onFailure }: Elsewhere,
  query: string,
  corpus: Corpus,
  most: number,
) {
  const answered = await rank({ query, sessions: asked, by, corpus, most }).catch(
    (error) => void onFailure(error),
  )
  if (!answered) return undefined
  const homes = new Map<string, Home & { readonly place: number }>()
  for (const { sessionId, asOf } of answered.found)
    if (!homes.has(sessionId))
      homes.set(sessionId, {
        sessionId,
        asOf,
        place: homes.size,
        // What cannot be read there is not there, and the rest shows.
        messages: async (ids) =>
          (await messages(sessionId, ids).catch((error) => void onFailure(error))) ?? [],
      })
  return {
    ...answered,
    homes: [...homes.values()],
    placedFrom: (first: number): readonly Ranked[] =>
      answered.found.map(({ sessionId, id, score, passages }) => {
        const place = homes.get(sessionId)?.place ?? 0
        return { index: first + place, id, score, passages }
      }),
  }
}

/** Reads some results: of each session at once. */
async function readSome(
  some: readonly Ranked[],
  homes: readonly Home[],
  facts: ReadonlyMap<string, Fact>,
): Promise<readonly (Found | undefined)[]> {
  const found = new Map<Ranked, Found | undefined>()
  await Promise.all(
    homes.map(async (home, index) => {
      const those = some.filter((one) => one.index === index)
      if (those.length === 0) return
      const rows = await home.messages(those.map(({ id }) => id))
      those.forEach((one, at) => {
        const row = rows[at]
        found.set(one, row && fromMessage(one, row, home))
      })
    }),
  )
  return some.map((one) => (one.index < 0 ? fromFact(one, facts) : found.get(one)))
}

function vectorsOf(session: RecallSession | undefined): Pick<NearSession, 'vectors'> {
  return session?.vectors ? { vectors: session.vectors } : {}
}

function fromFact({ id, score, passages }: Ranked, facts: ReadonlyMap<string, Fact>): Found | undefined {
  const fact = facts.get(id)
  if (!fact) return undefined
  const { kind, text, trust, createdAt } = fact
  return { id, type: 'fact', kind, text, trust, createdAt, score, passages, isOther: false }
}

function fromMessage(
  { index, id, score, passages }: Ranked,
  row: LogRow,
  { sessionId, asOf }: Home,
): Found | undefined {
  const message: Message | undefined = messageIn(row)
  if (!message) return undefined
  const text = recallText(message)
  // Of a call without arguments, for example, there is nothing to show.
  if (text.trim() === '') return undefined
  const { role, name, trust, createdAt } = message
  return {
    id,
    type: 'message',
    role,
    ...(name !== undefined && { name }),
    text,
    trust,
    createdAt,
    sessionId,
    ordinal: row.ordinal,
    score,
    passages,
    isOther: index > 0,
    ...(asOf !== undefined && { asOf }),
  }
}
