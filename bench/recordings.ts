/** Recordings that benches read. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Conversation, readConversation } from '../src/replay/transcript.ts'

/** A bench cannot use what it was given; the message says all there is to say. */
export class InputError extends Error {}

/** A conversation, and where it was recorded. */
export interface Recording {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly conversation: Conversation
}

/**
 * The conversations in the `.jsonl` files of a folder, by file and line.
 *
 * @param only one file's name
 */
export async function recordingsIn(folder: string, only?: string): Promise<readonly Recording[]> {
  const files = only === undefined ? (await given(folder, readdir(folder))).toSorted() : [only]
  const found: Recording[] = []
  for (const file of files.filter((name) => name.endsWith('.jsonl'))) {
    const path = join(folder, file)
    for (const [at, text] of (await given(path, readFile(path, 'utf8'))).split('\n').entries())
      if (text.trim() !== '') found.push({ file, line: at + 1, conversation: read(text, at + 1, path) })
  }
  if (found.length === 0) throw new InputError(`${folder} has no recordings (*.jsonl)`)
  return found
}

function read(text: string, line: number, path: string): Conversation {
  try {
    return readConversation(text, line)
  } catch (error) {
    throw new InputError(`${path} line ${line}: ${(error as Error).message}`)
  }
}

async function given<Value>(path: string, value: Promise<Value>): Promise<Value> {
  try {
    return await value
  } catch (error) {
    throw new InputError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
}
