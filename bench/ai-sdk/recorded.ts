import { join } from 'node:path'
import { asText } from '../../src/kernel/count.ts'
import { textOf } from '../../src/kernel/log/message.ts'
import type { MessageInput } from '../../src/ports/message.ts'
import type { Recorded, Reply } from '../../test/ai-sdk/replay.ts'
import { recordingsIn } from '../recordings.ts'

/** Of a conversation that many replies are played, and of a quick run every third conversation. */
export const MOST_STEPS = 200
const QUICK = 3

/**
 * Conversations in `<data>/transcripts/coding-openai.jsonl`. A quick run plays fewer of them, each
 * as far as the others: what a request costs depends on how long a conversation is.
 */
export async function recordedIn(
  data: string,
  quick: boolean,
): Promise<(Recorded & { readonly steps: number })[]> {
  const all = await recordingsIn(join(data, 'transcripts'), 'coding-openai.jsonl')
  return all
    .filter((_, place) => !quick || place % QUICK === 0)
    .map(({ conversation: { id, messages } }) => recorded(id, messages, MOST_STEPS))
}

function recorded(
  id: string,
  messages: readonly MessageInput[],
  most: number,
): Recorded & { readonly steps: number } {
  const rounds: { user: string; replies: (Reply & { results: Map<string, string> })[] }[] = []
  let steps = 0
  for (const message of messages) {
    const { role, content } = message
    if (role === 'user' && steps < most) rounds.push({ user: textOf(message), replies: [] })
    const round = rounds.at(-1)
    if (role === 'assistant' && round) {
      if (++steps > most) break
      const calls =
        typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'tool-call' ? part : []))
      round.replies.push({ text: textOf(message), calls, results: new Map() })
    }
    if (role !== 'tool' || typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-result') round?.replies.at(-1)?.results.set(part.callId, asText(part.output))
    }
  }
  const replies = rounds.flatMap((round) => round.replies)
  const tools = [...new Set(replies.flatMap(({ calls }) => calls.map(({ name }) => name)))].sort()
  return { id, rounds, steps: replies.length, tools }
}
