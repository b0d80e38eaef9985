import { checkLabel, checkSize, checkTime } from '../../kernel/log/check-message.ts'
import type { PlimsollError } from '../../ports/errors.ts'
import type { Fact, FactInput, FactKind } from '../../ports/fact.ts'
import type { Trust } from '../../ports/message.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { checkBoolean, checkList, checkOneOf } from '../../text/check-value.ts'
import { type Check, checkFields, type Fields, optional } from '../../text/fields.ts'
import { checkCount, checkId, checkObject, checkOptions, checkText, invalid } from '../../text/json.ts'
import { codePoints } from '../text/code-points.ts'
import { oneLine } from '../text/one-line.ts'
import { visible } from '../text/visible.ts'
import { isTrusted } from '../trust.ts'
import { MOST_STRENGTH } from './fact-index.ts'
import { checkReview, firstReview } from './review.ts'

/** A fact of which all is known but what follows from the trust of its sources. */
export type FactDraft = Omit<Fact, 'pinned' | 'confidence'> & Pick<Partial<Fact>, 'pinned' | 'confidence'>

/**
 * Largest fact, in bytes of its JSON as it is remembered. What is noted on it later is not counted.
 */
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
/** Checked before, or by what else is known. */
const known: Check = (_operation, _argument, value) => value
/** How the fields of a fact are checked, in the order in which they are stored. */
const FIELDS: Fields = {
  id: checkFactId,
  kind: known,
  title: checkTitle,
  text: known,
  project: optional(checkId),
  status: known,
  pinned: optional(checkBoolean),
  priority: checkPriority,
  confidence: optional(checkConfidence),
  trust: checkTrust,
  sources: checkSources,
  supersedes: optional(checkFactId),
  createdAt: checkTime,
  reviewAt: checkTime,
  expiresAt: optional(checkTime),
}
const INPUT = Object.keys(FIELDS).filter((field) => field !== 'status')
/** The first sentence of a text, or its first line. */
const FIRST_SENTENCE = /^[^\n]*?(?:[.!?…]["'”’)\]]*(?=\s|$)|[。！？]|(?=\n)|$)/u

/** What an app hands over has no field that would change nothing. @throws ERR_INVALID_ARGUMENT */
export function checkFactInput(operation: string, at: string, input: FactInput): void {
  checkObject(operation, at || 'fact', input)
  checkOptions(operation, at || 'options', input, INPUT)
}

/**
 * Checks an app's fact and fills in what does not depend on the trust of its sources. Only known
 * fields are copied.
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
  checkObject(operation, at || 'fact', input)
  const kind = checkOneOf(operation, pathOf(at, 'kind'), input.kind, Object.keys(PRIORITIES)) as FactKind
  const text = checkVisible(operation, pathOf(at, 'text'), input.text)
  const { id = given.id, title = FIRST_SENTENCE.exec(text)?.[0] ?? text, createdAt = given.now } = input
  checkTime(operation, pathOf(at, 'createdAt'), createdAt)
  const { priority, trust, sources, reviewAt } = input
  const filled = {
    ...input,
    id,
    title,
    text,
    status: kind === 'blocker' ? 'open' : undefined,
    priority: priority ?? PRIORITIES[kind],
    trust: trust ?? 'user',
    sources: sources ?? [],
    createdAt,
    reviewAt: reviewAt ?? firstReview(kind, createdAt),
  }
  const draft = checkFields<FactDraft>(operation, pathOf(at, ''), filled, FIELDS)
  checkFactSize(operation, at, draft)
  return draft
}

/** What a fact's standing follows from, beside its draft. */
export interface Settling {
  /** With that of its sources. */
  readonly trust: Trust
  /** Whether it is to stand in a user's own scope. */
  readonly isShared: boolean
  readonly extracted: boolean
}

/**
 * The fact that a draft becomes, at the trust that it has with its sources.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function settleFact(
  operation: string,
  at: string,
  draft: FactDraft,
  { trust, isShared, extracted }: Settling,
): Fact {
  const isOwnWord = isTrusted(trust)
  const refused = (field: string, reason: string): PlimsollError =>
    invalid(operation, pathOf(at, field), `${reason}: remember the fact in a session, then promote it`)
  if (isShared && !isOwnWord) throw refused('trust', `is ${trust}, too low for what all sessions share`)
  if (draft.pinned && !isOwnWord) throw refused('pinned', `must be false at trust ${trust}`)
  const isRule = draft.kind === 'constraint' && isOwnWord
  const { pinned = isRule && !extracted, confidence = isOwnWord ? 1 : 0.7 } = draft
  const fact: Fact = { ...draft, pinned, confidence, trust, ...(extracted && { extracted }) }
  checkFactSize(operation, at, fact)
  return fact
}

/** What a fact has that its writer did not say. */
const NOTED: readonly string[] = ['status', 'supersededBy', 'promotedFrom', 'extracted', 'review', 'strength']

/**
 * Checks a fact as it is stored.
 *
 * @param isShared whether it is to stand in a user's own scope
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
 */
export function checkStoredFact(operation: string, id: string, value: unknown, isShared: boolean): Fact {
  const fact = value as Fact
  const draft = checkFact(operation, 'value', fact, { id, now: 0 })
  const settling = { trust: draft.trust, isShared, extracted: false }
  const settled = { ...settleFact(operation, 'value', draft, settling), id }
  for (const name of Object.keys({ ...fact, ...settled }).filter((name) => !NOTED.includes(name))) {
    const [given, own] = [fact, settled].map((one) => one[name as keyof Fact])
    const isSame = typeof own === 'string' ? given === own : (given === undefined) === (own === undefined)
    if (!isSame) throw invalid(operation, `value.${name}`, 'is not valid for a fact')
  }
  const { status, supersededBy, promotedFrom, extracted, review, strength } = fact
  const isStatus =
    fact.kind === 'blocker' ? ['open', 'resolved'].includes(status ?? '') : status === undefined
  if (!isStatus) throw invalid(operation, 'value.status', 'is not a status of that kind of fact')
  if (supersededBy !== undefined) checkFactId(operation, 'value.supersededBy', supersededBy)
  if (promotedFrom !== undefined) checkTrust(operation, 'value.promotedFrom', promotedFrom)
  if (extracted !== undefined && (extracted !== true || isShared))
    throw invalid(operation, 'value.extracted', 'is true for facts of a session alone, or left out')
  if (review !== undefined) checkReview(operation, 'value.review', review)
  if (strength !== undefined && checkCount(operation, 'value.strength', strength) > MOST_STRENGTH)
    throw invalid(operation, 'value.strength', `must be at most ${MOST_STRENGTH}`)
  return fact
}

function checkFactSize(operation: string, at: string, fact: FactDraft): void {
  checkSize(operation, at || 'fact', noteless(fact), MAX_FACT_BYTES)
}

/** Whether there is room for a fact. What is noted on it later is not counted. */
export function isSmall(fact: Fact): boolean {
  return utf8Length(noteless(fact)) <= MAX_FACT_BYTES
}

function noteless({
  supersededBy: _,
  promotedFrom: __,
  review: ___,
  strength: ____,
  ...fact
}: FactDraft): string {
  return JSON.stringify(fact)
}

/** The id of a fact, or `ERR_INVALID_ARGUMENT`. */
export function checkFactId(operation: string, argument: string, value: unknown): string {
  const id = checkId(operation, argument, value)
  if (utf8Length(id) > MAX_FACT_ID_BYTES)
    throw invalid(operation, argument, `must be at most ${MAX_FACT_ID_BYTES} bytes`)
  return id
}

/** Path of a field in the call's arguments. */
export function pathOf(at: string, field: string): string {
  return at === '' ? field : `${at}.${field}`
}

function checkVisible(operation: string, argument: string, value: unknown): string {
  const text = visible(checkText(operation, argument, value)).trim()
  if (text === '') throw invalid(operation, argument, 'has no visible character')
  return text
}

function checkTitle(operation: string, argument: string, value: unknown): string {
  return shortened(oneLine(checkVisible(operation, argument, value)))
}

/** The beginning of a text as a title: its first sentence at most. */
export function titleOf(text: string): string {
  const shown = visible(text).trim()
  return shortened(oneLine(FIRST_SENTENCE.exec(shown)?.[0] ?? shown))
}

/** At most 80 code points, cut between words where the cut would not take half of it. */
function shortened(line: string): string {
  if (codePoints(line) <= MOST_TITLE) return line
  const head = Array.from(line.slice(0, 2 * MOST_TITLE))
    .slice(0, MOST_TITLE)
    .join('')
  const border = head.lastIndexOf(' ')
  const end = border > head.length / 2 ? border : head.length - (Array.from(head).at(-1)?.length ?? 0)
  return `${head.slice(0, end).trimEnd()}…`
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

/** Above the user's own word is only what the app is made with. */
function checkTrust(operation: string, argument: string, value: unknown): Trust {
  if (value === 'system') throw invalid(operation, argument, 'must not be system: a fact has user at most')
  return checkLabel(operation, argument, value)
}

function checkSources(operation: string, argument: string, value: unknown): readonly string[] {
  checkList(operation, argument, value, MOST_SOURCES)
  const ids = value.map((id: unknown, index) => checkId(operation, `${argument}[${index}]`, id))
  return [...new Set(ids)]
}
