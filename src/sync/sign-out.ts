import type { Scope } from '../ports/op.ts'
import { checkOptions } from '../ports/options.ts'
import { engineOf } from './engine-of.ts'
import type { Followed } from './followed.ts'
import { forget } from './resets.ts'
import type { SyncedStore } from './sync.ts'

export interface SignedOut {
  readonly done: boolean
  readonly lost: readonly { readonly scope: Scope; readonly waiting: number; readonly refused: number }[]
}

export interface SignOutOptions {
  /** Whether what would be lost is no reason to stay. */
  readonly force?: boolean
  /** Whether it only says what would be lost. */
  readonly dryRun?: boolean
}

/**
 * Removes what is here of the user, and stops all tabs until `store.resume()` in one of them. Where
 * something waits for the home, or was refused and not resolved, nothing is removed, unless `force`
 * is given: wait for `store.settled()` before, for as long as the user would. With `dryRun` nothing
 * is removed at all.
 *
 * @returns what was lost, or would be: by scope, how many ops
 * @example
 * ```ts
 * import { signOut, sync } from 'plimsoll/sync'
 * const store = sync({ store: base, transport })
 * const { done, lost } = await signOut(store)
 * if (!done) console.log('would be lost:', lost)
 * ```
 */
export function signOut(store: SyncedStore, options: SignOutOptions = {}): Promise<SignedOut> {
  const engine = engineOf('signOut', store)
  checkOptions('signOut', 'options', options, ['force', 'dryRun'])
  const { force = false, dryRun = false } = options
  return engine.paused(() => emptied(engine.followed, force && !dryRun, dryRun))
}

/**
 * Empties all scopes of the user, unless something would be lost.
 *
 * @param isForced whether what would be lost is no reason
 * @param isDry whether it only looks
 */
async function emptied(followed: Followed, isForced: boolean, isDry: boolean): Promise<SignedOut> {
  const lost: SignedOut['lost'][number][] = []
  const look = (scope: Scope, isLast: boolean): Promise<void> =>
    followed.with(scope, async (replica) => {
      for (;;) {
        const view = await replica.view()
        const waiting = view.waiting.length
        const refused = view.outbox.length - waiting
        const isKept = waiting + refused > 0 && !isForced
        if (waiting + refused > 0 && (isKept || !isLast)) lost.push({ scope, waiting, refused })
        if (!isLast || isKept || (await forget(replica, view))) return
      }
    })
  const scopes = await followed.ours()
  for (const isLast of isDry ? [false] : [false, true])
    for (const scope of scopes) if (!isLast || isForced || lost.length === 0) await look(scope, isLast)
  return { done: !isDry && (isForced || lost.length === 0), lost }
}
