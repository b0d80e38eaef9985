import type { Message } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import { type LogRow, PAGE_ROWS, type ScopeStore } from '../../ports/store.ts'
import { hashText } from '../../text/hash.ts'
import { findOpener } from './entries.ts'
import { type Conversation, fold } from './fold.ts'
import { partsOf } from './message.ts'

/** Pages that are read back at most to find the step of a late result. */
const LATE_PAGES = 8

export type AppendOp = Extract<Op, { kind: 'append' }>

/**
 * Parts messages into ops, one for each stretch of one round. A user message opens a round; a
 * result joins the round of its call, where that waits; anything else joins the current round, or
 * opens one where there is none.
 *
 * @param current the round that was named, or the newest that the writer saw
 * @param waiting rounds of calls that wait for a result, by call id
 */
export function partByRound(
  opId: string,
  messages: readonly Message[],
  current: string | undefined,
  waiting: ReadonlyMap<string, string>,
): AppendOp[] {
  const ops: (AppendOp & { messages: Message[] })[] = []
  const calls = new Map(waiting)
  let newest = current
  for (const message of messages) {
    const [joined = newest] = resultsIn(message).flatMap((id) => calls.get(id) ?? [])
    const round = message.role === 'user' ? message.id : (joined ?? message.id)
    if (message.role !== 'tool') newest = round
    for (const id of callsIn(message)) calls.set(id, round)
    const open = ops.at(-1)
    if (open?.round === round) open.messages.push(message)
    else ops.push({ kind: 'append', opId: partId(opId, ops.length), round, messages: [message] })
  }
  return ops
}

/** Ids of calls that the messages answer and do not make themselves before. */
export function answersFromOutside(messages: readonly Message[]): ReadonlySet<string> {
  const made = new Set<string>()
  const outside = new Set<string>()
  for (const message of messages) {
    for (const id of callsIn(message)) made.add(id)
    for (const id of resultsIn(message)) if (!made.has(id)) outside.add(id)
  }
  return outside
}

/**
 * For each call id the round of the newest step in which it waits: in memory, else up to 4 096
 * entries back.
 */
export async function readRoundsOfCalls(
  store: ScopeStore,
  view: {
    readonly rows: readonly LogRow[]
    readonly opener: LogRow | undefined
    readonly conversation: Conversation
    readonly whole: boolean
  },
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (ids.size === 0) return found
  let { units } = view.conversation
  let rows = view.rows.filter((row) => row !== view.opener)
  for (let page = 0, { whole } = view; ; page++) {
    for (const { calls, round } of units.toReversed())
      for (const { answered, part } of calls)
        if (!answered && ids.has(part.id) && !found.has(part.id)) found.set(part.id, round)
    const [first] = rows
    if (found.size === ids.size || whole || !first || page === LATE_PAGES) return found
    const older = await store.entries({ last: PAGE_ROWS, to: first.id })
    rows = [...older.rows, ...rows]
    whole = !older.more
    units = fold(rows, undefined, await findOpener(store, rows)).units
  }
}

/** The id of an op's part: a hash, so that no other op is named like it. */
export function partId(opId: string, part: number | string): string {
  return part === 0 ? opId : `part/${hashText(JSON.stringify([opId, part]))}`
}

function callsIn(message: Message): readonly string[] {
  return partsOf(message).flatMap((part) => (part.type === 'tool-call' ? part.id : []))
}

function resultsIn(message: Message): readonly string[] {
  return partsOf(message).flatMap((part) => (part.type === 'tool-result' ? part.callId : []))
}
