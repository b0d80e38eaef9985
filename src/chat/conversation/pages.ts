import type { SessionMessage } from '../../ports/message.ts'

/** Messages that are read at once. */
export const PAGE = 50

/** What is on the screen: a run of messages without gaps. */
export interface Run {
  readonly messages: readonly SessionMessage[]
  readonly hasOlder: boolean
}

export const NOTHING: Run = { messages: [], hasOlder: false }

/**
 * A run brought up to date with the newest page: what is older stays where the two meet, else the
 * page stands alone.
 *
 * @param asked how many messages the page was asked for
 */
export function withNewest(run: Run, page: readonly SessionMessage[], asked: number): Run {
  const first = page[0]
  if (!first) return NOTHING
  const meets = run.messages.findIndex(({ id }) => id === first.id)
  if (meets < 0) return { messages: page, hasOlder: page.length >= asked }
  const messages = [...run.messages.slice(0, meets), ...page]
  return { messages, hasOlder: run.hasOlder }
}

/** With a page of what comes before it. */
export function withOlder(run: Run, page: readonly SessionMessage[], asked: number): Run {
  return { messages: [...page, ...run.messages], hasOlder: page.length >= asked }
}

/** The newest so many. */
export function released(run: Run, newest: number): Run {
  const cut = run.messages.length - newest
  return cut <= 0 ? run : { messages: run.messages.slice(cut), hasOlder: true }
}
