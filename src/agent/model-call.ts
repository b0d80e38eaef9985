import { MAX_METADATA_BYTES } from '../kernel/log/message.ts'
import type { Context } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Json, MessageInput } from '../ports/message.ts'
import type { Model, ModelEvent, ModelSettings } from '../ports/model.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import type { CallUsage } from './middleware.ts'
import type { RunState } from './run-state.ts'
import { within } from './within.ts'

export type Reply = Extract<ModelEvent, { type: 'finish' }>

/**
 * Calls the model, and hands on what comes as it comes. @throws Aborted, ERR_TIMEOUT, what the
 * model throws
 */
export function callModel(run: RunState, step: number, context: Context): Promise<Reply> {
  const { options, timeouts, emit } = run
  const { model } = options
  const settings = context.tools ? options.settings : withoutChoice(options.settings)
  const limit = { ms: timeouts.model, subject: `the call of model ${model.id}` }
  run.answer = ''
  return within(run, limit, async (signal) => {
    let reply: Reply | undefined
    for await (const event of model.complete({ context, signal, ...(settings && { settings }) })) {
      // Nobody waits for it any more.
      if (signal.aborted) throw signal.reason
      if (event.type === 'finish') {
        // Whole is whole: a stream that stays open, fails or says more after that takes nothing of
        // it.
        reply = event
        break
      }
      if (event.type === 'text') {
        run.answer += event.text
        emit({ type: 'text', step, text: event.text })
      } else if (event.type === 'reasoning') emit({ type: 'reasoning', step, text: event.text })
    }
    if (!reply) throw incomplete(model.id, 'ended without a `finish`')
    if (reply.message?.role !== 'assistant')
      throw incomplete(model.id, 'did not end with an assistant message')
    return reply
  })
}

/** A tool that must be called would be refused where there are none. */
function withoutChoice(settings: ModelSettings | undefined): ModelSettings | undefined {
  if (!settings) return undefined
  const { toolChoice: _, ...rest } = settings
  return rest
}

function incomplete(id: string, problem: string): PlimsollError {
  return new PlimsollError('ERR_INVALID_ARGUMENT', `runAgent: model ${id} ${problem}`, { argument: 'model' })
}

/**
 * The reply with what it took and which model wrote it, unless the metadata would have no room for
 * it.
 *
 * @param isAlways also where nothing was reported
 */
export function withUsage(
  message: MessageInput,
  call: CallUsage,
  { id: model }: Pick<Model, 'id'>,
  isAlways = false,
): MessageInput {
  if (!call.reported && !isAlways) return message
  return noted(message, { usage: { ...call, model } as unknown as Json })
}

/** Why a reply ended, in its metadata, where that has room for it. */
export function withFinish(message: MessageInput, finishReason: string): MessageInput {
  return noted(message, { finishReason })
}

function noted(message: MessageInput, more: { readonly [name: string]: Json }): MessageInput {
  const metadata = { ...message.metadata, ...more }
  return utf8Length(JSON.stringify(metadata)) > MAX_METADATA_BYTES ? message : { ...message, metadata }
}
