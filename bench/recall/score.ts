import { mean } from '../stats.ts'
import { type Locomo, placeOf, type Question, type Turn } from './locomo.ts'

/** How well rankings find the turns that hold an answer: means over questions, in percent. */
export interface Score {
  readonly questions: number
  /** Share of a question's evidence within so many tokens. */
  readonly b700: number
  readonly b2000: number
  /** Share of a question's evidence among the first ten. */
  readonly r10: number
  /** One over the rank of the first evidence; 0 where none was found. */
  readonly mrr: number
}

/** Places of turns (see `placeOf`), best first, by question id. */
export type Rankings = ReadonlyMap<string, readonly string[]>

/** The header with the date before the first turn of each session. */
const HEADER_TOKENS = 12
const MOST_SKIPPED = 30
const LEAST_ROOM = 8
const ADVERSARIAL = 5

/** By category, and over the categories 1 to 4 as `all`. */
export function score({ turns, questions }: Locomo, rankings: Rankings): Record<string, Score> {
  const turnAt = new Map(turns.map((turn) => [placeOf(turn.conversation, turn.dia_id), turn]))
  const rows = questions.map((question) => {
    const ranking = [...new Set(rankings.get(question.id))].map((place) => {
      const turn = turnAt.get(place)
      if (!turn) throw new Error(`score: ${question.id} ranks ${place}, which is no turn`)
      return turn
    })
    return { question, score: scoreOne(question, ranking) }
  })
  const of = (holds: (question: Question) => boolean) =>
    average(rows.flatMap((row) => (holds(row.question) ? row.score : [])))
  const names = new Map(questions.map(({ category, category_name: name }) => [category, name]))
  const categories = [...names].sort(([one], [other]) => one - other)
  return {
    all: of(({ category }) => category !== ADVERSARIAL),
    ...Object.fromEntries(
      categories.map(([number, name]) => [name, of(({ category }) => category === number)]),
    ),
  }
}

type Shares = Omit<Score, 'questions'>

function scoreOne({ conversation, evidence }: Question, ranking: readonly Turn[]): Shares {
  const wanted = new Set(evidence)
  const holds = (turn: Turn) => turn.conversation === conversation && wanted.has(turn.dia_id)
  const share = (turns: readonly Turn[]) => turns.filter(holds).length / wanted.size
  const first = ranking.findIndex(holds)
  return {
    b700: share(within(ranking, 700)),
    b2000: share(within(ranking, 2_000)),
    r10: share(ranking.slice(0, 10)),
    mrr: first < 0 ? 0 : 1 / (first + 1),
  }
}

/**
 * What is shown within a budget: a turn that does not fit is skipped, until there is no use in
 * going on.
 */
function within(ranking: readonly Turn[], budget: number): Turn[] {
  const shown: Turn[] = []
  const sessions = new Set<string>()
  let room = budget
  let skipped = 0
  for (const turn of ranking) {
    const session = placeOf(turn.conversation, `${turn.session}`)
    const cost = turn.tokens + (sessions.has(session) ? 0 : HEADER_TOKENS)
    if (cost > room) {
      if (++skipped > MOST_SKIPPED) break
      continue
    }
    room -= cost
    sessions.add(session)
    shown.push(turn)
    if (room < LEAST_ROOM) break
  }
  return shown
}

function average(shares: readonly Shares[]): Score {
  const percent = (of: (share: Shares) => number) => Number((100 * mean(shares.map(of))).toFixed(1))
  return {
    questions: shares.length,
    b700: percent(({ b700 }) => b700),
    b2000: percent(({ b2000 }) => b2000),
    r10: percent(({ r10 }) => r10),
    mrr: percent(({ mrr }) => mrr),
  }
}
