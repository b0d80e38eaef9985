import { headOf } from '../../kernel/text/text.ts'
import type { RecalledItem } from '../../ports/start.ts'

/** UTF-16 units of a recalled text that show. */
const LONGEST_TEXT = 1_000

/**
 * What shows of what was recalled, in one order of keys: whatever the budget, so that a larger one
 * never shows less.
 */
export function recalledItem(found: RecalledItem): RecalledItem {
  const { id, text, trust, session } = found
  const shown = text.length > LONGEST_TEXT ? `${headOf(text, LONGEST_TEXT)}…` : text
  const rest = { text: shown, trust, ...(session !== undefined && { session }) }
  return 'role' in found ? { id, role: found.role, ...rest } : { id, kind: found.kind, ...rest }
}
