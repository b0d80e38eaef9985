import { withUsage } from '../../../agent/model-call.ts'
import { reportedBy } from '../../../agent/usage.ts'
import { Aborted, within } from '../../../agent/within.ts'
import { predict } from '../../../kernel/context/predict.ts'
import { PlimsollError } from '../../../ports/errors.ts'
import type { Run } from '../protocol.ts'
import { withPictures } from '../with-pictures.ts'
import { finishOf, withItsFinish } from './completion.ts'
import type { ReplyHead } from './encoder.ts'
import type { CompletionRequest } from './request.ts'

/**
 * One call of the model. What comes is passed on at once; the reply is stored once it is whole, and
 * what it calls is left to the client.
 *
 * @param round that of what is answered
 * @throws what `session.append` and `session.context` throw, ERR_MODEL and others of the model's,
 * ERR_TIMEOUT, ERR_CONFLICT: it was stopped
 */
export function singleReply(
  { tools, settings, isStream }: CompletionRequest,
  { messageId, createdAt }: ReplyHead,
  round: string | undefined,
): Run {
  return async ({ session, model, options, host, signal, begin }, tell) => {
    const context = await session.context({
      ...(tools.length > 0 && { tools }),
      ...(session.recall && { recall: true as const }),
    })
    const answering = withPictures(model(), session)
    const limit = { ms: options.timeouts?.model, subject: 'the call of the model' }
    const finished = await within({ host, signal }, limit, async (signal) => {
      const events = answering.complete({
        context,
        settings: { ...options.settings, ...settings },
        signal,
      })
      let calls = 0
      for await (const event of events) {
        // Nobody waits for it any more.
        if (signal.aborted) throw signal.reason
        if (event.type === 'finish') return event
        if (event.type === 'tool-call') {
          const { id: callId, name, input } = event.call
          tell({
            type: 'tool-call',
            step: 1,
            call: { entry: messageId, index: calls++, callId, name, input },
          })
        } else tell({ ...event, step: 1 })
        if (isStream) begin()
      }
    }).catch(endedBy)
    if (finished?.message.role !== 'assistant')
      throw new PlimsollError('ERR_MODEL', `model ${answering.id}: it ended without a reply`)
    const { message, reason, usage = {} } = finished
    const reported = reportedBy(usage)
    const predicted = predict(context, undefined)
    const call = { predicted, ...(reported && { reported }) }
    const stored = withUsage(withItsFinish(message, finishOf(reason, message)), call, answering)
    await session.append({ ...stored, id: messageId, createdAt }, round === undefined ? {} : { round })
    tell({ type: 'reply', message, reason, usage, predicted: predicted.input })
    return { status: 'done', steps: 1 }
  }
}

/** Its caller does not stop a completion: what it was to stand in is gone. */
function endedBy(error: unknown): never {
  if (!(error instanceof Aborted)) throw error
  throw new PlimsollError('ERR_CONFLICT', 'chat.completions: the session was cleared or removed meanwhile')
}
