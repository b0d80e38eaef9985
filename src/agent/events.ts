import type { CompactEvent, Receipt } from '../ports/context.ts'
import type { Json, Message, MessageInput } from '../ports/message.ts'
import type { CallUsage, PastStep, Stop } from './middleware.ts'
import type { AgentResult } from './options.ts'

/** A call of an assistant's message that is in the conversation. */
export interface AgentCall {
  /** Id of that message, and the call's place among its calls, from 0. */
  readonly entry: string
  readonly index: number
  /** As the model gave it; data reuse ids, so `entry` and `index` are what names a call. */
  readonly callId: string
  readonly name: string
  readonly input: Json
}

/** What became of one call. */
export type CallStatus =
  | 'ok'
  /**
   * No tool has that name; the arguments are not what its schema asks for; a middleware denied it.
   */
  | 'unknown'
  | 'invalid'
  | 'denied'
  /** It threw, or what it gave is not JSON. */
  | 'failed'
  | 'timeout'
  /** It was settled when the run began: with an error, or by what the app knew of it. */
  | 'interrupted'
  | 'given'

/**
 * Everything that a run tells, in the order in which it happens. `step` counts the run's model
 * calls, from 1.
 */
export type AgentEvent =
  | { readonly type: 'run-start'; readonly model: string; readonly tools: readonly string[] }
  /** What the conversation was found to wait for, and how it was settled; before any step. */
  | {
      readonly type: 'resume'
      /** Messages that were read. */
      readonly messages: number
      readonly pending: readonly AgentCall[]
      readonly settled: 'none' | 'run' | 'fail' | 'given'
      /** Whether the newest message is a final answer already, so that no model is called. */
      readonly answered: boolean
    }
  /** Under a lease: another one answers, this run does, or this run does no more. */
  | {
      readonly type: 'lease'
      readonly status: 'waiting' | 'held' | 'lost'
      /** Id of the message that is answered. */
      readonly message: string
      /** Who has the lease now; empty where that is not known. */
      readonly holder: string
    }
  /** The log has another reply to this step already: the run goes on from that one. */
  | {
      readonly type: 'reply-dropped'
      readonly step: number
      readonly message: MessageInput
      readonly stored: Message
    }
  /** Under a lease: a step that another run made, as far as the log has it. */
  | { readonly type: 'past-step'; readonly step: PastStep }
  | { readonly type: 'step-start'; readonly step: number }
  /** A context was built; its account. */
  | { readonly type: 'context'; readonly step: number; readonly receipt: Receipt; readonly hash: string }
  /** A further piece of the reply, as it comes. */
  | { readonly type: 'text'; readonly step: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly step: number; readonly text: string }
  /** A call of a reply that is whole. */
  | { readonly type: 'tool-call'; readonly step: number; readonly call: AgentCall }
  /** Its tool begins: the arguments are valid and nothing denied it. */
  | { readonly type: 'tool-start'; readonly step: number; readonly call: AgentCall }
  /** Its result is in the conversation. `output` is what was recorded, by the first to do so. */
  | {
      readonly type: 'tool-result'
      readonly step: number
      readonly call: AgentCall
      readonly status: CallStatus
      readonly output: Json
      readonly isError: boolean
      /** Whether another run had recorded a result before. */
      readonly repeated: boolean
    }
  /** A message is in the conversation, as it is stored there. */
  | { readonly type: 'message'; readonly message: Message }
  /** What a model call was foretold to take in, and what was reported of it. */
  | ({ readonly type: 'usage'; readonly step: number } & CallUsage & {
        /** Reported minus predicted; absent where nothing was reported. */
        readonly difference?: { readonly input: number; readonly cached: number }
      })
  /** A middleware said something to the model, in the tail of this step's request. */
  | { readonly type: 'nudge'; readonly step: number; readonly by: string; readonly text: string }
  | CompactEvent
  /** A middleware, or `onEvent` itself, failed. The run goes on, unless `kind` is `guard`. */
  | {
      readonly type: 'middleware-failure'
      readonly by: string
      readonly kind: 'enricher' | 'guard'
      readonly hook: string
      readonly error: unknown
    }
  /** A middleware ended the run. */
  | ({ readonly type: 'stop' } & Stop)
  /** The last event of a run that resolves. */
  | { readonly type: 'finish'; readonly result: AgentResult }
  /** The last event of a run that rejects, with the same error. */
  | { readonly type: 'error'; readonly error: unknown }
