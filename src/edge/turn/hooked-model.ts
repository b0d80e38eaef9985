import { MAX_ENTRY_BYTES } from '../../kernel/log/message.ts'
import type { Context } from '../../ports/context.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { MessageInput } from '../../ports/message.ts'
import type { Model, ModelEvent, ModelRequest, Usage } from '../../ports/model.ts'
import { modelError } from './run-error.ts'

/** What watches the calls of a model, for budgets. */
export interface ModelHooks {
  /**
   * Contract: called before each call, with the tokens that it will take in by the memory's own
   * count. What it throws, for example ERR_RATE_LIMIT, ends the run before the call is made.
   */
  beforeModel?(tokens: number): Promise<void> | void
  /**
   * Contract: called after each call that was made, also one that failed or was stopped, with what
   * was reported of it, which may be nothing, with what it was given, and with how many characters
   * came. What it throws is ignored.
   */
  afterModel?(usage: Usage, context: Context, said: number): Promise<void> | void
}

export interface HookedModelOptions extends ModelHooks {
  /** Contract: called once a call may be made. */
  readonly onCall?: () => void
  /** Gives the first reply its id. */
  readonly messageId?: string
}

/**
 * What a model throws whose call was lost on its way: it is to be made once more. Contract: a
 * model throws it no second time in a row.
 */
export class LostCall extends Error {}

/**
 * A model whose calls are reported, whose first reply has a known id, and whose errors
 * are errors of ours. Of a call that is made once more the end alone is told: the words of the
 * first reply were.
 */
export function hookedModel(
  model: Model,
  { beforeModel, afterModel, onCall, messageId }: HookedModelOptions,
): Model {
  let id = messageId
  const named = (message: MessageInput): MessageInput => (id === undefined ? message : { ...message, id })
  async function* complete(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    try {
      yield* called(request)
    } catch (error) {
      if (!(error instanceof LostCall)) throw error
      for await (const event of called(request)) if (event.type === 'finish') yield event
    }
  }
  async function* called(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    const { context } = request
    await beforeModel?.(context.receipt.used)
    onCall?.()
    let usage: Usage = {}
    let said = 0
    try {
      for await (const event of model.complete(request)) {
        if (event.type !== 'finish') {
          said += event.type === 'tool-call' ? JSON.stringify(event.call.input).length : event.text.length
          // It could not be stored, and more of it might leave the object no memory.
          if (said > MAX_ENTRY_BYTES)
            throw new PlimsollError('ERR_ENTRY_TOO_LARGE', 'the reply', {
              size: said,
              limit: MAX_ENTRY_BYTES,
            })
          yield event
          continue
        }
        usage = event.usage ?? {}
        const message = named(event.message)
        id = undefined
        yield { ...event, message }
        return
      }
    } catch (error) {
      throw error instanceof LostCall ? error : modelError(error)
    } finally {
      await ignored(async () => afterModel?.(usage, context, said))
    }
  }
  return { id: model.id, complete }
}

async function ignored(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch {}
}
