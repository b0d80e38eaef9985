/** What a call of a tab asks for. */
import type { ContextJson, LimitsJson, ToolJson } from '../shapes.ts'
import type { Course, Tab } from './course.ts'
import type { Random } from './random.ts'
import { queryOf, textOf } from './texts.ts'

export const TOOLS: readonly ToolJson[] = [
  {
    name: 'search',
    description: 'Looks things up.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  },
  { name: 'read_file', inputSchema: { type: 'object' } },
  { name: 'book', description: 'Books a ticket.', inputSchema: { type: 'object', required: ['train'] } },
]

/** What a call usually asks for. */
export function optionsFor(course: Course, tab: Tab): ContextJson {
  const { random } = course
  if (random.chance(0.06)) tab.tools = TOOLS.slice(0, random.whole(0, TOOLS.length))
  const line = course.lineOf(tab)
  return {
    ...random.maybe(0.25, 'tail', () => tailOf(random, random.chance(0.25) ? line * random.next() : 80)),
    ...random.maybe(hasRecall(course, tab) ? 0.3 : 0.01, 'recall', () => recallOf(random)),
    ...random.maybe(0.03, 'newEpoch', () => true),
    ...random.maybe(0.05, 'preview', () => true),
    ...random.maybe(0.05, 'onPending', () => 'abandon' as const),
  }
}

function hasRecall({ configurations }: Course, { configuration }: Tab): boolean {
  return configurations[configuration]?.recall !== undefined
}

function recallOf(random: Random): string | true {
  return random.chance(0.4) ? true : queryOf(random)
}

function tailOf(random: Random, length: number): NonNullable<ContextJson['tail']> {
  if (random.chance(0.6)) return textOf(random, length)
  return ['now', 'nudge'].map((name) => ({ name, text: textOf(random, length / 2) }))
}

export function limitsOf(course: Course, tab: Tab): LimitsJson {
  const { random } = course
  return random.pick<LimitsJson>([
    { window: { max: { messages: 6 }, keep: { messages: 3 } } },
    { window: { max: { rounds: 2 } } },
    { toolOutput: { first: Math.max(2, Math.round(course.lineOf(tab) / 60)) } },
    { window: { max: { tokens: 40 }, keep: { tokens: 20 } }, toolOutput: { first: 12, old: 4 } },
  ])
}
