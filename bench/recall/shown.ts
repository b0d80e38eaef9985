/**
 * What a model is shown by `context({ recall })`: of an answer's words that stand in its evidence
 * and not in the question, the share that the tail holds; beside whole messages by BM25, filled to
 * the same tokens, and an oracle, which takes all evidence first.
 */
import { loadO200k } from '../../src/counters/o200k.ts'
import { type Context, createMemory, facts, type MessageInput, mapStore, recall } from '../../src/index.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { randomFrom } from '../history.ts'
import { mean, quantile, round } from '../stats.ts'
import type { Locomo, Question, Turn } from './locomo.ts'
import { placeOf } from './locomo.ts'
import type { Rankings } from './score.ts'
import { wordsOf } from './words.ts'

/** Shares in percent, by tokens. */
export interface Shown {
  readonly system: string
  readonly tokens: number
  readonly questions: number
  readonly share: number
  /** 95 of 100 draws of the conversations, with repetition, lie between. */
  readonly interval: readonly [number, number]
}

export const SYSTEMS = ['plimsoll', 'bm25, whole messages', 'oracle'] as const
const BUDGETS = [700, 2_000]
const DEPTH = 200
const AT_ONCE = 50
const DRAWS = 1_000
const LEAST_ROOM = 8
const WORD = /[\p{L}\p{N}]+(?:[.:'’_/-][\p{L}\p{N}]+)*/gu
const STOP_WORDS = new Set(
  `a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
  will with i you he she we what when where who how did do does has have had which whose why my your his her our me him them
  from about two one three yes`.split(/\s+/),
)

interface Row {
  readonly conversation: string
  readonly system: string
  readonly tokens: number
  readonly share: number
}

export async function measureShown(
  data: Locomo,
  progress: (line: string) => void,
): Promise<{ shown: Shown[]; rankings: Rankings }> {
  const counter = await loadO200k()
  const rows: Row[] = []
  const rankings = new Map<string, readonly string[]>()
  for (const [conversation, turns] of Map.groupBy(data.turns, (turn) => turn.conversation)) {
    progress(`shown: ${conversation}`)
    const store = mapStore()
    // A window this small shows little by itself.
    const window = { max: { tokens: 600 }, keep: { tokens: 300 } }
    const open = (tokens: number) =>
      createMemory({
        store,
        counter,
        budget: 24_000,
        window,
        use: [facts(), recall({ stemmer: englishStemmer, tokens })],
      }).session({ userId: 'ada', sessionId: conversation })
    const writer = open(0)
    for (let at = 0; at < turns.length; at += AT_ONCE)
      await writer.append(turns.slice(at, at + AT_ONCE).map(messageOf))
    const textOf = ({ speaker, text }: Turn) => `${speaker}: ${text}`
    const sizes = turns.map((turn) => counter.count(`${textOf(turn)}\n`))
    const rank = bm25(turns.map(textOf))
    const filled = (order: readonly number[], tokens: number): string => {
      let room = tokens
      const texts: string[] = []
      for (const at of order) {
        if ((sizes[at] as number) > room) continue
        room -= sizes[at] as number
        texts.push(textOf(turns[at] as Turn))
        if (room < LEAST_ROOM) break
      }
      return texts.join('\n')
    }
    const questions = data.questions.filter((question) => question.conversation === conversation)
    const readers = BUDGETS.map((tokens) => [tokens, open(tokens)] as const)
    for (const question of questions) {
      const found = await writer.recall.find(question.question, { first: DEPTH })
      rankings.set(
        question.id,
        found.map(({ id }) => placeOf(conversation, id)),
      )
      const evidence = turns.flatMap((turn, at) => (question.evidence.includes(turn.dia_id) ? at : []))
      const wanted = wantedOf(question, evidence.map((at) => turns[at]?.text).join('\n'))
      if (wanted.length === 0) continue
      const order = rank(question.question)
      for (const [tokens, session] of readers) {
        const context = await session.context({ recall: question.question, preview: true })
        const texts = [tailOf(context), filled(order, tokens), filled([...evidence, ...order], tokens)]
        for (const [which, text] of texts.entries()) {
          const held = new Set((text.match(WORD) ?? []).map(formOf))
          const share = wanted.filter((word) => held.has(word)).length / wanted.length
          rows.push({ conversation, system: SYSTEMS[which] as string, tokens, share })
        }
      }
    }
  }
  const shown = SYSTEMS.flatMap((system) =>
    BUDGETS.map((tokens): Shown => {
      const some = rows.filter((row) => row.system === system && row.tokens === tokens)
      const share = percent(some)
      return { system, tokens, questions: some.length, share, interval: intervalOf(some) }
    }),
  )
  return { shown, rankings }
}

const percent = (rows: readonly Row[]): number => round(100 * mean(rows.map(({ share }) => share)), 3)

function intervalOf(rows: readonly Row[]): readonly [number, number] {
  const random = randomFrom(5)
  const groups = [...Map.groupBy(rows, ({ conversation }) => conversation).values()]
  const draws = Array.from({ length: DRAWS }, () =>
    percent(groups.flatMap(() => groups[Math.floor(random() * groups.length)] ?? [])),
  )
  return [quantile(draws, 0.025), quantile(draws, 0.975)]
}

function messageOf({ dia_id: id, speaker, text, date }: Turn): MessageInput {
  return {
    id,
    role: speaker === 'Assistant' ? 'assistant' : 'user',
    ...(speaker !== 'Assistant' && speaker !== 'User' && { name: speaker }),
    content: text,
    createdAt: Date.parse(`${date}Z`),
  }
}

const tailOf = ({ blocks }: Context): string =>
  blocks
    .filter(({ section }) => section === 'tail')
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('\n')

const formOf = (word: string): string => englishStemmer.stem(word.toLowerCase())

/** Words of the answer that stand in the evidence and not in the question. */
function wantedOf({ question, answer }: Question, evidence: string): string[] {
  if (answer === undefined || answer === null) return []
  const [asked, held] = [question, evidence].map((text) => new Set((text.match(WORD) ?? []).map(formOf)))
  const words = (String(answer).match(WORD) ?? []).filter(
    (word) => word.length > 1 && !STOP_WORDS.has(word.toLowerCase()),
  )
  return [...new Set(words.map(formOf))].filter((word) => !asked?.has(word) && held?.has(word))
}

/** Places of texts by BM25 (k1 1.2, b 0.75), best first. */
function bm25(texts: readonly string[]): (query: string) => number[] {
  const termsOf = (text: string) =>
    wordsOf(text)
      .filter((word) => !STOP_WORDS.has(word))
      .map((word) => englishStemmer.stem(word))
  const counts = texts.map((text) => {
    const found = new Map<string, number>()
    for (const term of termsOf(text)) found.set(term, (found.get(term) ?? 0) + 1)
    return found
  })
  const lengths = counts.map((found) => [...found.values()].reduce((sum, count) => sum + count, 0))
  const usual = mean(lengths)
  const holding = new Map<string, number>()
  for (const found of counts) for (const term of found.keys()) holding.set(term, (holding.get(term) ?? 0) + 1)
  return (query) => {
    const terms = [...new Set(termsOf(query))]
    const scores = counts.map((found, at) => {
      let score = 0
      for (const term of terms) {
        const count = found.get(term) ?? 0
        const rarity = Math.log(
          1 + (texts.length - (holding.get(term) ?? 0) + 0.5) / ((holding.get(term) ?? 0) + 0.5),
        )
        score += (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * (lengths[at] as number)) / usual))
      }
      return score
    })
    return [...scores.keys()]
      .filter((at) => (scores[at] as number) > 0)
      .sort((one, other) => (scores[other] as number) - (scores[one] as number) || one - other)
  }
}
