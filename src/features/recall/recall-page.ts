import { lowerTrust } from '../../kernel/log/message.ts'
import type { Policy } from '../../kernel/policy.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Trust } from '../../ports/message.ts'
import type { Recalled } from '../../ports/recall.ts'
import { labelOf, referenceOf } from '../reference.ts'
import { visible } from '../text/visible.ts'
import { fitLines } from './fit-lines.ts'
import { RECALLED } from './lexical-recall.ts'
import { dateOf } from './question.ts'
import { speakerOf } from './speaker.ts'

const MS_PER_DAY = 86_400_000
/** Facts that are named. */
const NAMED = 8

/** What was found, as text for a model. */
export interface RecallPage {
  /** Begins with what marks it as recalled: it is never indexed or extracted again. */
  readonly text: string
  /** Results that the text shows, and those that had no room in it. */
  readonly shown: number
  readonly left: number
  /** The lowest of the results that show; without any, `user`. */
  readonly trust: Trust
}

/**
 * Results, best first, one a line with its reference (of a message, its number in the log), whose
 * it is, its trust and its UTC day: as many as a context shows whole in a tool's output. What
 * cannot be seen is taken out of them.
 *
 * @param showing facts that were found too, but show already: they are named alone
 */
export function recallPage(
  items: readonly Recalled[],
  showing: readonly Fact[],
  { counter, first }: Policy,
): RecallPage {
  const named = showing.slice(0, NAMED).map(nameOf).join(', ')
  const room = first - counter.count(`${headLine(items.length, items.length, named)}\n`)
  const { lines } = fitLines(items.map(lineOf), Math.max(1, room), counter.count)
  const shown = lines.length
  const left = items.length - shown
  return {
    text: [headLine(shown, left, named), ...lines].join('\n'),
    shown,
    left,
    trust: items.slice(0, shown).reduce<Trust>((low, { trust }) => lowerTrust(low, trust), 'user'),
  }
}

function headLine(shown: number, left: number, showing: string): string {
  if (shown + left === 0)
    return showing === ''
      ? `${RECALLED}: nothing was found that does not show already]`
      : `${RECALLED}: nothing but what shows already: ${showing}]`
  const already = showing === '' ? '' : `; what shows already: ${showing}`
  const rest = left > 0 ? `; ${left} more did not fit` : ''
  return `${RECALLED}: ${shown} ${shown === 1 ? 'result' : 'results'}, best first${rest}${already}]`
}

/** As a context has it, where a pin has no reference. */
function nameOf({ id, kind, pinned }: Fact): string {
  return pinned ? `a pinned ${kind}` : referenceOf(id)
}

function lineOf(item: Recalled): string {
  const { type, ordinal, trust, createdAt, text } = item
  const named = type === 'message' && ordinal !== undefined ? `#${ordinal}` : labelOf(item)
  return visible(`- ${named} ${speakerOf(item)} [${trust}] ${dayText(createdAt)}: ${text}`)
    .replace(/\s+/g, ' ')
    .trim()
}

/** As `2026-11-22`. @param time Unix milliseconds */
function dayText(time: number): string {
  const [year = 0, month = 0, day = 0] = dateOf(Math.floor(time / MS_PER_DAY))
  return [String(year).padStart(4, '0'), ...[month + 1, day].map((one) => String(one).padStart(2, '0'))].join(
    '-',
  )
}
