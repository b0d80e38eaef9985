import type { RecallFact } from '../../src/features/recall/rank.ts'
import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { engines, OURS, recallIndex, search } from './engines.ts'
import { documentOf, type Locomo, placeOf } from './locomo.ts'
import { type Rankings, type Score, score } from './score.ts'

/** How much is searched for each question. */
export type Scope = 'its conversation' | 'one index of all' | 'all indexes'

export interface Quality {
  readonly system: string
  readonly scope: Scope
  /** By category, and over the categories 1 to 4 as `all`. */
  readonly scores: Readonly<Record<string, Score>>
}

export const WITH_FACTS = `${OURS}, facts`

const DEPTH = 200

type Search = (query: string) => readonly string[]

/** All systems over all questions, and the rankings of ours in each conversation. */
export function measureQuality(
  locomo: Locomo,
  progress: (line: string) => void,
): { quality: Quality[]; rankings: Rankings } {
  const documents = locomo.turns.map(documentOf)
  const conversations = [...new Set(locomo.turns.map(({ conversation }) => conversation))]
  const documentsOf = (name: string) =>
    documents.filter((_, index) => locomo.turns[index]?.conversation === name)
  const quality: Quality[] = []
  const measure = (system: string, scope: Scope, searchOf: (conversation: string) => Search): Rankings => {
    progress(`quality: ${system}, ${scope}`)
    const rankings = rankAll(locomo, searchOf)
    quality.push({ system, scope, scores: score(locomo, rankings) })
    return rankings
  }
  const each = (searchOf: (documents: readonly RecallDocument[], name: string) => Search) => {
    const made = new Map(conversations.map((name) => [name, searchOf(documentsOf(name), name)]))
    return (name: string) => made.get(name) as Search
  }
  let rankings: Rankings = new Map()
  for (const engine of engines) {
    const over = (documents: readonly RecallDocument[]): Search => {
      const index = engine.index(documents)
      return (query) => index.search(query, DEPTH)
    }
    const found = measure(engine.name, 'its conversation', each(over))
    if (engine.name === OURS) rankings = found
    const pooled = over(documents)
    measure(engine.name, 'one index of all', () => pooled)
  }
  const indexes = conversations.map((name) => recallIndex(documentsOf(name)))
  measure(OURS, 'all indexes', () => (query) => search(indexes, query, DEPTH))
  const facts = factsOf(locomo)
  const withFacts = (documents: readonly RecallDocument[], name: string): Search => {
    const index = recallIndex(documents)
    return (query) => search([index], query, DEPTH, facts.get(name))
  }
  measure(WITH_FACTS, 'its conversation', each(withFacts))
  return { quality, rankings }
}

function rankAll({ questions }: Locomo, searchOf: (conversation: string) => Search): Rankings {
  return new Map(questions.map(({ id, conversation, question }) => [id, searchOf(conversation)(question)]))
}

/** By conversation. */
function factsOf({ facts }: Locomo): Map<string, RecallFact[]> {
  const found = new Map<string, RecallFact[]>()
  for (const [index, { conversation, fact, source_dia_ids: sources }] of facts.entries()) {
    const places = sources.map((source) => placeOf(conversation, source))
    const made: RecallFact = { id: `fact-${index}`, text: fact, sources: places }
    found.set(conversation, [...(found.get(conversation) ?? []), made])
  }
  return found
}
