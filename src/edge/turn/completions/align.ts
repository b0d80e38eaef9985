/**
 * Which of the messages that a client sends are new. Chat Completions has no ids: some clients send
 * only what is new, some their whole history, some the end of it. So messages are known by content
 * and place. The rules, the first that holds:
 *
 * 1. Nothing sent is a reply: all of it is new, but for what the log ends with unanswered already
 *   (a retry).
 * 2. What was sent up to its newest reply is the log up to its newest reply, or an end of that:
 *   what follows is new. Of what stands unanswered in the log, that which is not sent again is
 *   hidden: the client has taken it back.
 * 3. At least the newest replies are the same, with what comes before them as far as it goes
 *   (clients put summaries in place of what is older): as 2, unless 4 explains more of what was
 *   sent.
 * 4. The client's history begins like the log, or like a stretch of it with a reply in it, and goes
 *   on differently (an edit), or stops (a reply is to be made again): what is left of the log is
 *   hidden, what is left of the history is new.
 * 5. Nothing is the same: into an empty log all is written; else what follows the newest reply
 *   sent, with that reply where results of its calls follow.
 *
 * Limit of the method: asked with one message that the log holds answered, it cannot tell "say that
 * again" from a repeated request. Callers that know of the repetition find out with
 * {@link isAnswered}.
 */
import type { Item } from './items.ts'

export interface Alignment {
  /** How many of the stored items go on to show. */
  readonly keep: number
  /** Places of the sent items that are new, in order. */
  readonly added: readonly number[]
}

/**
 * Pure.
 *
 * @param stored the end of the log, at least as long as what was sent
 * @param isWhole whether that is all of the log
 */
export function align(sent: readonly Item[], stored: readonly Item[], isWhole: boolean): Alignment {
  const settled = alignEnd(sent, stored)
  if (settled) return settled
  const reply = lastReply(sent)
  const run = commonEnd(sent.slice(0, reply), stored.slice(0, lastReply(stored)))
  const edit = longestEdit(sent, stored, isWhole)
  if (run > 0 && run >= edit.length) return goingOn(sent, stored)
  if (edit.length > 0) return { keep: edit.at + edit.length, added: placesFrom(sent, edit.length) }
  if (stored.length === 0) return { keep: 0, added: placesFrom(sent, 0) }
  // A result without its call could not be shown.
  return { keep: stored.length, added: placesFrom(sent, sent[reply]?.role === 'tool' ? reply - 1 : reply) }
}

/**
 * By the first two rules, which need no more of the log than its end; undefined where neither
 * holds. Pure.
 */
export function alignEnd(sent: readonly Item[], stored: readonly Item[]): Alignment | undefined {
  const reply = lastReply(sent)
  if (reply === 0) return unanswered(sent, stored)
  const run = commonEnd(sent.slice(0, reply), stored.slice(0, lastReply(stored)))
  return run === reply ? goingOn(sent, stored) : undefined
}

/** Whether the log holds all that was sent, and one reply to it as its end. Pure. */
export function isAnswered(sent: readonly Item[], stored: readonly Item[], isWhole: boolean): boolean {
  if (stored.at(-1)?.role !== 'assistant') return false
  const asked = stored.slice(0, -1)
  const { keep, added } = align(sent, asked, isWhole)
  return keep === asked.length && added.length === 0
}

function unanswered(sent: readonly Item[], stored: readonly Item[]): Alignment {
  const waiting = stored.slice(lastReply(stored))
  const known = new Set(waiting.map(({ key }) => key))
  const shared = overlap(waiting, sent)
  return {
    keep: stored.length,
    // Results are known by their call, whatever their order.
    added: placesFrom(sent, shared).filter((place) => {
      const { role, key } = sent[place] as Item
      return role !== 'tool' || !known.has(key)
    }),
  }
}

function goingOn(sent: readonly Item[], stored: readonly Item[]): Alignment {
  const from = lastReply(stored)
  const reply = lastReply(sent)
  const shared = commonStart(sent.slice(reply), stored.slice(from))
  return { keep: from + shared, added: placesFrom(sent, reply + shared) }
}

/** Where the longest beginning of what was sent stands in the log; the newest of equals. */
function longestEdit(
  sent: readonly Item[],
  stored: readonly Item[],
  isWhole: boolean,
): { readonly at: number; readonly length: number } {
  let best = { at: 0, length: 0 }
  for (let at = 0; at < stored.length; at++) {
    const length = commonStart(sent, stored.slice(at, at + sent.length))
    const isSure = (isWhole && at === 0) || sent.slice(0, length).some(({ role }) => role === 'assistant')
    if (isSure && length > 0 && length >= best.length) best = { at, length }
  }
  return best
}

/** Place after the newest reply; 0 where there is none. */
function lastReply(items: readonly Item[]): number {
  return items.findLastIndex(({ role }) => role === 'assistant') + 1
}

function placesFrom(items: readonly Item[], from: number): readonly number[] {
  return items.map((_, place) => place).slice(from)
}

function commonStart(one: readonly Item[], other: readonly Item[]): number {
  let length = 0
  while (length < one.length && one[length]?.key === other[length]?.key) length++
  return length
}

function commonEnd(one: readonly Item[], other: readonly Item[]): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one.at(-1 - length)?.key === other.at(-1 - length)?.key) length++
  return length
}

/** The most items with which `one` ends and `other` begins. */
function overlap(one: readonly Item[], other: readonly Item[]): number {
  let length = Math.min(one.length, other.length)
  while (length > 0 && commonStart(other.slice(0, length), one.slice(-length)) < length) length--
  return length
}
