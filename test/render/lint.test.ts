import { describe, expect, it } from 'vitest'
import type { Provider } from '../../src/ports/explanation.ts'
import { type LintableRequest, type LintRule, lintRequest } from '../../src/render/lint.ts'

type Messages = readonly { readonly role: string; readonly [key: string]: unknown }[]

interface Case {
  readonly name: string
  readonly provider: Provider
  readonly rule: LintRule
  readonly path: string
  readonly bad: LintableRequest
  /** The nearest request that is accepted. */
  readonly good: LintableRequest
}

const ask = { role: 'user', content: 'Find it.' }
const thanks = { role: 'user', content: 'Thanks.' }

const openaiCall = (id: string, name = 'search', text = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
const calling = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const answer = (id: string, content: unknown = 'found') => ({ role: 'tool', tool_call_id: id, content })

const text = (value: string, extra = {}) => ({ type: 'text', text: value, ...extra })
const use = (id: string, extra = {}) => ({ type: 'tool_use', id, name: 'search', input: {}, ...extra })
const done = (id: string, extra = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'found',
  ...extra,
})
const says = (...content: object[]) => ({ role: 'assistant', content })
const sends = (...content: object[]) => ({ role: 'user', content })
const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
const cache_control = { type: 'ephemeral' }

const of = (...messages: Messages): LintableRequest => ({ messages })
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
const custom = (name: string) => ({ type: 'custom', custom: { name } })
const spec = (name: string, extra = {}) => ({ name, input_schema: { type: 'object' }, ...extra })

