import type { Policy } from '../../kernel/policy.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Trust } from '../../ports/message.ts'
import { referenceOf } from '../reference.ts'
import type { Finding } from './find.ts'
import { NOTHING_FOUND, RECALLED } from './recall-text.ts'
import { showPassages } from './show-passages.ts'

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
 * What was found, newest first, each message with its number in the log: as many passages as a
 * context shows whole in a tool's output. What cannot be seen is taken out of them.
 *
 * @param showing facts that were found too, but show already: they are named alone
 */
export async function recallPage(
  finding: Finding,
  showing: readonly Fact[],
  { counter, first }: Policy,
): Promise<RecallPage> {
  const named = showing.slice(0, NAMED).map(nameOf).join(', ')
  const count = (text: string) => counter.count(text)
  const { length } = finding.ranked
  const isShort = finding.failure !== undefined
  const size = Math.max(1, first - count(`${headLine(length, length, named, isShort)}\n`))
  const { text, items, left, trust } = await showPassages(finding, { size, count, isNumbered: true })
  const head = headLine(items, left.length, named, isShort)
  return { text: text === '' ? head : `${head}\n${text}`, shown: items, left: left.length, trust }
}

function headLine(shown: number, left: number, showing: string, isShort: boolean): string {
  // The model may ask in other words then.
  const by = isShort ? ', by words alone' : ''
  if (shown + left === 0)
    return showing === ''
      ? `${NOTHING_FOUND}${by} that does not show already]`
      : `${RECALLED}: nothing but what shows already: ${showing}]`
  const already = showing === '' ? '' : `; what shows already: ${showing}`
  const rest = left > 0 ? `; ${left} more did not fit` : ''
  return `${RECALLED}: ${shown} ${shown === 1 ? 'result' : 'results'}${by}, newest first${rest}${already}]`
}

/** As a context has it, where a pin has no reference. */
function nameOf({ id, kind, pinned }: Fact): string {
  return pinned ? `a pinned ${kind}` : referenceOf(id)
}
