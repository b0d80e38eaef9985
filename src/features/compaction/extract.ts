import { partsOf, textOf } from '../../kernel/log/message.ts'
import type { Message } from '../../ports/message.ts'
import { headOf } from '../../text/text.ts'
import { sentences } from '../text/sentences.ts'

/** Longest sentence that is quoted, in UTF-16 units. */
const LONGEST = 240

/**
 * What stands for cut messages where no model's text was accepted: the first sentence of what
 * opened each round and the last one of the last answer in it, a line each, after the lines of the
 * summary before. The oldest lines leave until the rest has at most `most` tokens. Pure and
 * deterministic.
 *
 * @param rounds messages by round, oldest first
 */
export function extractOf(
  before: string,
  rounds: readonly (readonly Message[])[],
  most: number,
  count: (text: string) => number,
): string {
  const lines = [...before.split('\n').filter((line) => line !== ''), ...rounds.flatMap(linesOf)]
  let left = most
  let from = lines.length
  while (from > 0) {
    const cost = count(`${lines[from - 1]}\n`)
    if (cost > left) break
    left -= cost
    from--
  }
  // One line that is too long by itself is better than none.
  if (from === lines.length && from > 0) return shortened(lines[from - 1] ?? '', most, count)
  return lines.slice(from).join('\n')
}

function linesOf(round: readonly Message[]): readonly string[] {
  const first = round[0]
  const opened = first?.role === 'user' ? sentences(textOf(first)).at(0) : undefined
  const answer = round.findLast((message) => message.role === 'assistant' && textOf(message).trim() !== '')
  const closed = answer && sentences(textOf(answer)).at(-1)
  return [
    ...(opened === undefined ? [] : [`User: ${headOf(opened, LONGEST)}`]),
    ...(closed === undefined ? callsIn(round) : [`Assistant: ${headOf(closed, LONGEST)}`]),
  ]
}

/** What was done where nothing was said. */
function callsIn(round: readonly Message[]): readonly string[] {
  const times = new Map<string, number>()
  for (const part of round.flatMap(partsOf))
    if (part.type === 'tool-call') times.set(part.name, (times.get(part.name) ?? 0) + 1)
  const calls = [...times].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`))
  return calls.length === 0 ? [] : [`Assistant called ${calls.join(', ')}.`]
}

function shortened(line: string, most: number, count: (text: string) => number): string {
  let text = line
  while (text !== '' && count(text) > most) text = headOf(text, Math.floor(text.length / 2))
  return text
}
