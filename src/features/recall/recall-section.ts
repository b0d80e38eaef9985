import type { SectionUse } from '../../ports/context.ts'
import type { Trust } from '../../ports/message.ts'
import type { Finding } from './find.ts'
import { showPassages } from './show-passages.ts'

/** Items that an overflow names; the rest is counted. */
const NAMED = 5

/**
 * The passages of what was found that have room, as a section of the tail.
 *
 * @param isAcross whether other sessions were asked for
 */
export async function recallSection(
  finding: Finding,
  size: number,
  count: (text: string) => number,
  isAcross: boolean,
): Promise<{ readonly text: string; readonly trust: Trust; readonly use: SectionUse }> {
  const { text, tokens, items, left, leftTokens, trust } = await showPassages(finding, { size, count })
  const overflow = { count: left.length, tokens: leftTokens, first: left.slice(0, NAMED) }
  const others = isAcross && finding.others && { others: finding.others }
  return { text, trust, use: { name: 'recall', cap: size, tokens, items, overflow, ...others } }
}
