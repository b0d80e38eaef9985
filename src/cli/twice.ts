import { isPlimsollError } from '../ports/errors.ts'
import { lintPrefix } from '../render/diff.ts'
import { type ReplayHost, remember } from '../replay/plimsoll.ts'
import { type Choice, type Chooser, isRefusal, type Refusal, type Settings } from '../replay/policy.ts'
import { tailText } from '../replay/tail.ts'
import type { Conversation, Provider } from '../replay/transcript.ts'
import { turnsOf } from '../replay/turns.ts'
import type { TwiceOptions } from './arguments.ts'
import { loadCounter } from './counters.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'
import { type Finding, problemText } from './lint.ts'
import { startProgress } from './progress.ts'
import { Malformed, recordingsIn } from './recordings.ts'

/** Contract: builds contexts on that host; a cold one reopens its session before each call. */
export type Build = (
  conversation: Conversation,
  settings: Settings,
  host: ReplayHost,
  cold: boolean,
) => Chooser

/**
 * Builds every context twice from the same messages: under another clock and another `newId`, once
 * by a session that saw all calls before, once by a new one for each call. Prints what differs.
 * Resolves to the exit status: 1 if anything does, or a line could not be read.
 */
export async function twiceCommand(options: TwiceOptions, io: Io, build: Build = remember): Promise<number> {
  const progress = startProgress(io, await readable(options.files, io))
  const counter = await loadCounter(options.counter, (message) => io.err(`plimsoll: ${message}\n`))
  const settings = { ...options, counter }
  let built = 0
  let refused = 0
  let problems = 0
  const malformed = new Malformed(io, progress)
  for await (const recording of recordingsIn(options.files, io, malformed.skip)) {
    const { file, line, offset, conversation } = recording
    const provider = options.provider ?? conversation.format
    try {
      for await (const { call, warm, cold } of bothOf(conversation, settings, build)) {
        progress.show(offset, `${conversation.id} #${call}`)
        const refusals = [warm, cold].filter(isRefusal).length
        if (refusals === 0) built++
        if (refusals === 2) refused++
        for (const problem of compare(warm, cold, provider)) {
          problems++
          progress.clear()
          io.out(problemText(`${file}:${line} ${conversation.id}#${call}`, problem))
        }
      }
    } catch (error) {
      if (!isPlimsollError(error)) throw error
      malformed.skip(recording, error)
    }
  }
  progress.clear()
  io.out(`${built} contexts built twice, ${refused} calls refused twice, ${problems} problems\n`)
  return problems + malformed.count > 0 ? 1 : 0
}

interface Both {
  readonly call: number
  readonly warm: Choice | Refusal
  readonly cold: Choice | Refusal
}

async function* bothOf(
  conversation: Conversation,
  settings: Settings & { readonly tail: number },
  build: Build,
): AsyncGenerator<Both> {
  const warmed = build(conversation, settings, hostOf('warm', 1), false)
  const cooled = build(conversation, settings, hostOf('cold', 1_000_000_000_000), true)
  for (const { message, index, call } of turnsOf(conversation)) {
    if (call !== undefined) {
      const tail = tailText(settings.counter, settings.tail, call)
      yield { call, warm: await warmed.choose(tail), cold: await cooled.choose(tail) }
    }
    const named = { ...message, id: `m${index + 1}`, createdAt: index }
    await warmed.append(named)
    await cooled.append(named)
  }
}

/** A clock that runs from `start` on, and ids that begin with `name`. */
function hostOf(name: string, start: number): ReplayHost {
  let ticks = start
  let ids = 0
  return { now: () => ticks++, newId: () => `${name}${++ids}` }
}

function compare(warm: Choice | Refusal, cold: Choice | Refusal, provider: Provider): readonly Finding[] {
  if (isRefusal(warm) || isRefusal(cold)) return differ('refusal', 'context', fateOf(warm), fateOf(cold))
  const problems = lintPrefix(warm.context, cold.context, provider)
  if (problems.length > 0) return problems
  return [
    ...differ('hash', 'hash', warm.context.hash, cold.context.hash),
    ...differ('count', 'receipt.used', `${warm.tokens} tokens`, `${cold.tokens} tokens`),
  ]
}

function fateOf(outcome: Choice | Refusal): string {
  return isRefusal(outcome) ? `a refusal with floor ${outcome.floor} (${outcome.reason})` : 'a context'
}

function differ(what: string, path: string, warm: string, cold: string): readonly Finding[] {
  if (warm === cold) return []
  return [{ rule: `unstable-${what}`, path, message: `two builds of one context give ${warm} and ${cold}` }]
}
