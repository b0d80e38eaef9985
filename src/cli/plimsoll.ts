import { createMemory } from '../create-memory.ts'
import { type FloorBreakdown, isPlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import { mapStore } from '../stores/map.ts'
import { extractive } from './extractive.ts'
import type { Chooser, Policy, Refusal, Settings } from './policy.ts'
import type { Conversation } from './transcript.ts'

/** A clock and ids that give the same at every run. */
export type ReplayHost = Pick<Host, 'now' | 'newId'>

/** Plimsoll's own memory, used as an agent would use it. */
export const plimsoll: Policy = (conversation, settings) => {
  // Ids that count up and a clock that stands still: the same recording gives the same bytes at every run.
  let ids = 0
  return remember(conversation, settings, { now: () => 0, newId: () => `m${++ids}` })
}

/** A memory on that host; a `cold` one opens its session anew before each call. */
export function remember(
  { system, tools }: Conversation,
  { budget, rounds, keep, counter, compact }: Settings,
  { now, newId }: ReplayHost,
  cold = false,
): Chooser {
  const memory = createMemory({
    store: mapStore(),
    budget,
    counter,
    clock: now,
    newId,
    ...(system !== undefined && { system }),
    // Awaited, so that the same recording gives the same bytes.
    ...(compact && { compaction: { model: extractive, ahead: false } }),
    ...((rounds || keep) && {
      window: { ...(rounds && { max: { rounds } }), ...(keep && { keep: { rounds: keep } }) },
    }),
  })
  const open = () => memory.session({ userId: 'replay', sessionId: 'conversation' })
  let session = open()
  return {
    append: async (message) => {
      await session.append(message)
    },
    choose: async (tail) => {
      if (cold) session = open()
      try {
        const context = await session.context({
          // A call without a result did not stop whoever made the recording from going on.
          onPending: 'abandon',
          ...(tail !== '' && { tail }),
          ...(tools && { tools }),
        })
        const { used, omitted, sections, epoch } = context.receipt
        return {
          context,
          tokens: used,
          omitted: omitted.reduce((total, { count }) => total + count, 0),
          capped: sections.reduce((total, { overflow }) => total + overflow.count, 0),
          ...(typeof epoch === 'object' && { epoch }),
        }
      } catch (error) {
        if (isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) return refusal(error.breakdown)
        throw error
      }
    },
  }
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