const cases: readonly Case[] = [
  {
    name: 'a request without messages',
    provider: 'openai',
    rule: 'no-messages',
    path: 'messages',
    bad: of(),
    good: of(ask),
  },
  {
    name: 'a role that nobody knows',
    provider: 'openai',
    rule: 'unknown-role',
    path: 'messages[0].role',
    bad: of({ role: 'human', content: 'Hi.' }, ask),
    good: of({ role: 'developer', content: 'Be brief.' }, ask),
  },
  {
    name: 'a role that Anthropic does not know',
    provider: 'anthropic',
    rule: 'unknown-role',
    path: 'messages[1].role',
    bad: of(ask, { role: 'tool', content: 'found' }),
    good: of(ask, thanks),
  },
  {
    name: 'a system message inside an Anthropic conversation',
    provider: 'anthropic',
    rule: 'system-role',
    path: 'messages[1].role',
    bad: of(ask, { role: 'system', content: 'Be brief.' }, thanks),
    good: { messages: [ask, thanks], system: 'Be brief.' },
  },
  {
    name: 'an Anthropic conversation that the assistant opens',
    provider: 'anthropic',
    rule: 'first-role',
    path: 'messages[0].role',
    bad: of(says(text('Hello.')), ask),
    good: of(thanks, says(text('Hello.')), ask),
  },
  {
    name: 'a request that nobody asked for',
    provider: 'openai',
    rule: 'no-user',
    path: 'messages',
    bad: of({ role: 'system', content: 'Be brief.' }),
    good: of({ role: 'system', content: 'Be brief.' }, ask),
  },
  {
    name: 'a request that ends with the assistant',
    provider: 'anthropic',
    rule: 'ends-with-assistant',
    path: 'messages[1]',
    bad: of(ask, says(text('It is'))),
    good: of(ask, says(text('It is')), ask),
  },
  {
    name: 'an OpenAI request that ends with the assistant',
    provider: 'openai',
    rule: 'ends-with-assistant',
    path: 'messages[1]',
    bad: of(ask, { role: 'assistant', content: 'It is' }),
    good: of(ask, { role: 'assistant', content: 'It is' }, ask),
  },
  {
    name: 'an OpenAI call without a result',
    provider: 'openai',
    rule: 'pairing',
    path: 'messages[1].tool_calls[1].id',
    bad: of(ask, calling(openaiCall('a'), openaiCall('b')), answer('a'), ask),
    good: of(ask, calling(openaiCall('a'), openaiCall('b')), answer('b'), answer('a'), ask),
  },
  {
    name: 'an OpenAI result without a call',
    provider: 'openai',
    rule: 'pairing',
    path: 'messages[1].tool_call_id',
    bad: of(ask, answer('a')),
    good: of(ask, calling(openaiCall('a')), answer('a')),
  },
  {
    name: 'an OpenAI result of a call that the user made',
    provider: 'openai',
    rule: 'pairing',
    path: 'messages[1].tool_call_id',
    bad: of({ ...ask, tool_calls: [openaiCall('a')] }, answer('a')),
    good: of(ask, { ...calling(openaiCall('a')), content: 'Searching.' }, answer('a')),
  },
  {
    name: 'an OpenAI result that something else comes before',
    provider: 'openai',
    rule: 'adjacency',
    path: 'messages[3].tool_call_id',
    bad: of(ask, calling(openaiCall('a')), ask, answer('a')),
    good: of(ask, calling(openaiCall('a')), answer('a'), ask),
  },
  {
    name: 'an Anthropic call without a result',
    provider: 'anthropic',
    rule: 'pairing',
    path: 'messages[1].content[1].id',
    bad: of(ask, says(use('a'), use('b')), sends(done('a'))),
    good: of(ask, says(use('a'), use('b')), sends(done('b'), done('a'))),
  },
  {
    name: 'an Anthropic result without a call',
    provider: 'anthropic',
    rule: 'pairing',
    path: 'messages[0].content[0].tool_use_id',
    bad: of(sends(done('a'), text('Go on.'))),
    good: of(ask, says(use('a')), sends(done('a'), text('Go on.'))),
  },
  {
    name: 'an Anthropic result in the message after the next',
    provider: 'anthropic',
    rule: 'adjacency',
    path: 'messages[3].content[0].tool_use_id',
    bad: of(ask, says(use('a'), use('b')), sends(done('a')), sends(done('b'))),
    good: of(ask, says(use('a'), use('b')), sends(done('a'), done('b'))),
  },
  {
    name: 'a result of a server tool without its call',
    provider: 'anthropic',
    rule: 'pairing',
    path: 'messages[3].content[0].tool_use_id',
    bad: of(
      ask,
      says(use('s')),
      sends(done('s')),
      says({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }, text('So.')),
      ask,
    ),
    good: of(
      ask,
      says(
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
        text('So.'),
      ),
      ask,
    ),
  },
  {
    name: 'a call by a server tool that is not there',
    provider: 'anthropic',
    rule: 'pairing',
    path: 'messages[1].content[0].caller',
    bad: of(ask, says(use('a', { caller: { type: 'code_execution', tool_id: 's' } })), sends(done('a'))),
    good: of(ask, says(use('a', { caller: { type: 'direct' } })), sends(done('a'))),
  },
  {
    name: 'a result in an assistant message',
    provider: 'anthropic',
    rule: 'block-role',
    path: 'messages[3].content[0]',
    bad: of(ask, says(use('a')), sends(done('a')), says(done('a'), text('So.')), ask),
    good: of(ask, says(use('a')), sends(done('a')), says(text('So.')), ask),
  },
  {
    name: 'text before a result',
    provider: 'anthropic',
    rule: 'results-first',
    path: 'messages[2].content[1]',
    bad: of(ask, says(use('a')), sends(text('Here:'), done('a'))),
    good: of(ask, says(use('a')), sends(done('a'), text('Here.'))),
  },
  {
    name: 'text after a call',
    provider: 'anthropic',
    rule: 'calls-last',
    path: 'messages[1].content[0]',
    bad: of(ask, says(use('a'), text('Searching.')), sends(done('a'))),
    good: of(ask, says(text('Searching.'), use('a')), sends(done('a'))),
  },
  {
    name: 'two OpenAI calls with one id',
    provider: 'openai',
    rule: 'duplicate-id',
    path: 'messages[3].tool_calls[0].id',
    bad: of(ask, calling(openaiCall('a')), answer('a'), calling(openaiCall('a'))),
    good: of(ask, calling(openaiCall('a')), answer('a'), calling(openaiCall('b')), answer('b')),
  },
  {
    name: 'two results for one OpenAI call',
    provider: 'openai',
    rule: 'duplicate-id',
    path: 'messages[3].tool_call_id',
    bad: of(ask, calling(openaiCall('a')), answer('a'), answer('a')),
    good: of(ask, calling(openaiCall('a')), answer('a')),
  },
  {
    name: 'two Anthropic calls with one id',
    provider: 'anthropic',
    rule: 'duplicate-id',
    path: 'messages[1].content[1].id',
    bad: of(ask, says(use('a'), use('a')), sends(done('a'))),
    good: of(ask, says(use('a'), use('b')), sends(done('a'), done('b'))),
  },
  {
    name: 'an OpenAI call id of 41 characters',
    provider: 'openai',
    rule: 'id-format',
    path: 'messages[1].tool_calls[0].id',
    bad: of(ask, calling(openaiCall('x'.repeat(41))), answer('x'.repeat(41))),
    good: of(ask, calling(openaiCall('x'.repeat(40))), answer('x'.repeat(40))),
  },
  {
    name: 'an empty OpenAI call id',
    provider: 'openai',
    rule: 'id-format',
    path: 'messages[1].tool_calls[0].id',
    bad: of(ask, calling(openaiCall('')), answer('')),
    good: of(ask, calling(openaiCall('0')), answer('0')),
  },
  {
    name: 'an OpenAI result that names no call',
    provider: 'openai',
    rule: 'id-format',
    path: 'messages[1].tool_call_id',
    bad: of(ask, { role: 'tool', content: 'found' }),
    good: of(ask, calling(openaiCall('a')), answer('a')),
  },
  {
    name: 'an Anthropic call id with a dot',
    provider: 'anthropic',
    rule: 'id-format',
    path: 'messages[1].content[0].id',
    bad: of(ask, says(use('functions.search:0')), sends(done('functions.search:0'))),
    good: of(ask, says(use('functions_search-0')), sends(done('functions_search-0'))),
  },
  {
    name: 'an Anthropic result that names no call',
    provider: 'anthropic',
    rule: 'id-format',
    path: 'messages[0].content[0].tool_use_id',
    bad: of(sends({ type: 'tool_result', content: 'found' })),
    good: of(ask),
  },
  {
    name: 'arguments that are cut off',
    provider: 'openai',
    rule: 'arguments-json',
    path: 'messages[1].tool_calls[0].function.arguments',
    bad: of(ask, calling(openaiCall('a', 'search', '{"query": "fer')), answer('a')),
    good: of(ask, calling(openaiCall('a', 'search', '{"query": "ferry"}')), answer('a')),
  },
  {
    name: 'arguments that are not a string',
    provider: 'openai',
    rule: 'arguments-json',
    path: 'messages[1].tool_calls[0].function.arguments',
    bad: of(
      ask,
      calling({ id: 'a', type: 'function', function: { name: 'search', arguments: 1 } }),
      answer('a'),
    ),
    good: of(ask, calling({ id: 'a', type: 'custom', custom: { name: 'run', input: 'ls' } }), answer('a')),
  },
  {
    name: 'an input that is not an object',
    provider: 'anthropic',
    rule: 'input-object',
    path: 'messages[1].content[0].input',
    bad: of(ask, says(use('a', { input: '{"query"' })), sends(done('a'))),
    good: of(ask, says(use('a', { input: { query: 'ferry' } })), sends(done('a'))),
  },
  {
    name: 'an input that is a list',
    provider: 'anthropic',
    rule: 'input-object',
    path: 'messages[1].content[0].input',
    bad: of(ask, says(use('a', { input: [] })), sends(done('a'))),
    good: of(ask, says(use('a', { input: {} })), sends(done('a'))),
  },
  {
    name: 'reasoning without a signature',
    provider: 'anthropic',
    rule: 'unsigned-reasoning',
    path: 'messages[1].content[0]',
    bad: of(ask, says({ type: 'thinking', thinking: 'Hm.' }, text('So.')), ask),
    good: of(ask, says(thought, text('So.')), ask),
  },
  {
    name: 'reasoning with an empty signature',
    provider: 'anthropic',
    rule: 'unsigned-reasoning',
    path: 'messages[1].content[0]',
    bad: of(ask, says({ ...thought, signature: '' }, text('So.')), ask),
    good: of(ask, says({ ...thought, thinking: '' }, text('So.')), ask),
  },
  {
    name: 'a message of reasoning alone',
    provider: 'anthropic',
    rule: 'ends-with-reasoning',
    path: 'messages[1].content[0]',
    bad: of(ask, says(thought), ask),
    good: of(ask, says(thought, text('So.')), ask),
  },
  {
    name: 'a message that ends with redacted reasoning',
    provider: 'anthropic',
    rule: 'ends-with-reasoning',
    path: 'messages[1].content[1]',
    bad: of(ask, says(text('So.'), { type: 'redacted_thinking', data: 'x' }), ask),
    good: of(ask, says({ type: 'redacted_thinking', data: 'x' }, text('So.')), ask),
  },
  {
    name: 'an empty OpenAI message',
    provider: 'openai',
    rule: 'empty-text',
    path: 'messages[0].content',
    bad: of({ role: 'user', content: '' }),
    good: of({ role: 'user', content: ' ' }),
  },
  {
    name: 'an empty OpenAI text part',
    provider: 'openai',
    rule: 'empty-text',
    path: 'messages[0].content[1].text',
    bad: of(sends(text('Look:'), text(''))),
    good: of(sends(text('Look:'), { type: 'image_url', image_url: { url: 'https://example.com/a.png' } })),
  },
  {
    name: 'a blank Anthropic message',
    provider: 'anthropic',
    rule: 'empty-text',
    path: 'messages[0].content',
    bad: of({ role: 'user', content: ' \n' }),
    good: of({ role: 'user', content: ' a\n' }),
  },
  {
    name: 'a blank Anthropic text block',
    provider: 'anthropic',
    rule: 'empty-text',
    path: 'messages[1].content[0]',
    bad: of(ask, says(text('\n\n'), text('So.')), ask),
    good: of(ask, says(text('\n\nSo.')), ask),
  },
  {
    name: 'a blank text inside a result',
    provider: 'anthropic',
    rule: 'empty-text',
    path: 'messages[2].content[0].content[0]',
    bad: of(ask, says(use('a')), sends(done('a', { content: [text('')] }))),
    good: of(ask, says(use('a')), sends(done('a', { content: '' }))),
  },
  {
    name: 'a blank system text',
    provider: 'anthropic',
    rule: 'empty-text',
    path: 'system[0]',
    bad: { messages: [ask], system: [text('')] },
    good: { messages: [ask], system: [text('Be brief.')] },
  },
  {
    name: 'an OpenAI message with an empty list',
    provider: 'openai',
    rule: 'empty-content',
    path: 'messages[0].content',
    bad: of({ role: 'user', content: [] }),
    good: of(sends(text('Find it.'))),
  },
  {
    name: 'an OpenAI message without content',
    provider: 'openai',
    rule: 'empty-content',
    path: 'messages[0].content',
    bad: of({ role: 'user' }),
    good: of(ask, calling(openaiCall('a')), answer('a', '')),
  },
  {
    name: 'an assistant message with neither content nor calls',
    provider: 'openai',
    rule: 'empty-content',
    path: 'messages[1]',
    bad: of(ask, { role: 'assistant', content: '' }, ask),
    good: of(ask, { role: 'assistant', content: null, refusal: 'No.' }, ask),
  },
  {
    name: 'an empty list of calls',
    provider: 'openai',
    rule: 'empty-content',
    path: 'messages[1].tool_calls',
    bad: of(ask, { role: 'assistant', content: 'So.', tool_calls: [] }, ask),
    good: of(ask, { role: 'assistant', content: 'So.' }, ask),
  },
  {
    name: 'an Anthropic message with an empty list',
    provider: 'anthropic',
    rule: 'empty-content',
    path: 'messages[1].content',
    bad: of(ask, says(), ask),
    good: of(ask, says(text('So.')), ask),
  },
  {
    name: 'five cache marks',
    provider: 'anthropic',
    rule: 'too-many-marks',
    path: '',
    bad: {
      system: [text('Be brief.', { cache_control })],
      tools: [spec('search', { cache_control })],
      messages: [sends(...['1', '2', '3'].map((value) => text(value, { cache_control })))],
    },
    good: {
      system: [text('Be brief.', { cache_control })],
      tools: [spec('search', { cache_control })],
      messages: [sends(...['1', '2'].map((value) => text(value, { cache_control })))],
    },
  },
  {
    name: 'a cache mark on reasoning',
    provider: 'anthropic',
    rule: 'mark-place',
    path: 'messages[1].content[0]',
    bad: of(ask, says({ ...thought, cache_control }, text('So.')), ask),
    good: of(ask, says(thought, text('So.', { cache_control })), ask),
  },
  {
    name: 'a cache mark inside a result',
    provider: 'anthropic',
    rule: 'mark-place',
    path: 'messages[2].content[0].content[0]',
    bad: of(ask, says(use('a')), sends(done('a', { content: [text('found', { cache_control })] }))),
    good: of(ask, says(use('a')), sends(done('a', { content: [text('found')], cache_control }))),
  },
  {
    name: 'an OpenAI tool name of 65 characters',
    provider: 'openai',
    rule: 'tool-name',
    path: 'tools[0].function.name',
    bad: { messages: [ask], tools: [tool('x'.repeat(65))] },
    good: { messages: [ask], tools: [tool('x'.repeat(64))] },
  },
  {
    name: 'an Anthropic tool name of 129 characters',
    provider: 'anthropic',
    rule: 'tool-name',
    path: 'tools[0].name',
    bad: { messages: [ask], tools: [spec('x'.repeat(129))] },
    good: { messages: [ask], tools: [spec('x'.repeat(128))] },
  },
  {
    name: 'an OpenAI call of a name with a dot',
    provider: 'openai',
    rule: 'tool-name',
    path: 'messages[1].tool_calls[0].function.name',
    bad: of(ask, calling(openaiCall('a', 'functions.search')), answer('a')),
    good: of(ask, calling(openaiCall('a', 'functions_search')), answer('a')),
  },
  {
    name: 'an Anthropic call of a name with a dot',
    provider: 'anthropic',
    rule: 'tool-name',
    path: 'messages[1].content[0].name',
    bad: of(ask, says(use('a', { name: 'functions.search' })), sends(done('a'))),
    good: of(ask, says(use('a', { name: 'functions_search' })), sends(done('a'))),
  },
  {
    name: 'two tools of one name',
    provider: 'openai',
    rule: 'duplicate-tool',
    path: 'tools[1].function.name',
    bad: { messages: [ask], tools: [tool('search'), custom('search')] },
    good: { messages: [ask], tools: [tool('search'), custom('clock')] },
  },
  {
    name: 'two Anthropic tools of one name',
    provider: 'anthropic',
    rule: 'duplicate-tool',
    path: 'tools[1].name',
    bad: { messages: [ask], tools: [spec('search'), spec('search')] },
    good: { messages: [ask], tools: [spec('search'), spec('clock')] },
  },
]

