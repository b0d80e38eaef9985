import type { Scope } from '../ports/op.ts'
import type { Followed } from './followed.ts'
import { forget } from './resets.ts'
import type { SignedOut } from './sync.ts'

/**
 * Empties all scopes of the user, unless something would be lost.
 *
 * @param isForced whether what would be lost is no reason
 */
export async function signOut(followed: Followed, isForced: boolean): Promise<SignedOut> {
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
  for (const isLast of [false, true])
    for (const scope of scopes) if (!isLast || isForced || lost.length === 0) await look(scope, isLast)
  return { done: isForced || lost.length === 0, lost }
}
