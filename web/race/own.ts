/** A file that somebody drops on the race: read and played in this page. */
import { defaultCounter } from '../../src/counters/default.ts'
import { type LoggedConversation, openLog } from '../../src/inspector/model/log.ts'
import { textOf } from '../../src/inspector/model/opened-file.ts'
import { pageTurns, slices } from '../../src/inspector/model/slices.ts'
import { type Bills, billsOf } from '../../src/replay/bills.ts'

const BUDGET = 16_000
const LEAST_BUDGET = 1_000
/** "Everything" builds all of it for each call. */
const MOST_MESSAGES = 1_000

export interface OwnRace {
  readonly bills: Bills
  readonly messages: number
  /** How many of them were played. */
  readonly played: number
}

/**
 * Plays the longest conversation of a file, in slices of time. Where it never reaches the line, the
 * line is lowered to a third of it.
 *
 * @returns nothing where no call of a model is in it
 * @throws the reason of `signal`, which ends it
 */
export async function playFile(file: File, signal: AbortSignal): Promise<OwnRace | undefined> {
  const pause = slices(pageTurns, signal)
  const { conversations } = await openLog(file.name, textOf(file, pause), pause)
  const longest = conversations.reduce<LoggedConversation | undefined>(
    (most, one) => (lengthOf(most) >= lengthOf(one) ? most : one),
    undefined,
  )
  if (!longest) return undefined
  const { messages } = longest.conversation
  const conversation = { ...longest.conversation, messages: messages.slice(0, MOST_MESSAGES) }
  const play = (budget: number): Promise<Bills> =>
    billsOf(conversation, { budget, counter: defaultCounter, pause })
  let bills = await play(BUDGET)
  const most = Math.max(0, ...bills.calls.full.map(({ tokens }) => tokens))
  if (most === 0) return undefined
  if (most <= BUDGET) bills = await play(Math.max(LEAST_BUDGET, Math.round(most / 300) * 100))
  return { bills, messages: messages.length, played: conversation.messages.length }
}

function lengthOf(logged: LoggedConversation | undefined): number {
  return logged?.conversation.messages.length ?? 0
}
