import type { AgentTool } from '../../src/agent/options.ts'
import type { MessageInput, ToolResultPart, ToolSpec } from '../../src/ports/message.ts'
import type { StandardSchema } from '../../src/ports/standard-schema.ts'
import type { Conversation } from '../../src/replay/transcript.ts'

/**
 * A message of a recording with an id that is made from its place, so that a process that plays it
 * again gives it the same one.
 */
export interface Placed extends MessageInput {
  readonly id: string
}

/** What one run of an agent plays: what is said to it, and what it replies. */
export interface Piece {
  readonly input: readonly [Placed, ...Placed[]]
  /** In order; empty where the recording ends before a reply. */
  readonly replies: readonly Placed[]
}

/** A recording as runs of an agent. */
export interface Play {
  readonly pieces: readonly Piece[]
  /** What the recording tells of its tools, and as much of those that it only calls. */
  readonly tools: readonly ToolSpec[]
  /**
   * The recorded results of a message's calls, by their place among its calls; none where a call
   * was never answered.
   */
  readonly results: ReadonlyMap<string, readonly (ToolResultPart | undefined)[]>
}

/**
 * Parts a recording into runs. A run begins with what a user says, and ends with a reply that calls
 * nothing; a reply that no agent would have given there is said to it. Results without a call are
 * left out, and calls of one id in one reply get ids of their own: an agent records those one after
 * the other, so in which order they and the reply's other calls are answered depends on a kill.
 */
export function playOf({ messages, tools = [] }: Conversation): Play {
  const pieces: { input: [Placed, ...Placed[]]; replies: Placed[] }[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue
    const placed: Placed = { ...message, content: toldApart(message.content), id: idOf(index), createdAt: 0 }
    const piece = pieces.at(-1)
    const newest = piece && (piece.replies.at(-1) ?? piece.input.at(-1))
    const ended = newest?.role === 'assistant' && callsIn(newest).length === 0
    if (!piece || (piece.replies.length > 0 && (ended || message.role !== 'assistant')))
      pieces.push({ input: [placed], replies: [] })
    else if (message.role !== 'assistant' || ended) piece.input.push(placed)
    else piece.replies.push(placed)
  }
  return { pieces, tools: toolsOf(messages, tools), results: resultsOf(messages) }
}

/**
 * Tools as an agent has them, each of which takes any arguments: the recording says what came of
 * them.
 */
export function agentTools(tools: readonly ToolSpec[], execute: AgentTool['execute']): readonly AgentTool[] {
  return tools.map(({ inputSchema, ...spec }) => ({
    ...spec,
    inputSchema: ANYTHING,
    jsonSchema: inputSchema,
    execute,
  }))
}

const ANYTHING: StandardSchema = {
  '~standard': { version: 1, vendor: 'plimsoll', validate: (value) => ({ value }) },
}

export function callsIn({ content }: Pick<MessageInput, 'content'>) {
  return typeof content === 'string' ? [] : content.filter((part) => part.type === 'tool-call')
}

function toldApart(content: MessageInput['content']): MessageInput['content'] {
  if (typeof content === 'string') return content
  const seen = new Set<string>()
  return content.map((part, place) => {
    if (part.type !== 'tool-call') return part
    const id = seen.has(part.id) ? `${part.id}/${place}` : part.id
    seen.add(id)
    return { ...part, id }
  })
}

function idOf(index: number): string {
  return `m${index + 1}`
}

function toolsOf(messages: readonly MessageInput[], told: readonly ToolSpec[]): readonly ToolSpec[] {
  const known = new Map(told.map((tool) => [tool.name, tool]))
  for (const { name } of messages.flatMap(callsIn))
    if (!known.has(name)) known.set(name, { name, inputSchema: { type: 'object' } })
  return [...known.values()]
}

/** Each result answers the newest call of its id before it that none has answered. */
function resultsOf(messages: readonly MessageInput[]): Play['results'] {
  const results = new Map<string, (ToolResultPart | undefined)[]>()
  const open: { readonly callId: string; readonly answer: (result: ToolResultPart) => void }[] = []
  for (const [index, message] of messages.entries()) {
    if (typeof message.content === 'string') continue
    const calls = callsIn(message)
    const own: (ToolResultPart | undefined)[] = calls.map(() => undefined)
    if (calls.length > 0) results.set(idOf(index), own)
    // Calls of one message are answered in their order, messages from the newest back.
    const waiting = calls.map(({ id: callId }, place) => ({
      callId,
      answer: (result: ToolResultPart) => {
        own[place] = result
      },
    }))
    open.unshift(...waiting)
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue
      const found = open.findIndex(({ callId }) => callId === part.callId)
      if (found >= 0) open.splice(found, 1)[0]?.answer(part)
    }
  }
  return results
}
