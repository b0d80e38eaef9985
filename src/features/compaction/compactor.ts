import type { Secret } from '../../kernel/context/secret.ts'
import type { Covering } from '../../kernel/cover.ts'
import type { Policy } from '../../kernel/policy.ts'
import type { Host } from '../../ports/host.ts'
import type { Message } from '../../ports/message.ts'
import type { Scope, SummaryMark } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { CompactionOptions, SummarySizes } from './compaction-options.ts'
import type { Past } from './past.ts'

/** What is to be summarised, and what the summary has to fit into. */
export interface CompactionJob {
  readonly policy: Policy
  /** Id that the summary names as its base, and its place in the chain. */
  readonly base: string | null
  readonly place: number
  /** The summary that it updates. */
  readonly before: Covering | undefined
  /** Messages that are covered from now on, by round, oldest first. */
  readonly rounds: readonly (readonly Message[])[]
  /** Their tokens, whole. */
  readonly tokens: number
  /** What goes on showing, as it shows. */
  readonly kept: string
  readonly covers: Pick<SummaryMark, 'from' | 'skipped' | 'upto' | 'seen' | 'count' | 'of' | 'apart'>
  /** Tokens for the memory section. */
  readonly room: number
  /** Tag of its fence. */
  readonly tag: string
  /** Requests that the question may be appended to, where it may be. */
  readonly past: Past | undefined
}

export type Compaction =
  | { readonly status: 'summarised'; readonly by: string; readonly reasons: readonly string[] }
  | { readonly status: 'refused'; readonly reasons: readonly string[] }

/**
 * Share of the room from which on a summary is written ahead of need, unless the app says
 * otherwise.
 */
export const AHEAD = 0.8
/** Summaries that are not tried after one could not be stored. */
const PAUSE = 8

/** What a summary is written with. */
export interface SummaryParts {
  readonly store: ScopeStore
  readonly scope: Scope
  readonly host: Host
  readonly secret: Secret
  readonly options: CompactionOptions
  readonly sizes: SummarySizes
}

/**
 * Contract: writes the summary of a job into the log, and calls `onUnstored` where it could not;
 * rejects where the log cannot be read.
 */
export type SummaryWriter = (
  job: CompactionJob,
  parts: SummaryParts,
  onUnstored: () => void,
) => Promise<Compaction>

/** What a compactor needs from its session. */
export interface CompactorParts extends SummaryParts {
  /** Compactions that run now, by scope and lane. */
  readonly running: Map<string, Promise<unknown>>
  readonly write: SummaryWriter
}

/** Writes summaries of one session and lane, one at a time. */
export class Compactor {
  readonly #parts: CompactorParts
  readonly #key: string
  /** Jobs that are refused without a model's call, after one could not be stored; below 0: none. */
  #pause = 0
  /** What became of the last one that was written here. */
  outcome: Compaction | undefined

  constructor(parts: CompactorParts, lane: string) {
    this.#parts = parts
    this.#key = runName(parts.scope, lane)
  }

  /**
   * The summary that is being written now, whichever object of the session began it. Never rejects.
   */
  get running(): Promise<unknown> | undefined {
    return this.#parts.running.get(this.#key)
  }

  /**
   * Writes a summary, unless one is being written: then it waits for that one, and gives nothing.
   */
  async run(job: CompactionJob): Promise<Compaction | undefined> {
    if (this.running) {
      await this.running
      return undefined
    }
    const { running } = this.#parts
    const compaction = this.#write(job)
    running.set(this.#key, compaction.catch(ignore))
    try {
      this.outcome = await compaction
      return this.outcome
    } finally {
      running.delete(this.#key)
    }
  }

  async #write(job: CompactionJob): Promise<Compaction> {
    if (--this.#pause >= 0) return refused(['the last summary could not be stored'])
    return this.#parts.write(job, this.#parts, () => {
      this.#pause = PAUSE
    })
  }
}

/** What did not come to a summary, and why. */
export function refused(reasons: readonly string[]): Compaction {
  return { status: 'refused', reasons }
}

/** By what a compaction is found that runs: its scope, then its lane. */
export function runName({ tenant, userId, sessionId }: Scope, lane: string): string {
  return JSON.stringify([tenant ?? null, userId, sessionId ?? null, lane])
}

function ignore(): void {}
