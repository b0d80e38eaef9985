import { predict } from '../kernel/context/predict.ts'
import { readEntry } from '../kernel/log/entries.ts'
import { textOf } from '../kernel/log/message.ts'
import { checkContext } from '../operations/check-context.ts'
import { kernelOf } from '../operations/kernel-of.ts'
import type { Context } from '../ports/context.ts'
import type { Controller, Host, Timeout } from '../ports/host.ts'
import type { Message, MessageInput } from '../ports/message.ts'
import type { FinishReason } from '../ports/model.ts'
import type { Limits } from '../ports/session.ts'
import { checkBoolean, checkFunction, checkMethod } from '../text/check-value.ts'
import { type Check, checkShape, type Fields, optional } from '../text/fields.ts'
import { checkCount, checkOptions, checkText, invalid } from '../text/json.ts'
import type { AgentSession } from './agent-session.ts'
import { type Composed, compose, type Proposed } from './compose.ts'
import { EventLog, runOf } from './event-log.ts'
import type { AgentEvent } from './events.ts'
import type { Lease, Settled, Tenure } from './lease.ts'
import type { CallUsage, ModelCall, Stop } from './middleware.ts'
import { callModel, type Reply, withFinish, withUsage } from './model-call.ts'
import type { AgentResult, AgentRun, ResumeOptions, RunOptions } from './options.ts'
import { buildContext, previewContext } from './request.ts'
import { goOn, type RunState, write, writeReply } from './run-state.ts'
import type { Loaded, LoadValidator } from './schema.ts'
import { SessionTranscript } from './session-transcript.ts'
import { resume, settle } from './settle.ts'
import { createToolbox } from './tools.ts'
import { answerTo, callsOf, roundOf } from './transcript.ts'
import { addUsage, difference, NO_USAGE, reportedBy } from './usage.ts'
import { Aborted, checkMs, timedOut } from './within.ts'

/** Checked where it is used. */
const given: Check = (_operation, _argument, value) => value
const count = optional((...of) => checkCount(...of, 1))
const checkPending: Check = (operation, argument, value) => {
  if (value !== 'fail' && value !== 'run' && typeof value !== 'function')
    throw invalid(operation, argument, 'must be fail, run or a function')
}
const SETTINGS = ['maxOutputTokens', 'temperature', 'topP', 'seed', 'stopSequences', 'toolChoice']
const OPTIONS: Fields = {
  input: given,
  model: (...of) => checkMethod(...of, 'complete', 'must be a model'),
  system: optional(checkText),
  tools: given,
  session: optional((...of) => checkMethod(...of, 'append', 'must be a session')),
  middleware: given,
  maxSteps: count,
  signal: optional((...of) => checkMethod(...of, 'addEventListener')),
  onEvent: optional(checkFunction),
  settings: optional((...of) => checkOptions(...of, SETTINGS)),
  resume: optional((...of) =>
    typeof of[2] === 'object'
      ? checkShape(...of, { pending: optional(checkPending), messages: count })
      : checkBoolean(...of),
  ),
  lease: optional((...of) => checkMethod(...of, 'hold')),
  limits: given,
  parallel: optional((...of) => (typeof of[2] === 'number' ? checkCount(...of, 1) : checkBoolean(...of))),
  timeouts: given,
}
const MAX_STEPS = 20
/** Messages in which the answer to an input is looked for that is given again. */
const LOOK_BACK = 256

/** What not every run needs. */
export interface RunLibrary {
  /** For tools with a JSON Schema. */
  readonly validator: LoadValidator
  /** For replies that call tools, and calls that wait. */
  readonly calls: RunState['calls']
  /** What stands for a session where there is none. */
  readonly plainTranscript: () => Loaded<typeof import('./plain-transcript.ts')>
}

/** Begins a run over injected clock, ids and timers, and what it may need. */
export function runWith(options: RunOptions, host: Host, library: RunLibrary): AgentRun {
  const events = new EventLog(options.onEvent)
  const result = begin(options, host, library, events.emit).finally(() => events.end())
  return runOf(events, result)
}

