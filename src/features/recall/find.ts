import { messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { checkCount, checkOptions, checkText, invalid } from '../../kernel/text/json.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Message } from '../../ports/message.ts'
import type { Recalled, RecallOptions } from '../../ports/recall.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { Recall } from './lexical-recall.ts'
import type { Ranked } from './rank.ts'
import { recallText } from './recall-text.ts'
import type { SessionIndex, SessionRead } from './session-index.ts'
import type { SessionVectors } from './session-vectors.ts'
import type { Near, NearSession, VectorSearch } from './vector-search.ts'

const FIRST = 10
const MOST = 200

/** Sessions that are read at once. */
const SESSIONS_AT_ONCE = 8
/** Results that are read at once. */
export const AT_ONCE = 16

const NONE: ReadonlySet<string> = new Set()

/** A session, as recall opens it. */
export interface RecallSession {
  readonly sessionId: string
  readonly store: ScopeStore
  readonly index: Pick<SessionIndex, 'read'>
  /** Where there is an embedder. */
  readonly vectors?: SessionVectors
}

/** Where to look. */
export interface RecallSources {
  readonly recall: Recall
  readonly vectorSearch?: VectorSearch
  readonly sessions: () => Promise<readonly RecallSession[]>
  readonly facts: () => Promise<readonly Fact[]>
  /** Ids of messages and facts that are left out: they show already. */
  readonly skip?: ReadonlySet<string>
  /** Told of the facts among these that the query would have found. */
  readonly onSkipped?: (fact: Fact) => void
  /** After how many messages no further session is read. Default: all are. */
  readonly messages?: number
}

/** Something that was found, as it is read. */
export interface Found extends Recalled {
  /** Of a message's text or a fact's, what each passage scores, in their order. */
  readonly passages: readonly number[]
}

/** What a query finds, before any of it is read. */
export interface Finding {
  /** Best first. */
  readonly ranked: readonly Ranked[]
  /** Why it was found by words alone, or by some vectors only. */
  readonly failure?: Near['failure']
  /** Reads some of these; undefined, where one is gone. */
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
        const { passages, ...item } = found
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
  }: RecallSources,
  query: string,
  most: number,
): Promise<Finding> {
  checkText('recall', 'query', query)
  const [opened, known] = await Promise.all([sessions(), facts()])
  const searched: SessionRead[] = []
  let size = 0
  // At the edge each of them is another object, and all of them are in the memory of one.
  for (let at = 0; at < opened.length && size < messages; at += SESSIONS_AT_ONCE) {
    const some = opened.slice(at, at + SESSIONS_AT_ONCE).map(({ index }) => index.read())
    for (const one of await Promise.all(some)) {
      searched.push(one)
      size += one.index.size
    }
  }
  const byId = new Map(known.map((fact) => [fact.id, fact]))
  const byWords = recall.search(searched, known, query, (vectorSearch ? MOST : most) + skip.size)
  const near = await vectorSearch?.near(
    query,
    searched.map((one, index) => ({ ...one, ...(one.asOf === undefined && vectorsOf(opened[index])) })),
    known,
    byWords,
    skip.size,
  )
  const found = near?.ranked ?? byWords
  for (const { id } of found) {
    const fact = skip.has(id) && byId.get(id)
    if (fact) onSkipped?.(fact)
  }
  const ranked = found.filter(({ id }) => !skip.has(id))
  const read: Finding['read'] = (some) =>
    Promise.all(
      some.map(async (one) => {
        if (one.index < 0) return fromFact(one, byId)
        const { asOf } = searched[one.index] ?? {}
        const found = await fromMessage(one, opened[one.index])
        return found && { ...found, ...(asOf !== undefined && { asOf }) }
      }),
    )
  return { ranked, read, ...(near?.failure && { failure: near.failure }) }
}

function vectorsOf(session: RecallSession | undefined): Pick<NearSession, 'vectors'> {
  return session?.vectors ? { vectors: session.vectors } : {}
}

function fromFact({ id, score, passages }: Ranked, facts: ReadonlyMap<string, Fact>): Found | undefined {
  const fact = facts.get(id)
  if (!fact) return undefined
  const { kind, text, trust, createdAt } = fact
  return { id, type: 'fact', kind, text, trust, createdAt, score, passages }
}

async function fromMessage(
  { id, score, passages }: Ranked,
  session: RecallSession | undefined,
): Promise<Found | undefined> {
  if (!session) return undefined
  const row = await readEntry(session.store, id)
  const message: Message | undefined = row && messageIn(row)
  if (!row || !message) return undefined
  const { role, name, trust, createdAt } = message
  return {
    id,
    type: 'message',
    role,
    ...(name !== undefined && { name }),
    text: recallText(message),
    trust,
    createdAt,
    sessionId: session.sessionId,
    ordinal: row.ordinal,
    score,
    passages,
  }
}
