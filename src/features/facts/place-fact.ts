import type { Fact, Remembered } from '../../ports/fact.ts'
import { outranks } from './fact.ts'
import type { FactPlan } from './fact-plan.ts'
import { mergeFacts } from './merge-facts.ts'

/**
 * Plans to put a fact among those of a scope: where one of its rank says the same, what it has more
 * goes to that one; where one of a higher rank does, nothing changes; one of a lower rank it
 * supersedes. What was extracted changes no word of a pin.
 *
 * @param origin the fact of another scope that it is, as a source of whatever takes over its text
 * under another id: forgetting it there then forgets it here
 */
export async function placeFact(plan: FactPlan, fact: Fact, origin?: string): Promise<Remembered> {
  const twin = await plan.twinOf(fact)
  if (!twin) {
    plan.put(fact)
    return { fact, status: 'new' }
  }
  if (!outranks(fact, twin)) {
    const isLower = outranks(twin, fact) || (fact.extracted && twin.pinned)
    const isTaken = origin !== undefined && fact.text.length > twin.text.length
    const again = isTaken ? { ...fact, sources: [...fact.sources, origin] } : fact
    const merged = isLower ? undefined : mergeFacts(twin, again)
    if (!merged) return { fact: twin, status: 'known' }
    plan.put(merged)
    return { fact: merged, status: 'merged' }
  }
  const better: Fact = { ...fact, supersedes: twin.id, pinned: fact.pinned || twin.pinned }
  plan.put({ ...twin, supersededBy: better.id })
  plan.put(better)
  return { fact: better, status: 'new' }
}