async function begin(
  options: RunOptions,
  host: Host,
  library: RunLibrary,
  emit: (event: AgentEvent) => void,
): Promise<AgentResult> {
  // Readers and listeners may start before the first event.
  await undefined
  const controller = host.controller()
  const { signal, session, lease } = options
  const ms = options.timeouts?.run
  let summaries = 0
  let expired: unknown
  let timeout: Timeout | undefined
  let forget: (() => void) | undefined
  const onAbort = (): void => controller.abort(signal?.reason)
  const onTimeout = (): void => {
    expired = timedOut('the run', ms ?? 0)
    controller.abort(expired)
  }
  const current: { run: RunState | undefined } = { run: undefined }
  try {
    checkRun(options)
    const common = await createParts(options, host, library, controller, emit)
    const start = (tenure?: Tenure | Settled): RunState => (current.run = createState(common, tenure))
    const plain = lease ? undefined : start()
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort)
    if (ms !== undefined) {
      timeout = host.timeout(ms)
      timeout.signal.addEventListener('abort', onTimeout)
    }
    forget = session?.compaction?.subscribe((event) => {
      if (event.status === 'summarised') summaries++
      emit(event)
    })
    emit({
      type: 'run-start',
      model: options.model.id,
      tools: common.toolbox.specs.map(({ name }) => name),
    })
    const end = plain ? await converse(plain, await open(plain)) : await answer(common, lease as Lease, start)
    if (end.stoppedBy !== undefined)
      emit({ type: 'stop', ...(current.run?.stop ?? { by: end.stoppedBy, reason: end.detail ?? '' }) })
    return finish(current.run, end, summaries, emit)
  } catch (thrown) {
    const error = thrown instanceof Aborted && expired !== undefined ? expired : thrown
    if (error instanceof Aborted) return finish(current.run, { reason: 'aborted' }, summaries, emit)
    emit({ type: 'error', error })
    throw error
  } finally {
    signal?.removeEventListener?.('abort', onAbort)
    timeout?.clear()
    forget?.()
  }
}

type End = Pick<AgentResult, 'reason' | 'detail' | 'stoppedBy'>

/** @param run absent: it ended before it began */
function finish(
  run: RunState | undefined,
  end: End,
  summaries: number,
  emit: (event: AgentEvent) => void,
): AgentResult {
  const { answer = '', steps = 0, usage = NO_USAGE } = run ?? {}
  const result: AgentResult = { answer, steps, summaries, usage, ...end }
  emit({ type: 'finish', result })
  return result
}

/** Answers a message as long as it has the lease of it, until somebody has answered it. */
async function answer(
  parts: RunParts,
  lease: Lease,
  start: (tenure: Tenure | Settled) => RunState,
): Promise<End> {
  const { options, host, signal, emit } = parts
  const session = options.session as AgentSession
  const message = await say(parts, session)
  for (let told = 0; ; ) {
    const tenure = await lease.hold({ session, message, host, signal, emit })
    for (const step of tenure.round.steps.slice(told)) emit({ type: 'past-step', step })
    const run = start(tenure)
    const { answer: known, pending } = tenure.round
    if (known) return converse(run, known)
    if (tenure.type === 'settled') return stop({ by: 'lease', reason: 'another run has ended it' })
    try {
      if (run.steps > 0) {
        const settled = pending.length > 0 ? 'run' : 'none'
        emit({ type: 'resume', messages: run.steps, pending, settled, answered: false })
        await (await run.calls()).runCalls(run, run.steps, pending)
      }
      const end = await converse(run, undefined)
      await tenure.end(end.reason === 'stopped' || end.reason === 'max-steps' ? 'over' : 'answered')
      return end
    } catch (error) {
      // Of its newest step others may have run the calls.
      told = Math.max(0, run.steps - 1)
      if (tenure.isLost && !signal.aborted) continue
      await tenure.end(options.signal?.aborted ? 'over' : 'open').catch(() => {})
      throw error
    }
  }
}

