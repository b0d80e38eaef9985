import type { CutPart } from '../../kernel/feature.ts'
import { messagesOf, type Unit } from '../../kernel/log/fold.ts'
import { lowerTrust } from '../../kernel/log/message.ts'
import { aborted } from '../../ports/aborted.ts'
import { FACT, type FactInput } from '../../ports/fact.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, Trust } from '../../ports/message.ts'
import { checkList } from '../../text/check-value.ts'
import { isPlainObject } from '../../text/json.ts'
import { grouped } from '../grouped.ts'
import { typedTrust } from './typed-trust.ts'

/** Milliseconds that an extractor may take: a call waits for it. */
const TIMEOUT = 10_000
/** Facts that are tried again at most. */
const MOST_LEFT = 64

/**
 * Contract: proposes facts from rounds that are about to leave the window, oldest first; an empty
 * list for none. A fact is remembered once by its `id`, so give the same id for the same thing. It
 * stays in its session, unpinned whatever it says, until it is promoted.
 *
 * Its trust is at most that of its `sources`; what names none may be taken from any of the
 * messages, and is as trusted as the least trusted of them. A user's message counts as `import`,
 * since it may have been pasted, unless `typed` names it. It has ten seconds. What it throws stops
 * nothing: it is reported in the receipt.
 */
export interface Extract {
  (rounds: readonly (readonly Message[])[]): readonly FactInput[] | Promise<readonly FactInput[]>
  /**
   * Contract: pure; of messages in the order in which they show, the ids of those that their user
   * typed, and did not paste. Default: none. `extractFacts.typed` goes by shape and words, and can
   * be given to an extractor of one's own.
   */
  readonly typed?: (messages: readonly Message[]) => ReadonlySet<string>
}

/** What became of facts that were extracted. */
export interface Kept {
  /** How many are new, or say something new. */
  readonly fresh: number
  /** Those that are worth another try. */
  readonly left: readonly FactInput[]
  readonly errors: readonly unknown[]
}

export interface ExtractionParts {
  readonly host: Host
  readonly keep: (facts: readonly FactInput[]) => Promise<Kept>
  /** Contract: some messages of the log before and after these. */
  readonly around: (messages: readonly Message[]) => Promise<Around>
}

/** Messages on either side of others. */
export interface Around {
  readonly before: readonly Message[]
  readonly after: readonly Message[]
}

/** Remembers what is to be remembered of messages that leave the window. */
export function extracting(
  extract: Extract,
  { host, keep, around }: ExtractionParts,
): NonNullable<CutPart['before']> {
  /** Facts that could not be written; the next epoch tries again. */
  let left: readonly FactInput[] = []

  async function found(cut: readonly Unit[]): Promise<readonly FactInput[]> {
    const rounds = roundsOf(cut)
    const made = extract(rounds)
    // One by rules answers at once, and needs no timer.
    const facts = Array.isArray(made) ? made : await inTime(made)
    checkList('extract', 'its result', facts)
    if (facts.length === 0) return facts
    const messages = rounds.flat()
    const typed = await typedIn(messages)
    const trusts = new Map(messages.map((message) => [message.id, typedTrust(message, typed)]))
    return facts.map((fact) => labelled(fact, trusts))
  }

  async function inTime<Value>(made: Value | Promise<Value>): Promise<Value> {
    const { signal, clear } = host.timeout(TIMEOUT)
    try {
      return await Promise.race([made, aborted(signal)])
    } finally {
      clear()
    }
  }

  /** Where nobody can tell, or what stands around them cannot be read, none. */
  async function typedIn(messages: readonly Message[]): Promise<ReadonlySet<string>> {
    if (!extract.typed) return new Set()
    const near = await around(messages).catch(() => undefined)
    return near ? extract.typed([...near.before, ...messages, ...near.after]) : new Set()
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
 * What names no source is as trusted as the least of what it may be taken from; of a source that
 * did not show, nobody can tell whether it was pasted. What is no fact is refused where it is
 * remembered.
 */
function labelled(fact: FactInput, trusts: ReadonlyMap<string, Trust>): FactInput {
  if (!isPlainObject(fact)) return fact
  const { sources, trust = 'user' } = fact
  const trustOf = (id: string): Trust => trusts.get(id) ?? (id.startsWith(FACT) ? 'user' : 'import')
  const isNamed = Array.isArray(sources) && sources.length > 0
  const from = isNamed ? sources.map((id) => trustOf(String(id))) : [...trusts.values()]
  return { ...fact, pinned: false, trust: from.reduce(lowerTrust, lowerTrust(trust, 'user')) }
}

function roundsOf(units: readonly Unit[]): readonly (readonly Message[])[] {
  return grouped(units, ({ round }) => round).map((round) => messagesOf(round))
}
