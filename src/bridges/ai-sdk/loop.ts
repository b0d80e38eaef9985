import type { LanguageModel, ModelMessage, SystemModelMessage } from 'ai'
import * as ai from 'ai'
import type { Receipt } from '../../ports/context.ts'
import type { Session } from '../../ports/memory.ts'
import { checkObject } from '../../ports/options.ts'
import type { ContextOptions } from '../../ports/session.ts'
import { invalid } from '../../text/json.ts'
import { appendOnce } from './append-once.ts'
import { appendUIMessages } from './append-ui.ts'
import { type AskedOptions, askedOf, checkCache } from './asked.ts'
import { isAnthropic } from './cache.ts'
import { fromModelMessages } from './from-model-messages.ts'
import { asOlder, type LoopRequest, ownMessages } from './older.ts'
import { isOlder } from './peer.ts'
import { type AISDKRequest, toAISDK } from './to-ai-sdk.ts'
import { toToolSpecs } from './tools.ts'

/** What a loop asks of each context. */
export interface LoopOptions extends AskedOptions {
  /**
   * Whether to set Anthropic's cache breakpoints, at most four. Default: for its models, behind any
   * provider.
   */
  readonly cache?: boolean
  /**
   * Contract: called before each step with what it would be sent; true: compact first, see
   * {@link compact}. Where a compaction leaves it true, it is not compacted again before it was
   * false once. Default: never; the budget holds all the same. Anything but a boolean is
   * ERR_INVALID_ARGUMENT at the step, so it cannot be an async function.
   */
  readonly compactWhen?: (step: StepToCompact) => boolean
}

/** What a step would be sent. */
export interface StepToCompact {
  /** Counts the steps of this call, from 0. */
  readonly stepNumber: number
  /** Tokens, and the most that there may be (null: no budget). */
  readonly tokens: number
  readonly cap: number | null
  readonly receipt: Receipt
}

/** As little of a step as is written. The SDK's majors differ in what they tell of it. */
export interface EndedStep {
  /** Since 7. */
  readonly callId?: string
  /** Since 6. */
  readonly stepNumber?: number
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly response: {
    readonly id: string
    /** Since 7 those of this step, before that those of the steps before it, too. */
    readonly messages: readonly ModelMessage[]
  }
}

/**
 * What is read of what the SDK tells before a step: so that the function fits, whatever the types
 * of the app's tools.
 */
export interface StepToPrepare {
  readonly model: LanguageModel
  readonly steps: readonly EndedStep[]
  readonly messages: readonly ModelMessage[]
  /** These three since 7. */
  readonly initialInstructions?: Instructions | undefined
  readonly responseMessages?: readonly ModelMessage[]
  readonly experimental_steeringMessages?: readonly ModelMessage[]
}

type Instructions = string | SystemModelMessage | SystemModelMessage[]

/** Fits the `prepareStep` of `streamText` and `generateText`. */
export type PrepareStep = (step: StepToPrepare) => Promise<LoopRequest>

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
 * (`experimental_steering`), are written too. AI SDK 5 and 6 give a call no id: there the ids are
 * made from that of the response.
 *
 * The function rejects, and with it the call, with what `context()` and `append()` reject with;
 * ERR_INVALID_ARGUMENT: the call has `instructions` of its own, which no budget counts. They belong
 * into `createMemory({ system })`. AI SDK 5 and 6 do not tell of a `system` of the call's own.
 *
 * @throws ERR_INVALID_ARGUMENT; ERR_NOT_CONFIGURED: an `ai` before 5
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
  return prepareWith(session, options, new Set())
}

/**
 * What a loop asks of contexts, checked before anything is written. @throws ERR_INVALID_ARGUMENT
 */
function checkLoop(session: Session, options: LoopOptions): ContextOptions {
  checkObject('memoryLoop', 'options', options)
  const { cache, compactWhen, ...asked } = options
  checkCache('memoryLoop', cache)
  if (compactWhen !== undefined && typeof compactWhen !== 'function')
    throw invalid('memoryLoop', 'compactWhen', 'must be a function')
  return askedOf('memoryLoop', session, asked)
}

/**
 * @param written names the steps that are known to be in the log, so that a long loop does not
 * append each of them at each step
 * @param begun how many messages the call begins with that are approvals, and nothing else
 */
