import { asText } from '../kernel/count.ts'
import { EMPTY_MESSAGE, textOf } from '../kernel/log/message.ts'
import type { Block, Context } from '../ports/context.ts'
import type { OpaquePart, Part, ToolCallPart } from '../ports/message.ts'
import { fenced } from '../text/fence.ts'
import { checkOptions } from '../text/json.ts'
import { noteFamily } from './family.ts'
import { type Marked, setMarks } from './openai-marks.ts'
import { callName, isPicture, type NoteOrigin, placeholder } from './parts.ts'

/** What {@link toOpenAI} gives: spread it into the parameters of `chat.completions.create`. */
export interface OpenAIRequest {
  tools?: OpenAITool[]
  messages: OpenAIMessage[]
  prompt_cache_options?: { mode: 'explicit' }
}

export type OpenAIMessage =
  | { role: 'system'; content: string | OpenAITextPart[] }
  | { role: 'user'; content: string | OpenAIContentPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: OpenAIToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string | OpenAITextPart[] }

export interface OpenAITextPart extends OpenAIMarked {
  type: 'text'
  text: string
}

/** A mark ends a prefix that the provider keeps for later requests. */
export interface OpenAIMarked {
  prompt_cache_breakpoint?: { mode: 'explicit' }
}

export type OpenAIContentPart =
  | OpenAITextPart
  | (OpenAIMarked &
      (
        | { type: 'image_url'; image_url: { url: string } }
        | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
        | { type: 'file'; file: { file_data?: string; file_id?: string; filename?: string } }
      ))

export interface OpenAIToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface OpenAITool {
  type: 'function'
  function: { name: string; description?: string; parameters: { [key: string]: unknown } }
}

export interface OpenAIOptions {
  /**
   * Whether to set `prompt_cache_breakpoint`, at most four times, and `prompt_cache_options`, which
   * turns off the provider's own one: for `gpt-5.6` and later, which reuse a prefix only up to
   * where one ended. Earlier models refuse both, and need neither. @default false
   */
  readonly cache?: boolean
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
  checkOptions('toOpenAI', 'options', options, ['cache'])
  noteFamily(context, 'OpenAI', (family) => !family.startsWith('claude'))
  if (!options.cache) return renderOpenAI(context, () => {})
  const blocks = new Map<object, Block>()
  const request = renderOpenAI(context, (message, block) => blocks.set(message, block))
  const marked = request.messages.map((message): Marked => {
    const parts = markable(message)
    return { parts, section: (blocks.get(message) as Block).section, role: message.role }
  })
  setMarks(marked)
  return { ...request, prompt_cache_options: { mode: 'explicit' } }
}

/** Makes the content of a message parts that can carry a mark; what the assistant says cannot. */
export function markable(message: OpenAIMessage): OpenAIContentPart[] {
  if (message.role === 'assistant') return []
  if (typeof message.content === 'string') message.content = [{ type: 'text', text: message.content }]
  return message.content
}

/** {@link toOpenAI}, telling `note` which block each message comes from. */
export function renderOpenAI(context: Context, note: NoteOrigin): OpenAIRequest {
  const messages = context.blocks.flatMap((block) => {
    const rendered = renderBlock(block, context.fence)
    for (const message of rendered) note(message, block)
    return rendered
  })
  if (!context.tools?.length) return { messages }
  const tools = context.tools.map(
    ({ name, description, inputSchema }): OpenAITool => ({
      type: 'function',
      function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
    }),
  )
  return { tools, messages }
}

/**
 * Contract: depends on nothing but the block, so a longer list of blocks only adds messages at the
 * end.
 */
function renderBlock(block: Block, fence: string): OpenAIMessage[] {
  const { role, parts } = block
  switch (role) {
    case 'system': {
      const content = textOf({ content: parts })
      if (content === '') return []
      const trusted = block.section === 'system' || block.trust === 'system' || block.trust === 'user'
      return trusted
        ? [{ role: 'system', content }]
        : [{ role: 'user', content: fenced(fence, 'system', content) }]
    }
    case 'user':
      // The tail is only for what there is to say.
      if (block.section === 'tail' && textOf({ content: parts }) === '') return []
      return [{ role, content: userContent(parts) }]
    case 'assistant':
      return assistantMessage(parts)
    case 'tool':
      return parts.flatMap((part): OpenAIMessage[] =>
        part.type === 'tool-result'
          ? [{ role: 'tool', tool_call_id: part.callId, content: asText(part.output) }]
          : [],
      )
  }
}

function userContent(parts: readonly Part[]): string | OpenAIContentPart[] {
  const content = parts.flatMap((part): OpenAIContentPart[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    // A copy, since it may get a mark.
    if (part.type === 'opaque')
      return isContentPart(part) ? [{ ...(part.value as unknown as OpenAIContentPart) }] : []
    if (part.type !== 'media') return []
    if (isPicture(part)) return [{ type: 'image_url', image_url: { url: part.url } }]
    return [{ type: 'text', text: placeholder(part) }]
  })
  if (content.length === 0) return EMPTY_MESSAGE
  if (content.some((part) => part.type !== 'text')) return content
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Parts made by `fromOpenAIMessages`: the type says what the rest is. */
function isContentPart({ provider, value }: OpaquePart): boolean {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  return provider === 'openai' && (type === 'input_audio' || type === 'file')
}

function assistantMessage(parts: readonly Part[]): OpenAIMessage[] {
  const texts: string[] = []
  const calls: OpenAIToolCall[] = []
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text)
    else if (part.type === 'media') texts.push(placeholder(part))
    else if (part.type === 'tool-call') calls.push(renderCall(part))
  }
  const content = texts.join('') || null
  if (calls.length > 0) return [{ role: 'assistant', content, tool_calls: calls }]
  return content === null ? [] : [{ role: 'assistant', content }]
}

function renderCall({ id, name, input }: ToolCallPart): OpenAIToolCall {
  return { id, type: 'function', function: { name: callName(name, 64), arguments: JSON.stringify(input) } }
}
