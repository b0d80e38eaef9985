import type { Context } from '../ports/context.ts'
import type { AbortSignalLike } from '../ports/host.ts'
import type { Json, Message, MessageInput } from '../ports/message.ts'
import type { FinishReason } from '../ports/model.ts'
import type { Limits, TailSection } from '../ports/session.ts'
import type { AgentSession } from './agent-session.ts'
import type { AgentCall, CallStatus } from './events.ts'

/**
 * Something that watches a run or takes part in it. Hooks run by `order`, the lowest first, and
 * where it is equal by their place in the list; the two `after` hooks the other way round.
 *
 * An *enricher* fails open: what it throws, or that it does not end in time, becomes an event,
 * and the run goes on without it. A *guard* fails closed: the run stops, and the calls that wait
 * are answered by an error.
 */
export interface Middleware {
  /**
   * Names it in events, and its section of the tail: 1 to 64 letters, digits, dashes and
   * underscores.
   */
  readonly name: string
  readonly order: number
  readonly kind: 'enricher' | 'guard'
  /**
   * Contract: called once for each run, when it begins; what the hooks remember belongs in here, so
   * that no two runs share it.
   */
  start(run: RunInfo): Hooks
}

/**
 * Contract of all hooks: to have nothing to say is to return nothing. Each ends within
 * `timeouts.hook`.
 */
export interface Hooks {
  /** Before a context is built. */
  beforeModelCall?(call: ModelCall & Signalled): Promise<Proposal | undefined> | Proposal | undefined
  /**
   * After the reply was recorded, or the call failed. What is thrown after a failed call changes
   * nothing.
   */
  afterModelCall?(end: ModelCallEnd & Signalled): Promise<void> | void
  /** Before a tool is run; its arguments are not checked yet. */
  beforeTool?(call: ToolCall & Signalled): Promise<Denial | undefined> | Denial | undefined
  /** After the result was recorded, also that of a call which did not run. */
  afterTool?(end: ToolCallEnd & Signalled): Promise<void> | void
}

export interface RunInfo {
  readonly session?: AgentSession
  /** Unix milliseconds. */
  now(): number
  /** A fresh id, unique for ever. */
  newId(): string
  /**
   * Steps of this run that are in the log already, in order: under a lease another one may have
   * begun it. What the hooks remember of steps they take from here, so that the run goes on as if
   * it had never been interrupted. Absent: there are none.
   */
  readonly past?: readonly PastStep[]
  /** Under a lease: id of the message that is answered, the same for all who answer it. */
  readonly message?: string
}

/** A model call that was made, and what became of the calls in its reply, in the log's order. */
export interface PastStep {
  readonly step: number
  readonly message: Message
  readonly calls: readonly PastCall[]
  readonly usage: CallUsage
}

export type PastCall = Pick<ToolCallEnd, 'call' | 'output' | 'isError'>

export interface Signalled {
  /** Aborts with the run, and when the hook's time is up. */
  readonly signal: AbortSignalLike
}

export interface ModelCall {
  /** The run's model calls, this one included. */
  readonly step: number
  readonly session?: AgentSession
  /** Without a session: the conversation, as middleware before this one left it. */
  readonly messages?: readonly Message[]
  /** The run's calls so far, added up. */
  readonly usage: RunUsage
  /**
   * With a session, before the call: the context as it would be with the limits that were proposed
   * by now, and without any tail of middleware. Writes nothing. @throws as `session.context`
   */
  preview?(): Promise<Context>
}

export type ModelCallEnd = ModelCall &
  (
    | {
        readonly status: 'ok'
        readonly message: Message
        readonly context: Context
        readonly reason: FinishReason
        readonly call: CallUsage
      }
    | { readonly status: 'failed'; readonly error: unknown }
  )

export interface ToolCall {
  /** The step whose reply made the call; 0 for one that was found waiting. */
  readonly step: number
  readonly session?: AgentSession
  readonly call: AgentCall
}

export interface ToolCallEnd extends ToolCall {
  readonly status: CallStatus
  readonly output: Json
  readonly isError: boolean
}

/**
 * What a middleware would like of the next request. Tails follow each other in the order of the
 * hooks. Of `window` and `toolOutput` the last one that is given holds, each as a whole; what the
 * core refuses or cannot fit is left out, and told by an event.
 */
export interface Proposal {
  /** Sections for the last block of this request. */
  readonly tail?: readonly TailSection[]
  /** A section of the middleware's own name, told by a `nudge` event too. */
  readonly nudge?: string
  readonly limits?: Limits
  /**
   * Without a session: the messages of this request, in place of all that was said. The
   * conversation itself stays. Calls and results that lack each other are left out, or answered by
   * an error. With a session the window shows the log, and this is a failure.
   */
  readonly messages?: readonly MessageInput[]
  /**
   * This request is the run's last and has no tools: the run ends with the model's answer. The
   * first middleware that says so gives the reason.
   */
  readonly last?: { readonly reason: string }
  /** Ends the run before this call; later hooks do not run. */
  readonly stop?: { readonly reason: string }
}

export interface Denial {
  /** Why the call is not run, for the model to read. */
  readonly deny: string
}

/** What ended a run. */
export interface Stop {
  /** Name of the middleware. */
  readonly by: string
  readonly reason: string
  /** What a guard failed with. */
  readonly error?: unknown
}

/** Tokens of one model call, or of all calls of a run. */
export interface CallUsage {
  /**
   * By the context's own count: all of the input, and the part that the provider may have cached
   * from the run's last call.
   */
  readonly predicted: { readonly input: number; readonly cached: number }
  /** By the provider; absent where it said nothing, and a number that it did not say is 0. */
  readonly reported?: ReportedTokens
}

export interface ReportedTokens {
  /** Input that came from the cache, and the rest of the input. */
  readonly cached: number
  readonly uncached: number
  readonly output: number
}

export interface RunUsage {
  readonly predicted: { readonly input: number; readonly cached: number }
  /** Of the calls that were reported. */
  readonly reported: ReportedTokens
}
