/** Plays many histories over two builds, up to the first difference. */
import type { History } from './commands.ts'
import { historyOf } from './generate.ts'
import type { Result } from './play.ts'
import { shrunk } from './shrink.ts'
import type { Sides } from './sides.ts'
import { judged, type Verdict, verdictTold } from './verdict.ts'

export interface SurveyOptions extends Sides {
  readonly histories: number
  /** Of the first history; the next one has the next number. Default 1. */
  readonly seed?: number
  /** Called with each history that was played. */
  readonly onPlayed?: (history: History, verdict: Verdict, result: Result) => void
}

/**
 * @returns the history in which the builds part, shrunk, as a text; undefined: they are the same in
 *   all that the frozen build is lawful in
 */
export async function survey({
  frozen,
  built,
  histories,
  seed = 1,
  onPlayed,
}: SurveyOptions): Promise<string | undefined> {
  for (let number = seed; number < seed + histories; number++) {
    const history = historyOf(number)
    const { verdict, result } = await judged(history, frozen, built)
    onPlayed?.(history, verdict, result)
    if (verdict.status === 'different') return toldOf(history, verdict, { frozen, built })
  }
  return undefined
}

async function toldOf(history: History, first: Verdict, { frozen, built }: Sides): Promise<string> {
  const differs = async (one: History): Promise<boolean> =>
    (await judged(one, frozen, built)).verdict.status === 'different'
  const least = await shrunk(history, differs)
  const { verdict } = await judged(least, frozen, built)
  // What depends on time may be gone.
  const lines = verdictTold(verdict.status === 'different' ? verdict : first)
  const { length } = least.commands
  return `seed ${history.seed}, shrunk to ${length} commands:\n${JSON.stringify(least)}\n${lines}`
}
