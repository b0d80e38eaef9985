import type { Block, Context } from '../ports/context.ts'
import { checkBoolean } from '../text/check-value.ts'
import { checkShape, type Fields, optional } from '../text/fields.ts'
import { checkBuilt } from './check-built.ts'
import { noteFamily } from './family.ts'
import {
  type OpenAIContentPart,
  type OpenAIMessage,
  type OpenAIRequest,
  renderOpenAI,
} from './openai-blocks.ts'
import { type Marked, setMarks } from './openai-marks.ts'

export interface OpenAIOptions {
  /**
   * Whether to set `prompt_cache_breakpoint`, at most four times, and `prompt_cache_options`, which
   * turns off the provider's own one: for `gpt-5.6` and later, which reuse a prefix only up to
   * where one ended. Earlier models refuse both, and need neither. @default false
   */
  readonly cache?: boolean
}

const OPTIONS: Fields = { cache: optional(checkBoolean) }

/** @throws ERR_INVALID_ARGUMENT */
export function checkOpenAI(operation: string, options: OpenAIOptions): OpenAIOptions {
  return checkShape(operation, 'options', options, OPTIONS)
}

/**
 * A context as a Chat Completions request, block after block, its keys in the order in which the
 * provider reads them. Left out: reasoning, and what belongs to another provider.
 *
 * @example With a key of OpenAI:
 * ```ts
 * import OpenAI from 'openai'
 * import { parseOpenAIReply, toOpenAI } from 'plimsoll'
 *
 * const request = toOpenAI(await session.context())
 * const completion = await new OpenAI().chat.completions.create({ model: 'gpt-4.1', ...request })
 * await session.append(parseOpenAIReply(completion))
 * ```
 */
export function toOpenAI(context: Context, options: OpenAIOptions = {}): OpenAIRequest {
  const { cache } = checkOpenAI('toOpenAI', options)
  checkBuilt('toOpenAI', context)
  noteFamily(context, 'OpenAI', (family) => !family.startsWith('claude'))
  if (!cache) return renderOpenAI(context, () => {})
  const blocks = new Map<object, Block>()
  const request = renderOpenAI(context, (message, block) => blocks.set(message, block))
  const marked = request.messages.map((message): Marked => {
    const parts = markable(message)
    return { parts, section: (blocks.get(message) as Block).section, role: message.role }
  })
  setMarks(marked)
  return { ...request, prompt_cache_options: { mode: 'explicit' } }
}

/**
 * Makes the content of a message parts that can carry a mark; what the assistant says cannot, nor
 * can a result without a word: only as a string may it be empty.
 */
export function markable(message: OpenAIMessage): OpenAIContentPart[] {
  if (message.role === 'assistant' || message.content === '') return []
  if (typeof message.content === 'string') message.content = [{ type: 'text', text: message.content }]
  return message.content
}
