import { isRepeated, look } from '../../kernel/log/once.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { type CopyOptions, copyScope } from './copy-scope.ts'
import { onlyAt } from './rules.ts'

export interface MoveOptions extends CopyOptions {
  /** Names the move; repeating it goes on with it, and does nothing once the source is erased. */
  readonly opId: string
}

/** Most times that a source may change between its copy and its erase. */
const MOST_TRIES = 8

/**
 * Moves a session's scope: copies it as `copyScope` does, and erases the source once it holds
 * nothing that the copy lacks. A source that is empty stays so. What is written to the source after
 * that stays there: nobody may write to it any more.
 *
 * @throws ERR_CONFLICT: as `copyScope`; the source is as it was
 */
export async function moveScope(
  from: ScopeStore,
  to: ScopeStore,
  { opId, ...options }: MoveOptions,
): Promise<void> {
  const erase = sealOp({ kind: 'erase', opId })
  const [before] = await from.commit([erase], look)
  if (before && isRepeated(before)) return
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const { seq } = await copyScope(from, to, options)
    if (seq === 0) return
    const [result] = await from.commit([erase], onlyAt(seq))
    if (result?.status === 'accepted') return
  }
  throw new PlimsollError('ERR_CONFLICT', 'moveScope: the source changed during every attempt')
}
