import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { readCompletionRequest } from '../../../../../src/edge/turn/completions/request.ts'
import { isPlimsollError } from '../../../../../src/index.ts'

const base = { model: 'plimsoll', messages: [{ role: 'user', content: 'When?' }] }
const search = { type: 'function', function: { name: 'search', parameters: { type: 'object' } } }

const refusal = (more: object): string => {
  try {
    readCompletionRequest({ ...base, ...more })
    return 'taken'
  } catch (error) {
    return isPlimsollError(error, 'ERR_INVALID_ARGUMENT') ? String(error.argument) : String(error)
  }
}

describe('a request of Chat Completions', () => {
  it('is read with all that a model can be told', () => {
    const body: OpenAI.Chat.ChatCompletionCreateParams = {
      model: 'plimsoll',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'When?', name: 'ada' },
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      ],
      tools: [{ type: 'function', function: { name: 'search', description: 'Searches.' } }],
      tool_choice: { type: 'function', function: { name: 'search' } },
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 50,
      stop: 'END',
      seed: 7,
      stream: true,
      stream_options: { include_usage: true },
    }
    expect(readCompletionRequest(body)).toEqual({
      model: 'plimsoll',
      system: 'Be kind.\n\nBe brief.',
      messages: [{ index: 1, message: { role: 'user', content: 'When?', name: 'ada' } }],
      tools: [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object', properties: {} } }],
      settings: {
        maxOutputTokens: 50,
        temperature: 0.5,
        topP: 0.9,
        seed: 7,
        stopSequences: ['END'],
        toolChoice: { name: 'search' },
      },
      isStream: true,
      includesUsage: true,
    })
  })

  it('says nothing by null, by what holds anyway, and by labels', () => {
    const plain = readCompletionRequest(base)
    const fields = [
      ...[
        'tools',
        'tool_choice',
        'temperature',
        'top_p',
        'max_tokens',
        'stop',
        'seed',
        'stream',
        'stream_options',
        'n',
      ],
      ...[
        'parallel_tool_calls',
        'response_format',
        'logprobs',
        'logit_bias',
        'presence_penalty',
        'store',
        'user',
        'metadata',
      ],
    ]
    expect(
      readCompletionRequest({ ...base, ...Object.fromEntries(fields.map((field) => [field, null])) }),
    ).toEqual(plain)
    const idle = {
      n: 1,
      logprobs: false,
      logit_bias: {},
      presence_penalty: 0,
      frequency_penalty: 0,
      response_format: { type: 'text' },
      modalities: ['text'],
      service_tier: 'auto',
      store: false,
      parallel_tool_calls: false,
      tool_choice: 'auto',
      user: 'ada',
      metadata: { trip: 'turin' },
      prompt_cache_key: 'k',
      safety_identifier: 's',
    }
    expect(readCompletionRequest({ ...base, ...idle })).toEqual(plain)
  })

  it.each([
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ logit_bias: { 50256: -100 } }, 'logit_bias.50256'],
    [{ presence_penalty: 0.5 }, 'presence_penalty'],
    [{ frequency_penalty: 0.5 }, 'frequency_penalty'],
    [{ response_format: { type: 'json_object' } }, 'response_format.type'],
    [{ modalities: ['text', 'audio'] }, 'modalities[1]'],
    [{ audio: { voice: 'alloy', format: 'wav' } }, 'audio'],
    [{ service_tier: 'flex' }, 'service_tier'],
    [{ store: true }, 'store'],
    [{ reasoning_effort: 'high' }, 'reasoning_effort'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ functions: [] }, 'functions'],
    [{ stream_options: { unheard_of: true } }, 'stream_options.unheard_of'],
    [{ temperature: 3 }, 'temperature'],
    [{ max_tokens: 5, max_completion_tokens: 6 }, 'max_tokens'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    [{ tools: [search], parallel_tool_calls: false }, 'parallel_tool_calls'],
    [{ tools: [search, search] }, 'tools[1].function.name'],
    [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function', function: { name: 'a', strict: true } }] }, 'tools[0].function.strict'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [
      { tools: [search], tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice.function.name',
    ],
    [{ tool_choice: { type: 'allowed_tools', allowed_tools: {} } }, 'tool_choice.type'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'system', content: 'Be kind.' }] }, 'messages'],
    [{ messages: [...base.messages, { role: 'assistant', content: 'At' }] }, 'messages[1].role'],
    [{ messages: [{ role: 'critic', content: 'Hm.' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'tool', content: '9:40' }] }, 'messages[0].tool_call_id'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
      'messages[0].content[0].type',
    ],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] },
        ],
      },
      'messages[0].content[0].image_url.url',
    ],
    [
      { messages: [{ role: 'assistant', function_call: { name: 'a', arguments: '' } }, ...base.messages] },
      'messages[0].function_call',
    ],
  ])('is refused by the name of the field, where that cannot be honoured: %j', (more, argument) => {
    expect(refusal(more)).toBe(argument)
  })

  it.each([undefined, null, 'text', []])('is refused where it is no object: %j', (body) => {
    expect(() => readCompletionRequest(body)).toThrow(/the body/)
  })

  it('is refused without a word of what it says', () => {
    const secret = { role: 'user', content: 4711 }
    try {
      readCompletionRequest({ ...base, messages: [secret], stop: 4711 })
    } catch (error) {
      expect(String(error)).not.toContain('4711')
    }
  })
})
