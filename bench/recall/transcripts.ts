import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { readConversation } from '../../src/replay/transcript.ts'
import { textsOf } from '../tokens/transcripts.ts'

/**
 * A recorded conversation as documents; its system text is left out, as are messages without any
 * text.
 */
export interface Transcript {
  /** The file that it is in. */
  readonly file: string
  readonly documents: readonly RecallDocument[]
}

/** Every conversation of the folder's `.jsonl` files; ids are unique among all of them. */
export async function readTranscripts(folder: string): Promise<Transcript[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  const transcripts: Transcript[] = []
  for (const file of files) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
    for (const [number, line] of lines.entries()) {
      if (line.trim() === '') continue
      const { messages } = readConversation(line, number + 1)
      const documents = messages.map((message, index): RecallDocument => {
        const text = textsOf(message).join('\n')
        return { id: `${file}:${number + 1}:${index}`, text, role: message.role, createdAt: 0 }
      })
      transcripts.push({ file, documents: documents.filter(({ text }) => text.trim() !== '') })
    }
  }
  return transcripts
}
