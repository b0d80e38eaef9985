import { lowerTrust } from '../../kernel/log/message.ts'
import type { Fact, Remembered } from '../../ports/fact.ts'
import type { FactPlan } from './fact-plan.ts'
import { mergeFacts } from './merge-facts.ts'

/**
 * Plans to put a fact among those of a scope: where one of its trust says the same, what it has
 * more goes to that one; where a more trusted one does, nothing changes; a less trusted one it
 * supersedes.
 */
export async function placeFact(plan: FactPlan, fact: Fact): Promise<Remembered> {
  const twin = await plan.twinOf(fact)
  if (!twin) {
    plan.put(fact)
    return { fact, status: 'new' }
  }
  if (twin.trust === fact.trust) {
    const merged = mergeFacts(twin, fact)
    if (!merged) return { fact: twin, status: 'known' }
    plan.put(merged)
    return { fact: merged, status: 'merged' }
  }
  if (lowerTrust(twin.trust, fact.trust) === fact.trust) return { fact: twin, status: 'known' }
  const better: Fact = { ...fact, supersedes: twin.id, pinned: fact.pinned || twin.pinned }
  plan.put({ ...twin, supersededBy: better.id })
  plan.put(better)
  return { fact: better, status: 'new' }
}
