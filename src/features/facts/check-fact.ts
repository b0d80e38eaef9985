import { checkLabel, checkTime } from '../../kernel/log/check-message.ts'
import { checkId, checkText, invalid, isPlainObject } from '../../kernel/text/json.ts'
import { codePoints } from '../../kernel/text/text.ts'
import { utf8Length } from '../../kernel/text/utf8-length.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Fact, FactInput, FactKind } from '../../ports/fact.ts'
import type { Trust } from '../../ports/message.ts'
import { visible } from '../text/visible.ts'
import { isTrusted } from '../trust.ts'
import { checkReview, firstReview } from './review.ts'

/** A fact of which all is known but what follows from the trust of its sources. */
export type FactDraft = Omit<Fact, 'pinned' | 'confidence'> & Pick<Partial<Fact>, 'pinned' | 'confidence'>

/** Largest fact, in bytes of its JSON as it is remembered. What is noted on it later is not counted. */
export const MAX_FACT_BYTES = 2 * 1024
const MOST_TITLE = 80
const MOST_SOURCES = 64
/** A fact's key has to be an id too. */
const MAX_FACT_ID_BYTES = 200
const PRIORITIES: { readonly [kind in FactKind]: number } = {
  correction: 7,
  blocker: 6,
  constraint: 5,
  preference: 4,
  finding: 3,
}
/** The first sentence of a text, or its first line. */
const FIRST_SENTENCE = /^[^\n]*?(?:[.!?…]["'”’)\]]*(?=\s|$)|[。！？]|(?=\n)|$)/u

/**
 * Checks an app's fact and fills in what does not depend on the trust of its sources. Only known fields are copied.
 *
 * @param at path of the fact in the call's arguments; empty: it is the argument
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function checkFact(
  operation: string,
  at: string,
  input: FactInput,
  given: { readonly id: string; readonly now: number },
): FactDraft {
  if (!isPlainObject(input)) throw invalid(operation, at || 'fact', 'must be an object')
  const name = (key: string): string => pathOf(at, key)
  const { kind, pinned } = input
  if (typeof kind !== 'string' || !Object.hasOwn(PRIORITIES, kind))
    throw invalid(operation, name('kind'), `must be one of ${Object.keys(PRIORITIES).join(', ')}`)
  if (pinned !== undefined && typeof pinned !== 'boolean')
    throw invalid(operation, name('pinned'), 'must be true or false')
  const text = visible(checkText(operation, name('text'), input.text)).trim()
  if (text === '') throw invalid(operation, name('text'), 'has nothing in it that can be seen')
  const time = (key: 'createdAt' | 'reviewAt' | 'expiresAt'): number | undefined =>
    input[key] === undefined ? undefined : checkTime(operation, name(key), input[key])
  const createdAt = time('createdAt') ?? given.now
  const expiresAt = time('expiresAt')
  const draft: FactDraft = {
    id: checkFactId(operation, name('id'), input.id ?? given.id),
    kind,
    title: titleOf(operation, name('title'), input.title, text),
    text,
    ...(input.project !== undefined && { project: checkId(operation, name('project'), input.project) }),
    ...(kind === 'blocker' && { status: 'open' }),
    ...(pinned !== undefined && { pinned }),
    priority: checkPriority(operation, name('priority'), input.priority ?? PRIORITIES[kind]),
    ...(input.confidence !== undefined && {
      confidence: checkConfidence(operation, name('confidence'), input.confidence),
    }),
    trust: checkLabel(operation, name('trust'), input.trust ?? 'user'),
    sources: checkSources(operation, name('sources'), input.sources ?? []),
    ...(input.supersedes !== undefined && {
      supersedes: checkFactId(operation, name('supersedes'), input.supersedes),
    }),
    createdAt,
    reviewAt: time('reviewAt') ?? firstReview(kind, createdAt),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  checkSize(operation, at, draft)
  return draft
}

/**
 * The fact that a draft becomes, at the trust that it has with its sources.
 *
 * @param isShared whether it is to stand in a user's own scope
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function settleFact(
  operation: string,
  at: string,
  draft: FactDraft,
  trust: Trust,
  isShared: boolean,
): Fact {
  if (isShared && !isTrusted(trust))
    throw invalid(
      operation,
      pathOf(at, 'trust'),
      `is ${trust}, too low for what all sessions share: remember the fact in a session, then promote it`,
    )
  if (draft.pinned && !isTrusted(trust))
    throw invalid(
      operation,
      pathOf(at, 'pinned'),
      `must be false at trust ${trust}: remember the fact, then promote it`,
    )
  const pinned = draft.pinned ?? (draft.kind === 'constraint' && isTrusted(trust))
  const fact: Fact = { ...draft, pinned, confidence: draft.confidence ?? (isTrusted(trust) ? 1 : 0.7), trust }
  checkSize(operation, at, fact)
  return fact
}

/** What a fact has that its writer did not say, but for what depends on its kind. */
const NOTED = ['status', 'supersededBy', 'promotedFrom', 'review'] as const
const STORED: readonly string[] = [
  ...['id', 'kind', 'title', 'text', 'project', 'pinned', 'priority', 'confidence', 'trust', 'sources'],
  ...['supersedes', 'createdAt', 'reviewAt', 'expiresAt', ...NOTED],
]
const OPTIONAL: readonly string[] = ['project', 'supersedes', 'expiresAt', ...NOTED]

/**
 * Checks a fact as it is stored.
 *
 * @param isShared whether it is to stand in a user's own scope
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function checkStoredFact(operation: string, id: string, value: unknown, isShared: boolean): Fact {
  if (!isPlainObject(value)) throw invalid(operation, 'value', 'must be a fact')
  for (const name of Object.keys(value))
    if (!STORED.includes(name)) throw invalid(operation, `value.${name}`, 'is nothing that a fact has')
  for (const name of STORED)
    if (!OPTIONAL.includes(name) && value[name] === undefined)
      throw invalid(operation, `value.${name}`, 'must be there')
  const fact = value as unknown as Fact
  const draft = checkFact(operation, 'value', fact as FactInput, { id, now: 0 })
  for (const name of ['id', 'title', 'text'] as const)
    if (fact[name] !== (name === 'id' ? id : draft[name]))
      throw invalid(operation, `value.${name}`, 'is not as a fact has it')
  settleFact(operation, 'value', draft, draft.trust, isShared)
  const { status, supersededBy, promotedFrom, review } = fact
  const isStatus =
    fact.kind === 'blocker' ? ['open', 'resolved'].includes(status ?? '') : status === undefined
  if (!isStatus) throw invalid(operation, 'value.status', 'is none that a fact of that kind has')
  if (supersededBy !== undefined) checkFactId(operation, 'value.supersededBy', supersededBy)
  if (promotedFrom !== undefined) checkLabel(operation, 'value.promotedFrom', promotedFrom)
  if (review !== undefined) checkReview(operation, 'value.review', review)
  return fact
}

/** Bytes of a fact's JSON, without what is noted on it later. */
export function sizeOf(fact: FactDraft): number {
  const { supersededBy: _, promotedFrom: __, review: ___, ...rest } = fact
  return utf8Length(JSON.stringify(rest))
}

function checkSize(operation: string, at: string, fact: FactDraft): void {
  const size = sizeOf(fact)
  if (size > MAX_FACT_BYTES)
    throw new PlimsollError(
      'ERR_ENTRY_TOO_LARGE',
      `${operation}: ${at || 'the fact'} has ${size} bytes, more than ${MAX_FACT_BYTES}`,
      { size, limit: MAX_FACT_BYTES, argument: at || 'fact' },
    )
}

/** The id of a fact, or `ERR_INVALID_ARGUMENT`. */
export function checkFactId(operation: string, argument: string, value: unknown): string {
  const id = checkId(operation, argument, value)
  if (utf8Length(id) > MAX_FACT_ID_BYTES)
    throw invalid(operation, argument, `must be at most ${MAX_FACT_ID_BYTES} bytes`)
  return id
}

function pathOf(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`
}

function titleOf(operation: string, argument: string, title: unknown, text: string): string {
  if (title === undefined) return shortened(oneLine(FIRST_SENTENCE.exec(text)?.[0] ?? text))
  const seen = oneLine(visible(checkText(operation, argument, title)))
  if (seen === '') throw invalid(operation, argument, 'has nothing in it that can be seen')
  return shortened(seen)
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

/** At most 80 code points, cut between words where the cut would not take half of it. */
function shortened(line: string): string {
  if (codePoints(line) <= MOST_TITLE) return line
  const head = Array.from(line.slice(0, 2 * MOST_TITLE))
    .slice(0, MOST_TITLE)
    .join('')
  const border = head.lastIndexOf(' ')
  const end = border > head.length / 2 ? border : lengthWithoutLast(head)
  return `${head.slice(0, end).trimEnd()}…`
}

/** UTF-16 units of a text without its last code point. */
function lengthWithoutLast(text: string): number {
  return text.length - (Array.from(text).at(-1)?.length ?? 0)
}

function checkPriority(operation: string, argument: string, value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > 9)
    throw invalid(operation, argument, 'must be a whole number from 0 to 9')
  return value as number
}

function checkConfidence(operation: string, argument: string, value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw invalid(operation, argument, 'must be a number from 0 to 1')
  return value
}

function checkSources(operation: string, argument: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > MOST_SOURCES)
    throw invalid(operation, argument, `must be a list of at most ${MOST_SOURCES} ids`)
  const ids = value.map((id: unknown, index) => checkId(operation, `${argument}[${index}]`, id))
  return [...new Set(ids)]
}
