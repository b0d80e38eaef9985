import { decide } from '../../kernel/log/decide.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import type { Scope } from '../../ports/op.ts'
import {
  type Compaction,
  type CompactionJob,
  messageOf,
  refused,
  type SummaryParts,
} from './compaction-job.ts'

/**
 * Share of the room from which on a summary is written ahead of need, unless the app says
 * otherwise.
 */
export const AHEAD = 0.8
/** Summaries that are not tried after one could not be stored. */
const PAUSE = 8

/** What a compactor needs from its session. */
export interface CompactorParts extends SummaryParts {
  /** Compactions that run now, by scope and lane. */
  readonly running: Map<string, Promise<unknown>>
}

/** Writes summaries of one session and lane, one at a time. */
export class Compactor {
  readonly #parts: CompactorParts
  readonly #key: string
  /** Jobs that are refused without a model's call, after one could not be stored; below 0: none. */
  #pause = 0
  #isPrepared = false
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

  /** Loads what writes summaries, before it is needed: there may be no network then. */
  prepare(): void {
    if (!this.#isPrepared) loadAuthor().catch(ignore)
    this.#isPrepared = true
  }

  async #write(job: CompactionJob): Promise<Compaction> {
    if (--this.#pause >= 0) return refused(['the last summary could not be stored'])
    const loaded = author ?? (await loadAuthor().catch(ignore))
    // The next epoch that needs a summary asks again.
    if (!loaded) return refused(['what writes it could not be loaded'])
    const drafted = await loaded.writeSummary(job, this.#parts)
    if (!('mark' in drafted)) return drafted
    const { mark, sources, reasons } = drafted
    try {
      const opId = `entry:${mark.id}`
      // Where another writer was first, its summary is the one that counts.
      const op = sealOp({ kind: 'mark', opId, base: job.base, entry: mark, sources })
      await this.#parts.store.commit([op], decide)
    } catch (error) {
      this.#pause = PAUSE
      return refused([...reasons, `it could not be stored: ${messageOf(error)}`])
    }
    return { status: 'summarised', by: mark.by, reasons }
  }
}

/** Short conversations need no summary: what writes them is loaded on demand. */
let author: typeof import('./author.ts') | undefined

async function loadAuthor(): Promise<typeof import('./author.ts')> {
  author ??= await import('./author.ts')
  return author
}

/** By what a compaction is found that runs: its scope, then its lane. */
export function runName({ tenant, userId, sessionId }: Scope, lane: string): string {
  return JSON.stringify([tenant ?? null, userId, sessionId ?? null, lane])
}

function ignore(): undefined {}
