import { isPlimsollError } from '../ports/errors.ts'
import type { Json, MessageInput, ToolResultPart } from '../ports/message.ts'
import { hashText } from '../text/hash.ts'
import { canonical, copyOf } from '../text/json.ts'
import type { AgentCall, CallStatus } from './events.ts'
import { goOn, type RunState, writeResult } from './run-state.ts'
import { errorText, toJson } from './tools.ts'
import { pendingCalls, type Written } from './transcript.ts'
import { Aborted, within } from './within.ts'

/**
 * How often a result is recorded again because what was recorded before does not show, having been
 * rewound.
 */
const TRIES = 8
/** Messages in which to look for that. */
const LOOK_BACK = 1

/** What became of a call, before it is recorded. */
export interface Outcome {
  readonly status: CallStatus
  readonly output: Json
}

/**
 * Runs the calls of one reply, at most `parallel` at once, and records each result as it comes.
 * When the run is aborted, what has a result is recorded and the rest stays without one. Where a
 * middleware says stop, calls that have not begun get an error.
 *
 * @throws Aborted; the first failure to record, after all calls have ended
 */
export async function runCalls(run: RunState, step: number, calls: readonly AgentCall[]): Promise<void> {
  await settleCalls(run, step, calls, (call) => outcomeOf(run, step, call))
}

/** Records an outcome for each of the calls. @throws as {@link runCalls} */
export async function settleCalls(
  run: RunState,
  step: number,
  calls: readonly AgentCall[],
  settle: (call: AgentCall) => Promise<Outcome>,
): Promise<void> {
  const { parallel = true } = run.options
  const most = parallel === true ? calls.length : Math.max(1, Number(parallel))
  /** Calls of one id differ by their order alone. */
  const recorded = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  const waiting = [...calls]
  const work = async (): Promise<void> => {
    for (let call = waiting.shift(); call && failures.length === 0; call = waiting.shift()) {
      const { callId } = call
      const before = recorded.get(callId)
      const done = settleOne(run, step, call, settle, before)
      recorded.set(callId, done)
      try {
        await done
      } catch (error) {
        failures.push(error)
        return
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, calls.length) }, work))
  // That something could not be recorded says more than that the run was aborted meanwhile.
  if (failures.length > 0) throw failures.find((error) => !(error instanceof Aborted)) ?? failures[0]
}

async function settleOne(
  run: RunState,
  step: number,
  call: AgentCall,
  settle: (call: AgentCall) => Promise<Outcome>,
  before: Promise<void> | undefined,
): Promise<void> {
  goOn(run)
  const { emit, session } = run
  const outcome = await settle(call)
  await before
  const { part, repeated } = await record(run, call, outcome)
  const { output, isError = false } = part
  // What cannot be recorded was replaced by an error.
  const status = isError && outcome.status === 'ok' ? 'failed' : outcome.status
  emit({ type: 'tool-result', step, call, status, output, isError, repeated })
  run.stop ??= await run.hooks.afterTool({
    step,
    ...(session && { session }),
    call,
    status,
    output,
    isError,
  })
}

/** Asks the middleware, checks the arguments, runs the tool. @throws Aborted, and nothing else */
async function outcomeOf(run: RunState, step: number, call: AgentCall): Promise<Outcome> {
  const { session, toolbox, timeouts, emit } = run
  const { name, callId, input } = call
  if (run.stop) return stopped(run)
  const found = toolbox.tools.get(name)
  const verdict = await run.hooks.beforeTool({ step, ...(session && { session }), call })
  run.stop ??= verdict?.stop
  if (verdict?.stop) return stopped(run)
  if (verdict?.deny !== undefined) return refused('denied', `this call was denied: ${verdict.deny}`)
  if (!found) {
    const names = [...toolbox.tools.keys()].join(', ') || 'there are none'
    return refused('unknown', `there is no tool ${JSON.stringify(name)}. Tools: ${names}.`)
  }
  const { tool, schema } = found
  const limit = { ms: tool.timeoutMs ?? timeouts.tool, subject: `the tool ${name}` }
  try {
    const checked = await within(run, limit, () => schema.check(copyOf(input)))
    if ('problems' in checked)
      return refused(
        'invalid',
        `the arguments of ${name} are invalid, it was not run. ${checked.problems.join('; ')}`,
      )
    const output = await within(run, limit, (signal) => {
      emit({ type: 'tool-start', step, call })
      const idempotencyKey = keyOf(call)
      return tool.execute(checked.value, { callId, idempotencyKey, signal, ...(session && { session }) })
    })
    return { status: 'ok', output: toJson(output) }
  } catch (error) {
    if (error instanceof Aborted) throw error
    const status = isPlimsollError(error, 'ERR_TIMEOUT') ? 'timeout' : 'failed'
    return { status, output: errorText(error) }
  }
}

/** What it is called with is part of it: of two replies to one step, the log keeps one. */
function keyOf({ entry, index, name, input }: AgentCall): string {
  return `call/${hashText(canonical([entry, index, name, input]))}`
}

/** The answer to a call that is not run because the run stops. */
function stopped({ stop }: RunState): Outcome {
  return refused('denied', `this call was not run, since the run was stopped: ${stop?.reason}`)
}

export function refused(status: CallStatus, reason: string): Outcome {
  return { status, output: `Error: ${reason}` }
}

function isError({ status }: Outcome): boolean {
  return status !== 'ok' && status !== 'given'
}

/**
 * Writes a result under an id that is made from its call, so that of several who record one the
 * first wins, and the others get that one.
 */
async function record(
  run: RunState,
  call: AgentCall,
  outcome: Outcome,
): Promise<{ readonly part: ToolResultPart; readonly repeated: boolean }> {
  for (let place = 0; ; place++) {
    const { messages, repeated } = await writeOutcome(run, call, outcome, place)
    const [message] = messages
    const part = typeof message?.content === 'string' ? undefined : message?.content[0]
    const known = part?.type === 'tool-result' ? part : undefined
    if (known && (!repeated || place === TRIES || !(await isPending(run, call))))
      return { part: known, repeated }
    if (place === TRIES) throw new Error(`runAgent: the result of call ${call.callId} cannot be read back`)
  }
}

async function writeOutcome(
  run: RunState,
  call: AgentCall,
  outcome: Outcome,
  place: number,
): Promise<Written> {
  try {
    return await writeResult(run, resultOf(run, call, outcome, place))
  } catch (error) {
    // Nothing was written, and the call must have an answer.
    if (!isPlimsollError(error, 'ERR_ENTRY_TOO_LARGE') && !isPlimsollError(error, 'ERR_INVALID_ARGUMENT'))
      throw error
    const failed: Outcome = { status: 'failed', output: errorText(error) }
    return writeResult(run, resultOf(run, call, failed, place))
  }
}

function resultOf(
  { toolbox }: RunState,
  call: AgentCall,
  outcome: Outcome,
  place: number,
): MessageInput & { readonly id: string } {
  const { entry, index, callId, name } = call
  const { output } = outcome
  const id = `result/${hashText(JSON.stringify([entry, index, place]))}`
  const { trust = 'tool' } = toolbox.tools.get(name)?.tool ?? {}
  return {
    id,
    role: 'tool',
    content: [{ type: 'tool-result', callId, output, ...(isError(outcome) && { isError: true }) }],
    trust,
  }
}

/** Whether a call still waits although a result of it was recorded: that one was rewound. */
async function isPending({ transcript }: RunState, { entry, index }: AgentCall): Promise<boolean> {
  const recent = await transcript.recent(LOOK_BACK)
  return pendingCalls(recent).some((call) => call.entry === entry && call.index === index)
}
