import { join } from 'node:path'
import { asText } from '../../src/kernel/count.ts'
import type { MessageInput, Part } from '../../src/ports/message.ts'
import { recordingsIn } from '../recordings.ts'

/**
 * Every text that a counter is given for the recordings in `<data>/transcripts`: texts, outputs,
 * arguments as JSON.
 */
export async function transcriptTexts(data: string): Promise<string[]> {
  const recordings = await recordingsIn(join(data, 'transcripts'))
  return recordings.flatMap(({ conversation: { system, messages } }) => [
    ...(system === undefined ? [] : [system]),
    ...messages.flatMap(textsOf),
  ])
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
