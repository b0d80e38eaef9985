import { lowerTrust } from '../../kernel/log/message.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Fact, FactInput, Remembered } from '../../ports/fact.ts'
import type { Trust } from '../../ports/message.ts'
import { invalid } from '../../text/json.ts'
import { notFound } from '../failures.ts'
import { checkFact, type FactDraft, pathOf, settleFact } from './check-fact.ts'
import { FACT, outranks } from './fact.ts'
import type { FactPlan } from './fact-plan.ts'
import { areNear } from './near-duplicates.ts'
import { placeFact } from './place-fact.ts'
import { noFact } from './read-first.ts'

export interface RememberParts {
  /** Id of the fact, where the input gives none. */
  readonly id: string
  readonly trustOf: (id: string) => Promise<Trust | undefined>
  /** Whether nobody asked for it: it was taken from what was said. Default: false. */
  readonly extracted?: boolean
}

/** Checks a fact and plans what remembering it writes. @throws as {@link Facts.remember} */
export async function rememberIn(
  plan: FactPlan,
  operation: string,
  at: string,
  input: FactInput,
  { id, trustOf, extracted = false }: RememberParts,
): Promise<Remembered> {
  const { now, shared } = plan.places
  const draft = checkFact(operation, at, input, { id, now })
  const before = await plan.get(draft.id)
  if (before !== undefined) return knownAs(operation, before, draft)
  const trust = await trustWith(operation, plan, draft, trustOf)
  const fact = settleFact(operation, at, draft, { trust, isShared: shared, extracted })
  if (fact.supersedes === undefined) return placeFact(plan, fact)
  await supersede(operation, at, plan, fact, fact.supersedes)
  plan.put(fact)
  return { fact, status: 'new' }
}

/** The same id again: the same words change nothing. */
function knownAs(operation: string, before: Fact | null, { id, text }: FactDraft): Remembered {
  if (before === null) throw notFound(operation, `fact ${id} was forgotten`, id)
  if (before.text !== text && !areNear(before.text, text)) throw taken(operation, id)
  return { fact: before, status: 'known' }
}

/** An id that another fact has already. */
export function taken(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_DUPLICATE_ID', `${operation}: id ${id} names another fact already`, { id })
}

/** The lowest of who says it and of what it was taken from. */
async function trustWith(
  operation: string,
  plan: FactPlan,
  { trust, sources }: FactDraft,
  trustOf: RememberParts['trustOf'],
): Promise<Trust> {
  let lowest = trust
  for (const source of sources) {
    const other = source.startsWith(FACT)
      ? (await plan.get(source.slice(FACT.length)))?.trust
      : await trustOf(source)
    if (other === undefined) throw notFound(operation, `no source ${source}`, source)
    lowest = lowerTrust(lowest, other)
  }
  return lowest
}

async function supersede(
  operation: string,
  at: string,
  plan: FactPlan,
  fact: Fact,
  id: string,
): Promise<void> {
  const old = await plan.get(id)
  if (!old) throw noFact(operation, id)
  if (old.supersededBy !== undefined)
    throw new PlimsollError(
      'ERR_CONFLICT',
      `${operation}: fact ${id} was superseded by ${old.supersededBy}`,
      { id },
    )
  if (outranks(old, fact) || (fact.extracted && old.pinned))
    throw invalid(
      operation,
      pathOf(at, 'supersedes'),
      `names a fact of trust ${old.trust}, which ${fact.extracted ? 'an extracted one' : 'one'} of trust ${fact.trust} cannot replace`,
    )
  plan.put({ ...old, supersededBy: fact.id })
}
