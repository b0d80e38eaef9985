import { invalid } from '../../../text/json.ts'
import type { ChatRequest } from '../protocol.ts'
import { type AdmitOptions, admit, checkFirst } from './admit.ts'
import { storedReply } from './completion.ts'
import { CompletionEncoder, type ReplyHead } from './encoder.ts'
import { sentItems } from './items.ts'
import { OPERATION, readCompletionRequest } from './request.ts'
import { singleReply } from './single-reply.ts'

/** What a client may always call the model, whatever it is. */
export const MODEL_NAME = 'plimsoll'

export interface CompletionChatOptions extends AdmitOptions {
  /** Another name of the model. */
  readonly modelId: string
  /** A request for more is refused: the budget keeps no room for it. Default: no limit. */
  readonly maxOutputTokens?: number
  /** Whether its session is yet to be made: what that would refuse is refused. Default false. */
  readonly isFirst?: boolean
}

/**
 * A chat of OpenAI's Chat Completions: one call of the model, whose calls of the request's tools go
 * to the client. Its reply is stored before its end is sent; of one that breaks off nothing is
 * stored, and the client may ask again.
 *
 * @throws ERR_INVALID_ARGUMENT (`argument`: path of the field); of the first one ERR_TOOL_PENDING
 */
export function completionChat(body: unknown, options: CompletionChatOptions): ChatRequest {
  const request = readCompletionRequest(body)
  const { model, system, settings, isStream } = request
  const { modelId, maxOutputTokens: most = Infinity } = options
  if ((settings.maxOutputTokens ?? 0) > most)
    throw invalid(OPERATION, 'max_completion_tokens', `must be at most ${most} here`)
  if (model !== MODEL_NAME && model !== modelId)
    throw invalid(OPERATION, 'model', `is unknown here; known is ${MODEL_NAME}`)
  const sent = sentItems(request.messages)
  if (options.isFirst) checkFirst(sent)
  return {
    isWhole: !isStream,
    ...(system !== undefined && { system }),
    async admit({ session }, host) {
      const { reply, round } = await admit(session, sent, options)
      if (reply) {
        const { id: messageId, createdAt } = reply
        const { finish, usage } = storedReply(reply)
        const encoder = new CompletionEncoder({ messageId, createdAt, model }, request)
        return { type: 'answered', messageId, opening: '', text: encoder.whole(reply, finish, usage) }
      }
      const head: ReplyHead = { messageId: host.newId(), createdAt: host.now(), model }
      return {
        type: 'run',
        messageId: head.messageId,
        encoder: new CompletionEncoder(head, request),
        run: singleReply(request, head, round),
      }
    },
  }
}
