import type { Client } from '../../client/client.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Outbox } from './outbox.ts'

export interface ClaimParts {
  /** The user's. */
  readonly user: Client
  readonly guestToken: string
  readonly outbox: Outbox
}

/**
 * Moves what a guest has at an edge to the user: what waits to be sent first, since nobody but the
 * guest may send it. Idempotent.
 *
 * @returns new ids of sessions
 * @throws ERR_STORAGE: the edge was not reached
 */
export async function claimGuest({
  user,
  guestToken,
  outbox,
}: ClaimParts): Promise<ReadonlyMap<string, string>> {
  await outbox.flush()
  if (outbox.isWaiting)
    throw new PlimsollError(
      'ERR_STORAGE',
      'identify: messages of the guest wait to be sent; try again once they are',
    )
  try {
    const { sessions } = await user.me.claim(guestToken)
    return new Map(sessions.map(({ from, to }) => [from, to]))
  } catch (error) {
    // A token that holds no more: what it was for cannot be reached by anybody.
    if (isPlimsollError(error, 'ERR_INVALID_ARGUMENT')) return new Map()
    throw error
  }
}
