/** Messages of a conversation, with ids that nothing else has. */

import type { Json, JsonObject } from '../json.ts'
import type { MessageJson } from '../shapes.ts'
import type { Course, Tab } from './course.ts'
import { outputOf, sentenceOf, textOf } from './texts.ts'

export function messageOf(course: Course, tab: Tab, role: 'user' | 'assistant' | 'system'): MessageJson {
  const { random } = course
  const line = course.lineOf(tab)
  const length = random.sized(8, line / random.pick([2, 4, 8, 8, 12]))
  const text = random.chance(0.2) ? `${sentenceOf(random)} ${textOf(random, length)}` : textOf(random, length)
  return {
    ...random.maybe(0.88, 'id', () => course.id('m')),
    role,
    content: random.chance(0.85)
      ? text
      : [{ type: 'text', text }, ...(random.chance(0.3) ? [extraOf(course)] : [])],
    ...random.maybe(0.08, 'trust', () => (role === 'user' ? random.pick(['user', 'import', 'web']) : 'tool')),
    ...random.maybe(0.1, 'name', () => random.pick(['Ada', 'Bob'])),
    ...random.maybe(0.05, 'metadata', () => ({ channel: 'mail', n: random.whole(0, 9) })),
  }
}

function extraOf({ random }: Course): JsonObject {
  return random.pick<JsonObject>([
    {
      type: 'media',
      mediaType: 'image/png',
      url: 'https://rail.example/map.png',
      // More than its text has: the frozen build takes any number for it.
      tokens: random.whole(100, 140),
    },
    { type: 'opaque', provider: 'openai', value: { type: 'web_search', query: 'tides' } },
    { type: 'text', text: textOf(random, 40) },
  ])
}

export function callingOf(course: Course, ids: readonly string[]): MessageJson {
  const { random } = course
  const calls = ids.map((id, at) => ({
    type: 'tool-call',
    id,
    name: random.pick(['search', 'read_file', 'book']),
    input: random.pick<Json>([
      { query: textOf(random, random.whole(5, 60)), page: at },
      { path: 'src/core/plan.ts', lines: [1, 20] },
      {},
      'plain',
    ]),
  }))
  return {
    id: course.id('m'),
    role: 'assistant',
    content: [
      ...(random.chance(0.3)
        ? [
            {
              type: 'reasoning',
              text: textOf(random, random.whole(10, 120)),
              ...random.maybe(0.7, 'signature', () => 'sig'),
            },
          ]
        : []),
      ...(random.chance(0.6) ? [{ type: 'text', text: textOf(random, random.whole(5, 80)) }] : []),
      ...calls,
    ],
  }
}

export function resultOf(course: Course, tab: Tab, callId: string): JsonObject {
  const { random } = course
  const line = course.lineOf(tab)
  return {
    type: 'tool-result',
    callId,
    output: outputOf(random, random.sized(10, line * random.pick([0.05, 0.3, 1, 1.6]))),
    ...random.maybe(0.1, 'isError', () => true),
  }
}

export function answer(course: Course, results: readonly JsonObject[]): MessageJson {
  return {
    ...course.random.maybe(0.9, 'id', () => course.id('m')),
    role: 'tool',
    content: results,
    ...course.random.maybe(0.05, 'trust', () => 'web'),
  }
}
