/** What crosses between the Worker, or another object, and a session's object. */
import type { KeyedRequest } from '../rows/answers.ts'
import type { SessionScope } from '../rows/session-record.ts'

/** What goes with a call beside its input. */
export interface CallMeta {
  /** Names the op; repeating it is a no-op that gives the first result. */
  readonly opId?: string
  /** The caller's own name for the request. It names the op too, and what it is answered with. */
  readonly keyed?: KeyedRequest
  /** Of the request's body, for the budget of bytes. Default: nothing is written. */
  readonly bytes?: number
}

/** What a chat and its stream go over, beside the call itself. */
export interface RelayedCall extends CallMeta {
  /** Id of the socket that the Worker opened for it. */
  readonly relay: string
}

/** A request of a chat. */
export interface ChatCall extends RelayedCall {
  /** Of a message that has no id: the same each time that the call is sent. */
  readonly messageId: string
}

/** A request of the Model Context Protocol; its body is within the limit. */
export interface McpCall {
  readonly method: string
  readonly headers: [string, string][]
  readonly body?: Uint8Array
  /** Makes the session if it is not there. */
  readonly create?: true
}

/** A request of OpenAI's Chat Completions. */
export interface CompletionCall extends RelayedCall {
  readonly body: unknown
  /** Whether the client says that it repeats a request. */
  readonly isRetry?: true
  /** Makes the session if it is not there. */
  readonly create?: true
}

/** A chat of which the relay has the stream. */
export interface BegunChat {
  readonly run: string
}

/** A completion of which the relay has the answer. */
export interface BegunCompletion {
  /** Whether it is one JSON text, and no server-sent events. */
  readonly isWhole: boolean
}

export interface SessionOptions {
  readonly title?: string
  readonly project?: string
}

/** A session that another object is to take over. */
export interface ReleasedSession extends SessionOptions {
  readonly scope: SessionScope
  readonly id: string
}
