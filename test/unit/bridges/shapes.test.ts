import { expect, it } from 'vitest'
import {
  refilled,
  shallow,
  shapeIn,
  shapeOf,
  shownContext,
  textsOf,
  tokensBeside,
} from '../../../src/bridges/shapes.ts'
import { createMemory } from '../../../src/create-memory.ts'
import { isRecord } from '../../../src/ports/is-record.ts'
import { mapStore } from '../../../src/stores/map.ts'

it('shows system text as instructions, that of the log as fenced text, and every turn of the user', async () => {
  const context = await createMemory({ store: mapStore() }).session({ userId: 'ada' }).context()
  const block = (section: 'system' | 'window', role: 'system' | 'user' | 'assistant', text: string) =>
    ({ section, role, parts: [{ type: 'text', text }] }) as never
  const show = (blocks: readonly never[]) =>
    shownContext<string>(
      { ...context, blocks },
      {
        user: (text) => text,
        block: (role, parts) =>
          parts.flatMap((part) => (part.type === 'text' && part.text ? `${role}: ${part.text}` : [])),
      },
    )
  const shown = show([
    block('system', 'system', 'Be brief.'),
    block('system', 'system', ' \n'),
    block('system', 'system', 'In Italian.'),
    block('window', 'system', 'Note.'),
    block('window', 'system', ' '),
    block('window', 'user', ''),
    block('window', 'assistant', ''),
    block('window', 'assistant', 'Yes.'),
  ])
  expect(shown.system).toBe('Be brief.\n\nIn Italian.')
  expect(shown.messages).toEqual([expect.stringContaining('Note.'), '(empty message)', 'assistant: Yes.'])
  expect(shown.messages[0]).toContain(context.fence)
  expect(show([block('system', 'system', ' ')])).toEqual({ system: undefined, messages: [] })
})

it('takes texts out of a content and puts others in, whatever the content is', () => {
  const odd = [null, 'text', { type: 'text', text: 5 }, { text: 'a' }, ['b']]
  for (const content of [undefined, null, 5, { text: 'a' }]) expect(textsOf(content)).toEqual([])
  expect(textsOf(odd)).toEqual(['a'])
  for (const content of [null, 5, { text: 'a' }]) expect(refilled(content, ['x'])).toEqual(content)
  expect(refilled(odd, ['x', 'y'])).toEqual([null, 'text', { type: 'text', text: 5 }, { text: 'x' }, ['b']])
  expect(refilled([{ text: 'a' }, { text: 'b' }], ['x'])).toEqual([{ text: 'x' }, { text: '' }])
  for (const content of [undefined, 'text', [], [null, 'text', { text: 'a' }]])
    expect(tokensBeside(content)).toBe(0)
  expect(tokensBeside([{ type: 'input_file' }, { a: 'xyz' }])).toBe(1_600 + 4)
})

it('reads a shape of its own provider, and none from anything else', () => {
  const part = { type: 'opaque', provider: 'own', value: '{"a":1}' } as const
  expect(shapeIn('own', part)).toEqual({ a: 1 })
  expect(shapeIn('other', part)).toBeUndefined()
  expect(shapeIn('own', { ...part, type: 'text', text: '' } as never)).toBeUndefined()
  for (const value of [undefined, null, 5, { a: 1 }, '', '{', 'null', '[1]', '"a"'])
    expect(shapeOf(value)).toBeUndefined()
  expect(shapeOf(['{"a":1}'])).toBeUndefined()
  expect([null, [], 5, {}].map(isRecord)).toEqual([false, false, false, true])
})

it('keeps a value as text where it is nested deeper than a log takes', () => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
  expect(shallow(nested(24))).toEqual(nested(24))
  expect(shallow(nested(25))).toBe('['.repeat(25) + ']'.repeat(25))
})
