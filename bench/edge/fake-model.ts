import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

const WORDS = ['Turin', ' is', ' at', ' nine', ' forty', '.']
/** What a step is of in which it calls a tool. */
const TOOL = { name: 'memory_recall', arguments: JSON.stringify({ query: 'train' }) }

/** A server that speaks as much of OpenAI's Chat Completions, streaming, as a reply needs. */
export class FakeModel {
  /** Milliseconds from a request to the first word of its reply. */
  delayMs = 0
  /** Milliseconds from its first word to the last, which come evenly; one in 100 of them. */
  talkMs = 0
  /** Steps of a reply: in each but the last it calls a tool. */
  steps = 1
  /** The last request's body. */
  last = ''
  readonly #server = createServer((request, response) => {
    this.#answer(
      request,
      (chunk) => void response.write(chunk),
      () => void response.end(),
    ).catch(() => response.destroy())
    response.setHeader('Content-Type', 'text/event-stream')
  })

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Base URL of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(
    request: NodeJS.ReadableStream,
    write: (chunk: string) => void,
    end: () => void,
  ): Promise<void> {
    this.last = await text(request)
    if (this.delayMs > 0) await pause(this.delayMs)
    const step = stepOf(this.last)
    const isLast = step >= this.steps - 1
    const words = this.talkMs > 0 ? Array.from({ length: this.talkMs / 100 }, () => ' word') : WORDS
    for (const [index, content] of words.entries()) {
      if (index > 0 && this.talkMs > 0) await pause(100)
      write(event({ content }, null))
    }
    if (!isLast)
      write(event({ tool_calls: [{ index: 0, id: `c${step}`, type: 'function', function: TOOL }] }, null))
    write(
      event({}, isLast ? 'stop' : 'tool_calls', {
        prompt_tokens: 1_000,
        completion_tokens: words.length,
        total_tokens: 1_006,
      }),
    )
    write('data: [DONE]\n\n')
    end()
  }
}

/** How many replies have followed the newest question. */
function stepOf(body: string): number {
  const { messages = [] } = JSON.parse(body) as { messages?: readonly { role: string }[] }
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  return messages.slice(asked).filter(({ role }) => role === 'assistant').length
}

function event(delta: object, finish: string | null, usage?: object): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const chunk = { id: 'reply', object: 'chat.completion.chunk', created: 0, model: 'bench', choices, usage }
  return `data: ${JSON.stringify(chunk)}\n\n`
}
