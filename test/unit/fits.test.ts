import { describe, expect, it } from 'vitest'
import { assertFits, mapStore, toAnthropic, toOpenAI, toOpenAIResponses, utf8Bound } from '../../src/index.ts'
import { addExchange } from '../../src/operations/exchange.ts'
import { fullMemory } from '../contract/full-memory.ts'

const tools = [{ name: 'find', description: 'Finds things.', inputSchema: { type: 'object' } }]

describe('assertFits', () => {
  it('counts texts, calls, results, system text and tools of both formats', () => {
    const openai = {
      tools: [{ type: 'function', function: { name: 'find' } }],
      messages: [
        { role: 'system', content: 'abc' },
        { role: 'user', content: [{ type: 'text', text: 'defg' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'ignored', type: 'function', function: { name: 'find', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'ignored', content: 'hi' },
      ],
    }
    expect(assertFits(openai, utf8Bound, 1_000)).toBe(
      3 + JSON.stringify(openai.tools).length + 4 * 4 + 3 + 4 + 6 + 2,
    )
    const anthropic = {
      system: [{ type: 'text', text: 'abc', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'ignored', name: 'find', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'ignored', content: 'hi' }] },
      ],
    }
    expect(assertFits(anthropic, utf8Bound, 1_000)).toBe(3 + 3 + 2 * 4 + 4 + '{"a":1}'.length + 2)
  })

  it('counts items and instructions of the Responses API', () => {
    const request = {
      instructions: 'abc',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'defg' }] },
        { type: 'function_call', call_id: 'ignored', name: 'find', arguments: '{}' },
        { type: 'function_call_output', call_id: 'ignored', output: [{ type: 'input_text', text: 'hi' }] },
      ],
    }
    expect(assertFits(request, utf8Bound, 1_000)).toBe(3 + 3 + 3 * 4 + 4 + 6 + 2)
    expect(assertFits({ input: 'abc' }, utf8Bound, 1_000)).toBe(3 + 4 + 3)
  })

  it('finds that nothing fits what is no number', () => {
    const request = { messages: [{ role: 'user', content: 'Hi.' }] }
    expect(() => assertFits(request, utf8Bound, Number.NaN)).toThrow(
      expect.objectContaining({ code: 'ERR_CONTEXT_TOO_LARGE' }),
    )
  })

  it('refuses a request that is too large, with its size and the limit', () => {
    const request = { messages: [{ role: 'user', content: 'x'.repeat(100) }] }
    expect(() => assertFits(request, utf8Bound, 106)).toThrow(
      expect.objectContaining({ code: 'ERR_CONTEXT_TOO_LARGE', size: 107, limit: 106 }),
    )
  })

  it('finds that what a memory renders fits', async () => {
    const session = fullMemory({
      store: mapStore(),
      system: 'Be kind.',
      budget: 600,
      counter: utf8Bound,
    }).session({ userId: 'ada' })
    for (let index = 0; index < 20; index++)
      await addExchange(session, `Question ${index}`, `Answer ${index}, at some length`)
    await session.append({ role: 'user', content: 'And now?' })
    const context = await session.context({ tools, tail: 'It is late.' })
    expect(assertFits(toOpenAI(context), utf8Bound, 600)).toBeLessThanOrEqual(context.receipt.used)
    expect(assertFits(toAnthropic(context), utf8Bound, 600)).toBeLessThanOrEqual(context.receipt.used)
    // Its tools say more of their format.
    const responses = assertFits(toOpenAIResponses({ ...context, tools: [] }), utf8Bound, 600)
    expect(responses).toBe(assertFits(toOpenAI({ ...context, tools: [] }), utf8Bound, 600))
  })
})
