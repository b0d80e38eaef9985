import { expect, it } from 'vitest'
import { fromModelMessages, toAISDK } from '../../src/bridges/ai-sdk/index.ts'
import { partsOf } from '../../src/kernel/log/message.ts'

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

it('takes files in every form that the SDK has for them', () => {
  const bytes = new Uint8Array([0, 255])
  const forms: readonly (readonly [object, object])[] = [
    [
      { type: 'image', image: bytes },
      { mediaType: 'image/*', url: 'data:image/*;base64,AP8=' },
    ],
    [{ type: 'image', image: 'AP8=', mediaType: 'image/png' }, { url: 'data:image/png;base64,AP8=' }],
    [{ type: 'file', data: bytes.buffer }, { url: 'data:a/b;base64,AP8=' }],
    [{ type: 'file', data: new URL('https://example.org/a') }, { url: 'https://example.org/a' }],
    [{ type: 'file', data: { type: 'data', data: bytes } }, { url: 'data:a/b;base64,AP8=' }],
    [
      { type: 'file', data: { type: 'text', text: 'Read.' } },
      { type: 'text', text: 'Read.' },
    ],
  ]
  for (const [part, expected] of forms) {
    const isFile = (part as { readonly type: string }).type === 'file'
    const given = { ...(isFile && { mediaType: 'a/b' }), ...part }
    const [message] = fromModelMessages([{ role: 'user', content: [given] } as never])
    expect(partsOf(message as never)[0]).toMatchObject(expected)
  }
  const unknown = { type: 'file', data: 5, mediaType: 'a/b' } as never
  const [message] = fromModelMessages([{ role: 'user', content: [unknown] }])
  expect(message?.content).toEqual([{ type: 'media', mediaType: 'a/b' }])
})

it('keeps bytes of parts that only the SDK understands, and reasoning that nobody signed', () => {
  const custom = { type: 'custom', kind: 'x.y', data: new Uint8Array([0, 255]) }
  const [kept] = fromModelMessages([{ role: 'assistant', content: [custom as never] }])
  expect(JSON.stringify(kept?.content)).toContain('"data":"AP8="')
  const [thought] = fromModelMessages([{ role: 'assistant', content: [{ type: 'reasoning', text: 'So.' }] }])
  expect(thought?.content).toEqual([{ type: 'reasoning', text: 'So.' }])
})

it('shows files of a model, no part of another provider’s, and takes no other options', () => {
  const part = { type: 'model', part: { type: 'text', text: 'Not ours.' } }
  const blocks = [
    {
      section: 'window',
      role: 'assistant',
      parts: [
        { type: 'opaque', provider: 'other', value: part },
        { type: 'media', mediaType: 'image/png', url: 'https://example.org/a.png' },
      ],
    },
  ]
  const { messages } = toAISDK({ blocks, fence: 'f' } as never, { cache: false })
  expect(messages).toMatchObject([{ role: 'assistant', content: [{ type: 'file', mediaType: 'image/png' }] }])
  expect(() => toAISDK({ blocks, fence: 'f' } as never, { cached: true } as never)).toThrowError(
    expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'cached' }),
  )
})
