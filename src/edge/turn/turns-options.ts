import type { Lease } from '../../agent/lease.ts'
import type { AgentTool } from '../../agent/options.ts'
import type { Host } from '../../ports/host.ts'
import type { Model } from '../../ports/model.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import type { EdgeSession } from '../features.ts'
import type { ObjectSeal } from '../rows/object-seal.ts'
import type { ModelHooks } from './hooked-model.ts'
import type { AgentOptions, TurnOutcome } from './protocol.ts'
import type { Spent } from './spent.ts'

export interface TurnsOptions extends ModelHooks {
  /** The session of the object; asked for at each run. */
  readonly session: () => EdgeSession | Promise<EdgeSession>
  /**
   * Answers. Contract: asked for at each run, before anything is written. @throws
   * ERR_NOT_CONFIGURED where there is none
   */
  readonly model: () => Model | Promise<Model>
  /** The object's own: tables `plimsoll_edge_run` and `plimsoll_edge_chunk` are made in it. */
  readonly storage: SqlStorageLike
  /** Contract: what seals its streams; asked at each use. Default: nothing is encrypted. */
  readonly seal?: () => ObjectSeal
  /** Tools of the agent. Default: none. */
  readonly tools?: (session: EdgeSession) => readonly AgentTool[]
  /**
   * As for `runAgent`; asked for at each run. Time limits default to 5 minutes for a call of the
   * model, and of a tool.
   */
  readonly run?: () => AgentOptions
  /**
   * What decides that this agent answers a message, and no other one of the session; asked for at
   * each run. Default: it always answers. Chat Completions take none: their client is the agent.
   */
  readonly lease?: () => Lease | undefined
  readonly host?: Host
  /** Contract: told when `nextWorkAt()` has changed, so that an alarm is set for it. */
  readonly onWork?: (due: number) => void
  /**
   * Contract: told when a run begins that is kept, so that an alarm is set for `runDueWork()`. One
   * that is lost with its object is found by the next call all the same.
   */
  readonly onRun?: (due: number) => void
  /**
   * Contract: told before a turn that is not kept begins, so that an alarm is set for `beat()`.
   * What it throws refuses the turn.
   */
  readonly onTurn?: (due: number) => Promise<void>
  /** Contract: told of each run that has ended, for a log. Holds no content. */
  readonly onEnd?: (end: EndedRun) => void
}

/** What a log may hold of a run. */
export interface EndedRun extends TurnOutcome, Readonly<Spent> {
  readonly run: string
  readonly milliseconds: number
  /** Bytes of its stream. */
  readonly size: number
}

/** A run, and what it sends in the protocol of its request. */
export interface RunStream {
  readonly run: string
  readonly stream: AsyncIterable<Uint8Array>
}

/** A run that is read again. */
export interface ResumedRun {
  readonly run: string
  readonly stream: ReadableStream<Uint8Array>
}
