import { createMemory } from '../create-memory.ts'
import { type FloorBreakdown, isPlimsollError } from '../ports/errors.ts'
import { mapStore } from '../stores/map.ts'
import type { Policy, Refusal } from './policy.ts'

/** Plimsoll's own memory, used as an agent would use it. */
export const plimsoll: Policy = ({ system, tools }, { budget, rounds, keep, counter }) => {
  // Ids that count up and a clock that stands still: the same recording gives the same bytes at every run.
  let ids = 0
  const memory = createMemory({
    store: mapStore(),
    budget: { contextWindow: budget, maxOutputTokens: 0, margin: 0 },
    counter,
    clock: () => 0,
    newId: () => `m${++ids}`,
    ...(system !== undefined && { system }),
    ...((rounds || keep) && {
      window: { ...(rounds && { max: { rounds } }), ...(keep && { keep: { rounds: keep } }) },
    }),
  })
  const session = memory.session({ userId: 'replay', sessionId: 'conversation' })
  return {
    append: async (message) => {
      await session.append(message)
    },
    choose: async (tail) => {
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
