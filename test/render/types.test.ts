/**
 * What the compiler checks: the official SDKs take what we render, and we read what they give,
 * without a cast.
 */
import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { expect, it } from 'vitest'
import { fromAnthropicMessages, parseAnthropicReply, toAnthropic } from '../../src/render/anthropic.ts'
import { lintRequest } from '../../src/render/lint.ts'
import { fromOpenAIMessages, parseOpenAIReply, toOpenAI } from '../../src/render/openai.ts'
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
