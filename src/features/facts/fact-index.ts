import type { Fact, FactList } from '../../ports/fact.ts'
import type { IndexEntry } from '../../ports/op.ts'
import { isTrusted } from '../trust.ts'
import { LIVE } from './live.ts'
import { bandsOf } from './near-duplicates.ts'

export const DAY = 86_400_000
/**
 * Days that are counted together, so that few sums say how many there were until a day. Largest
 * first.
 */
const SIZES = [4_096, 64, 1]
/** What is later counts as of this day, in the year 2242. */
const LAST_DAY = 99_999
/** Digits of a time in an order. */
const DIGITS = 15
const HOUR = 3_600_000
/** Strongest that reviews make a fact: two digits. */
export const MOST_STRENGTH = 99
/** A fact of less confidence is doubtful. */
export const DOUBTFUL = 0.5

/** Facts that end, by when. */
export const EXPIRING = 'fact/expires'

/**
 * What a session's scope has not told that of its user: facts that are the user's word for all
 * sessions, until they are handed over, and which others were written, until they are noted there.
 */
export const SHARE = 'fact/share'

/** Facts of the user's sessions, as the user's scope knows of them: what all of it begins with. */
export const KEPT = 'kept'

/** Group of a list: facts without a project, or those of one. */
export function listOf(list: FactList, project?: string): string {
  // Escaped, so that no project's name is the beginning of another group's.
  return project === undefined
    ? `fact/${list}`
    : `fact/${list}/of/${project.replaceAll('%', '%25').replaceAll('/', '%2F')}`
}

/** Groups of a list: that of no project, and that of one. */
export function listsOf(list: FactList, project: string | undefined): readonly string[] {
  return project === undefined ? [listOf(list)] : [listOf(list), listOf(list, project)]
}

/** What the groups begin with that count by days what ends of a group. */
export function endedIn(group: string): string {
  return `${group}/expires`
}

/** Group that counts the facts that were made in an hour. */
export function madeIn(now: number): string {
  return `fact/made/${Math.floor(now / HOUR)}`
}

/** Group of pinned facts whose tokens were counted by a counter of that id. */
export function countedBy(counter: string): string {
  return `fact/by/${counter}`
}

/** Group of facts that share a hash of some of their words. */
export function bandGroup(band: string): string {
  return `fact/near/${band}`
}

/** Start of the UTC day of a time. */
export function dayStart(time: number): number {
  return Math.floor(time / DAY) * DAY
}

/** Whether a fact ended by the start of the UTC day of a time. */
export function hasEnded({ expiresAt }: Pick<Fact, 'expiresAt'>, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= dayStart(now)
}

/** Where a fact stands that holds no more: in its hour. */
export function pastIndexOf({ createdAt }: Fact): readonly IndexEntry[] {
  return [{ group: madeIn(createdAt), weight: 0 }]
}

/**
 * Where a fact stands: nowhere but in its hour, once it is superseded or resolved.
 *
 * @param tokens what it takes in a session's start
 * @param bands hashes of its words that near-duplicates share
 * @param counter id of the counter that says so; absent: nobody knows
 */
export function indexOf(
  fact: Fact,
  tokens: number,
  bands: readonly string[],
  counter?: string,
): readonly IndexEntry[] {
  const { project, createdAt, reviewAt, expiresAt } = fact
  const made = pastIndexOf(fact)
  if (fact.supersededBy !== undefined || fact.status === 'resolved') return made
  const rank = rankOf(fact)
  const ended = (group: string): readonly IndexEntry[] =>
    expiresAt === undefined ? [] : daysOf(endedIn(group), goneFrom(expiresAt), tokens)
  const ranked = (group: string): readonly IndexEntry[] => [
    { group, weight: tokens, order: rank },
    ...ended(group),
  ]
  const due = listOf('due', project)
  // What ends before its review is never due.
  const isEverDue = expiresAt === undefined || reviewAt < expiresAt
  return [
    ...made,
    ...ranked(LIVE),
    ...ranked(listOf(fact.pinned ? 'pinned' : 'shown', project)),
    ...(fact.pinned && counter !== undefined ? [{ group: countedBy(counter), weight: tokens }] : []),
    ...(fact.confidence < DOUBTFUL ? ranked(listOf('low', project)) : []),
    { group: listOf('recent', project), order: descending(createdAt) },
    ...(isEverDue
      ? [{ group: due, order: ascending(reviewAt) }, ...daysOf(due, reviewAt, tokens), ...ended(due)]
      : []),
    ...(expiresAt === undefined ? [] : [{ group: EXPIRING, order: ascending(expiresAt) }]),
    ...bands.map((band) => ({ group: bandGroup(band), order: '' })),
  ]
}

