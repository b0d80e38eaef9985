import { lowerTrust } from '../../kernel/log/message.ts'
import type { Trust } from '../../ports/message.ts'
import { headOf } from '../../text/text.ts'
import { labelOf } from '../reference.ts'
import { longestHead } from '../text/longest-head.ts'
import { visible } from '../text/visible.ts'
import { AT_ONCE, type Finding, type Found } from './find.ts'
import { type Passage, passagesOf } from './passages.ts'
import { dateOf } from './question.ts'
import type { Ranked } from './rank.ts'
import { speakerOf } from './speaker.ts'

const MS_PER_DAY = 86_400_000
/** After so many passages in a row that have no room, no further one is looked for. */
const MOST_MISSES = 32
/** What stands for what is left out between passages of a message. */
const GAP = ' … '

/** What shows of what was found. */
export interface Shown {
  /** Empty: nothing has room. */
  readonly text: string
  readonly tokens: number
  /** How many results show, whole or in part. */
  readonly items: number
  /**
   * Ids of the others, best first, but of what shows in the same words; and the tokens of those of
   * their passages that were read.
   */
  readonly left: readonly string[]
  readonly leftTokens: number
  /** The lowest of what shows; of nothing, `user`. */
  readonly trust: Trust
}

/** What was found, read and parted. */
interface Item {
  readonly found: Found
  readonly parts: readonly Passage[]
}

/** A passage that is to show. */
interface Chosen {
  readonly item: Item
  readonly part: number
}

export interface ShowOptions {
  /** Tokens, at most. */
  readonly size: number
  readonly count: (text: string) => number
  /** Whether each message shows its number in the log, and not only those that are cut. */
  readonly isNumbered?: boolean
}

/**
 * As many passages as have room, best first, in lines that say who spoke, with what trust and on
 * which UTC day, the newest first. Passages that stand side by side are joined, and so are messages
 * that follow each other, in their order. A message that is cut shows its number in the log, by
 * which the rest can be read. What is said again in the same words shows once: as it was said by
 * those of the highest trust, and by them the last time.
 */
export async function showPassages({ ranked, read }: Finding, options: ShowOptions): Promise<Shown> {
  const { size, count } = options
  const candidates = ranked
    .flatMap(({ passages }, rank) => passages.map((score, part) => ({ rank, part, score })))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.rank - other.rank || one.part - other.part)
  const items: (Item | undefined)[] = []
  const chosen: Chosen[] = []
  const shown = new Map<Item, Set<number>>()
  const days = new Set<string>()
  /** By wording, which of the chosen has it. */
  const said = new Map<string, number>()
  /** How many passages of an item others say. */
  const repeats = new Map<Item, number>()
  const missed: { readonly item: Item; readonly cost: number }[] = []
  let [room, misses] = [size, 0]
  let first: Chosen | undefined
  /** Put together, passages mostly take less than one by one. */
  let isEstimated = false
  for (const { rank, part } of candidates) {
    if (misses > MOST_MISSES) break
    while (items.length <= rank)
      for (const found of await read(ranked.slice(items.length, items.length + AT_ONCE)))
        items.push(found && { found, parts: passagesOf(found.text) })
    const item = items[rank]
    if (!item) continue
    const { found } = item
    const text = bodyOf(item, [part])
    const wording = wordingOf(item, part)
    const at = said.get(wording)
    if (at !== undefined) {
      const same = chosen[at] as Chosen
      const isBetter = isPreferred(found, same.item.found)
      const repeat = isBetter ? same.item : item
      repeats.set(repeat, (repeats.get(repeat) ?? 0) + 1)
      if (!isBetter) continue
      chosen[at] = { item, part }
      shown.get(same.item)?.delete(same.part)
      shown.set(item, (shown.get(item) ?? new Set()).add(part))
      // Under another day it may take more.
      room = size - count(linesOf(chosen, options))
      isEstimated = false
      continue
    }
    const parts = shown.get(item) ?? new Set()
    const day = dayOf(found)
    const cost =
      count(`${text}\n`) +
      (parts.size > 0 ? 0 : count(headOfLine(found, true))) +
      (days.has(day) ? 0 : count(`${day}\n`)) +
      (item.parts.length > 1 && !parts.has(part - 1) && !parts.has(part + 1) ? count(GAP) : 0)
    first ??= { item, part }
    if (cost > room && isEstimated) {
      room = size - count(linesOf(chosen, options))
      isEstimated = false
    }
    if (cost > room) {
      missed.push({ item, cost })
      misses++
      continue
    }
    misses = 0
    room -= cost
    days.add(day)
    said.set(wording, chosen.length)
    shown.set(item, parts.add(part))
    chosen.push({ item, part })
    isEstimated = true
  }
  // Put together, some counters find more tokens than in the parts.
  let lines = linesOf(chosen, options)
  for (; chosen.length > 0 && count(lines) > size; lines = linesOf(chosen, options)) chosen.pop()
  if (chosen.length === 0 && first) lines = beginningOf(first, options)
  const all = new Set(
    (chosen.length > 0 || lines === '' ? chosen : [first as Chosen]).map(({ item }) => item),
  )
  const isShown = (item: Item | undefined): boolean => item !== undefined && all.has(item)
  const isLeft = ({ passages }: Ranked, rank: number): boolean => {
    const item = items[rank]
    if (rank >= items.length) return true
    return !!item && !isShown(item) && repeats.get(item) !== passages.filter((score) => score > 0).length
  }
  return {
    text: lines,
    tokens: lines === '' ? 0 : count(lines),
    items: all.size,
    left: ranked.flatMap((one, rank) => (isLeft(one, rank) ? one.id : [])),
    leftTokens: missed.reduce((sum, { item, cost }) => sum + (isShown(item) ? 0 : cost), 0),
    trust: [...all].reduce<Trust>((low, { found }) => lowerTrust(low, found.trust), 'user'),
  }
}

