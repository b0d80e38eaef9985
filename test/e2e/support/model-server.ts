import { serve, textOf } from '../../unit/support/served.ts'
import type { ChatReply } from '../use-chat.ts'

/**
 * A server that speaks OpenAI's Chat Completions, streaming alone, and gives replies in the order
 * in which they were queued.
 */
export interface ModelServer {
  readonly url: string
  /** What comes next; what was queued before and not given is forgotten. */
  queue(replies: readonly ChatReply[]): void
  close(): Promise<void>
}

/** @param script what it says to a request, by the request's body. Default: what was queued */
export async function modelServer(
  script?: (request: string) => ChatReply | undefined | Promise<ChatReply>,
): Promise<ModelServer> {
  let replies: ChatReply[] = []
  let calls = 0
  const { url, close } = await serve((incoming, response) => {
    const answer = async (): Promise<void> => {
      const request = await textOf(incoming)
      const reply = script ? await script(request) : replies.shift()
      if (!reply) return void response.writeHead(400).end('{"error":{"message":"no reply is left"}}')
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      const write = (delta: object, finish: string | null = null): Promise<void> =>
        new Promise((written) => {
          const chunk = {
            id: 'reply',
            object: 'chat.completion.chunk',
            created: 0,
            model: 'tests',
            choices: [{ index: 0, delta, finish_reason: finish }],
          }
          response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => written())
        })
      await write({ role: 'assistant', content: '' })
      if (reply.reasoning) await write({ reasoning_content: reply.reasoning })
      const words = reply.text?.match(/\s*\S+/g) ?? []
      for (const [index, content] of words.entries()) {
        if (index === words.length - 1) await reply.until
        await write({ content })
      }
      if (reply.fails) return void response.destroy()
      for (const [index, { name, input }] of (reply.calls ?? []).entries())
        await write({
          tool_calls: [
            {
              index,
              id: `call-${++calls}`,
              type: 'function',
              function: { name, arguments: JSON.stringify(input) },
            },
          ],
        })
      await write({}, reply.calls?.length ? 'tool_calls' : 'stop')
      response.end('data: [DONE]\n\n')
    }
    answer().catch(() => response.destroy())
  })
  return {
    url: `${url}/v1`,
    queue: (next) => {
      replies = [...next]
    },
    close,
  }
}
