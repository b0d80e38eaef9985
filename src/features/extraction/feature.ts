import type { Feature, KernelSession } from '../../kernel/feature.ts'
import { messageIn } from '../../kernel/log/bodies.ts'
import { type ErrorCode, isPlimsollError } from '../../ports/errors.ts'
import type { FactInput } from '../../ports/fact.ts'
import type { Message } from '../../ports/message.ts'
import type { EntriesQuery } from '../../ports/store.ts'
import { checkFunction } from '../../text/check-value.ts'
import { hashText } from '../../text/hash.ts'
import { checkOptions, isPlainObject } from '../../text/json.ts'
import { Extracted } from '../slots.ts'
import { EXTRACT_ID, extractFacts } from './extract-facts.ts'
import { type Around, type Extract, extracting, type Kept } from './extraction.ts'

export interface ExtractionOptions {
  /** Proposes facts from rounds that are about to leave the window. Default: `extractFacts`. */
  readonly extract?: Extract
}

export interface ExtractionShape {
  readonly needs: 'facts'
}

/**
 * What was extracted may be left out: it was forgotten, there is no room, or it says what another
 * one says.
 */
const PASSABLE: readonly ErrorCode[] = ['ERR_NOT_FOUND', 'ERR_LIMIT', 'ERR_DUPLICATE_ID']
/** It is no fact, and never will be. */
const UNFIT: readonly ErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_ENTRY_TOO_LARGE']
/** Messages on each side of those that are cut, which say what was pasted among these. */
const AROUND = 16

/**
 * Remembers what was said before it leaves the window: facts of this session, until they are
 * promoted. Needs `facts()` in use.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 * @example
 * ```ts
 * import { createMemory, extraction, mapStore, standard } from 'plimsoll'
 * const memory = createMemory({ store: mapStore(), budget: 16_000, use: [...standard(), extraction()] })
 * ```
 */
export function extraction(options: ExtractionOptions = {}): Feature<'extraction', ExtractionShape> {
  checkOptions('extraction', 'options', options, ['extract'])
  const { extract = extractFacts } = options
  checkFunction('extraction', 'extract', extract)
  return {
    name: 'extraction',
    needs: ['facts'],
    // What it keeps shows as facts do, also where extraction is not in use: on a device, say.
    lane: false,
    open: (session) => ({
      cut: {
        name: 'extract',
        before: extracting(extract, {
          host: session.memory.host,
          keep: (facts) => keepAll(session, facts),
          around: (messages) => around(session, messages),
        }),
      },
    }),
  }
}

/** Remembers what was extracted, whatever becomes of some of it. */
async function keepAll(session: KernelSession, facts: readonly FactInput[]): Promise<Kept> {
  const [keep] = session.all(Extracted)
  let fresh = 0
  const left: FactInput[] = []
  const errors: unknown[] = []
  for (const fact of facts) {
    try {
      if (await keep?.(named(session, fact))) fresh++
    } catch (error) {
      // What was forgotten stays forgotten, and what has no room is no failure.
      if (isOneOf(error, PASSABLE)) continue
      errors.push(error)
      if (!isOneOf(error, UNFIT)) left.push(fact)
    }
  }
  return { fresh, left, errors }
}

/** Messages of two sessions may have one id, and what is extracted from them is not the same. */
function named({ sessionId }: KernelSession, fact: FactInput): FactInput {
  const { id } = isPlainObject(fact) ? fact : { id: undefined }
  if (typeof id !== 'string' || !id.startsWith(EXTRACT_ID)) return fact
  return { ...fact, id: `${EXTRACT_ID}${hashText(JSON.stringify([sessionId, id]))}` }
}

/** Messages of the log beside some of it. */
async function around({ store }: KernelSession, messages: readonly Message[]): Promise<Around> {
  const read = async (query: EntriesQuery): Promise<readonly Message[]> => {
    const { rows } = await store.entries({ ...query, kinds: ['message'] })
    return rows.flatMap((row) => (row.unreadable ? [] : (messageIn(row) ?? [])))
  }
  const [first, last] = [messages[0]?.id, messages.at(-1)?.id]
  if (first === undefined || last === undefined) return { before: [], after: [] }
  const [before, after] = await Promise.all([
    read({ to: first, last: AROUND }),
    read({ after: last, first: AROUND }),
  ])
  return { before, after }
}

function isOneOf(error: unknown, codes: readonly ErrorCode[]): boolean {
  return codes.some((code) => isPlimsollError(error, code))
}
