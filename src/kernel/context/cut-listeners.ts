import type { EpochMark, Scope } from '../../ports/op.ts'
import type { BeforeCut, CutPart } from '../feature.ts'
import { messagesOf, type Unit } from '../log/fold.ts'
import { type Failure, failure } from './failure.ts'
import type { Window } from './window.ts'

/** What a part is told of a cut. */
type Tell = (part: CutPart) => Promise<BeforeCut | undefined> | undefined

/**
 * Tells features, and the app, what is about to leave the window.
 *
 * @returns whether something was written that is to be shown too
 */
export function beforeCut(
  parts: readonly CutPart[],
  cut: readonly Unit[],
  failed: Failure[],
): Promise<boolean> {
  return tellAll(parts, failed, ({ before }) => before?.(cut))
}

/** Tells them what has left it, if anything did. */
export async function afterCut(
  parts: readonly CutPart[],
  scope: Scope,
  { id, cause }: EpochMark,
  cut: readonly Unit[],
  failed: Failure[],
): Promise<void> {
  const messages = messagesOf(cut)
  if (messages.length > 0)
    await tellAll(parts, failed, async ({ after }) => {
      await after?.({ scope, epoch: id, cause, messages })
      return undefined
    })
}

/** One after the other. What fails is noted, and stops nothing. */
async function tellAll(parts: readonly CutPart[], failed: Failure[], tell: Tell): Promise<boolean> {
  let isNew = false
  for (const part of parts)
    try {
      const done = await tell(part)
      isNew ||= done?.isNew ?? false
      if (done && 'error' in done) failed.push(failure(part.name, done.error, 'ERR_HOOK'))
    } catch (error) {
      failed.push(failure(part.name, error, 'ERR_HOOK'))
    }
  return isNew
}

/** What showed before and does not show any more. */
export function cutFrom(before: readonly Unit[], after: Window): readonly Unit[] {
  const shown = new Set(after.units.map(({ row }) => row))
  return before.filter(({ row }) => !shown.has(row))
}
