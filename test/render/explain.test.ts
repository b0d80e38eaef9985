import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Block, Context } from '../../src/ports/context.ts'
import type { Explanation } from '../../src/ports/explanation.ts'
import { toAnthropic } from '../../src/render/anthropic.ts'
import { explain } from '../../src/render/explain.ts'
import { toOpenAI } from '../../src/render/openai.ts'
import { runs } from '../unit/support/runs.ts'
import {
  assistant,
  block,
  blockLists,
  call,
  contextOf,
  memory,
  result,
  searchTool,
  system,
  tail,
  toolLists,
  user,
} from './samples.ts'

/** With a number of tokens for each block, 7 for the tools and 3 for the format. */
function counted(blocks: readonly Block[], tools?: Context['tools']): Context {
  const weighed = blocks.map((one, index) => ({ ...one, tokens: 10 + index, from: [`m${index}`] }))
  const context = contextOf(weighed, tools)
  const told = tools?.length ? 7 : 0
  const used = weighed.reduce((sum, { tokens }) => sum + tokens, 3 + told)
  const overflow = { count: 0, tokens: 0, first: [] }
  const sections = told > 0 ? [{ name: 'tools' as const, tokens: told, items: 1, overflow }] : []
  return { ...context, receipt: { ...context.receipt, used, sections } }
}

/** That spans and text agree, and that nothing is explained twice or not at all. */
function expectTiled({ text, spans, unrendered }: Explanation, request: object, { receipt }: Context): void {
  expect(text).toBe(JSON.stringify(request))
  let end = 0
  for (const { from, to } of spans) {
    expect(from).toBe(end)
    expect(to).toBeGreaterThan(from)
    end = to
  }
  expect(end).toBe(text.length)
  const tokens = [...spans, ...unrendered].reduce((sum, source) => sum + source.tokens, 0)
  expect(tokens).toBe(receipt.used)
}

const shown = ({ text, spans }: Explanation) =>
  spans.map(({ from, to, section, rule, records, tokens }) => [
    section,
    rule,
    records.join(),
    tokens,
    text.slice(from, to),
  ])

describe('an explanation', () => {
  it('tiles every OpenAI request, and its tokens are those of the receipt', () => {
    fc.assert(
      fc.property(blockLists, toolLists, (blocks, tools) => {
        const context = counted(blocks, tools)
        expectTiled(explain(context), toOpenAI(context), context)
      }),
      runs(100),
    )
  })

  it('tiles every Anthropic request, with and without cache marks', () => {
    fc.assert(
      fc.property(blockLists, toolLists, fc.boolean(), (blocks, tools, cache) => {
        const context = counted(blocks, tools)
        expectTiled(explain(context, 'anthropic', { cache }), toAnthropic(context, { cache }), context)
      }),
      runs(100),
    )
  })

  it('gives each text to the block that holds it', () => {
    const marked = fc.tuple(blockLists, toolLists).map(([blocks, tools]) =>
      counted(
        blocks.map((one, index) => ({
          ...one,
          parts: one.parts.map((part) => (part.type === 'text' ? { ...part, text: `«${index}»` } : part)),
        })),
        tools,
      ),
    )
    fc.assert(
      fc.property(marked, fc.constantFrom('openai' as const, 'anthropic' as const), (context, provider) => {
        for (const { records, section, from, to, text } of spansOf(explain(context, provider))) {
          const inside = [...text.slice(from, to).matchAll(/«(\d+)»/g)].map(([, index]) => `m${index}`)
          const place = section === 'system' || section === 'memory' ? undefined : records[0]
          for (const index of inside) if (place !== undefined) expect(index).toBe(place)
        }
      }),
      runs(100),
    )
  })

  it('names section, rule, record and tokens of each stretch of an OpenAI request', () => {
    const context = counted([system('Be brief.'), user('Hi.'), tail('Monday.')], [searchTool])
    const [tools] = toOpenAI(context).tools ?? []
    expect(shown(explain(context))).toEqual([
      ['request', 'request', '', 3, '{'],
      ['tools', 'tools', 'head/1', 7, `"tools":[${JSON.stringify(tools)}]`],
      ['system', 'system', 'head/1', 10, ',"messages":[{"role":"system","content":"Be brief."}'],
      ['window', 'verbatim', 'm1', 11, ',{"role":"user","content":"Hi."}'],
      ['tail', 'tail', 'm2', 12, ',{"role":"user","content":"Monday."}]}'],
    ])
  })

  it('parts an Anthropic message that several blocks share, the tail inside the last result too', () => {
    const context = counted([
      memory('Ada likes trains.'),
      user('Hi.'),
      assistant([call('a'), call('b')]),
      result('a', 'one'),
      result('b', 'two'),
      tail('Monday.'),
    ])
    const spans = shown(explain(context, 'anthropic', { cache: false }))
    expect(spans.map(([section, rule, records, tokens]) => [section, rule, records, tokens])).toEqual([
      ['request', 'request', '', 3],
      ['memory', 'memory', 'head/1', 10],
      ['window', 'verbatim', 'm1', 11],
      ['window', 'verbatim', 'm2', 12],
      ['window', 'verbatim', 'm3', 13],
      ['window', 'verbatim', 'm4', 14],
      ['tail', 'tail', 'm5', 15],
    ])
    expect(spans.at(-3)?.[4]).toContain('"one"')
    expect(spans.at(-2)?.[4]).toContain('"two"')
    expect(spans.at(-1)?.[4]).toBe(',{"type":"text","text":"Monday."}]}]}]}')
  })

  it('charges a source that another one interrupts once', () => {
    const context = counted([user('Hi.'), assistant([call('a')]), result('a', 'one'), tail('Monday.')])
    const { spans } = explain(context, 'anthropic')
    const tokens = spans.filter(({ records }) => records[0] === 'm2').map((span) => span.tokens)
    expect(tokens[0]).toBe(12)
    expect(tokens.slice(1).every((more) => more === 0)).toBe(true)
  })

  it('lists what was counted and is not given to this provider', () => {
    const kept = { type: 'opaque', provider: 'anthropic', value: { type: 'server_tool_use' } } as const
    const context = counted([user('Hi.'), block('assistant', [kept]), user('Well?')])
    expect(explain(context).unrendered).toEqual([
      { section: 'window', rule: 'verbatim', records: ['m1'], tokens: 11, trust: 'assistant' },
    ])
    expect(explain(context, 'anthropic').unrendered).toEqual([])
  })

  it('writes empty lists and objects, and leaves out what is undefined', () => {
    const context = counted([user('Hi.')], [{ name: 'clock', inputSchema: { required: [], properties: {} } }])
    expectTiled(explain(context), toOpenAI(context), context)
    expect(explain(context).text).toContain('"parameters":{"required":[],"properties":{}}')
  })
})

function spansOf({ text, spans }: Explanation) {
  return spans.map((span) => ({ ...span, text }))
}