/** What a fact's places depend on beside itself. */
export interface FactPlaces {
  readonly now: number
  /** Whether it is in a user's own scope, which all of the user's sessions share. */
  readonly shared: boolean
  /** Contract: what a fact takes in a session's start, a whole number. */
  readonly tokensOf: (fact: Fact) => number
  /** Id of the counter by which it does. */
  readonly counter: string
}

/** Where a fact stands in the indexes of its scope. */
export function placesOf(fact: Fact, { now, shared, tokensOf, counter }: FactPlaces): readonly IndexEntry[] {
  if (hasEnded(fact, now)) return pastIndexOf(fact)
  return [
    ...indexOf(fact, tokensOf(fact), bandsOf(fact), counter),
    ...(shared || !isForAll(fact) ? [] : [{ group: SHARE, order: '' }]),
  ]
}

/** Whether a session's fact belongs to all of the user's sessions. */
export function isForAll({ kind, trust, supersededBy, extracted }: Fact): boolean {
  const isRule = kind === 'preference' || kind === 'constraint'
  return isRule && isTrusted(trust) && !extracted && supersededBy === undefined
}

/**
 * Where a fact of a session that holds stands among those of all sessions of its user.
 *
 * @param listed whether more than its number is known there
 */
export function keptIndexOf(fact: Fact, listed: boolean): readonly IndexEntry[] {
  const { priority, createdAt, project, expiresAt } = fact
  return [
    { group: KEPT, weight: 0 },
    ...(expiresAt === undefined ? [] : daysOf(endedIn(KEPT), goneFrom(expiresAt), 0)),
    ...(listed ? [{ group: keptList(project), order: `${9 - priority}${descending(createdAt)}` }] : []),
  ]
}

/** Group of the facts of no project that sessions kept, or of those of one. */
export function keptList(project?: string): string {
  return `${KEPT}/${listOf('shown', project)}`
}

/**
 * The strict order in which facts show: priority, strength, confidence, the newest first; the id
 * breaks ties.
 */
export function rankOf({ priority, strength = 0, confidence, createdAt }: Fact): string {
  const weak = String(MOST_STRENGTH - strength).padStart(2, '0')
  const doubt = String(100 - Math.round(confidence * 100)).padStart(3, '0')
  return `${9 - priority}${weak}${doubt}${descending(createdAt)}`
}

/** Compares facts by their places in an order; the id breaks ties. */
export function comparing(orderOf: (fact: Fact) => string): (one: Fact, other: Fact) => number {
  return (one, other) => compared(orderOf(one), orderOf(other)) || compared(one.id, other.id)
}

/** Compares facts by the strict order in which they show. */
export const byRank = comparing(rankOf)

/** Compares texts by their code units. */
export function compared(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** A time as it stands in an order, the earliest first. */
export function ascending(time: number): string {
  return String(clamped(time)).padStart(DIGITS, '0')
}

function descending(time: number): string {
  return ascending(10 ** DIGITS - 1 - clamped(time))
}

/**
 * Groups whose sums together count what lies on the day of a time or before it: at most 63 of each
 * size, and one for each 11 years.
 */
export function groupsUntil(prefix: string, time: number): readonly string[] {
  const end = dayOf(time) + 1
  const groups: string[] = []
  let from = 0
  for (const size of SIZES) {
    const to = Math.floor(end / size)
    for (let one = from / size; one < to; one++) groups.push(`${prefix}/${size}/${one}`)
    from = to * size
  }
  return groups
}

/** Counts a fact on a day, and in the 64 and the 4 096 days that hold it. */
function daysOf(prefix: string, time: number, weight: number): readonly IndexEntry[] {
  const day = dayOf(time)
  return SIZES.map((size) => ({ group: `${prefix}/${size}/${Math.floor(day / size)}`, weight }))
}

/** The start of the first day that begins when it has ended. */
function goneFrom(expiresAt: number): number {
  return Math.ceil(expiresAt / DAY) * DAY
}

function dayOf(time: number): number {
  return Math.min(LAST_DAY, Math.floor(clamped(time) / DAY))
}

function clamped(time: number): number {
  return Math.max(0, Math.min(10 ** DIGITS - 1, Math.floor(time)))
}
