import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { recordingsIn } from '../recordings.ts'
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
  const recordings = await recordingsIn(folder)
  return recordings.map(({ file, line, conversation }) => {
    const documents = conversation.messages.map((message, index): RecallDocument => {
      const text = textsOf(message).join('\n')
      return { id: `${file}:${line}:${index}`, text, role: message.role, createdAt: 0 }
    })
    return { file, documents: documents.filter(({ text }) => text.trim() !== '') }
  })
}