function prepareWith(
  session: Session,
  options: LoopOptions,
  written: Set<string>,
  begun?: number,
): PrepareStep {
  const older = isOlder(ai)
  const contextOptions = checkLoop(session, options)
  const { tools, cache, compactWhen } = options
  let isArmed = true
  let specs: ReturnType<typeof toToolSpecs> | undefined
  const seen = new WeakSet<object>()
  return async ({
    model,
    steps,
    messages,
    initialInstructions,
    responseMessages,
    experimental_steeringMessages: steering,
  }) => {
    if (responseMessages) {
      const inSteps = steps.reduce((sum, { response }) => sum + response.messages.length, 0)
      await writeApproved(session, responseMessages.slice(0, responseMessages.length - inSteps))
    } else if (begun !== undefined && steps.length === 0) await writeApproved(session, messages.slice(begun))
    for (const step of steps) await appendStep(session, step, written)
    for (const message of steering ?? []) {
      if (seen.has(message)) continue
      await session.append(fromModelMessages([message]))
      // Not before: what could not be written is written by the next step that is prepared.
      seen.add(message)
    }
    specs ??= toToolSpecs(tools)
    const asked = { ...contextOptions, tools: await specs }
    let context = await session.context(asked)
    const isDue = (): boolean => {
      const { receipt } = context
      const { used: tokens, cap } = receipt
      const due: unknown = compactWhen?.({ stepNumber: steps.length, tokens, cap, receipt }) ?? false
      // A promise would be true at each step.
      if (typeof due !== 'boolean')
        throw invalid('prepareStep', 'compactWhen', 'must give true or false, and at once')
      return due
    }
    if (!isDue()) isArmed = true
    else if (isArmed) {
      context = await session.context({ ...asked, newEpoch: true })
      isArmed = !isDue()
    }
    const request = toAISDK(context, { cache: cache ?? isAnthropic(model) })
    const given = textOf(initialInstructions)
    if (given !== '' && given !== textOf(request.instructions))
      throw invalid(
        'prepareStep',
        'instructions',
        'must not be given here: they belong in createMemory({ system })',
      )
    return older ? asOlder(request) : request
  }
}

/**
 * A function for `onStepEnd`, in AI SDK 5 and 6 `onStepFinish`, which writes each step as it ends,
 * the last one too. Repeating a step writes nothing. The SDK does not tell of what such a function
 * throws: look at {@link MemoryLoop.settled}, or append the response's messages oneself.
 *
 * @throws ERR_NOT_CONFIGURED: an `ai` before 5
 */
export function writeStep(session: Session): (step: EndedStep) => Promise<void> {
  isOlder(ai)
  return (step) => appendStep(session, step, new Set())
}

/** What {@link memoryLoop} gives; spread it into `streamText` or `generateText`. */
export interface MemoryLoop extends LoopRequest {
  readonly prepareStep: PrepareStep
  readonly onStepEnd: (step: EndedStep) => Promise<void>
  /** The same, for AI SDK 5 and 6 alone. */
  readonly onStepFinish?: (step: EndedStep) => Promise<void>
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
 * ERR_NOT_CONFIGURED: an `ai` before 5
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
  const older = isOlder(ai)
  checkObject('memoryLoop', 'options', given)
  const { messages, ...options } = given
  const contextOptions = checkLoop(session, options)
  const { tools, cache = false } = options
  const approved = messages ? await appendUIMessages(session, messages) : []
  const written = new Set<string>()
  const writes: Promise<void>[] = []
  const first: AISDKRequest =
    approved.length > 0
      ? { messages: approved }
      : toAISDK(await session.context({ ...contextOptions, tools: await toToolSpecs(tools) }), { cache })
  const onStepEnd = (step: EndedStep): Promise<void> => {
    const write = appendStep(session, step, written)
    writes.push(write)
    return write
  }
  const begun = approved.length > 0 ? approved.length : undefined
  return {
    ...(older ? asOlder(first) : first),
    prepareStep: prepareWith(session, options, written, begun),
    onStepEnd,
    ...(older && { onStepFinish: onStepEnd }),
    settled: async () => {
      await Promise.all(writes)
    },
  }
}

/** Writes a step whole, once. */
async function appendStep(session: Session, step: EndedStep, written: Set<string>): Promise<void> {
  const { callId, stepNumber = 0, content, response } = step
  const key = callId === undefined ? [response.id] : [callId, stepNumber]
  const name = JSON.stringify(key)
  if (written.has(name)) return
  const messages = callId === undefined ? ownMessages(content, response.messages) : response.messages
  await appendOnce(session, fromModelMessages(messages), key)
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
