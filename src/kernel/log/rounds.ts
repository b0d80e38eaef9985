import type { Message } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import { hashText } from '../text/hash.ts'

export type AppendOp = Extract<Op, { kind: 'append' }>

/** What the log says about where messages belong. */
export interface Whereabouts {
  /** The round that was named, or the newest that the writer saw. */
  readonly current: string | undefined
  /** Rounds of calls that wait for a result, by call id. */
  readonly waiting: ReadonlyMap<string, string>
}

/**
 * Parts messages into ops, one for each stretch of one round. A user message opens a round; a result joins the round of its
 * call, where that waits; anything else joins the current round, or opens one where there is none.
 */
export function partByRound(
  opId: string,
  messages: readonly Message[],
  { current, waiting }: Whereabouts,
): AppendOp[] {
  const ops: (Omit<AppendOp, 'messages'> & { messages: Message[] })[] = []
  const calls = new Map(waiting)
  let newest = current
  for (const message of messages) {
    const answered = resultsIn(message).find((id) => calls.has(id))
    const joined = answered === undefined ? newest : calls.get(answered)
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

/** The id of an op's part: a hash, so that no other op is named like it. */
export function partId(opId: string, part: number | string): string {
  return part === 0 ? opId : `part/${hashText(JSON.stringify([opId, part]))}`
}

function callsIn({ content }: Message): readonly string[] {
  return typeof content === 'string'
    ? []
    : content.flatMap((part) => (part.type === 'tool-call' ? part.id : []))
}

function resultsIn({ content }: Message): readonly string[] {
  return typeof content === 'string'
    ? []
    : content.flatMap((part) => (part.type === 'tool-result' ? part.callId : []))
}
