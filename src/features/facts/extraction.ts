import type { Host } from '../../ports/host.ts'
import type { Message, Trust } from '../../ports/message.ts'
import { aborted } from '../aborted.ts'
import type { FactInput } from '../../ports/fact.ts'
import type { BeforeCut } from '../../kernel/feature.ts'
import { messagesOf, type Unit } from '../../kernel/log/fold.ts'
import { invalid, isPlainObject } from '../../kernel/text/json.ts'
import { lowerTrust } from '../../kernel/log/message.ts'

/** Milliseconds that an extractor may take: a call waits for it. */
const TIMEOUT = 10_000
/** Facts that are tried again at most. */
const MOST_LEFT = 64

/**
 * Contract: proposes facts from rounds that are about to leave the window, oldest first; an empty list for none. A fact is remembered once
 * by its `id`, so give the same id for the same thing. Its trust is at most that of its `sources`; what names none may be taken from
 * any of the messages, and is as trusted as the least trusted of them. It has ten seconds. What it throws stops nothing: it is reported
 * in the receipt.
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

export interface ExtractionParts {
  readonly extract: Extract
  readonly keep: (facts: readonly FactInput[]) => Promise<Kept>
  readonly host: Host
}

/** Remembers what is to be remembered of messages that leave the window. */
export class Extraction {
  readonly #parts: ExtractionParts
  /** Facts that could not be written; the next epoch tries again. */
  #left: readonly FactInput[] = []

  constructor(parts: ExtractionParts) {
    this.#parts = parts
  }

  /** @returns whether anything is new, and what went wrong first */
  readonly before = async (cut: readonly Unit[]): Promise<BeforeCut> => {
    const errors: unknown[] = []
    const found = cut.length === 0 ? [] : await this.#extract(cut).catch((error) => void errors.push(error))
    const facts = [...this.#left, ...(found ?? [])]
    if (facts.length === 0) return { isNew: false, ...(errors.length > 0 && { error: errors[0] }) }
    const kept = await this.#parts.keep(facts)
    errors.push(...kept.errors)
    this.#left = kept.left.slice(-MOST_LEFT)
    return { isNew: kept.fresh > 0, ...(errors.length > 0 && { error: errors[0] }) }
  }

  async #extract(cut: readonly Unit[]): Promise<readonly FactInput[]> {
    const { extract, host } = this.#parts
    const { signal, clear } = host.timeout(TIMEOUT)
    try {
      const rounds = roundsOf(cut)
      const facts = checked(await Promise.race([extract(rounds), aborted(signal)]))
      const lowest = rounds.flat().reduce<Trust>((low, { trust }) => lowerTrust(low, trust), 'user')
      return facts.map((fact) => labelled(fact, lowest))
    } finally {
      clear()
    }
  }
}

function checked(facts: readonly FactInput[]): readonly FactInput[] {
  if (!Array.isArray(facts)) throw invalid('extract', 'its result', 'must be a list of facts')
  return facts
}

/** What names no source is as trusted as the least of what it may be taken from. What is no fact is refused where it is remembered. */
function labelled(fact: FactInput, lowest: Trust): FactInput {
  if (!isPlainObject(fact) || (Array.isArray(fact.sources) && fact.sources.length > 0)) return fact
  return { ...fact, trust: lowerTrust(fact.trust ?? 'user', lowest) }
}

function roundsOf(units: readonly Unit[]): readonly (readonly Message[])[] {
  const rounds = new Map<string, Unit[]>()
  for (const unit of units) {
    const round = rounds.get(unit.round)
    if (round) round.push(unit)
    else rounds.set(unit.round, [unit])
  }
  return [...rounds.values()].map(messagesOf)
}
