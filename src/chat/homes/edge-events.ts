import type { ChatChunk } from '../../client/chat.ts'
import type { Json } from '../../ports/message.ts'
import type { ShownCall } from '../ports.ts'
import type { ReplyEvent } from './home.ts'

/** Takes chunks of an edge's chat for what a conversation shows of them. */
export class EdgeEvents {
  readonly #calls = new Map<string, ShownCall>()
  /** Text of the step under way. */
  text = ''

  next(chunk: ChatChunk): readonly ReplyEvent[] {
    switch (chunk.type) {
      case 'start':
      case 'start-step':
      case 'reset-step':
        this.text = ''
        return [{ type: 'step' }]
      case 'text-delta':
        this.text += chunk.delta ?? ''
        return [{ type: 'text', text: chunk.delta ?? '' }]
      case 'reasoning-delta':
        return [{ type: 'reasoning', text: chunk.delta ?? '' }]
      case 'tool-input-available':
        // Its reply is recorded.
        this.text = ''
        return this.#call(chunk, {
          name: String(chunk.toolName),
          input: (chunk.input ?? null) as Json,
          status: 'running',
        })
      case 'tool-output-available':
        return this.#call(chunk, { output: (chunk.output ?? null) as Json, status: 'ok' })
      case 'tool-output-error':
        return this.#call(chunk, { output: chunk.errorText ?? '', status: 'failed' })
      case 'finish-step':
        this.text = ''
        return [{ type: 'recorded' }]
      case 'finish':
      case 'abort':
      case 'error':
        return [{ type: 'recorded' }]
      default:
        return []
    }
  }

  #call({ toolCallId }: ChatChunk, change: Partial<ShownCall>): readonly ReplyEvent[] {
    const callId = String(toolCallId)
    const before: ShownCall = this.#calls.get(callId) ?? { callId, name: '', input: null, status: 'running' }
    const call = { ...before, ...change }
    this.#calls.set(callId, call)
    return [{ type: 'call', call }]
  }
}
