import type { Message } from '../../ports/message.ts'
import { identifiers } from '../text/identifiers.ts'
import { type MessageTexts, textsOf } from './message-texts.ts'

/** What must outlive a compaction word for word. */
export interface Pin {
  readonly kind: 'constraint' | 'blocker' | 'correction' | (string & {})
  readonly text: string
}

/** What a summary may not lose, and what was lost all the same. */
export interface Carry {
  /** Pins, then names; empty when there is nothing to carry. */
  readonly text: string
  /**
   * Names of the covered part that nothing shows any more, the weightiest first: how many, and the
   * first five.
   */
  readonly lost: { readonly count: number; readonly first: readonly string[] }
}

export interface CarryInput {
  readonly pins: readonly Pin[]
  /** The accepted summary. */
  readonly text: string
  /** Names of what is covered, as {@link weigh} gives them. */
  readonly weights: ReadonlyMap<string, number>
  /** What goes on showing, as it shows. */
  readonly kept: string
  /** Tokens for the names. */
  readonly room: number
  readonly count: (text: string) => number
}

/** Names that a ledger lists; the rest is counted. */
const LISTED = 5
/** A number of three digits and more, or one with a fraction; shorter ones are everywhere. */
const NUMBER = /(?<![\p{L}\p{N}_.])\d{1,3}(?:[.:,]\d+)+|(?<![\p{L}\p{N}_.])\d{3,}/gu
/** What somebody put in quotation marks: one line, at most 60 characters. */
const QUOTED = /"([^"\n]{3,60})"|“([^”\n]{3,60})”|`([^`\n]{3,60})`/gu
const NAMES = 'names: '
const LISTED_NAME = /"([^"]+)"|\S+/gu
/**
 * Most of the room that names take which the kept messages use again: these show there too, for as
 * long as they do.
 */
const AGAIN_SHARE = 0.25
/**
 * What an occurrence weighs: who goes on talking uses the names that were spoken and called with,
 * rather than all that was read.
 */
const SPOKEN = 3
const READ = 1
/** Names of an earlier carry weigh this much at most, less the further back they stand in it. */
const CARRIED = 4

/**
 * The block that goes with a summary: every pin that the summary does not hold word for word, and
 * of the names in the covered part those that the kept messages use again, then the weightiest
 * others, as many as fit. Pure and deterministic.
 */
export function carryOver({ pins, text, weights, kept, room, count }: CarryInput): Carry {
  const pinned = pins.filter((pin) => !text.includes(pin.text)).map(lineOf)
  const shown = `${text}\n${pinned.join('\n')}`
  const ranked = [...weights].filter(([name]) => !shown.includes(name))
  const again = ranked.filter(([name]) => kept.includes(name))
  const others = ranked.filter(([name]) => !kept.includes(name))
  const picked: string[] = []
  let left = (room - count(NAMES)) * AGAIN_SHARE
  const pick = ([name]: readonly [string, number]): boolean => {
    const cost = Math.max(1, count(` ${spelled(name)}`))
    if (cost > left) return false
    left -= cost
    picked.push(spelled(name))
    return true
  }
  again.sort(heavier).forEach(pick)
  left += (room - count(NAMES)) * (1 - AGAIN_SHARE)
  const lost = others.sort(heavier).filter((name) => !pick(name))
  const lines = picked.length > 0 ? [...pinned, `${NAMES}${picked.join(' ')}`] : pinned
  return {
    text: lines.join('\n'),
    lost: { count: lost.length, first: lost.slice(0, LISTED).map(([name]) => name) },
  }
}

/** A pin as it shows. */
export function lineOf({ kind, text }: Pin): string {
  return `${kind}: ${text}`
}

/**
 * Names of a text that what follows is likely to use again: identifiers, numbers, and what somebody
 * quoted.
 */
export function namesIn(texts: MessageTexts): readonly string[] {
  const { spoken, called, read } = texts
  const quoted = [...spoken.matchAll(QUOTED)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
  const numbers = `${spoken}\n${called}`.match(NUMBER) ?? []
  return [...new Set([...identifiers(`${spoken}\n${called}\n${read}`), ...numbers, ...quoted])]
}

/**
 * Each name with its weight: who used it, how often, and how late.
 *
 * @param told text of the summary before.
 * @param before its carry block.
 * @param cut messages that are covered from now on, oldest first.
 */
export function weigh(told: string, before: string, cut: readonly Message[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (name: string, weight: number): void => {
    weights.set(name, (weights.get(name) ?? 0) + weight)
  }
  const carried = carriedNames(before)
  for (const [place, name] of carried.entries()) add(name, CARRIED * (1 - place / carried.length))
  for (const name of namesIn({ spoken: told, called: '', read: '' })) add(name, SPOKEN)
  for (const [place, message] of cut.entries()) {
    const late = (place + 1) / cut.length
    const { spoken, called, read } = textsOf(message)
    for (const name of namesIn({ spoken, called, read: '' })) add(name, SPOKEN * (0.5 + late))
    for (const name of namesIn({ spoken: '', called: '', read })) add(name, READ * (0.5 + late))
  }
  return weights
}

/** The names in a carry block, the weightiest first. */
function carriedNames(carry: string): readonly string[] {
  const line = carry.split('\n').findLast((line) => line.startsWith(NAMES))
  return [...(line?.slice(NAMES.length).matchAll(LISTED_NAME) ?? [])].map(([name, quoted]) => quoted ?? name)
}

/** A name as the carry block lists it: names stand between spaces. */
function spelled(name: string): string {
  return name.includes(' ') ? `"${name}"` : name
}

function heavier(a: readonly [string, number], b: readonly [string, number]): number {
  return b[1] - a[1]
}
