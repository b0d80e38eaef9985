import { createMemory } from '../create-memory.ts'
import { compaction } from '../features/compaction/compaction.ts'
import type { CompactionOptions } from '../features/compaction/compaction-options.ts'
import type { CompactionShape } from '../features/compaction/feature.ts'
import type { Feature } from '../kernel/feature.ts'
import type { PolicyOptions } from '../kernel/policy.ts'
import type { Counter } from '../ports/counter.ts'
import { type FloorBreakdown, isPlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import { mapStore } from '../stores/map.ts'
import type { Chooser, Policy, Refusal, Settings } from './policy.ts'
import { Summariser } from './summaries.ts'
import type { Conversation } from './transcript.ts'

/**
 * Hashes of what a file holds are the same at every run. They are kept nowhere, and what they are
 * made from stands beside them.
 */
export const FIXED_SECRET = '0'.repeat(64)

/** A clock and ids that give the same at every run. */
export type ReplayHost = Pick<Host, 'now' | 'newId'>

/** Plimsoll's own memory, used as an agent would use it. */
export const plimsoll: Policy = (conversation, settings) => {
  // Ids that count up and a clock that stands still: the same recording gives the same bytes at
  // every run.
  let ids = 0
  return remember(conversation, settings, { now: () => 0, newId: () => `m${++ids}` })
}

/** The one session of a replay. */
export const SCOPE = { userId: 'replay', sessionId: 'conversation' } as const

/** What a memory of that conversation is created with, beside store and host. */
export function memoryOptions(
  { system }: Conversation,
  { budget, rounds, keep, floor, counter }: Settings,
  summaries: CompactionOptions | undefined,
): PolicyOptions & {
  readonly system?: string
  readonly counter: Counter
  readonly use: readonly Feature<'compaction', CompactionShape>[]
} {
  return {
    budget,
    counter,
    ...(system !== undefined && { system }),
    use: summaries ? [compaction(summaries)] : [],
    ...((rounds || keep || floor) && {
      window: {
        ...(rounds && { max: { rounds } }),
        ...((keep || floor) && {
          keep: { ...(keep && { rounds: keep }), ...(floor && { tokens: floor }) },
        }),
      },
    }),
  }
}

/** A memory on that host; a `cold` one reopens its session before each call. */
export function remember(
  conversation: Conversation,
  settings: Settings,
  { now, newId }: ReplayHost,
  cold = false,
): Chooser {
  const { tools } = conversation
  const store = mapStore()
  const summariser = settings.compact
    ? new Summariser(settings.counter, store.open(SCOPE), settings.ask)
    : undefined
  const memory = createMemory({
    store,
    clock: now,
    newId,
    newSecret: () => FIXED_SECRET,
    ...memoryOptions(conversation, settings, summariser?.compaction),
  })
  const open = () => {
    const opened = memory.session(SCOPE)
    opened.compaction?.subscribe(({ status }) => {
      if (status === 'refused') summariser?.without()
    })
    return opened
  }
  let session = open()
  return {
    summaries: () => summariser?.figures,
    append: async (message) => {
      await session.append(message)
    },
    choose: async (tail) => {
      if (cold) session = open()
      try {
        const context = await session.context({
          // A call without a result did not stop the recorded agent from going on.
          onPending: 'abandon',
          ...(tail !== '' && { tail }),
          ...(tools && { tools }),
        })
        summariser?.sent(context)
        const { used, omitted, sections, epoch, summary } = context.receipt
        return {
          context,
          tokens: used,
          omitted: total(omitted),
          covered: total(summary?.covers ?? []),
          capped: total(sections.map(({ overflow }) => overflow)),
          ...(typeof epoch === 'object' && { epoch }),
        }
      } catch (error) {
        if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) return refusal(error.breakdown)
        throw error
      } finally {
        await summariser?.settle()
      }
    },
  }
}

function total(parts: readonly { readonly count: number }[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0)
}

/** Names the parts of the floor that weigh something, heaviest first. */
function refusal(breakdown: FloorBreakdown | undefined): Refusal {
  const code = 'ERR_BUDGET_TOO_SMALL'
  if (!breakdown) return { reason: code }
  const { cap: _, floor, ...parts } = breakdown
  const weights = Object.entries(parts)
    .filter(([, tokens]) => tokens > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([name, tokens]) => `${name} ${tokens}`)
  return { reason: `${code}: ${weights.join(' + ')}`, floor }
}
