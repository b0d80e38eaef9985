import { withUsage } from '../../agent/model-call.ts'
import { predict, reportedBy } from '../../agent/usage.ts'
import type { RecallShape } from '../../features/recall/feature.ts'
import { inlineAttachments } from '../../inline-attachments.ts'
import { invalid } from '../../kernel/text/json.ts'
import { readAttachment } from '../../operations/attachments.ts'
import type { Context } from '../../ports/context.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { AbortSignalLike, Host } from '../../ports/host.ts'
import type { Session } from '../../ports/memory.ts'
import type { Message } from '../../ports/message.ts'
import type { Model, ModelEvent, ModelSettings } from '../../ports/model.ts'
import { type AdmitOptions, admit } from './admit.ts'
import {
  type ChatCompletion,
  type ChatCompletionChunk,
  completionOf,
  finishOf,
  type ReplyHead,
  storedReply,
  usageOf,
  withFinish,
} from './completion.ts'
import { sentItems } from './items.ts'
import { ReplyStream } from './reply-stream.ts'
import { type ChatRequest, parseChatRequest } from './request.ts'

/** What a client may always call the model, whatever it is. */
export const MODEL_NAME = 'plimsoll'

export type ChatSession = Session<{ recall?: RecallShape }>

export interface CompleteChatOptions extends AdmitOptions {
  /** The body, parsed from JSON and not checked yet. */
  readonly request: unknown
  /** Contract: the conversation, with the request's instructions (or the app's own, where it has none) as its system text. */
  readonly session: (system: string | undefined) => ChatSession | Promise<ChatSession>
  readonly model: Model
  /** Names of the model that a client may give. Default: its id, and `plimsoll`. */
  readonly names?: readonly string[]
  /** What holds where the request says nothing. A request for more `maxOutputTokens` is refused: the budget keeps no room for it. */
  readonly settings?: ModelSettings
  readonly host: Pick<Host, 'now' | 'newId'>
  /** Ends the call; nothing of the reply is stored then. Not for a client that went away: its reply is waited for and stored. */
  readonly signal?: AbortSignalLike
}

export type ChatAnswer =
  | { readonly completion: ChatCompletion }
  | {
      /** Whoever stops reading stops nothing. */
      readonly stream: AsyncIterable<ChatCompletionChunk>
      /** Settles when the reply is stored, or the call has failed: keep the object alive until then. */
      readonly done: Promise<ChatCompletion>
    }

/**
 * Answers a request of OpenAI's Chat Completions: what is new of its messages is written, the model is given a context of the whole
 * conversation, and its reply is stored before its end is sent. Calls of the request's tools go to the client, whose results find them by
 * id. A stream is given once the model has begun, so a refusal before that rejects. A reply that breaks off is not stored; what was asked
 * stays, and the client may ask again.
 *
 * Contract: not called twice at once for one session.
 *
 * @throws ERR_INVALID_ARGUMENT (`argument`: path of the field), ERR_TOOL_PENDING, ERR_CONFLICT; nothing is written. What `session.append`
 *   and `session.context` throw, ERR_MODEL and others of the model's, ERR_INTERRUPTED (`signal`)
 */
export async function completeChat(options: CompleteChatOptions): Promise<ChatAnswer> {
  const request = parseChatRequest(options.request)
  const settings = settingsOf(request, options)
  const { model, names = [MODEL_NAME, model.id] } = options
  if (!names.includes(request.model))
    throw invalid('chat.completions', 'model', `does not exist here; there is ${names.join(', ')}`)
  const session = await options.session(request.system)
  const { reply, round } = await admit(session, sentItems(request.messages), options)
  if (reply) return again(reply, request)
  const { tools } = request
  const context = await session.context({
    ...(tools.length > 0 && { tools }),
    ...(session.recall && { recall: true as const }),
  })
  return answer({ ...options, request, settings, context, round }, session)
}

/** A reply that was given before, as it was stored. */
function again(message: Message, { model, isStream, includesUsage }: ChatRequest): ChatAnswer {
  const { id, createdAt } = message
  const head: ReplyHead = { messageId: id, createdAt, model }
  const { finish, usage } = storedReply(message)
  const completion = completionOf(head, message, finish, usage)
  if (!isStream) return { completion }
  const stream = new ReplyStream(head, includesUsage)
  stream.finish(message, finish, usage)
  return { stream, done: Promise.resolve(completion) }
}

/** One call of the model. */
interface Call {
  readonly request: ChatRequest
  readonly settings: ModelSettings
  readonly context: Context
  readonly round: string | undefined
  readonly model: Model
  readonly host: Pick<Host, 'now' | 'newId'>
  readonly signal?: AbortSignalLike
}

async function answer(call: Call, session: ChatSession): Promise<ChatAnswer> {
  const { request, host } = call
  const head: ReplyHead = { messageId: host.newId(), createdAt: host.now(), model: request.model }
  const stream = new ReplyStream(head, request.includesUsage)
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const done = reply(call, session, head, stream, begin).catch((error: unknown) => {
    stream.fail(error)
    throw error
  })
  if (!request.isStream) return { completion: await done }
  await Promise.race([begun, done])
  // Whoever reads the stream is told.
  done.catch(() => {})
  return { stream, done }
}

/** Hands on what comes as it comes, and stores it once it is whole. */
async function reply(
  call: Call,
  session: ChatSession,
  head: ReplyHead,
  stream: ReplyStream,
  begin: () => void,
): Promise<ChatCompletion> {
  const { round, context } = call
  let finished: Finished | undefined
  for await (const event of eventsOf(
    call,
    await inlineAttachments(context, (ref) => readAttachment(session, ref)),
  )) {
    if (event.type === 'finish') {
      finished = event
      break
    }
    stream.begin()
    if (event.type === 'text') stream.text(event.text)
    if (event.type === 'tool-call') stream.call(event.call)
    begin()
  }
  if (finished?.message.role !== 'assistant')
    throw new PlimsollError('ERR_MODEL', `model ${call.model.id}: it ended without a reply`)
  const { message, reason, usage = {} } = finished
  const finish = finishOf(reason, message)
  const reported = reportedBy(usage)
  const predicted = predict(context, undefined)
  const stored = withUsage(withFinish(message, finish), { predicted, ...(reported && { reported }) })
  const options = round === undefined ? {} : { round }
  await session.append({ ...stored, id: head.messageId, createdAt: head.createdAt }, options)
  const used = usageOf(usage, predicted.input, message)
  stream.finish(message, finish, used)
  return completionOf(head, message, finish, used)
}

type Finished = Extract<ModelEvent, { type: 'finish' }>

/** What the model says. Errors of models that have no code may hold content, and are not handed on. */
async function* eventsOf({ model, settings, signal }: Call, context: Context): AsyncGenerator<ModelEvent> {
  try {
    for await (const event of model.complete({ context, settings, ...(signal && { signal }) })) {
      if (signal?.aborted) throw signal.reason
      yield event
    }
  } catch (error) {
    if (signal?.aborted) throw new PlimsollError('ERR_INTERRUPTED', `model ${model.id}: the call was stopped`)
    if (isPlimsollError(error)) throw error
    throw new PlimsollError('ERR_MODEL', `model ${model.id}: the call failed`)
  }
}

function settingsOf(
  { settings }: ChatRequest,
  { settings: given = {} }: Pick<CompleteChatOptions, 'settings'>,
): ModelSettings {
  const { maxOutputTokens: most = Infinity } = given
  if ((settings.maxOutputTokens ?? 0) > most)
    throw invalid('chat.completions', 'max_completion_tokens', `must be at most ${most} here`)
  return { ...given, ...settings }
}
