import type { Instructions, LanguageModel, ModelMessage, ToolSet } from 'ai'
import * as ai from 'ai'
import { invalid } from '../../kernel/text/json.ts'
import { checkContext } from '../../operations/context-at.ts'
import type { Session } from '../../ports/memory.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { appendOnce } from './append-once.ts'
import { appendUIMessages } from './append-ui.ts'
import { isAnthropic } from './cache.ts'
import { fromModelMessages } from './from-model-messages.ts'
import { needAI } from './peer.ts'
import { type AISDKRequest, toAISDK } from './to-ai-sdk.ts'
import { toToolSpecs } from './tools.ts'

/**
 * What a loop asks of each context: as `session.context()`, with the tools as the SDK takes them.
 */
export interface LoopOptions extends Omit<ContextOptions, 'tools' | 'preview' | 'newEpoch'> {
  /** The tools that `streamText` is given: the budget counts all of them. Default: none. */
  readonly tools?: ToolSet
  /**
   * Whether to set Anthropic's cache breakpoints, at most four. Default: for its models, behind any
   * provider.
   */
  readonly cache?: boolean
}

/** As little of a step as is written. */
export interface EndedStep {
  readonly callId: string
  readonly stepNumber: number
  readonly response: { readonly messages: readonly ModelMessage[] }
}

/**
 * What is read of what the SDK tells before a step: so that the function fits, whatever the types
 * of the app's tools.
 */
export interface StepToPrepare {
  readonly model: LanguageModel
  readonly steps: readonly EndedStep[]
  readonly initialInstructions: Instructions | undefined
  readonly responseMessages: readonly ModelMessage[]
  readonly experimental_steeringMessages?: readonly ModelMessage[]
}

/** Fits the `prepareStep` of `streamText` and `generateText`. */
export type PrepareStep = (step: StepToPrepare) => Promise<AISDKRequest>

/**
 * A function for the `prepareStep` of `streamText` and `generateText`, so that the budget holds
 * inside of their tool loop: before each step it writes what the steps before it said and what
 * their tools gave, and sends the session's context in place of the messages.
 *
 * What the call begins with, its `messages` or `prompt`, is **not** written: append the user's
 * message first. Nor is the last step, after which there is none: give {@link writeStep} to
 * `onStepEnd`, or take {@link memoryLoop}, which does both. A step is written whole, its calls with
 * their results, so a call that is aborted leaves no call behind. The ids of its messages are made
 * from the SDK's own id of the call and the step's number: whatever repeats it, it is written once.
 * What tools gave that the user had approved, and messages of the user that came meanwhile
 * (`experimental_steering`), are written too.
 *
 * The function rejects, and with it the call, with what `context()` and `append()` reject with;
 * ERR_INVALID_ARGUMENT: the call has `instructions` of its own, which no budget counts. They belong
 * into `createMemory({ system })`.
 *
 * @throws ERR_INVALID_ARGUMENT; ERR_NOT_CONFIGURED: an `ai` before 7
 * @example
 * ```ts
 * import { isStepCount, streamText } from 'ai'
 * import { prepareStep, writeStep } from 'plimsoll/ai-sdk'
 *
 * await session.append({ role: 'user', content: prompt })
 * const result = streamText({
 *   model, tools, prompt, stopWhen: isStepCount(20),
 *   prepareStep: prepareStep(session, { tools }),
 *   onStepEnd: writeStep(session),
 * })
 * ```
 */
export function prepareStep(session: Session, options: LoopOptions = {}): PrepareStep {
  needAI(ai.isStepCount)
  return prepareWith(session, options, new Set())
}

/**
 * What a loop asks of contexts, checked before anything is written. @throws ERR_INVALID_ARGUMENT
 */
function checkLoop(session: Session, options: LoopOptions): ContextOptions {
  const { tools, cache, ...contextOptions }: LoopOptions = { ...options }
  checkContext(session, options && contextOptions)
  return contextOptions
}

/**
 * `written` names the steps that are known to be in the log, so that a long loop does not append
 * each of them at each step.
 */
function prepareWith(session: Session, options: LoopOptions, written: Set<string>): PrepareStep {
  const contextOptions = checkLoop(session, options)
  const { tools, cache } = options
  let specs: ReturnType<typeof toToolSpecs> | undefined
  const seen = new WeakSet<object>()
  return async ({
    model,
    steps,
    initialInstructions,
    responseMessages,
    experimental_steeringMessages: steering,
  }) => {
    const inSteps = steps.reduce((sum, { response }) => sum + response.messages.length, 0)
    await writeApproved(session, responseMessages.slice(0, responseMessages.length - inSteps))
    for (const step of steps) await appendStep(session, step, written)
    for (const message of steering ?? []) {
      if (seen.has(message)) continue
      await session.append(fromModelMessages([message]))
      // Not before: what could not be written is written by the next step that is prepared.
      seen.add(message)
    }
    specs ??= toToolSpecs(tools)
    const context = await session.context({ ...contextOptions, tools: await specs })
    const request = toAISDK(context, { cache: cache ?? isAnthropic(model) })
    const given = textOf(initialInstructions)
    if (given !== '' && given !== textOf(request.instructions))
      throw invalid(
        'prepareStep',
        'instructions',
        'must not be given here: they belong in createMemory({ system })',
      )
    return request
  }
}

