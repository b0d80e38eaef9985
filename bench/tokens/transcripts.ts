import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asText } from '../../src/kernel/count.ts'
import type { MessageInput, Part } from '../../src/ports/message.ts'
import { readConversation } from '../../src/replay/transcript.ts'

/**
 * Every text that a counter is given for the recordings in `<data>/transcripts`: texts, outputs,
 * arguments as JSON.
 */
export async function transcriptTexts(data: string): Promise<string[]> {
  const folder = join(data, 'transcripts')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  const texts: string[] = []
  for (const file of files) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const { system, messages } = readConversation(line, index + 1)
      if (system !== undefined) texts.push(system)
      for (const message of messages) texts.push(...textsOf(message))
    }
  }
  return texts
}

/** Its texts, in their order: what is said and thought, names and arguments of calls, outputs. */
export function textsOf({ content }: MessageInput): string[] {
  return typeof content === 'string' ? [content] : content.flatMap(textsOfPart)
}

function textsOfPart(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [part.text]
    case 'tool-call':
      return [part.name, JSON.stringify(part.input)]
    case 'tool-result':
      return [asText(part.output)]
    case 'opaque':
      return [JSON.stringify(part.value)]
    case 'media':
      return []
  }
}
