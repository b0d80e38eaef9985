import { needPeer } from '../../ports/peer.ts'

/**
 * Refuses an `ai` before 7, whose steps and results have other shapes.
 *
 * @param isStepCount of the `ai` that is there: the version says nothing of itself, and this came
 * with 7
 * @throws ERR_NOT_CONFIGURED
 */
export function needAI(isStepCount: unknown): void {
  needPeer('plimsoll/ai-sdk', '`ai` 7', isStepCount)
}
