import { asText } from '../kernel/count.ts'
import { partsOf } from '../kernel/log/message.ts'
import type { Message } from '../ports/message.ts'
import { capOutput } from '../text/cap.ts'

/** Where a cut output says that its rest is. */
const LOG = 'the log'

/**
 * Messages as lines of text within `room` tokens. Outputs are whole and structured; where they do
 * not all fit, the longest are shown capped, all to the same length, so that the last ones never
 * push out the first.
 */
export function transcriptOf(
  messages: readonly Message[],
  room: number,
  count: (text: string) => number,
): string {
  const lines = messages.flatMap(linesOf)
  const costs = lines.map((line) => count(line.label) + count(line.text) + 1)
  const total = costs.reduce((sum, cost) => sum + cost, 0)
  if (total <= room) return lines.map(spell).join('\n')
  let low = 0
  let high = room
  // The longest length at which all of them fit.
  while (high - low > 8) {
    const middle = (low + high) >> 1
    if (costs.reduce((sum, cost) => sum + Math.min(cost, middle), 0) <= room) low = middle
    else high = middle
  }
  const shown = lines.map((line, index) =>
    (costs[index] ?? 0) <= low
      ? spell(line)
      : spell({ ...line, text: capOutput(line.text, Math.max(0, low - count(line.label) - 1), count, LOG) }),
  )
  // Where there are more messages than room for their markers.
  return capOutput(shown.join('\n'), room, count, LOG)
}

interface Line {
  readonly label: string
  readonly text: string
}

const NAMED = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Result' } as const

function linesOf(message: Message): readonly Line[] {
  return partsOf(message).flatMap((part): readonly Line[] => {
    if (part.type === 'text')
      return part.text.trim() === '' ? [] : [{ label: `${NAMED[message.role]}: `, text: part.text }]
    if (part.type === 'tool-call')
      return [{ label: `Call of ${part.name}: `, text: JSON.stringify(part.input) }]
    if (part.type === 'tool-result')
      return [{ label: part.isError ? 'Result (error): ' : 'Result: ', text: asText(part.output) }]
    if (part.type === 'media') {
      const name = part.name === undefined ? '' : ` ${JSON.stringify(part.name)}`
      return [{ label: '', text: `[${part.mediaType}${name}]` }]
    }
    return []
  })
}

function spell({ label, text }: Line): string {
  return `${label}${text}`
}
