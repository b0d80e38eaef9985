import type { CutPart } from '../../kernel/feature.ts'
import { messagesOf, type Unit } from '../../kernel/log/fold.ts'
import { lowerTrust } from '../../kernel/log/message.ts'
import { invalid, isPlainObject } from '../../kernel/text/json.ts'
import type { FactInput } from '../../ports/fact.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, Trust } from '../../ports/message.ts'
import { aborted } from '../aborted.ts'
import { grouped } from '../grouped.ts'
import { lowestTrust } from '../trust.ts'

/** Milliseconds that an extractor may take: a call waits for it. */
const TIMEOUT = 10_000
/** Facts that are tried again at most. */
const MOST_LEFT = 64

/**
 * Contract: proposes facts from rounds that are about to leave the window, oldest first; an empty
 * list for none. A fact is remembered once by its `id`, so give the same id for the same thing. Its
 * trust is at most that of its `sources`; what names none may be taken from any of the messages,
 * and is as trusted as the least trusted of them. It has ten seconds. What it throws stops nothing:
 * it is reported in the receipt.
 */
export type Extract = (
  rounds: readonly (readonly Message[])[],
) => readonly FactInput[] | Promise<readonly FactInput[]>

/** What became of facts that were extracted. */
export interface Kept {
  /** How many are new, or say something new. */
  readonly fresh: number
  /** Those that are worth another try. */
  readonly left: readonly FactInput[]
  readonly errors: readonly unknown[]
}

/** Remembers what is to be remembered of messages that leave the window. */
export function extraction(
  extract: Extract,
  host: Host,
  keep: (facts: readonly FactInput[]) => Promise<Kept>,
): NonNullable<CutPart['before']> {
  /** Facts that could not be written; the next epoch tries again. */
  let left: readonly FactInput[] = []

  async function found(cut: readonly Unit[]): Promise<readonly FactInput[]> {
    const { signal, clear } = host.timeout(TIMEOUT)
    try {
      const rounds = roundsOf(cut)
      const facts = await Promise.race([extract(rounds), aborted(signal)])
      if (!Array.isArray(facts)) throw invalid('extract', 'its result', 'must be a list of facts')
      const lowest = lowestTrust(rounds.flat())
      return facts.map((fact) => labelled(fact, lowest))
    } finally {
      clear()
    }
  }

  return async (cut) => {
    const errors: unknown[] = []
    const fresh = cut.length === 0 ? [] : await found(cut).catch((error) => void errors.push(error))
    const facts = [...left, ...(fresh ?? [])]
    const kept = facts.length === 0 ? undefined : await keep(facts)
    if (kept) left = kept.left.slice(-MOST_LEFT)
    const [error] = [...errors, ...(kept?.errors ?? [])]
    return { isNew: kept !== undefined && kept.fresh > 0, ...(error !== undefined && { error }) }
  }
}

/**
 * What names no source is as trusted as the least of what it may be taken from. What is no fact is
 * refused where it is remembered.
 */
function labelled(fact: FactInput, lowest: Trust): FactInput {
  if (!isPlainObject(fact) || (Array.isArray(fact.sources) && fact.sources.length > 0)) return fact
  return { ...fact, trust: lowerTrust(fact.trust ?? 'user', lowest) }
}

function roundsOf(units: readonly Unit[]): readonly (readonly Message[])[] {
  return grouped(units, ({ round }) => round).map(messagesOf)
}
