import type { Json, Message, MessageInput } from '../ports/message.ts'
import type { Outcome } from './calls.ts'
import type { AgentCall } from './events.ts'
import type { ResumeOptions } from './options.ts'
import type { RunState } from './run-state.ts'
import { errorText, toJson } from './tools.ts'
import { finalAnswer, pendingCalls, roundOf } from './transcript.ts'
import { Aborted, within } from './within.ts'

const DEFAULT_MESSAGES = 16
const INTERRUPTED = 'Error: interrupted; it is not known whether it ran.'

/**
 * Looks at the end of a conversation, and settles the calls that wait there; tells of it with
 * `resume`.
 *
 * @param said messages that are to be said next
 */
export async function resume(
  run: RunState,
  options: ResumeOptions,
  said: readonly MessageInput[],
): Promise<Message | undefined> {
  const { transcript } = run
  // Before a new round only calls that wait matter, and they are in the newest step.
  const isRound = options.messages === undefined && said.some((message) => message?.role === 'user')
  if (isRound && pendingCalls(await transcript.recent(1)).length === 0) return undefined
  const messages = await transcript.recent(options.messages ?? DEFAULT_MESSAGES)
  const answer = finalAnswer(messages)
  if (options.messages !== undefined) {
    const results = pendingCalls(messages).length
    run.past = { window: { keep: { messages: messages.length + results + said.length } }, added: 0 }
  }
  const always = said.length === 0
  run.round = roundOf(messages)
  await settle(run, options, messages, always)
  return answer
}

/** Settles the calls that these messages leave open. */
export async function settle(
  run: RunState,
  { pending: how = 'fail' }: ResumeOptions,
  messages: readonly Message[],
  always = false,
): Promise<void> {
  const pending = pendingCalls(messages)
  if (pending.length === 0 && !always) return
  const settled = pending.length === 0 ? 'none' : typeof how === 'function' ? 'given' : how
  const answered = finalAnswer(messages) !== undefined
  run.emit({ type: 'resume', messages: messages.length, pending, settled, answered })
  if (pending.length === 0) return
  const { runCalls, settleCalls } = await run.calls()
  if (how === 'run') await runCalls(run, 0, pending)
  else await settleCalls(run, 0, pending, (call) => outcomeOf(run, how, call))
}

async function outcomeOf(
  run: RunState,
  how: 'fail' | ((call: AgentCall) => Json | Promise<Json>),
  call: AgentCall,
): Promise<Outcome> {
  if (how === 'fail') return { status: 'interrupted', output: INTERRUPTED }
  try {
    const limit = { ms: run.timeouts.tool, subject: `settling the call of ${call.name}` }
    return { status: 'given', output: toJson(await within(run, limit, () => how(call))) }
  } catch (error) {
    if (error instanceof Aborted) throw error
    return { status: 'failed', output: errorText(error) }
  }
}
