import { needPeer } from '../../ports/peer.ts'

/** What of `ai` tells its major: the version says nothing of itself. */
export interface Peer {
  /** Since 5. */
  readonly stepCountIs?: unknown
  /** Since 7. */
  readonly isStepCount?: unknown
}

/**
 * Refuses an `ai` before 7, whose models have other shapes.
 *
 * @throws ERR_NOT_CONFIGURED
 */
export function needAI({ isStepCount }: Peer): void {
  needPeer('plimsoll/ai-sdk', '`ai` 7', isStepCount)
}

/**
 * Whether it is 5 or 6, whose loops have other shapes.
 *
 * @throws ERR_NOT_CONFIGURED: an `ai` before 5
 */
export function isOlder({ stepCountIs, isStepCount }: Peer): boolean {
  needPeer('plimsoll/ai-sdk', '`ai` 5', stepCountIs)
  return isStepCount === undefined
}
