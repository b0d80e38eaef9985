import { type CompletionChatOptions, completionChat } from './completions/chat.ts'
import type { ChatRequest } from './protocol.ts'
import { uiChat } from './ui/chat.ts'
import type { UIRequestOptions } from './ui/request.ts'

/** What a body is read with, by the protocol of the door that it came by. */
export type ChatRequestOptions =
  | ({ readonly protocol: 'ui' } & UIRequestOptions)
  | ({ readonly protocol: 'completions' } & CompletionChatOptions)

/**
 * Reads the body of a request, in either protocol; nothing is written. @throws ERR_INVALID_ARGUMENT
 * (`argument`: path of the field)
 */
export function parseChatRequest(body: unknown, options: ChatRequestOptions): ChatRequest {
  return options.protocol === 'ui' ? uiChat(body, options) : completionChat(body, options)
}
