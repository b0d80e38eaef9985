/**
 * What the compiler checks: the official SDKs take what we render, and we read what they give,
 * without a cast.
 */
import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { expect, it } from 'vitest'
import { fromAnthropicMessages, parseAnthropicReply, toAnthropic } from '../../src/render/anthropic.ts'
import { type CacheReply, cacheReport } from '../../src/render/cache-report.ts'
import { lintRequest } from '../../src/render/lint.ts'
import { toOpenAI } from '../../src/render/openai.ts'
import { fromOpenAIMessages, parseOpenAIReply } from '../../src/render/openai-input.ts'
import { parseOpenAIResponse, toOpenAIResponses } from '../../src/render/openai-responses.ts'
import { contextOf, searchTool, user } from './samples.ts'

const context = contextOf([user('Hi.')], [searchTool])

it("spreads into the parameters of OpenAI's SDK, whose types can be read back", () => {
  const request: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: 'gpt-5', ...toOpenAI(context) }
  const streaming: OpenAI.ChatCompletionCreateParamsStreaming = {
    model: 'gpt-5',
    stream: true,
    ...toOpenAI(context),
  }
  expect(lintRequest(request, 'openai')).toEqual([])
  expect(fromOpenAIMessages(streaming.messages)).toEqual([{ role: 'user', content: 'Hi.' }])
})

it("reads a reply of OpenAI's SDK, whole or the message of a choice", () => {
  const message: OpenAI.ChatCompletionMessage = { role: 'assistant', content: 'Hello.', refusal: null }
  const completion: OpenAI.ChatCompletion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 0,
    model: 'gpt-5',
    choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message }],
  }
  expect(parseOpenAIReply(completion)).toEqual(parseOpenAIReply(message))
})

it("spreads into the parameters of Anthropic's SDK, whose types can be read back", () => {
  const request: Anthropic.MessageCreateParamsNonStreaming = {
    model: 'claude-sonnet-4-5',
    max_tokens: 1_000,
    ...toAnthropic(context),
  }
  expect(lintRequest(request, 'anthropic')).toEqual([])
  expect(fromAnthropicMessages(request.messages, request.system)).toEqual([{ role: 'user', content: 'Hi.' }])
})

it("reads a reply of Anthropic's SDK", () => {
  const content: Anthropic.ContentBlock[] = [{ type: 'text', text: 'Hello.', citations: null }]
  const read = (message: Anthropic.Message) => parseAnthropicReply(message)
  expect(read({ content } as Anthropic.Message)).toEqual({ role: 'assistant', content: 'Hello.' })
})

it('spreads into the parameters of both, with marks and diagnoses asked for', () => {
  const chat: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model: 'gpt-5.6',
    ...toOpenAI(context, { cache: true }),
  }
  const response: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
    model: 'gpt-5.6',
    store: false,
    ...toOpenAIResponses(context, { cache: true, ttl: '12h', compareWith: 'resp_1' }),
  }
  const message: Anthropic.MessageCreateParamsNonStreaming = {
    model: 'claude-opus-4-5',
    max_tokens: 1_000,
    ...toAnthropic(context, { previousMessageId: null }),
  }
  expect([chat.prompt_cache_options, response.prompt_cache_options, message.diagnostics]).toEqual([
    { mode: 'explicit' },
    { mode: 'explicit', ttl: '12h', comparison_response_id: 'resp_1' },
    { previous_message_id: null },
  ])
})

it("reads what both SDKs' replies say of the cache", () => {
  const replies = (
    completion: OpenAI.ChatCompletion,
    response: OpenAI.Responses.Response,
    message: Anthropic.Message,
  ): readonly CacheReply[] => [completion, response, message]
  expect(replies).toBeTypeOf('function')
  const read = (response: OpenAI.Responses.Response) => parseOpenAIResponse(response)
  expect(read({ output: [] as OpenAI.Responses.ResponseOutputItem[] } as OpenAI.Responses.Response)).toEqual({
    role: 'assistant',
    content: '',
  })
  expect(cacheReport(context, { usage: { input_tokens: 9 } }).status).toBe('hit')
})
