import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asText } from '../../src/kernel/count.ts'
import { textOf } from '../../src/kernel/log/message.ts'
import type { MessageInput } from '../../src/ports/message.ts'
import { readConversation } from '../../src/replay/transcript.ts'
import type { Recorded, Reply } from '../../test/ai-sdk/replay.ts'

/** The first `steps` replies of each conversation in `<data>/transcripts/coding-openai.jsonl`. */
export async function recordedIn(
  data: string,
  steps: number,
): Promise<(Recorded & { readonly steps: number })[]> {
  const folder = join(data, 'transcripts')
  const files = (await readdir(folder)).filter((name) => name === 'coding-openai.jsonl')
  const found: (Recorded & { readonly steps: number })[] = []
  for (const file of files) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const { id, messages } = readConversation(line, index + 1)
      found.push(recorded(id, messages, steps))
    }
  }
  return found
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
