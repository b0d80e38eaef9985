/** Blocks of Anthropic's that only it understands: they come back byte for byte, in their place. */
import { expect, it } from 'vitest'
import {
  createMemory,
  fromAnthropicMessages,
  mapStore,
  parseAnthropicReply,
  toAnthropic,
} from '../../src/index.ts'

/** What `compact_20260112` and a `compaction` of a call give; a null content is no summary. */
const COMPACTIONS = [
  {
    type: 'compaction',
    content: 'They go to Turin.',
    encrypted_content: 'AAEC',
    signature: 'c2ln',
    tool_changes: [],
  },
  {
    type: 'compaction',
    content: null,
    encrypted_content: null,
    signature: 'c2ln',
    tool_changes: [{ name: 'look' }],
  },
]
/** What context editing leaves in messages, and tools that the API runs. */
const OTHERS = [
  { type: 'redacted_thinking', data: 'AAEC' },
  { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'trains' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srv_1',
    content: [{ type: 'web_search_result', url: 'https://example.org' }],
  },
]

it('gives back compaction blocks, and those beside them, as they came', async () => {
  for (const compaction of COMPACTIONS) {
    const content = [compaction, ...OTHERS, { type: 'text', text: 'At nine.' }]
    const session = createMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'When?' })
    await session.append(parseAnthropicReply({ role: 'assistant', content } as never))
    await session.append({ role: 'user', content: 'And back?' })
    const { messages } = toAnthropic(await session.context())
    expect(JSON.stringify(messages[1]?.content)).toBe(JSON.stringify(content))
  }
})

it('imports them, and renders the same request again', async () => {
  const recorded = COMPACTIONS.flatMap((compaction) => [
    { role: 'user', content: [{ type: 'text', text: 'When?' }] },
    { role: 'assistant', content: [compaction, { type: 'text', text: 'At nine.' }] },
  ])
  recorded.push({ role: 'user', content: [{ type: 'text', text: 'And back?' }] })
  const session = createMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
  await session.append(fromAnthropicMessages(recorded as never))
  const { messages } = toAnthropic(await session.context())
  const plain = messages.map(({ role, content }) => ({
    role,
    content: content.map((block) => ({ ...block, cache_control: undefined })),
  }))
  // toEqual: what is undefined is not there.
  expect(plain).toEqual(recorded)
})

it('counts a block by what it holds, and keeps the budget with large ones', async () => {
  const session = createMemory({ store: mapStore(), budget: 4_000 }).session({ userId: 'ada' })
  for (let turn = 0; turn < 8; turn++) {
    await session.append({ role: 'user', content: `Turn ${turn}.` })
    const block = { ...COMPACTIONS[0], encrypted_content: 'x'.repeat(3_000) }
    await session.append(
      parseAnthropicReply({ role: 'assistant', content: [block, { type: 'text', text: 'Yes.' }] } as never),
    )
  }
  await session.append({ role: 'user', content: 'And now?' })
  const context = await session.context()
  expect(context.receipt.used).toBeLessThanOrEqual(4_000)
  const shown = JSON.stringify(toAnthropic(context).messages)
  expect(shown.length).toBeLessThan(4_000 * 6)
  expect(shown).toContain('And now?')
})
