import { type LogItem, readLog } from '../../replay/read-log.ts'
import type { RequestLine } from '../../replay/request-line.ts'
import type { Conversation } from '../../replay/transcript.ts'

export interface LoggedConversation {
  readonly conversation: Conversation
  /** Empty where it has none. */
  readonly title: string
  /** Where it begins in the file, from 1. */
  readonly line: number
}

/** A file that was given to the inspector. */
export interface Log {
  readonly name: string
  readonly conversations: readonly LoggedConversation[]
  /** Empty where there are conversations. */
  readonly requests: readonly RequestLine[]
  /** Lines that could not be read: how many, and of the first thousand why. */
  readonly unreadable: {
    readonly count: number
    readonly first: readonly { readonly line: number; readonly reason: string }[]
  }
}

const MOST_REASONS = 1_000

/**
 * Reads a whole log; what cannot be read of it is listed, and nothing is thrown for it. Rejects
 * where `pause` does.
 */
export async function openLog(
  name: string,
  chunks: AsyncIterable<string> | Iterable<string>,
  pause: () => Promise<void>,
): Promise<Log> {
  const conversations: LoggedConversation[] = []
  const requests: (LogItem & { readonly type: 'request' })[] = []
  const unreadable = { count: 0, first: [] as { line: number; reason: string }[] }
  const leave = (line: number, reason: string): void => {
    unreadable.count++
    if (unreadable.first.length < MOST_REASONS) unreadable.first.push({ line, reason })
  }
  const id = name.replace(/\.[^.]*$/, '') || 'log'
  for await (const item of readLog(chunks, id, leave)) {
    take(item)
    await pause()
  }
  if (conversations.length === 0)
    return { name, conversations, requests: requests.map(({ request }) => request), unreadable }
  // What a request was made from is not known, so it cannot race.
  for (const { line } of requests) leave(line, 'a request, among conversations')
  return { name, conversations, requests: [], unreadable }

  function take(item: LogItem): void {
    if (item.type === 'request') requests.push(item)
    else {
      const { conversation, title, line } = item
      conversations.push({ conversation, title, line })
    }
  }
}
