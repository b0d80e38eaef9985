import type { Model, ModelEvent, ToolCallPart } from '../../../src/index.ts'
import type { Caller } from './caller.ts'

/**
 * What a model does for one reply: text, other events, a wait, a failure. Without a `finish` of its
 * own it ends with what it said.
 */
export type Step = string | ModelEvent | Promise<unknown> | Error

/** A model that plays replies in their order. */
export function playing(...replies: readonly (readonly Step[])[]): Model {
  let next = 0
  return {
    id: 'player',
    async *complete() {
      const said: ModelEvent[] = []
      for (const step of replies[next++] ?? []) {
        if (step instanceof Error) throw step
        if (step instanceof Promise) {
          await step
          continue
        }
        const event: ModelEvent = typeof step === 'string' ? { type: 'text', text: step } : step
        said.push(event)
        yield event
      }
      if (said.at(-1)?.type !== 'finish') yield finish(said)
    },
  }
}

/** The end of a reply that says what was said before it. */
function finish(said: readonly ModelEvent[]): ModelEvent {
  const textOf = (type: 'text' | 'reasoning'): string =>
    said.map((event) => (event.type === type ? event.text : '')).join('')
  const calls = said.flatMap((event) => (event.type === 'tool-call' ? event.call : []))
  const [reasoning, text] = [textOf('reasoning'), textOf('text')]
  return {
    type: 'finish',
    message: {
      role: 'assistant',
      content: [
        ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...calls,
      ],
    },
    usage: { inputTokens: 100, cachedInputTokens: 80, outputTokens: 9 },
    reason: calls.length > 0 ? 'tool-calls' : 'stop',
  }
}

export function call(id: string, name: string, input: ToolCallPart['input']): ModelEvent {
  return { type: 'tool-call', call: { type: 'tool-call', id, name, input } }
}

export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Headers that the two protocols set; all others are those of every answer. */
const HEADERS = [
  ...['content-type', 'cache-control', 'x-vercel-ai-ui-message-stream', 'x-accel-buffering'],
  ...['plimsoll-run', 'retry-after', 'x-should-retry', 'content-length'],
]

/** An answer whose body may be still coming. */
export interface Coming {
  readonly response: Response
  /** Reads on until that text came, or the end. */
  until(text: string): Promise<string>
  /** All of the body, from its beginning. */
  whole(): Promise<string>
  /** Leaves, as a client that went away. */
  leave(): Promise<void>
}

/**
 * Calls of one client and their answers, as text. Ids, and the hashes that are made of them, are
 * numbered in the order in which they come.
 */
export class Transcript {
  readonly #caller: Caller
  readonly #ids = new Map<string, number>()
  #text = ''

  constructor(caller: Caller) {
    this.#caller = caller
  }

  get text(): string {
    return this.#text
  }

  /** Begins a call; nothing of it is noted. */
  async begin(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Coming> {
    const response = await this.#caller.fetch(method, `/v1/${path}`, {
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    const until = async (wanted: string | undefined): Promise<string> => {
      while (wanted === undefined || !text.includes(wanted)) {
        const read = await reader?.read()
        if (!read || read.done) break
        text += decoder.decode(read.value, { stream: true })
      }
      return text
    }
    return {
      response,
      until,
      whole: () => until(undefined),
      leave: async () => reader?.cancel(),
    }
  }

  /** Notes an answer, whole. */
  async note(name: string, { response, whole }: Coming): Promise<string> {
    const headers = HEADERS.flatMap((header) => {
      const value = response.headers.get(header)
      return value === null ? [] : [`${header}: ${value}`]
    })
    const text = await whole()
    this.#text += this.#plain([`# ${name}`, String(response.status), ...headers, '', text, '', ''].join('\n'))
    return text
  }

  /** A call, and its answer. */
  async call(
    name: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<string> {
    return this.note(name, await this.begin(method, path, body, headers))
  }

  #plain(text: string): string {
    return (
      text
        .replace(/[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
          const number = this.#ids.get(id) ?? this.#ids.size + 1
          this.#ids.set(id, number)
          return `id-${number}`
        })
        .replace(/"(created|created_at)":\d+/g, '"$1":0')
        // Of a minute, some seconds may have passed.
        .replace(/(retry-after: |"retry_after":|used up; try again in )(?:5\d|60)\b/g, '$160')
    )
  }
}
