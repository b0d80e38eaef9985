import { chatErrorOf } from './chat-error.ts'
import type { ChatCompletionChunk } from './completion.ts'

/** Headers of the {@link eventStream}. `no-transform`: a proxy that compresses holds back what is short. */
export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
} as const

/**
 * Chunks as server-sent events, with `[DONE]` at the end. A stream that fails ends with an event that holds an error in OpenAI's shape and
 * without `[DONE]`; the official clients throw it.
 */
export function eventStream(chunks: AsyncIterable<ChatCompletionChunk>): ReadableStream<Uint8Array> {
  const reader = chunks[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const eventOf = (data: string): Uint8Array => encoder.encode(`data: ${data}\n\n`)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await reader.next()
        controller.enqueue(eventOf(next.done ? '[DONE]' : JSON.stringify(next.value)))
        if (next.done) controller.close()
      } catch (error) {
        controller.enqueue(eventOf(JSON.stringify(chatErrorOf(error).body)))
        controller.close()
      }
    },
    cancel() {
      // Not waited for: it may be in the middle of a wait itself.
      reader.return?.().catch(() => {})
    },
  })
}
