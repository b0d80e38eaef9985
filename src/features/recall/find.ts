import { messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { checkCount, checkOptions, checkText, invalid } from '../../kernel/text/json.ts'
import { headOf } from '../../kernel/text/text.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Message } from '../../ports/message.ts'
import type { Recalled, RecallOptions } from '../../ports/recall.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { type Recall, recallText } from './lexical-recall.ts'
import type { Ranked } from './rank.ts'
import type { SessionIndex } from './session-index.ts'

const FIRST = 10
const MOST = 200
/** Results by words that vectors order again. */
const EMBEDDED = 64
/** How much vectors count beside words, of 1. */
const VECTOR_WEIGHT = 0.3
/** UTF-16 units of a text that vectors are asked for. */
const EMBEDDED_TEXT = 2_000

/** Sessions that are read at once. */
const AT_ONCE = 8

const NONE: ReadonlySet<string> = new Set()

/** A session, as recall opens it. */
export interface RecallSession {
  readonly sessionId: string
  readonly store: ScopeStore
  readonly index: SessionIndex
}

/** Where to look. */
export interface RecallSources {
  readonly recall: Recall
  readonly sessions: () => Promise<readonly RecallSession[]>
  readonly facts: () => Promise<readonly Fact[]>
  /** Ids of messages and facts that are left out: they show already. */
  readonly skip?: ReadonlySet<string>
  /** Told of the facts among these that the query would have found. */
  readonly onSkipped?: (fact: Fact) => void
  /** After how many messages no further session is read. Default: all are. */
  readonly messages?: number
}

/**
 * What a query finds, best first: messages, each judged alone and among its neighbours, and facts,
 * which speak for the messages that they were taken from.
 *
 * @throws ERR_INVALID_ARGUMENT: the query is no text
 */
export async function find(
  { recall, sessions, facts, skip = NONE, onSkipped, messages = Number.POSITIVE_INFINITY }: RecallSources,
  query: string,
  options: RecallOptions,
): Promise<readonly Recalled[]> {
  checkOptions('recall', 'options', options, ['first'])
  const { first = FIRST } = options
  checkText('recall', 'query', query)
  if (checkCount('recall', 'first', first) < 1 || first > MOST)
    throw invalid('recall', 'first', `must be 1 to ${MOST}`)
  const [opened, known] = await Promise.all([sessions(), facts()])
  const searched: Awaited<ReturnType<SessionIndex['read']>>[] = []
  let size = 0
  // At the edge each of them is another object, and all of them are in the memory of one.
  for (let at = 0; at < opened.length && size < messages; at += AT_ONCE) {
    const some = opened.slice(at, at + AT_ONCE).map(({ index }) => index.read())
    for (const one of await Promise.all(some)) {
      searched.push(one)
      size += one.index.size
    }
  }
  const most = (recall.embed ? Math.max(first, EMBEDDED) : first * 2) + skip.size
  const found = recall.search(searched, known, query, most)
  const byId = new Map(known.map((fact) => [fact.id, fact]))
  const items: Recalled[] = []
  for (const one of found) {
    if (skip.has(one.id)) {
      const fact = byId.get(one.id)
      if (fact) onSkipped?.(fact)
      continue
    }
    if (items.length === (recall.embed ? EMBEDDED : first)) break
    const item = one.index < 0 ? fromFact(one, byId) : await fromMessage(one, opened[one.index])
    if (item) items.push(item)
  }
  return (recall.embed ? await ordered(items, query, recall.embed) : items).slice(0, first)
}

function fromFact({ id, score }: Ranked, facts: ReadonlyMap<string, Fact>): Recalled | undefined {
  const fact = facts.get(id)
  if (!fact) return undefined
  const { kind, text, trust, createdAt } = fact
  return { id, type: 'fact', kind, text, trust, createdAt, score }
}

async function fromMessage(
  { id, score }: Ranked,
  session: RecallSession | undefined,
): Promise<Recalled | undefined> {
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
  }
}

/** Orders results again, by words and vectors together. */
async function ordered(
  items: readonly Recalled[],
  query: string,
  embed: NonNullable<Recall['embed']>,
): Promise<readonly Recalled[]> {
  const best = items[0]?.score ?? 0
  if (best <= 0) return items
  const [asked = [], ...vectors] = await embed([
    query,
    ...items.map(({ text }) => headOf(text, EMBEDDED_TEXT)),
  ])
  const score = (item: Recalled, index: number): number =>
    (1 - VECTOR_WEIGHT) * (item.score / best) + VECTOR_WEIGHT * cosine(asked, vectors[index] ?? [])
  return items
    .map((item, index) => ({ ...item, score: score(item, index) }))
    .sort((one, other) => other.score - one.score)
}

function cosine(one: readonly number[], other: readonly number[]): number {
  let product = 0
  let lengths = 0
  let others = 0
  for (const [index, value] of one.entries()) {
    const opposite = other[index] ?? 0
    product += value * opposite
    lengths += value * value
    others += opposite * opposite
  }
  return lengths > 0 && others > 0 ? product / Math.sqrt(lengths * others) : 0
}
