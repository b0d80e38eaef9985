import { isPlimsollError } from '../ports/errors.ts'
import { type Choice, isRefusal } from '../replay/policy.ts'
import type { Provider } from '../replay/transcript.ts'
import type { BuildOptions } from './arguments.ts'
import { choicesAt } from './calls.ts'
import { loadCounter } from './counters.ts'
import type { Io } from './io.ts'
import { findRecording, reportLine } from './recordings.ts'
import { refusalText } from './report.ts'

/** Calls of one recorded conversation. */
export interface CallsOptions extends BuildOptions {
  readonly file: string
  readonly conversation?: string
  readonly json: boolean
}

export interface Built<Calls extends readonly number[]> {
  readonly conversation: string
  readonly provider: Provider
  /** Id of the counter that was used. */
  readonly counter: string
  readonly choices: { readonly [Place in keyof Calls]: Choice }
  /** Whether a line of the file could not be read. */
  readonly malformed: boolean
}

/**
 * What Plimsoll gives these calls, which grow; `undefined` where it refuses one, which is printed,
 * or where the memory does not take a message, which is reported by line. Throws {@link UsageError}
 * for a conversation or a call that is not there.
 */
export async function buildCalls<const Calls extends readonly number[]>(
  options: CallsOptions,
  calls: Calls,
  io: Io,
): Promise<Built<Calls> | undefined> {
  const recording = await findRecording(options, io)
  const { conversation: recorded, malformed } = recording
  const counter = await loadCounter(options.counter, (message) => io.err(`plimsoll: ${message}\n`))
  const { id: conversation } = recorded
  try {
    const choices = await choicesAt(recorded, { ...options, counter }, calls)
    const refusals = choices.flatMap((choice, place) =>
      isRefusal(choice)
        ? [{ conversation, call: calls[place] as number, reason: choice.reason, floor: choice.floor ?? null }]
        : [],
    )
    if (refusals.length > 0) {
      const lines = refusals.map((refusal) => `refused: ${refusalText(refusal, options.budget)}\n`)
      io.out(options.json ? `${JSON.stringify({ refusals })}\n` : lines.join(''))
      return undefined
    }
    return {
      conversation,
      provider: options.provider ?? recorded.format,
      counter: counter.id,
      choices: choices as { readonly [Place in keyof Calls]: Choice },
      malformed: malformed > 0,
    }
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    reportLine(io)(recording, error)
    return undefined
  }
}