/** Writes what is said, unless it is there already. @returns the message that is to be answered */
async function say(parts: RunParts, session: AgentSession): Promise<string> {
  const inputs = inputsOf(parts.options.input)
  const asked = inputs.findLast(({ role }) => role === 'user')
  if (inputs.length > 0 && !asked)
    throw invalid('runAgent', 'input', 'must hold a message of the user, where there is a lease')
  const { store } = kernelOf('runAgent', session)
  if (asked?.id !== undefined && (await readEntry(store, asked.id))) return asked.id
  const said = asked
    ? (await write({ ...parts, past: undefined }, inputs)).messages
    : await parts.transcript.recent(LOOK_BACK)
  const message = roundOf(said)
  if (message === undefined)
    throw invalid('runAgent', 'input', 'is missing, and the session holds no message to answer')
  return message
}

/** From what was said to the end of the run. @throws Aborted, and what ends a run with an error */
async function converse(run: RunState, answered: Message | undefined): Promise<End> {
  if (answered) {
    run.answer = textOf(answered)
    return { reason: 'answer' }
  }
  const { maxSteps = MAX_STEPS } = run.options
  let before: Context | undefined
  while (run.steps < maxSteps) {
    if (run.stop) return stop(run.stop)
    goOn(run)
    await run.tenure?.check(run.steps)
    const step = run.steps + 1
    run.emit({ type: 'step-start', step })
    const said = run.session
      ? { preview: (limits?: Limits) => previewContext(run, limits) }
      : // A copy of all of it, for middleware alone.
        run.options.middleware?.length && { messages: await run.transcript.recent(LOOK_BACK) }
    const proposed = await run.hooks.beforeModelCall({ ...modelCall(run, step), ...said })
    run.stop ??= proposed.stop
    if (run.stop) return stop(run.stop)
    goOn(run)
    const context = await contextOf(run, proposed)
    run.emit({ type: 'context', step, receipt: context.receipt, hash: context.hash })
    for (const nudge of proposed.nudges) run.emit({ type: 'nudge', step, ...nudge })
    goOn(run)
    const { reason, message } = await takeStep(run, step, context, before)
    before = context
    const calls = callsOf(message)
    const { last } = proposed
    if (calls.length === 0 && !run.stop && (!last || run.answer !== ''))
      return { reason: endOf(reason), ...(last && { detail: last.reason, stoppedBy: last.by }) }
    run.stop ??= last
    if (calls.length === 0 && run.stop) return stop(run.stop)
    for (const call of calls) run.emit({ type: 'tool-call', step, call })
    if (calls.length === 0) continue
    // Nobody but who has the lease acts on a reply.
    await run.tenure?.check(step)
    await (await run.calls()).runCalls(run, step, calls)
  }
  return run.stop ? stop(run.stop) : { reason: 'max-steps' }
}

/** The context of a step that the log does not have. @throws Aborted, as {@link buildContext} */
async function contextOf(run: RunState, proposed: Proposed): Promise<Context> {
  try {
    return await buildContext(run, proposed)
  } finally {
    // Another one may have written meanwhile: calls that wait, for example.
    await run.tenure?.stillAt(run.steps)
  }
}

/** Calls the model and records its reply. */
async function takeStep(
  run: RunState,
  step: number,
  context: Context,
  before: Context | undefined,
): Promise<{ readonly reason: FinishReason; readonly message: Message }> {
  let reply: Reply
  let call: CallUsage
  let message: Message
  try {
    reply = await callModel(run, step, context)
    const reported = reportedBy(reply.usage)
    call = { predicted: predict(context, before), ...(reported && { reported }) }
    const said = reply.reason === 'length' ? withFinish(reply.message, 'length') : reply.message
    message = await writeReply(run, step, withUsage(said, call, run.options.model, run.tenure !== undefined))
  } catch (error) {
    if (!(error instanceof Aborted))
      await run.hooks.afterModelCall({ ...modelCall(run, step), status: 'failed', error })
    throw error
  }
  const { reason } = reply
  run.answer = textOf(message)
  run.steps = step
  run.usage = addUsage(run.usage, call)
  const apart = difference(call)
  run.emit({ type: 'usage', step, ...call, ...(apart && { difference: apart }) })
  if (!run.signal.aborted)
    run.stop ??= await run.hooks.afterModelCall({
      ...modelCall(run, step),
      status: 'ok',
      message,
      context,
      reason,
      call,
    })
  return { reason, message }
}