describe('lintRequest', () => {
  it.each(cases)('reports $name ($provider, $rule), and accepts what is next to it', (sample) => {
    const { provider, rule, path, bad, good } = sample
    expect(lintRequest(bad, provider).map((problem) => [problem.rule, problem.path])).toContainEqual([
      rule,
      path,
    ])
    expect(lintRequest(good, provider)).toEqual([])
  })

  it('accepts what a tool may answer: nothing, and a list of texts', () => {
    const calls = calling(openaiCall('a'), openaiCall('b'))
    expect(lintRequest(of(ask, calls, answer('a', ''), answer('b', [text('found')])), 'openai')).toEqual([])
  })

  it('accepts the messages that OpenAI used before it had tools', () => {
    const called = { role: 'assistant', content: null, function_call: { name: 'search', arguments: '{}' } }
    const answered = { role: 'function', name: 'search', content: null }
    expect(lintRequest(of(ask, called, answered), 'openai')).toEqual([])
  })

  it('accepts a spoken reply, which OpenAI refers to by its id', () => {
    expect(lintRequest(of(ask, { role: 'assistant', audio: { id: 'audio_1' } }, ask), 'openai')).toEqual([])
  })

  it('reports a problem once, and says what is wrong', () => {
    expect(lintRequest(of(ask, calling(openaiCall('a')), answer('a'), answer('b')), 'openai')).toEqual([
      {
        rule: 'pairing',
        path: 'messages[3].tool_call_id',
        message: 'no call before this result has the id "b"',
      },
    ])
  })

  it('does not fall over a request of any other shape', () => {
    const odd = { messages: [null, 'text', { role: 'assistant', content: 7, tool_calls: [null] }] }
    const request = odd as unknown as LintableRequest
    expect(lintRequest(request, 'openai')).not.toEqual([])
    expect(lintRequest(request, 'anthropic')).not.toEqual([])
  })
})
