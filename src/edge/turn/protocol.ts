/**
 * What a turn is made of, whichever protocol asks for it: a request, who answers it, and how that
 * is written.
 */
import type { AgentEvent } from '../../agent/events.ts'
import type { Lease } from '../../agent/lease.ts'
import type { AgentTool, RunOptions } from '../../agent/options.ts'
import type { ErrorCode } from '../../ports/errors.ts'
import type { AbortSignalLike, Host } from '../../ports/host.ts'
import type { MessageInput } from '../../ports/message.ts'
import type { FinishReason, Model, Usage } from '../../ports/model.ts'
import type { EdgeSession } from '../features.ts'
import type { HookedModelOptions, ModelHooks } from './hooked-model.ts'

/** A request of a chat that was read and checked. */
export interface ChatRequest {
  /**
   * How it is known when it comes again. What is streamed to one that has a key is kept, to be read
   * again, and there is one at a time; those without wait for one another, and each is read by its
   * caller alone.
   */
  readonly key?: RequestKey
  /** Instructions in place of the app's own. */
  readonly system?: string
  /** Whether what it sends is one JSON text, and no stream. Default false. */
  readonly isWhole?: boolean
  /** Whether its caller has the parts of the message that the run goes on with. Default false. */
  readonly hasParts?: boolean
  /**
   * Writes what is new of its messages, or leaves it to the run. Applying it again leaves the
   * session as applying it once.
   */
  admit(work: Pick<TurnWork, 'session' | 'lease'>, host: Pick<Host, 'now' | 'newId'>): Promise<Admitted>
}

/** How a request is known when it comes again. */
export interface RequestKey {
  readonly key: string
  /** What the key stood for; under an `Idempotency-Key` it may not change. */
  readonly fingerprint: string
  /**
   * Which runs it can be the same as: any that is kept; the newest alone, since the same edit may
   * be meant again after another; only one that goes on, since a chat asks for another answer with
   * the same words each time.
   */
  readonly among: 'all' | 'newest' | 'running'
  /** Whether it is the caller's own name: then its stream is kept for a day. */
  readonly isNamed?: true
}

/** What a turn has to do once its request was admitted. */
export type Admitted =
  /** To answer. */
  | {
      readonly type: 'run'
      /** Id of the message that the run writes, or writes on. */
      readonly messageId: string
      readonly encoder: Encoder
      readonly run: Run
    }
  /** Nothing: this was the answer. */
  | {
      readonly type: 'answered'
      readonly messageId: string
      /** The stream that it had: what begins it, and the rest. */
      readonly opening: string
      readonly text: string
    }

/** Answers, and tells what happens as it happens. What it throws ends the turn. */
export type Run = (work: RunWork, tell: (event: TurnEvent) => void) => Promise<TurnOutcome>

/** How a turn ended. */
export interface TurnOutcome {
  readonly status: 'done' | 'stopped' | 'failed'
  /** Why it failed. */
  readonly code?: ErrorCode
  /** Model calls whose reply was recorded. */
  readonly steps: number
}

/** What an object has for a turn. */
export interface TurnWork {
  readonly session: EdgeSession
  readonly model: (options?: Omit<HookedModelOptions, keyof ModelHooks>) => Model
  readonly tools: readonly AgentTool[]
  readonly options: AgentOptions
  /** What decides that the agent answers a message, and no other one. Absent: it always does. */
  readonly lease?: Lease
}

/** What a run does its work with. */
export interface RunWork extends TurnWork {
  readonly host: Host
  readonly signal: AbortSignalLike
  /** To be called once errors go into the stream, and no longer to the caller. */
  readonly begin: () => void
}

/** What of a run of the agent is for the app to choose. */
export type AgentOptions = Pick<
  RunOptions,
  'maxSteps' | 'settings' | 'limits' | 'middleware' | 'timeouts' | 'parallel'
>

/**
 * What happens in a turn: what the agent's loop tells, and the end of a reply whose calls are for
 * the client.
 */
export type TurnEvent =
  | AgentEvent
  | {
      readonly type: 'reply'
      readonly message: Pick<MessageInput, 'content'>
      readonly reason: FinishReason
      readonly usage: Usage
      /** Tokens of the request, by the memory's own count. */
      readonly predicted: number
    }

/** Writes a turn as its protocol has it. */
export interface Encoder {
  /** What is sent for an event; after `finish`, `reply` or `error` nothing more. */
  next(event: TurnEvent): string
}

/** Data of one server-sent event. */
export function sse(data: string): string {
  return `data: ${data}\n\n`
}

/** What ends a stream, in both protocols. */
export const SSE_DONE = sse('[DONE]')
