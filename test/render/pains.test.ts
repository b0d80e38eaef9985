/**
 * Ways in which sessions of other programs were lost to a refused request, each named after its
 * report.
 */
import { describe, expect, it } from 'vitest'
import type { Block } from '../../src/ports/context.ts'
import type { Provider } from '../../src/ports/explanation.ts'
import type { Part } from '../../src/ports/message.ts'
import { fromAnthropicMessages, parseAnthropicReply, toAnthropic } from '../../src/render/anthropic.ts'
import { type LintRule, lintRequest } from '../../src/render/lint.ts'
import { toOpenAI } from '../../src/render/openai.ts'
import { fromOpenAIMessages, parseOpenAIReply } from '../../src/render/openai-input.ts'
import { assistant, block, blocksOf, call, contextOf, result, user } from './samples.ts'

const rulesOf = (request: Parameters<typeof lintRequest>[0], provider: Provider): LintRule[] =>
  lintRequest(request, provider).map(({ rule }) => rule)

const anthropic = (...blocks: Block[]) => toAnthropic(contextOf(blocks), { cache: false })

const signed: Part = { type: 'reasoning', text: 'Look first.', signature: 'c2lnbmVk' }

describe('calls and results that lost each other', () => {
  it('are reported when a cut left a result without its call (langchain-ai/langchain#38352)', () => {
    const cut = [result('a', 'found'), assistant('So.'), user('Thanks.')]
    expect(rulesOf(toOpenAI(contextOf(cut)), 'openai')).toEqual(['pairing'])
    expect(rulesOf(anthropic(...cut), 'anthropic')).toEqual(['pairing'])
  })

  it('are reported when a stopped tool left a call without its result (anthropics/claude-code#2697)', () => {
    const stopped = [user('Find it.'), assistant([call('a')]), user('Stop.')]
    expect(rulesOf(toOpenAI(contextOf(stopped)), 'openai')).toEqual(['pairing'])
    expect(rulesOf(anthropic(...stopped), 'anthropic')).toEqual(['pairing'])
  })

  it('are reported when a message came between them (cline/cline#7225)', () => {
    const parted = [user('Find it.'), assistant([call('a')]), user('Well?'), result('a', 'found')]
    expect(rulesOf(toOpenAI(contextOf(parted)), 'openai')).toEqual(['adjacency'])
    expect(rulesOf(anthropic(...parted), 'anthropic')).toEqual(['adjacency'])
  })

  it('are reported when ids repeat (Tarquinen/opencode-dynamic-context-pruning#615)', () => {
    const step = [assistant([call('bash0')]), result('bash0', 'done')]
    const repeated = [user('Twice.'), ...step, ...step]
    expect(rulesOf(toOpenAI(contextOf(repeated)), 'openai')).toContain('duplicate-id')
    expect(rulesOf(anthropic(...repeated), 'anthropic')).toContain('duplicate-id')
  })

  it('stay together when parallel results come one by one (anthropics/claude-code#63213)', () => {
    const request = anthropic(
      user('Find both.'),
      assistant([call('a'), call('b')]),
      result('b', 'second'),
      result('a', 'first'),
    )
    expect(request.messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['text'],
      ['tool_use', 'tool_use'],
      ['tool_result', 'tool_result'],
    ])
    expect(rulesOf(request, 'anthropic')).toEqual([])
  })

  it('stay together when the user spoke before the result was in (zeroclaw-labs/zeroclaw#5264)', () => {
    const messages = fromAnthropicMessages([
      { role: 'user', content: 'Find it.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'search', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And hurry.' },
          { type: 'tool_result', tool_use_id: 'a', content: 'found' },
        ],
      },
    ])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(rulesOf(anthropic(...blocksOf(messages)), 'anthropic')).toEqual([])
    expect(rulesOf(toOpenAI(contextOf(blocksOf(messages))), 'openai')).toEqual([])
  })

  it('stay together when the message went on after the call (stacklok/mecatl#1465)', () => {
    const request = anthropic(
      user('Find it.'),
      assistant([signed, call('a'), { type: 'text', text: 'Searching.' }]),
      result('a', 'found'),
    )
    expect(request.messages[1]?.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use'])
    expect(rulesOf(request, 'anthropic')).toEqual([])
  })

  it('stay together when a server tool ran after the call (vercel/ai#13013)', () => {
    const server: Part[] = [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    ].map((value) => ({ type: 'opaque', provider: 'anthropic', value }))
    const request = anthropic(user('Find it.'), assistant([call('a'), ...server]), result('a', 'found'))
    expect(request.messages[1]?.content.map(({ type }) => type as string)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'tool_use',
    ])
    expect(rulesOf(request, 'anthropic')).toEqual([])
  })
})

