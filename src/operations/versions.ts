import type { Branch } from '../ports/branch.ts'
import type { Message } from '../ports/message.ts'

/** Which version of its place a message begins. */
export interface Version {
  /** From 1. */
  readonly index: number
  /** 2 or more. */
  readonly count: number
  /** Ids of the messages with which the versions begin, oldest first. */
  readonly versions: readonly string[]
}

/**
 * Which of the messages that show begin one of several versions, by their ids. Pure.
 *
 * @param messages a run without gaps, as `history` gives it
 * @param branches those of the session
 * @param isFromStart whether the first of them is the first of all; else what comes before it is
 * not known, and it is left out
 * @example
 * ```ts
 * import { readBranches, switchTo, versionsIn } from 'plimsoll'
 *
 * const history = await session.history()
 * const versions = versionsIn(history, await readBranches(session), true)
 * const older = versions.get(history.at(-1)?.id ?? '')?.versions[0]
 * if (older) await switchTo(session, older)
 * ```
 */
export function versionsIn(
  messages: readonly Pick<Message, 'id'>[],
  branches: readonly Branch[],
  isFromStart: boolean,
): ReadonlyMap<string, Version> {
  const places = new Map(branches.map((branch) => [branch.after, branch]))
  const found = new Map<string, Version>()
  messages.forEach(({ id }, index) => {
    if (index === 0 && !isFromStart) return
    const { versions: known = [], shown = id } = places.get(messages[index - 1]?.id ?? null) ?? {}
    const first = known.includes(id) ? id : shown
    // What was never hidden is the newest.
    const versions = known.includes(first) ? known : [...known, id]
    if (versions.length > 1)
      found.set(id, { index: versions.indexOf(first) + 1, count: versions.length, versions })
  })
  return found
}