/**
 * A function for `onStepEnd`, which writes each step as it ends, the last one too. Repeating a step
 * writes nothing. The SDK does not tell of what such a function throws: look at
 * {@link MemoryLoop.settled}, or append the response's messages oneself.
 *
 * @throws ERR_NOT_CONFIGURED: an `ai` before 7
 */
export function writeStep(session: Session): (step: EndedStep) => Promise<void> {
  needAI(ai.isStepCount)
  return (step) => appendStep(session, step, new Set())
}

/** What {@link memoryLoop} gives; spread it into `streamText` or `generateText`. */
export interface MemoryLoop extends AISDKRequest {
  readonly prepareStep: PrepareStep
  readonly onStepEnd: (step: EndedStep) => Promise<void>
  /**
   * Resolves when all steps that have ended are in the log; rejects with what the first write that
   * failed rejected with.
   */
  readonly settled: () => Promise<void>
}

export interface MemoryLoopOptions extends LoopOptions {
  /**
   * What a chat sends: UI messages of which those that are new are written first, see
   * {@link appendUIMessages}. Tools that the user approved in them are run by the SDK before the
   * first step. Default: none, what is asked was appended before.
   */
  readonly messages?: Parameters<typeof appendUIMessages>[1]
}

/**
 * All that `streamText` and `generateText` need to work on a session: the messages to begin with,
 * `prepareStep`, and `onStepEnd`. The user's message reaches the log by `messages` here or by an
 * append before; each step, and so the final answer, when it ends.
 *
 * @throws as `session.context()`: ERR_TOOL_PENDING where calls wait for the user;
 * ERR_NOT_CONFIGURED: an `ai` before 7
 * @example
 * ```ts
 * import { isStepCount, streamText } from 'ai'
 * import { memoryLoop } from 'plimsoll/ai-sdk'
 *
 * const { id, messages } = await request.json()
 * const session = memory.session({ userId, sessionId: id })
 * const result = streamText({ model, tools, stopWhen: isStepCount(20), ...(await memoryLoop(session, { tools, messages })) })
 * const response = result.toUIMessageStreamResponse()
 * ```
 */
export async function memoryLoop(session: Session, given: MemoryLoopOptions = {}): Promise<MemoryLoop> {
  needAI(ai.isStepCount)
  const { messages, ...options }: MemoryLoopOptions = { ...given }
  const contextOptions = checkLoop(session, given && options)
  const { tools, cache = false } = options
  const approved = messages ? await appendUIMessages(session, messages) : []
  const written = new Set<string>()
  const writes: Promise<void>[] = []
  const first: AISDKRequest =
    approved.length > 0
      ? { messages: approved }
      : toAISDK(await session.context({ ...contextOptions, tools: await toToolSpecs(tools) }), { cache })
  return {
    ...first,
    prepareStep: prepareWith(session, options, written),
    onStepEnd: (step) => {
      const write = appendStep(session, step, written)
      writes.push(write)
      return write
    },
    settled: async () => {
      await Promise.all(writes)
    },
  }
}

/** Writes a step whole, once. */
async function appendStep(
  session: Session,
  { callId, stepNumber, response }: EndedStep,
  written: Set<string>,
): Promise<void> {
  const name = JSON.stringify([callId, stepNumber])
  if (written.has(name)) return
  await appendOnce(session, fromModelMessages(response.messages), [callId, stepNumber])
  written.add(name)
}

/**
 * Results of calls that the user had approved: the SDK runs them before the first step. They join
 * the round of their call.
 */
async function writeApproved(session: Session, messages: readonly ModelMessage[]): Promise<void> {
  const results = fromModelMessages(messages).filter(({ role }) => role === 'tool')
  const ids = results.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part) => (part.type === 'tool-result' ? part.callId : [])),
  )
  await appendOnce(session, results, ['approved', ...ids])
}

function textOf(instructions: Instructions | undefined): string {
  if (instructions === undefined || typeof instructions === 'string') return instructions ?? ''
  const list = Array.isArray(instructions) ? instructions : [instructions]
  return list.map(({ content }) => content).join('\n')
}
