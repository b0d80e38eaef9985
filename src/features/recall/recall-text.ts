import { partsOf } from '../../kernel/log/message.ts'
import type { Message } from '../../ports/message.ts'
import { leaves } from '../text/leaves.ts'

/**
 * What the output of a tool begins with that gives back what was remembered: it is not indexed or
 * extracted again.
 */
export const RECALLED = '[from memory'
/** What it begins with where nothing was. */
export const NOTHING_FOUND = `${RECALLED}: nothing was found`
/**
 * The tool by which a model recalls. What it looked for says nothing, so its calls are not indexed.
 */
export const RECALL_TOOL = 'memory_recall'

/**
 * What of a message can be recalled: its words, arguments and results, but no query, and nothing
 * that was recalled itself.
 */
export function recallText(message: Pick<Message, 'content'>): string {
  return partsOf(message)
    .map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return part.name === RECALL_TOOL ? '' : leaves(part.input)
      if (part.type !== 'tool-result') return ''
      const text = leaves(part.output)
      return text.startsWith(RECALLED) ? '' : text
    })
    .filter((text) => text !== '')
    .join('\n')
}
