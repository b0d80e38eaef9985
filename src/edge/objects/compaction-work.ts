import type { CompactOptions } from '../../features/compaction/feature.ts'
import type { Host } from '../../ports/host.ts'
import type { Json } from '../../ports/message.ts'
import type { EdgeSession } from '../features.ts'
import type { WorkHandler } from '../work/work.ts'
import type { WorkQueue } from '../work/work-queue.ts'

/** The kind of work that writes a summary ahead of need. */
export const COMPACT = 'compact'

/** In which a summary is written that asks no model. */
const SOON_MS = 10

/**
 * Gives a summary that is being written the time that one takes which asks no model: the alarm for
 * it would cost more than the summary. Where none is being written it costs nothing.
 */
export async function writtenSoon(
  { compaction }: Pick<EdgeSession, 'compaction'>,
  host: Pick<Host, 'timeout'>,
): Promise<void> {
  if (!compaction?.isRunning) return
  const { signal, clear } = host.timeout(SOON_MS)
  const late = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  await Promise.race([compaction.settled(), late])
  clear()
}

/**
 * Sees to it that the summary which a session writes ahead of need is written though its object may
 * end: notes work for the alarm, if a summary is being written now. Call it after each context,
 * with the limits of that context, before its answer is sent. Where none is being written it costs
 * nothing, and where the work is noted already nothing is written.
 *
 * The summary itself goes on being written where it was begun. The alarm waits for it, which keeps
 * the object awake for as long; only where it died with an object, the alarm writes it again.
 */
export async function scheduleCompaction(
  queue: Pick<WorkQueue, 'schedule'>,
  { compaction }: Pick<EdgeSession, 'compaction'>,
  now: number,
  { limits }: CompactOptions = {},
): Promise<void> {
  if (!compaction?.isRunning) return
  // Each set of limits has summaries of its own.
  const payload = limits as Json | undefined
  await queue.schedule(COMPACT, now, payload === undefined ? {} : { key: JSON.stringify(payload), payload })
}

/**
 * The handler of that work: writes the summary that is due, or finds that it was written or is not
 * due any more. Idempotent: a second summary of the same place in the log is not asked for, and one
 * that another writer was first with is inert. A compaction that is refused is done with, since the
 * next context asks again; what fails is tried again by the queue.
 *
 * @param open Contract: the object's session; undefined: it is gone, or was never made
 */
export function compactionHandler(open: () => Pick<EdgeSession, 'compaction'> | undefined): WorkHandler {
  return async (payload) => {
    const limits = payload as CompactOptions['limits']
    await open()?.compaction?.run(limits === undefined ? {} : { limits })
    return undefined
  }
}
