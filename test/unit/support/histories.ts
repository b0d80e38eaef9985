import fc from 'fast-check'
import type { MessageInput, Part } from '../../../src/index.ts'

/**
 * One thing that happens to a session. Places are fractions, resolved against what is there when it
 * happens.
 */
export type Action =
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'answer'; readonly text: string }
  | {
      readonly type: 'call'
      readonly text: string
      readonly ids: readonly string[]
      readonly reasoning: boolean
    }
  /** Answers the newest call that waits. */
  | { readonly type: 'result'; readonly output: string; readonly isError: boolean }
  /** Answers some call, answered or not, made at any time. */
  | { readonly type: 'late'; readonly place: number; readonly output: string }
  | { readonly type: 'orphan'; readonly output: string }
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'rewind'; readonly place: number }
  | { readonly type: 'undo' }
  | {
      readonly type: 'context'
      readonly tail: string
      readonly system: string
      readonly tools: number
      readonly abandon: boolean
      /** As a run does that is resumed: so many of the past show, from here on. */
      readonly resume: number
    }
  /** A new session object: nothing in memory. */
  | { readonly type: 'reopen' }

const words = [
  'Looks good',
  'src/core/plan.ts',
  'ERR_TOOL_PENDING',
  'the',
  '旅行の予約',
  '预订火车票',
  '여행 계획',
  '🚆🧳',
  '\n',
  'a_b_1',
]

/**
 * Texts of all kinds: empty, blank, words, CJK, emoji, JSON, any Unicode, and now and then a giant.
 */
export const texts: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((list) => list.join(' ')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', '\n\n', 'a'.repeat(900), '漢'.repeat(300), '🚆'.repeat(200)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
)

const outputs: fc.Arbitrary<string> = fc.oneof(
  texts,
  fc
    .integer({ min: 1, max: 60 })
    .map((lines) => Array.from({ length: lines }, (_, line) => `${line}: src/file_${line}.ts`).join('\n')),
  fc.integer({ min: 1, max: 30 }).map((rows) =>
    JSON.stringify({
      rows: Array.from({ length: rows }, (_, id) => ({ id, name: `Torino ${id}`, price: id * 3 })),
    }),
  ),
)

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('say' as const), text: texts }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('answer' as const), text: texts }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('call' as const),
      text: texts,
      // Few ids, so that they are used again across steps and inside one.
      ids: fc.array(fc.constantFrom('c1', 'c2', 'call_0', ''), { minLength: 1, maxLength: 4 }),
      reasoning: fc.boolean(),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({ type: fc.constant('result' as const), output: outputs, isError: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('late' as const), place, output: outputs }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('orphan' as const), output: outputs }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('note' as const), text: texts }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rewind' as const), place }) },
  { weight: 1, arbitrary: fc.constant({ type: 'undo' } as const) },
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('context' as const),
      tail: fc.oneof({ weight: 2, arbitrary: fc.constant('') }, texts),
      system: fc.oneof({ weight: 8, arbitrary: fc.constant('') }, fc.constant('Answer in rhymes.')),
      tools: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2)),
      abandon: fc.boolean(),
      resume: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 8 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'reopen' } as const) },
)

export const histories: fc.Arbitrary<readonly Action[]> = fc.array(action, {
  minLength: 1,
  maxLength: 60,
  size: 'max',
})

/** An assistant's message with calls. */
export function calling({ text, ids, reasoning }: Extract<Action, { type: 'call' }>): MessageInput {
  const parts: Part[] = ids.map((id, index) => ({
    type: 'tool-call',
    id,
    name: `tool_${index % 2}`,
    input: { query: [...text].slice(0, 40).join(''), index },
  }))
  return {
    role: 'assistant',
    content: [
      ...(reasoning
        ? ([
            { type: 'reasoning', text: `Let me see: ${[...text].slice(0, 80).join('')}`, signature: 'sig' },
          ] as Part[])
        : []),
      { type: 'text', text },
      ...parts,
    ],
  }
}
