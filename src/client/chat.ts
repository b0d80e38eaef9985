import type { ErrorCode } from '../ports/errors.ts'
import type { Json } from '../ports/message.ts'
import { RequestError } from './error.ts'
import { eventsIn } from './events.ts'
import { backoff, type CallOptions, sleep, type WriteOptions } from './options.ts'
import { segmentOf } from './paths.ts'
import type { Transport } from './transport.ts'

/**
 * A chunk of the AI SDK's UI message stream: give it as it is to what reads one, for example as the
 * SDK's `UIMessageChunk`. Named here are the fields that {@link ChatRun.result} reads; there are
 * further ones, and further types.
 */
export interface ChatChunk {
  readonly type:
    | 'start'
    | 'text-start'
    | 'text-delta'
    | 'text-end'
    | 'error'
    | 'abort'
    | 'finish'
    | (string & {})
  readonly id?: string
  readonly delta?: string
  readonly messageId?: string
  readonly errorText?: string
  readonly finishReason?: string
  readonly [field: string]: unknown
}

/** A message of the user's, as the AI SDK's `UIMessage`. */
export interface ChatMessage {
  /** Default: a fresh one. */
  readonly id?: string
  readonly role?: 'user'
  readonly parts: readonly { readonly type: string; readonly [field: string]: unknown }[]
  readonly metadata?: unknown
}

/** What is said, or which reply is to be made again: the newest, or that of an id. */
export type ChatInput = string | ChatMessage | { readonly regenerate: true | string }

export interface ChatOptions extends WriteOptions {
  /** What else the edge takes with a chat request; it travels as it is. */
  readonly body?: { readonly [name: string]: Json }
}

/** What a run came to. */
export interface ChatResult {
  readonly run: string
  /** Id of the reply's message, where the stream named it. */
  readonly messageId: string | undefined
  /** The texts of the reply, a blank line between them. */
  readonly text: string
  readonly finishReason: string | undefined
  /** Whether it was stopped. */
  readonly isAborted: boolean
}

/**
 * A reply as it comes: its chunks, once. It is asked for when its first chunk, or its result, is.
 * Where the connection is cut it goes on: the run is asked for again, and of what that tells from
 * the beginning, the chunks that were read are left out. Leaving the loop early, or aborting, ends
 * the connection, not the run.
 */
export interface ChatRun extends AsyncIterable<ChatChunk> {
  /** Names the run, for `resumeChat` and `stopChat`; `current` until the edge has answered. */
  readonly run: string
  /**
   * What the run came to; it is read to its end unless a loop reads it.
   *
   * @throws ERR_NOT_FOUND: no such run, or none any more; ERR_INTERRUPTED: the loop was left early,
   * or the connection is cut again and again; the code that the reply ended with, for example
   * ERR_MODEL; and as all calls
   */
  result(): Promise<ChatResult>
}

/** Header of an answer that names its run. */
const RUN = 'plimsoll-run'
const DONE = '[DONE]'
const END = /^(?:finish|abort|error)$/

/**
 * @param path of the session's chats
 * @param open Contract: begins the run. Default: it was begun before
 */
export function chatRun(
  { settings, stream }: Transport,
  path: string,
  run: string,
  options: CallOptions,
  open: (() => Promise<Response>) | undefined,
): ChatRun {
  const { signal } = options
  const reply: Reply = { texts: [] }
  const interrupted = (reason: string, cause?: unknown): RequestError =>
    new RequestError('ERR_INTERRUPTED', `chat: run ${run} ${reason}`, { id: run, cause })
  const again = (): Promise<Response> => stream('GET', `${path}/${segmentOf(run)}`, options)

  let isRead = false
  let settle: (failure: unknown) => void
  // Not everybody asks for the result: what failed is its value, since a promise that nobody awaits
  // must not be rejected.
  const ended = new Promise<unknown>((resolve) => {
    settle = resolve
  })

  async function* read(): AsyncGenerator<ChatChunk, void, undefined> {
    let failure: unknown = interrupted('was left early')
    try {
      let response = await (open ?? again)()
      for (let seen = 0, cuts = 0; ; ) {
        run = response.headers.get(RUN) ?? run
        // Chromium gives an answer without content a body, an empty one.
        if (response.status === 204) throw failureOf(`ERR_NOT_FOUND: no run ${run}`)
        let cause: unknown
        try {
          let place = 0
          for await (const data of eventsIn(response.body, signal)) {
            reply.isEnded ||= data === DONE
            if (data === DONE) break
            const chunk: ChatChunk = JSON.parse(data)
            // A run that was interrupted may tell less of itself than it did, but always its end.
            if (place++ < seen && !END.test(chunk.type)) continue
            seen = place
            cuts = 0
            take(reply, chunk)
            yield chunk
          }
        } catch (error) {
          cause = error
        }
        signal?.throwIfAborted()
        if (reply.isEnded) break
        if (!(cuts < settings.retry.retries)) throw interrupted('was cut off', cause)
        await sleep(settings, backoff(settings, cuts++), signal)
        response = await again()
      }
      failure = reply.failure
    } catch (error) {
      failure = error
      throw error
    } finally {
      settle(failure)
    }
  }

  const chunks = read()
  const iterate = (): typeof chunks => {
    isRead = true
    return chunks
  }
  return {
    get run() {
      return run
    },
    [Symbol.asyncIterator]: iterate,
    async result() {
      if (!isRead) for await (const _ of iterate());
      const failure = await ended
      if (failure !== undefined) throw failure
      const { texts, messageId, finishReason, isAborted = false } = reply
      return { run, messageId, text: texts.map(({ text }) => text).join('\n\n'), finishReason, isAborted }
    },
  }
}

/** What the chunks of a reply come to. */
interface Reply {
  readonly texts: { readonly id: string | undefined; text: string }[]
  messageId?: string | undefined
  finishReason?: string | undefined
  isAborted?: boolean
  failure?: RequestError
  /** Whether nothing of it is missing but the stream's own end. */
  isEnded?: boolean
}

function take(reply: Reply, { type, id, delta, messageId, finishReason, errorText }: ChatChunk): void {
  reply.messageId ??= messageId
  reply.finishReason ??= finishReason
  if (type === 'text-start') reply.texts.push({ id, text: '' })
  // Ids start again with each step.
  const part = type === 'text-delta' && reply.texts.findLast((text) => text.id === id)
  if (part) part.text += delta
  if (type === 'error') reply.failure = failureOf(`${errorText}`)
  reply.isAborted ||= type === 'abort'
  reply.isEnded ||= END.test(type)
}

/**
 * An error by the text that says it: a code, a colon, a sentence. What has no code is the model's.
 */
function failureOf(text: string): RequestError {
  const [, code = 'ERR_MODEL'] = /^(ERR_[A-Z_]+): /.exec(text) ?? []
  return new RequestError(code as ErrorCode, `chat: ${text}`)
}
