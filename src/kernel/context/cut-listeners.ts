import type { EpochMark, Scope } from '../../ports/op.ts'
import type { CutPart } from '../feature.ts'
import { messagesOf, type Unit } from '../log/fold.ts'
import { type Failure, failure } from './failure.ts'
import type { Window } from './window.ts'

/** Tells features, and the app, what leaves the window. What fails is noted, and stops nothing. */
export class CutListeners {
  readonly #parts: readonly CutPart[]
  readonly #scope: Scope

  constructor(parts: readonly CutPart[], scope: Scope) {
    this.#parts = parts
    this.#scope = scope
  }

  /** @returns whether something was written that is to be shown too */
  async before(cut: readonly Unit[], failed: Failure[]): Promise<boolean> {
    let isNew = false
    await this.#tell(failed, async ({ name, before }) => {
      const done = await before?.(cut)
      isNew ||= done?.isNew ?? false
      if (done && 'error' in done) failed.push(failure(name, done.error, 'ERR_HOOK'))
    })
    return isNew
  }

  async after({ id, cause }: EpochMark, cut: readonly Unit[], failed: Failure[]): Promise<void> {
    const messages = messagesOf(cut)
    if (messages.length === 0) return
    await this.#tell(failed, async ({ after }) => after?.({ scope: this.#scope, epoch: id, cause, messages }))
  }

  async #tell(failed: Failure[], tell: (part: CutPart) => Promise<void>): Promise<void> {
    for (const part of this.#parts)
      try {
        await tell(part)
      } catch (error) {
        failed.push(failure(part.name, error, 'ERR_HOOK'))
      }
  }
}

/** What showed before and does not show any more. */
export function cutFrom(before: readonly Unit[], after: Window): readonly Unit[] {
  const shown = new Set(after.units.map(({ row }) => row))
  return before.filter(({ row }) => !shown.has(row))
}
