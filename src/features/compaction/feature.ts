import type { Lane } from '../../kernel/context/lane.ts'
import type { Feature, KernelMemory } from '../../kernel/feature.ts'
import type { CompactEvent } from '../../ports/context.ts'
import type { Scope } from '../../ports/op.ts'
import type { Limits } from '../../ports/session.ts'
import { checkFunction } from '../../text/check-value.ts'
import { checkOptions } from '../../text/json.ts'
import { type CompactionOptions, checkCompaction, sizesOf } from './compaction-options.ts'
import { type Compaction, runName, type SummaryWriter } from './compactor.ts'
import { CompactionCover } from './cover.ts'

export interface CompactOptions {
  /**
   * Other limits than the memory's, as they were given to `context`: each set of limits has its own
   * summaries.
   */
  readonly limits?: Limits
}

/**
 * What became of {@link SessionCompaction.run}. `none`: nothing was to be written, or another call
 * was writing it and has come to its end. After `summarised` the log holds a summary, that of
 * another writer who was first included; `by` is the model that wrote it, or `extract`, and
 * `reasons` why the model's own text was refused. `refused`: it stays as it was, and the next epoch
 * writes what it needs.
 */
export type Compacted = Compaction | { readonly status: 'none' }

/** The summaries of a session. */
export interface SessionCompaction {
  /**
   * Writes the summary that the next epoch will need, if the window came near the line (`ahead`),
   * and resolves when it is durable; a summary that is being written is waited for, and other calls
   * of the session go on meanwhile. `context()` begins the same work by itself: call this to make
   * it outlive the process, for example in an alarm. It goes by the log alone, so that it may be
   * called without a context before it. Idempotent: where that summary is in the log, nothing is
   * written. A context shows it from the next epoch on; to begin that at once, call
   * `context({ newEpoch: true })`.
   *
   * @throws ERR_INVALID_ARGUMENT, and what the store throws when it is read; what a model throws is
   * in `reasons`
   */
  run(options?: CompactOptions): Promise<Compacted>
  /**
   * Resolves when no summary is being written ahead of need. A process that ends before loses
   * nothing but the work: the next context writes the summary that it needs.
   */
  settled(): Promise<void>
  /**
   * Whether a summary is being written ahead of need now, in the memory's own lane or in one of
   * those of `limits` that are in memory. Where a process may end before it is written, that is
   * when to see to it that {@link run} is called later.
   */
  readonly isRunning: boolean
  /**
   * Calls the listener when a context of this session begins to show a summary, or has to do
   * without one that it needed. What it throws is ignored.
   *
   * @returns what ends it
   */
  subscribe(listener: (event: CompactEvent) => void): () => void
}

export interface CompactionShape {
  readonly api: SessionCompaction
}

/** `compaction()` with what writes its summaries: who has it load that later says how. */
export function compactionWith(
  options: CompactionOptions,
  write: SummaryWriter,
): Feature<'compaction', CompactionShape> {
  checkCompaction(options)
  return {
    name: 'compaction',
    lane: ({ cap }) => ({
      ...sizesOf(options, cap),
      ...(options.ask === 'continuation' && { ask: options.ask }),
      ...(options.when && { when: options.when }),
    }),
    memory: (memory) => ({ idle: (scope) => idle(runningIn(memory), scope) }),
    open: (session) => {
      const { store, scope, memory, secret } = session
      const listeners = new Set<(event: CompactEvent) => void>()
      const running = runningIn(memory)
      return {
        api: {
          run: async (asked = {}) => {
            checkOptions('compaction.run', 'options', asked, ['limits'])
            const begun = await session.run(async () => coverOf(session.laneOf(asked.limits)).begin())
            return (await begun?.written) ?? { status: 'none' }
          },
          settled: async () => {
            await session.run(async () => {})
            await coverOf(session.lane).running
          },
          get isRunning() {
            return session.lanes().some((lane) => coverOf(lane).running !== undefined)
          },
          subscribe: (listener) => {
            checkFunction('compaction.subscribe', 'listener', listener)
            listeners.add(listener)
            return () => listeners.delete(listener)
          },
        },
        cover: (lane) =>
          new CompactionCover({
            lane,
            store,
            scope,
            host: memory.host,
            secret,
            running,
            write,
            options,
            sizes: sizesOf(options, lane.policy.cap),
            onCompact: (event) => {
              for (const listener of [...listeners])
                try {
                  listener(event)
                } catch {}
            },
          }),
      }
    },
  }
}

function coverOf({ cover }: Lane): CompactionCover {
  return cover as CompactionCover
}

/** Compactions that run now, by scope and lane, whichever object of a session began them. */
function runningIn(memory: KernelMemory): Map<string, Promise<unknown>> {
  return memory.shared('compaction', () => new Map())
}

/** Resolves once no summary of a scope is being written. */
async function idle(running: ReadonlyMap<string, Promise<unknown>>, scope: Scope): Promise<void> {
  // All of its lanes.
  const prefix = runName(scope, '').slice(0, -'""]'.length)
  await Promise.all([...running].flatMap(([key, run]) => (key.startsWith(prefix) ? run : [])))
}