/** Settles what waits, and writes what is said. Gives the answer, where there is one already. */
async function open(run: RunState): Promise<Message | undefined> {
  const { options, session, transcript } = run
  const how: ResumeOptions = typeof options.resume === 'object' ? options.resume : {}
  const inputs = inputsOf(options.input)
  goOn(run)
  const known = session && (await resume(run, how, inputs))
  if (inputs.length === 0) {
    if (run.round === undefined && (await transcript.recent(1)).length === 0)
      throw invalid('runAgent', 'input', 'is missing, and the session holds no message to go on with')
    return known
  }
  goOn(run)
  const written = await write(run, inputs)
  run.round = written.messages.findLast(({ role }) => role === 'user')?.id ?? run.round
  if (written.repeated) return answerTo(inputs.at(-1)?.id, await transcript.recent(LOOK_BACK))
  // What is said may itself hold calls that wait.
  await settle(run, how, written.messages)
  return undefined
}

function inputsOf(input: RunOptions['input']): readonly MessageInput[] {
  if (input === undefined) return []
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  return Array.isArray(input) ? (input as readonly MessageInput[]) : [input as MessageInput]
}

function modelCall({ session, usage }: RunState, step: number): ModelCall {
  return { step, usage, ...(session && { session }) }
}

function stop({ by, reason }: Stop): End {
  return { reason: 'stopped', detail: reason, stoppedBy: by }
}

function endOf(reason: FinishReason): AgentResult['reason'] {
  return reason === 'length' || reason === 'content-filter' ? reason : 'answer'
}

/** What is the same in all that one run does. */
interface RunParts
  extends Pick<
    RunState,
    'host' | 'signal' | 'emit' | 'options' | 'session' | 'timeouts' | 'toolbox' | 'calls' | 'transcript'
  > {
  readonly composed: Composed
}

async function createParts(
  options: RunOptions,
  host: Host,
  library: RunLibrary,
  { signal }: Controller,
  emit: (event: AgentEvent) => void,
): Promise<RunParts> {
  const { session, timeouts = {}, tools = [], middleware = [] } = options
  const composed = compose(middleware)
  const toolbox = await createToolbox(tools, library.validator)
  const transcript = session
    ? new SessionTranscript(session)
    : new (await library.plainTranscript()).PlainTranscript(host)
  const { calls } = library
  return { host, signal, emit, options, session, timeouts, toolbox, calls, transcript, composed }
}

/** @param tenure under a lease: what it goes on with */
function createState({ composed, ...parts }: RunParts, tenure?: Tenure | Settled): RunState {
  const { host, session, timeouts, emit } = parts
  const signal = tenure?.type === 'held' ? tenure.signal : parts.signal
  const past = tenure?.round.steps ?? []
  return {
    ...parts,
    signal,
    hooks: composed.start({
      ...(session && { session }),
      now: () => host.now(),
      newId: () => host.newId(),
      host,
      signal,
      hookTimeoutMs: timeouts.hook,
      onFailure: (failure) => emit({ type: 'middleware-failure', ...failure }),
      ...(past.length > 0 && { past }),
      ...(tenure && { message: tenure.message }),
    }),
    tenure: tenure?.type === 'held' ? tenure : undefined,
    past: undefined,
    round: tenure?.message,
    steps: past.length,
    usage: past.reduce((usage, step) => addUsage(usage, step.usage), NO_USAGE),
    answer: '',
    stop: undefined,
  }
}

/** @throws ERR_INVALID_ARGUMENT */
function checkRun(options: RunOptions): void {
  checkShape('runAgent', 'options', options, OPTIONS)
  const { input, session, resume: resumed, lease, timeouts = {}, limits } = options
  if (inputsOf(input).length === 0 && !session)
    throw invalid('runAgent', 'input', 'is missing, and there is no session to go on with')
  if (resumed && !session) throw invalid('runAgent', 'resume', 'needs a session')
  if (lease && !session) throw invalid('runAgent', 'lease', 'needs a session')
  if (lease && resumed) throw invalid('runAgent', 'resume', 'is for runs without a lease')
  checkOptions('runAgent', 'timeouts', timeouts, ['model', 'tool', 'hook', 'run'])
  if (session && limits !== undefined) checkContext(session, { limits })
  for (const [name, ms] of Object.entries(timeouts)) checkMs(`timeouts.${name}`, ms)
}
