import type { Context } from '../ports/context.ts'
import type { Message, MessageInput, ToolCallPart, ToolSpec } from '../ports/message.ts'
import type { Limits, TailSection } from '../ports/session.ts'
import type { AgentCall } from './events.ts'

/** The conversation that a run reads and writes, wherever it is kept. */
export interface Transcript {
  /** The newest messages as they show, newest last, widened to whole steps. */
  recent(messages: number): Promise<readonly Message[]>
  /** Contract: writes all or none; the same ids again write nothing. */
  append(messages: readonly MessageInput[], options?: WriteOptions): Promise<Written>
  context(request: ContextRequest): Promise<Context>
}

export interface WriteOptions {
  /** The round to join. */
  readonly round?: string
}

export interface Written {
  readonly messages: readonly Message[]
  /** Whether they had been there before; then `messages` are those that were. */
  readonly repeated: boolean
}

export interface ContextRequest {
  readonly system?: string | undefined
  readonly tools: readonly ToolSpec[]
  readonly tail: readonly TailSection[]
  readonly limits?: Limits | undefined
  /** What to show in place of the conversation, where it is kept nowhere. */
  readonly messages?: readonly Message[]
  readonly newEpoch?: boolean
  readonly preview?: boolean
}

/** The calls of an assistant's message, in order. */
export function callsOf({ id, content }: Message): readonly AgentCall[] {
  if (typeof content === 'string') return []
  return content
    .filter((part): part is ToolCallPart => part.type === 'tool-call')
    .map((part, index) => ({ entry: id, index, callId: part.id, name: part.name, input: part.input }))
}

/** Calls of the newest step that have no result yet. */
export function pendingCalls(messages: readonly Message[]): readonly AgentCall[] {
  const newest = messages.findLastIndex(({ role }) => role !== 'tool')
  const step = messages[newest]
  if (!step) return []
  const results = messages.slice(newest + 1).flatMap(resultsOf)
  return callsOf(step).filter(({ callId }) => {
    const answer = results.indexOf(callId)
    if (answer >= 0) results.splice(answer, 1)
    return answer < 0
  })
}

/** The newest message, where it is a reply that calls nothing. */
export function finalAnswer(messages: readonly Message[]): Message | undefined {
  const newest = messages.at(-1)
  return newest?.role === 'assistant' && callsOf(newest).length === 0 ? newest : undefined
}

/** The reply that ended the round of a message, whatever was said since. */
export function answerTo(said: string | undefined, messages: readonly Message[]): Message | undefined {
  const begin = messages.findIndex(({ id }) => id === said) + 1
  if (begin === 0) return undefined
  const end = messages.findIndex(({ role }, index) => index >= begin && role === 'user')
  return finalAnswer(messages.slice(begin, end < 0 ? undefined : end))
}

/** The round that the newest message is in, where that is known. */
export function roundOf(messages: readonly Message[]): string | undefined {
  return messages.findLast(({ role }) => role === 'user')?.id
}

function resultsOf({ content }: Message): readonly string[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) => (part.type === 'tool-result' ? part.callId : []))
}
