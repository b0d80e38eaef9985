import { asText } from '../kernel/count.ts'
import { EMPTY_MESSAGE, textOf } from '../kernel/log/message.ts'
import type { Block, Context } from '../ports/context.ts'
import type { OpaquePart, Part, ToolCallPart } from '../ports/message.ts'
import { fenced } from '../text/fence.ts'
import { copyOf } from '../text/json.ts'
import { callName, isPicture, type NoteOrigin, placeholder } from './parts.ts'

/** What `toOpenAI` gives: spread it into the parameters of `chat.completions.create`. */
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

/** As `toOpenAI` without options, telling `note` which block each message comes from. */
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
      function: {
        name,
        ...(description !== undefined && { description }),
        parameters: copyOf(inputSchema),
      },
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
    if (part.type === 'opaque')
      return isContentPart(part) ? [copyOf(part.value) as unknown as OpenAIContentPart] : []
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
