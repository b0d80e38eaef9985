import { type Conversation, readConversation } from '../replay/transcript.ts'
import { UsageError } from './arguments.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'
import type { Progress } from './progress.ts'

/** A conversation, and where it was recorded. */
export interface Recording {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Bytes of the files that are in front of it. */
  readonly offset: number
  readonly conversation: Conversation
}

/** Contract: called for each line that could not be read. */
export type Unreadable = (where: { readonly file: string; readonly line: number }, error: unknown) => void

/** All conversations of the files, in order. */
export async function* recordingsIn(
  files: readonly string[],
  io: Io,
  unreadable: Unreadable,
): AsyncGenerator<Recording> {
  let offset = 0
  for (const file of files) {
    let line = 0
    for await (const text of io.lines(file)) {
      line++
      const conversation = text.trim() === '' ? undefined : read(text, { file, line }, unreadable)
      if (conversation) yield { file, line, offset, conversation }
      offset += Buffer.byteLength(text) + 1
    }
  }
}

function read(
  text: string,
  where: { readonly file: string; readonly line: number },
  unreadable: Unreadable,
): Conversation | undefined {
  try {
    return readConversation(text, where.line)
  } catch (error) {
    unreadable(where, error)
    return undefined
  }
}

/** Says on standard error what is wrong with a line. */
export function reportLine(io: Io): Unreadable {
  return ({ file, line }, error) => io.err(`plimsoll: ${file} line ${line}: ${(error as Error).message}\n`)
}

/**
 * What could not be read of the files: `skip` says so on standard error, past a progress bar, and
 * `count` counts it.
 */
export class Malformed {
  count = 0
  readonly skip: Unreadable

  constructor(io: Io, progress: Progress) {
    const report = reportLine(io)
    this.skip = (where, error) => {
      this.count++
      progress.clear()
      report(where, error)
    }
  }
}

/**
 * The first conversation of that id, or the only one of the file. Lines that cannot be read are
 * reported and counted. Throws {@link UsageError}, which names what there is.
 */
export async function findRecording(
  { file, conversation: id }: { readonly file: string; readonly conversation?: string },
  io: Io,
): Promise<Recording & { readonly malformed: number }> {
  await readable([file], io)
  let malformed = 0
  let found: Recording | undefined
  const ids: string[] = []
  const report = reportLine(io)
  const recordings = recordingsIn([file], io, (where, error) => {
    malformed++
    report(where, error)
  })
  for await (const recording of recordings) {
    ids.push(recording.conversation.id)
    if (recording.conversation.id === (id ?? recording.conversation.id)) found ??= recording
  }
  return { ...pick(found, { file, id, ids }), malformed }
}

/** Contract: `found` is the first of those `ids` that is asked for. */
export function pick<Found>(
  found: Found | undefined,
  {
    file,
    id,
    ids,
  }: { readonly file: string; readonly id: string | undefined; readonly ids: readonly string[] },
): Found {
  const names = listed(ids)
  if (id === undefined && new Set(ids).size > 1) {
    throw new UsageError(`${file} has several conversations; name one with --conversation: ${names}`)
  }
  if (found) return found
  const wanted = id === undefined ? 'conversation' : `conversation "${id}"`
  throw new UsageError(`no ${wanted} in ${file}${names && `, which has ${names}`}`)
}

const MOST_NAMES = 10

function listed(ids: readonly string[]): string {
  const names = [...new Set(ids)]
  const rest = names.length - MOST_NAMES
  return [...names.slice(0, MOST_NAMES), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}
