import type { Context } from '../ports/context.ts'
import { type AnthropicOptions, checkAnthropic, toAnthropic } from './anthropic.ts'
import { checkOpenAI, markable, type OpenAIOptions, toOpenAI } from './openai.ts'
import { checkOpenAIResponses, type OpenAIResponsesOptions, toOpenAIResponses } from './openai-responses.ts'
import { requestText } from './request-text.ts'

/** Fields of a request that no context has: the model, and how it is asked. */
export interface RequestFields {
  readonly [field: string]: unknown
}

/**
 * The body of a Chat Completions request as JSON, byte for byte what
 * `JSON.stringify({ ...body, ...toOpenAI(context, options) })` gives: for one who sends requests
 * without an SDK. From call to call of a session only what is new is rendered and written. What was
 * written before is kept, one text as long as the window for each renderer that is used, and goes
 * with the blocks that it shows. So blocks must not be changed in place: the text would show them
 * as they were. A copy is written as a whole: `{ ...context, blocks: context.blocks.map(masked) }`.
 *
 * @throws ERR_INVALID_ARGUMENT: `body` has a field that the context gives, as `messages`, or a
 * function `toJSON`, its own or inherited
 * @example
 * ```ts
 * import { stringifyOpenAI } from 'plimsoll'
 *
 * const body = stringifyOpenAI(await session.context(), { model: 'gpt-4.1', stream: true })
 * const request = new Request('https://api.openai.com/v1/chat/completions', { method: 'POST', body })
 * ```
 */
export function stringifyOpenAI(
  context: Context,
  body: RequestFields = {},
  options: OpenAIOptions = {},
): string {
  const operation = 'stringifyOpenAI'
  const { cache = false } = checkOpenAI(operation, options)
  return requestText(context, body, {
    operation,
    by: `openai ${cache}`,
    list: 'messages',
    isPlain: !cache,
    render: (part) => toOpenAI(part, options),
    renderPlain: (part) => {
      const request = toOpenAI(part)
      if (cache) for (const message of request.messages) markable(message)
      return request
    },
  })
}

/**
 * The body of a request of the Responses API as JSON: `toOpenAIResponses`, as
 * {@link stringifyOpenAI} does it for Chat Completions.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function stringifyOpenAIResponses(
  context: Context,
  body: RequestFields = {},
  options: OpenAIResponsesOptions = {},
): string {
  const operation = 'stringifyOpenAIResponses'
  const { cache = false, opaque = true } = checkOpenAIResponses(operation, options)
  return requestText(context, body, {
    operation,
    by: `responses ${cache} ${opaque}`,
    list: 'input',
    isPlain: !cache,
    render: (part) => toOpenAIResponses(part, options),
    renderPlain: (part) => toOpenAIResponses(part, { opaque }),
  })
}

/**
 * The body of a Messages request as JSON: `toAnthropic`, as {@link stringifyOpenAI} does it for
 * Chat Completions.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function stringifyAnthropic(
  context: Context,
  body: RequestFields = {},
  options: AnthropicOptions = {},
): string {
  const operation = 'stringifyAnthropic'
  const { cache = true } = checkAnthropic(operation, options)
  return requestText(context, body, {
    operation,
    by: `anthropic ${cache}`,
    list: 'messages',
    isPlain: false,
    render: (part) => toAnthropic(part, options),
    renderPlain: (part) => toAnthropic(part, { cache: false }),
  })
}