describe('calls that no provider takes back', () => {
  it('have their cut-off arguments kept as text, and sent as JSON', () => {
    const reply = parseOpenAIReply({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', function: { name: 'search', arguments: '{"query": "fer' } }],
    })
    const blocks = [user('Find it.'), ...blocksOf([reply]), result('a', 'Invalid arguments', true)]
    const [, sent] = toOpenAI(contextOf(blocks)).messages
    expect(sent).toMatchObject({ tool_calls: [{ function: { arguments: '"{\\"query\\": \\"fer"' } }] })
    expect(anthropic(...blocks).messages[1]?.content[0]).toMatchObject({ input: { input: '{"query": "fer' } })
    expect(rulesOf(toOpenAI(contextOf(blocks)), 'openai')).toEqual([])
    expect(rulesOf(anthropic(...blocks), 'anthropic')).toEqual([])
  })

  it('have names that providers accept, when a recording has others (vercel/ai#1972)', () => {
    const blocks = [
      user('Both.'),
      assistant([call('a', {}, 'multi_tool_use.parallel'), call('b', {}, `mcp__${'x'.repeat(90)}`)]),
      block('tool', [
        { type: 'tool-result', callId: 'a', output: '' },
        { type: 'tool-result', callId: 'b', output: '' },
      ]),
    ]
    expect(rulesOf(toOpenAI(contextOf(blocks)), 'openai')).toEqual([])
    expect(rulesOf(anthropic(...blocks), 'anthropic')).toEqual([])
    expect(anthropic(...blocks).messages[1]?.content[0]).toMatchObject({ name: 'multi_tool_use_parallel' })
  })

  it('are not smuggled past pairing as opaque content', () => {
    const value = { type: 'tool_use', id: 'x', name: 'search', input: {} }
    const request = anthropic(
      user('Hi.'),
      assistant([
        { type: 'text', text: 'So.' },
        { type: 'opaque', provider: 'anthropic', value },
      ]),
      user('Go on.'),
    )
    expect(JSON.stringify(request)).not.toContain('tool_use')
  })
})

describe('reasoning', () => {
  const interleaved = [
    { type: 'thinking', thinking: 'First this.', signature: 'c2ln' },
    { type: 'tool_use', id: 'a', name: 'search', input: { query: 'one' } },
    { type: 'redacted_thinking', data: 'ZGF0YQ==' },
    { type: 'thinking', thinking: 'Then that.', signature: 'bmF0dXJl' },
    { type: 'tool_use', id: 'b', name: 'search', input: { query: 'two' } },
  ]

  it('comes back as it was, at its place between parallel calls (anthropics/claude-code#63172)', () => {
    const reply = parseAnthropicReply({ role: 'assistant', content: interleaved })
    const request = anthropic(user('Find both.'), ...blocksOf([reply]), result('a', '1'), result('b', '2'))
    expect(request.messages[1]?.content).toEqual(interleaved)
    expect(rulesOf(request, 'anthropic')).toEqual([])
  })

  it('is shown with the text that was signed, or not at all (Yeachan-Heo/gajae-code#4247)', () => {
    const withheld = { type: 'thinking', thinking: '', signature: 'c2ln' }
    const reply = parseAnthropicReply({
      role: 'assistant',
      content: [withheld, { type: 'text', text: 'So.' }],
    })
    expect(reply.content).toContainEqual({ type: 'reasoning', text: '', signature: 'c2ln' })
    expect(anthropic(user('Hi.'), ...blocksOf([reply]), user('Why?')).messages[1]?.content[0]).toEqual(
      withheld,
    )
  })

  it('of a stopped stream, which has no signature, is left out', () => {
    const unsigned: Part = { type: 'reasoning', text: 'Look fi' }
    const request = anthropic(
      user('Hi.'),
      assistant([unsigned, { type: 'text', text: 'So.' }]),
      user('Go on.'),
    )
    expect(request.messages[1]?.content).toEqual([{ type: 'text', text: 'So.' }])
  })

  it('alone makes no message (tailcallhq/forgecode#2107)', () => {
    const request = anthropic(user('Hi.'), assistant([signed]), user('Go on.'))
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'user'])
    expect(rulesOf(request, 'anthropic')).toEqual([])
  })

  it('does not end a message (NousResearch/hermes-agent#16921)', () => {
    const request = anthropic(user('Hi.'), assistant([{ type: 'text', text: 'So.' }, signed]), user('Go on.'))
    expect(request.messages[1]?.content.map(({ type }) => type)).toEqual(['text'])
  })

  it('of one provider is never sent to the other (vercel/ai#11036)', () => {
    const blocks = [
      user('Find it.'),
      assistant([
        signed,
        { type: 'opaque', provider: 'openai', value: { type: 'reasoning', id: 'rs_1' } },
        { type: 'opaque', provider: 'anthropic', value: { type: 'redacted_thinking', data: 'x' } },
        call('a'),
      ]),
      result('a', 'found'),
    ]
    expect(JSON.stringify(toOpenAI(contextOf(blocks)))).not.toMatch(/thinking|rs_1|Look first/)
    expect(JSON.stringify(anthropic(...blocks))).not.toContain('rs_1')
  })

  it('is not needed for a call that a server tool made (vercel/ai#12504)', () => {
    const reply = parseAnthropicReply({
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'search', input: {}, caller: { type: 'code', tool_id: 's' } },
      ],
    })
    const request = anthropic(user('Find it.'), ...blocksOf([reply]), result('a', 'found'))
    expect(rulesOf(request, 'anthropic')).toEqual([])
  })

  it('that other servers send beside the text is kept, and not sent back', () => {
    const [message] = fromOpenAIMessages([{ role: 'assistant', content: 'So.', reasoning_content: 'Hm.' }])
    expect(message?.content).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'So.' },
    ])
    expect(toOpenAI(contextOf(blocksOf(message ? [message] : []))).messages).toEqual([
      { role: 'assistant', content: 'So.' },
    ])
  })
})
