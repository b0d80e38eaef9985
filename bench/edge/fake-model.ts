import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

const WORDS = ['Turin', ' is', ' at', ' nine', ' forty', '.']

/** A server that speaks as much of OpenAI's Chat Completions, streaming, as a reply needs. */
export class FakeModel {
  /** Milliseconds from a request to the first word of its reply. */
  delayMs = 0
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
    for (const content of WORDS) write(event({ content }, null))
    write(event({}, 'stop', { prompt_tokens: 1_000, completion_tokens: WORDS.length, total_tokens: 1_006 }))
    write('data: [DONE]\n\n')
    end()
  }
}

function event(delta: object, finish: string | null, usage?: object): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const chunk = { id: 'reply', object: 'chat.completion.chunk', created: 0, model: 'bench', choices, usage }
  return `data: ${JSON.stringify(chunk)}\n\n`
}
