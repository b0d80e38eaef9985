import { expect, it } from 'vitest'
import { fromModelMessages } from '../../src/bridges/ai-sdk/index.ts'

it('refuses what is no model message, and says which', () => {
  const result = { type: 'tool-result', toolCallId: 'c', toolName: 'look' }
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: 1n }
  for (const none of [
    ...[null, 5, { role: 'other', content: '' }, { role: 'user' }, { role: 'assistant', content: 5 }],
    ...[[null], [5], 'text', [result]].map((content) => ({ role: 'tool', content })),
    ...[
      { role: 'user', content: [null] },
      { role: 'assistant', content: [call] },
    ],
  ])
    expect(() => fromModelMessages([{ role: 'user', content: 'Hello.' }, none as never])).toThrowError(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
    )
  expect(() => fromModelMessages('text' as never)).toThrowError(/must be a list/)
  expect(() => fromModelMessages([null as never])).toThrowError(/messages\[0\] must be a model message/)
})
