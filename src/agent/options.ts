import type { AbortSignalLike } from '../ports/host.ts'
import type { Json, MessageInput } from '../ports/message.ts'
import type { Model, ModelSettings } from '../ports/model.ts'
import type { Limits } from '../ports/session.ts'
import type { StandardSchema } from '../ports/standard-schema.ts'
import type { AgentSession } from './agent-session.ts'
import type { AgentCall, AgentEvent } from './events.ts'
import type { Lease } from './lease.ts'
import type { Middleware, RunUsage } from './middleware.ts'
import type { JsonSchema } from './schema.ts'

/** A tool that the model may call. */
export interface AgentTool<Input = unknown> {
  /** As the model calls it, unique in its run. */
  readonly name: string
  readonly description?: string
  /**
   * Shape of the arguments: a JSON Schema (draft 2020-12, unless its `$schema` says otherwise), or
   * a schema of any library that speaks Standard Schema, for example zod's. Arguments that do not
   * fit are answered by an error that says where and why.
   */
  readonly inputSchema: JsonSchema | StandardSchema
  /** What the model gets for a Standard Schema that cannot say it itself. */
  readonly jsonSchema?: JsonSchema
  /** Label of the results. Default `tool`. */
  readonly trust?: 'tool' | 'web'
  /** Milliseconds; wins over `timeouts.tool`. */
  readonly timeoutMs?: number
  /**
   * Contract: gives what the model is to read: JSON, or nothing at all, which is `null`. What it
   * throws is an error result. It may be called again with the same `idempotencyKey` after a crash,
   * so make it idempotent by that where it matters.
   *
   * @param input the arguments, checked; of a Standard Schema what it made of them.
   */
  execute(input: Input, call: ToolContext): unknown
}

export interface ToolContext {
  /** The call's id, as the model gave it. */
  readonly callId: string
  /**
   * Names this call and no other one, however often it is run: give it to what must happen once.
   */
  readonly idempotencyKey: string
  /** Aborts with the run, and when the tool's time is up. */
  readonly signal: AbortSignalLike
  readonly session?: AgentSession
}

export interface ResumeOptions {
  /**
   * What becomes of calls that wait for a result: `fail` answers them with an error that says it is
   * not known whether they ran, `run` runs them (again), a function gives the result. Default
   * `fail`.
   */
  readonly pending?: 'fail' | 'run' | ((call: AgentCall) => Json | Promise<Json>)
  /**
   * How much of the past the run shows: the last so many messages, widened to whole steps, and
   * fewer where they would take more than half of what fits. 1 or more. It begins an epoch, in the
   * lane of this number, in place of `limits.window`. Default: the epoch goes on, as long as the
   * provider's cache may hold it.
   */
  readonly messages?: number
}

/** Milliseconds, above 0; what is left out has no limit but `hook`. */
export interface Timeouts {
  /** One model call: the run rejects with ERR_TIMEOUT. */
  readonly model?: number
  /** One tool call: the model reads an error. */
  readonly tool?: number
  /** One hook of a middleware: a failure of it. Default 5 000. */
  readonly hook?: number
  /** The whole run: it rejects with ERR_TIMEOUT. */
  readonly run?: number
}

export interface RunOptions {
  /**
   * What is said to the agent; appended as one. Where all messages have ids, to give them again is
   * to go on with that run instead of beginning another. Default: nothing; the run goes on with
   * what `session` holds.
   */
  readonly input?: string | MessageInput | readonly MessageInput[]
  readonly model: Model
  /**
   * Instructions at the beginning of each request of the run, after the memory's own. They are no
   * message, and never leave the window; give the same ones as long as possible.
   */
  readonly system?: string
  readonly tools?: readonly AgentTool[]
  /**
   * Where the conversation is kept. Default: nowhere; each request then holds all of it, verbatim.
   */
  readonly session?: AgentSession
  readonly middleware?: readonly Middleware[]
  /** Most model calls. 1 or more. Default 20. */
  readonly maxSteps?: number
  /** Ends the run early; it then resolves with the reason `aborted`. */
  readonly signal?: AbortSignalLike
  /** Contract: told each event as it happens; not awaited. What it throws stops nothing. */
  readonly onEvent?: (event: AgentEvent) => void | Promise<void>
  readonly settings?: ModelSettings
  /**
   * How to go on with what a session holds. `true` is all defaults: the epoch goes on. With
   * `messages` a new task shows only the end of the past.
   */
  readonly resume?: boolean | ResumeOptions
  /**
   * Lets one of several runs answer the newest message of the user, or that of `input`: see
   * {@link Lease}. The run waits while another one answers, goes on with what that one left, and
   * resolves with the reply in the log, whoever wrote it. Instead of `resume`; calls that wait are
   * run.
   */
  readonly lease?: Lease
  /** For each context of the run, as in `session.context`. A middleware's proposal wins. */
  readonly limits?: Limits
  /** Whether, or how many of, the calls of one reply run at once. Default `true`: all of them. */
  readonly parallel?: boolean | number
  readonly timeouts?: Timeouts
}

export interface AgentResult {
  /** Text of the last reply; of an aborted run, as much of it as had come. */
  readonly answer: string
  /** Model calls whose reply was recorded; under a lease, whoever made them. */
  readonly steps: number
  /** Summaries that contexts of this run began to show. */
  readonly summaries: number
  readonly usage: RunUsage
  readonly reason:
    | 'answer'
    /** The reply was cut short: by the output limit, by the provider's filter. */
    | 'length'
    | 'content-filter'
    | 'max-steps'
    | 'aborted'
    /** By a middleware: `detail` says why, `stoppedBy` which. */
    | 'stopped'
  /** Beside `answer`: a middleware let the model answer without tools, as the last step. */
  readonly detail?: string
  readonly stoppedBy?: string
}

/**
 * A run that has begun. Await it for its result; iterate it for its events, from the first one on,
 * whenever and however often. To leave the loop does not end the run: `signal` does.
 */
export interface AgentRun extends PromiseLike<AgentResult>, AsyncIterable<AgentEvent> {}