/**
 * Passages in lines, each day under its date: the newest first, what follows each other together.
 */
function linesOf(chosen: readonly Chosen[], { isNumbered = false }: ShowOptions): string {
  const shown = new Map<Item, number[]>()
  for (const { item, part } of chosen) shown.set(item, [...(shown.get(item) ?? []), part])
  const runs: Item[][] = []
  for (const item of [...shown.keys()].sort((one, other) => older(one.found, other.found))) {
    const before = runs.at(-1)?.at(-1)
    if (before && follows(item.found, before.found)) runs.at(-1)?.push(item)
    else runs.push([item])
  }
  let day = ''
  const lines: string[] = []
  for (const item of runs.reverse().flat()) {
    if (dayOf(item.found) !== day) {
      day = dayOf(item.found)
      lines.push(day)
    }
    const parts = (shown.get(item) as number[]).sort((one, other) => one - other)
    lines.push(headOfLine(item.found, isNumbered || parts.length < item.parts.length) + bodyOf(item, parts))
  }
  return lines.join('\n')
}

/**
 * A passage in lower case, its blanks evened, without what a sentence ends with: what differs in
 * more (`-5` and `5`, `C++` and `C#`) may say something else.
 */
function wordingOf({ found, parts }: Item, part: number): string {
  const [from, to] = parts[part] ?? [0, 0]
  return visible(found.text.slice(from, to))
    .normalize('NFC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\s.!。！]+$/, '')
    .trimStart()
}

/** Whether to show the first rather than the second, which says the same. */
function isPreferred(one: Found, other: Found): boolean {
  if (one.trust !== other.trust) return lowerTrust(one.trust, other.trust) === other.trust
  const later = one.createdAt - other.createdAt || (one.ordinal ?? 0) - (other.ordinal ?? 0)
  return later > 0
}

/** By day, on each day this session last, and each session in its order. */
function older(one: Found, other: Found): number {
  const placeOf = ({ isOther, sessionId = '' }: Found): string => (isOther ? sessionId : '')
  const [place, others] = [placeOf(one), placeOf(other)]
  return (
    Math.floor(one.createdAt / MS_PER_DAY) - Math.floor(other.createdAt / MS_PER_DAY) ||
    (place === others ? 0 : place > others ? -1 : 1) ||
    one.createdAt - other.createdAt ||
    (one.ordinal ?? 0) - (other.ordinal ?? 0)
  )
}

function follows(found: Found, before: Found): boolean {
  return (
    found.ordinal !== undefined &&
    found.ordinal - 1 === before.ordinal &&
    found.sessionId === before.sessionId &&
    dayOf(found) === dayOf(before)
  )
}

/** The beginning of a passage, as much of it as fits; empty, where none of it does. */
function beginningOf({ item, part }: Chosen, { size, count }: ShowOptions): string {
  const before = `${dayOf(item.found)}\n${headOfLine(item.found, true)}`
  const text = bodyOf(item, [part])
  const length = longestHead(text, (head) => count(`${before}${head} …`) <= size)
  return length === 0 ? '' : `${before}${headOf(text, length)} …`
}

/** Whose a line is, and of a message, by which number the rest of it can be read. */
function headOfLine(found: Found, isNumbered: boolean): string {
  const { type, ordinal, trust, isOther } = found
  // A number is read in this session's log alone.
  const numbered = isNumbered && !isOther && ordinal !== undefined
  const name = type === 'fact' ? `${labelOf(found)} ` : numbered ? `#${ordinal} ` : ''
  return `- ${name}${speakerOf(found)} [${trust}]: `
}

/**
 * Passages of a text, in their order: further lines are indented, so that none looks like a head.
 */
function bodyOf({ found: { text }, parts: all }: Item, parts: readonly number[]): string {
  const runs: { from: number; to: number; next: number }[] = []
  for (const part of parts) {
    const [from, to] = all[part] ?? [0, 0]
    const run = runs.at(-1)
    if (run?.next === part) Object.assign(run, { to, next: part + 1 })
    else runs.push({ from, to, next: part + 1 })
  }
  const body = runs.map(({ from, to }) => visible(text.slice(from, to)).trim()).join(GAP)
  const isBegun = (parts[0] as number) === 0
  const isEnded = (parts.at(-1) as number) === all.length - 1
  return `${isBegun ? '' : '… '}${body}${isEnded ? '' : ' …'}`.replace(/\s*[\n\u2028\u2029]\s*\n?/g, '\n  ')
}

/** As `2026-11-22`, or `2026-11-22, in another session`. */
function dayOf({ createdAt, isOther }: Found): string {
  const [year = 0, month = 0, day = 0] = dateOf(Math.floor(createdAt / MS_PER_DAY))
  const date = [
    String(year).padStart(4, '0'),
    ...[month + 1, day].map((one) => String(one).padStart(2, '0')),
  ].join('-')
  return isOther ? `${date}, in another session` : date
}
