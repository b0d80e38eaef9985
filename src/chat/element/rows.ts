import type { Json, MediaPart, Part, ToolResultPart } from '../../ports/message.ts'
import type { RunningReply, ShownCall, ShownMessage } from '../ports.ts'

/** A message as it stands in the list: its texts, and its tool calls with their results. */
export interface Row {
  readonly shown: ShownMessage
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ShownCall[]
  readonly media: readonly MediaPart[]
}

/**
 * Rows of the messages in `[from, to)`. Results of tools stand with their calls, even where they
 * are after `to`; what a reader is not addressed by (instructions, results) has no row of its own.
 *
 * @param running calls of the reply under way: they tell more of their state than the log does
 */
export function rowsOf(
  messages: readonly ShownMessage[],
  from: number,
  to: number,
  running: readonly ShownCall[] = [],
): readonly Row[] {
  const results = resultsIn(messages, from, to)
  return messages.slice(from, to).flatMap((shown) => {
    const { role, content } = shown.message
    if (role === 'tool' || role === 'system') return []
    const parts = partsOf(content)
    const calls = parts.flatMap((part) =>
      part.type === 'tool-call'
        ? [
            (!results.has(part.id) && running.find(({ callId }) => callId === part.id)) ||
              callOf(part.id, part.name, part.input, results.get(part.id)),
          ]
        : [],
    )
    return [
      {
        shown,
        text: textOf(content),
        reasoning: joined(parts, 'reasoning'),
        calls,
        media: parts.filter((part) => part.type === 'media'),
      },
    ]
  })
}

/** A reply under way without what is recorded of it by now, which has rows. */
export function unrecorded(reply: RunningReply, messages: readonly ShownMessage[]): RunningReply {
  const asked = messages.findLastIndex(({ message }) => message.role === 'user')
  const recorded = messages.slice(asked + 1).flatMap(({ message }) => partsOf(message.content))
  // It may be read as a message before its own end has come.
  const rest = (type: 'text' | 'reasoning'): string =>
    recorded.some((part) => part.type === type && part.text.startsWith(reply[type])) ? '' : reply[type]
  return {
    ...reply,
    text: rest('text'),
    reasoning: rest('reasoning'),
    calls: reply.calls.filter(
      ({ callId }) => !recorded.some((part) => part.type === 'tool-call' && part.id === callId),
    ),
  }
}

/** The text of a message, as it is copied and edited. */
export function textOf(content: string | readonly Part[]): string {
  return joined(partsOf(content), 'text')
}

export function partsOf(content: string | readonly Part[]): readonly Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function joined(parts: readonly Part[], type: 'text' | 'reasoning'): string {
  return parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('\n\n')
}

function resultsIn(
  messages: readonly ShownMessage[],
  from: number,
  to: number,
): ReadonlyMap<string, ToolResultPart> {
  const results = new Map<string, ToolResultPart>()
  for (let place = from; place < messages.length; place++) {
    const message = messages[place]?.message
    // Beyond the last row only its own results count: they come before anybody speaks again.
    if (!message || (place >= to && message.role !== 'tool')) break
    if (message.role !== 'tool') continue
    for (const part of partsOf(message.content)) {
      if (part.type === 'tool-result') results.set(part.callId, part)
    }
  }
  return results
}

function callOf(callId: string, name: string, input: Json, result: ToolResultPart | undefined): ShownCall {
  if (!result) return { callId, name, input, status: 'waiting' }
  return { callId, name, input, status: result.isError ? 'failed' : 'ok', output: result.output }
}
