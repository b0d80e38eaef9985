import { firstReplyId } from '../../../agent/lease.ts'
import { roundOf } from '../../../agent/transcript.ts'
import { agentRun } from '../agent-run.ts'
import type { ChatRequest } from '../protocol.ts'
import { applyUIRequest, checkFirst } from './admit.ts'
import { repeated, uiEncoder } from './encoder.ts'
import { keyOf, readUIRequest, type UIRequestOptions } from './request.ts'

/**
 * A chat of the AI SDK: the edge's own agent answers, and what it says is a UI message stream.
 *
 * @throws ERR_INVALID_ARGUMENT; of the first one ERR_NOT_FOUND, ERR_LIMIT
 */
export function uiChat(body: unknown, options: UIRequestOptions): ChatRequest {
  const request = readUIRequest(body, options)
  if (options.isFirst) checkFirst(request)
  return {
    key: keyOf(request),
    hasParts: request.messages.at(-1)?.role === 'assistant',
    async admit({ session, lease }, host) {
      const applied = await applyUIRequest(session, request, () => host.newId())
      if (applied.type === 'answered') {
        const { answer } = applied
        const [opening, text] = repeated(answer)
        return { type: 'answered', messageId: answer.id, opening, text }
      }
      const { input, before, replies } = applied
      // Under a lease the reply is named after what it answers, no matter who gives it.
      const asked = lease && !before && (input?.id ?? roundOf(await session.history({ rounds: 1 })))
      const messageId = asked ? await firstReplyId(session, asked) : applied.messageId
      return {
        type: 'run',
        messageId,
        encoder: uiEncoder({ messageId, ...(before && { before, replies }) }),
        run: agentRun({ ...(input && { input }), ...(!before && { messageId }) }),
      }
    },
  }
}
